//! Paths of a scripted gateway that lead out of the workspace.

use crate::{
    files,
    finding::{Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
};

/// A path that is absolute, or leads upwards.
#[derive(Debug)]
struct Outside(String);

/// Looks at a path that a step writes, or that the log has.
pub(crate) fn check(path: &Spot<'_>, report: &mut Report) {
    if let Some(text) = path.text().filter(|text| !text.is_empty() && files::inside(text).is_none()) {
        report.push(path.finding(Outside(text.to_owned())));
    }
}

impl Rule for Outside {
    const CODE: Code = Code::InvalidPath;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`{}` is not a path inside the workspace", self.0))
            .help("write a relative path without `..`")
    }
}
