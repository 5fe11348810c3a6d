use crate::{
    dialect::clawspec::{
        structure::{self, Failure},
        target::{Directory, TargetLookup},
    },
    files::{FileKind, Files},
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// A definition that does not pass ClawSpec's structural checks. The problem is in another file, so it is reported
/// once, where that file is named.
#[derive(Debug)]
struct Unstructured {
    file: String,
    failures: Vec<Failure>,
}

/// Checks the definition of a target.
pub(crate) fn check_target(target: &Directory<'_>, files: &dyn Files, report: &mut Report) {
    if target.elsewhere.is_some() || target.found(files) != TargetLookup::Target {
        return;
    }
    let file = target.file();
    let Ok(bytes) = files.read(&file) else { return };
    let text = String::from_utf8_lossy(&bytes);
    let failures = if target.definition == "SOUL.md" {
        structure::soul(&text)
    } else {
        let contract = format!("{}/tests/scenarios.yaml", target.wanted);
        structure::skill(&text, contract == files.place() || files.kind(&contract) == Some(FileKind::File))
    };
    if !failures.is_empty() {
        report.push(target.path.finding(Unstructured { file, failures }));
    }
}

impl Rule for Unstructured {
    const CODE: Code = Code::InvalidDefinition;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let Unstructured { file, failures } = self;
        let helps: Vec<&str> = failures.iter().map(|failure| failure.help.as_str()).collect();
        let names: Vec<String> = failures.iter().map(|failure| format!("`{}`", failure.check)).collect();
        MessageParts::new(format!("`{file}` does not pass ClawSpec's structural checks"))
            .note(format!("ClawSpec refuses to run this target; failed checks: {}", names.join(", ")))
            .help(helps.join("\n"))
    }
}
