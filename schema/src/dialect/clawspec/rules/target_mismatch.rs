use crate::{
    dialect::clawspec::target::{Directory, Target, TargetLookup, change_to, is_defined},
    files::Files,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix},
    shape::scalar,
};

/// A path that is not relative to the root, so the target is not found.
#[derive(Debug)]
struct Outside {
    path: String,
    /// Directory that the location of the contract implies.
    here: Option<String>,
}

/// A directory other than that of the file.
#[derive(Debug)]
struct OtherDirectory {
    key: &'static str,
    wanted: String,
    here: String,
    /// Whether the directory of the file has a definition.
    is_defined: bool,
}

/// Checks the target of a scenario contract.
pub(crate) fn check(target: &Target<'_>, files: &dyn Files, report: &mut Report) {
    match target {
        Target::Outside(path, here) => {
            let text = path.text().unwrap_or_default();
            report.push(path.finding(Outside { path: text.to_owned(), here: here.clone() }));
        }
        Target::Below(directory) => {
            let Directory { path, key, wanted, elsewhere, .. } = directory;
            if let Some(here) = elsewhere
                && directory.found(files) == TargetLookup::Target
            {
                let is_defined = is_defined(here, files);
                report.push(path.finding(OtherDirectory {
                    key,
                    wanted: wanted.clone(),
                    here: here.clone(),
                    is_defined,
                }));
            }
        }
    }
}

impl Rule for Outside {
    const CODE: Code = Code::TargetMismatch;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let Outside { path, here } = self;
        let words = MessageParts::new(format!("`{path}` is not a normalized path"))
            .note("ClawSpec compares the path as text")
            .help("write it without `./` and `..`, relative to the root of the workspace");
        let to_here = |here: &String| {
            let edits = location.replaced(scalar(here))?;
            Some(Fix::guess(format!("change it to `{here}`"), edits))
        };
        words.fix_with_help(here.as_ref().and_then(to_here))
    }
}

impl Rule for OtherDirectory {
    const CODE: Code = Code::TargetMismatch;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let OtherDirectory { key, wanted, here, is_defined } = self;
        let fix = location.lint_node().and_then(|path: LintNode<'_>| change_to(&path, key, here, *is_defined));
        MessageParts::new("`target.path` is not the directory of this file")
            .note(format!("ClawSpec counts the scenarios as tests of `{wanted}`, but the file is in `{here}`"))
            .fix_with_help(fix)
    }
}
