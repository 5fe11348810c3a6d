use crate::{
    finding::{Explanation, Finding},
    problem::{Code, Severity},
};

page! {
    /// A setting or a speclens comment is unknown or has an invalid value. In `speclens.yaml` it is an error: no suite
    /// runs until it is corrected, because the results would not be reliable.
    "invalid-setting", Warning
}

/// A problem in `speclens.yaml`, with the message of another rule.
#[derive(Debug)]
struct InSettings;

/// Reports a finding of another rule as a problem of a setting.
pub(crate) fn in_settings(finding: Finding) -> Finding {
    finding.explained(InSettings)
}

impl Explanation for InSettings {
    fn code(&self, _: Code) -> Code {
        Code::InvalidSetting
    }

    fn severity(&self, _: Severity) -> Severity {
        Severity::Error
    }
}
