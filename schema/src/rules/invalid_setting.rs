use crate::{
    finding::{Finding, Rule, Site, Words},
    problem::Code,
};

page! {
    /// A setting or a speclens comment is unknown or has an invalid value. In `speclens.yaml` it is an error: no suite
    /// runs until it is corrected, because the results would not be reliable.
    "invalid-setting", Warning
}


/// A mistake in `speclens.yaml` that other rules have words for.
#[derive(Debug)]
struct InSettings(Box<dyn Rule>);

/// Reports a finding of another rule as one about a setting.
pub(crate) fn in_settings(finding: Finding) -> Finding {
    finding.with_rule(|rule| Box::new(InSettings(rule)))
}

impl Rule for InSettings {
    fn code(&self) -> Code {
        Code::InvalidSetting
    }

    fn is_about_absence(&self) -> bool {
        self.0.is_about_absence()
    }

    fn words(&self, site: &Site<'_>) -> Words {
        self.0.words(site)
    }
}
