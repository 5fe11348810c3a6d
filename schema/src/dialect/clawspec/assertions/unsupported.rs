//! Types that are never evaluated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    dialect::clawspec::{claim::AssertionType, scoped_evidence::ScopedEvidence},
    verdict::{Judged, Row},
};

/// Declares a type that is never evaluated.
macro_rules! unsupported {
    ($(#[$doc:meta])* $variant:ident = $name:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $variant {}

        impl AssertionType for $variant {
            const NAME: &'static str = $name;

            fn judge(&self, _seen: &ScopedEvidence<'_>) -> Judged {
                Err(Row::broken("", concat!("`", $name, "` cannot be evaluated: nothing defines what it checks")))
            }
        }
    };
}

unsupported! {
    /// A Slack message was sent. This type cannot be evaluated.
    ///
    /// ClawSpec accepts the type, but aborts every scenario that uses it.
    SlackMessageSent = "slack_message_sent"
}

unsupported! {
    /// An email was received. This type cannot be evaluated.
    ///
    /// ClawSpec accepts the type, but aborts every scenario that uses it.
    EmailReceived = "email_received"
}
