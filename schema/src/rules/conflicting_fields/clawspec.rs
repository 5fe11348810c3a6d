//! Keys of a ClawSpec assertion of which one is ignored.

use crate::{
    finding::{Explanation, Finding, Location, MessageParts},
    problem::Code,
    validate::Context,
};

/// Both keys of `model_used`.
#[derive(Debug)]
struct TwoModels {
    /// The ignored value of `not_expected`.
    ignored: String,
}

/// Explains which of several exclusive keys is ignored.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() != Code::ConflictingFields {
        return finding;
    }
    let Some(at) = finding.at().parent() else { return finding };
    let is_model = context.variant(&at).and_then(|variant| variant.tag).is_some_and(|(_, kind)| kind == "model_used");
    let text = |key: &str| context.node.find(&at).filter(|_| is_model)?.get(key)?.as_str();
    match text("expected").and(text("not_expected")).map(str::to_owned) {
        Some(ignored) => finding.explained(TwoModels { ignored }),
        None => finding,
    }
}

impl Explanation for TwoModels {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        let message = "`expected` and `not_expected` are mutually exclusive".to_owned();
        MessageParts { message, note: Some(format!("ClawSpec ignores `not_expected: {}`", self.ignored)), ..said }
            .help("remove one of the two")
    }
}
