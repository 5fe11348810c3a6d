//! Missing files and directories of ClawSpec files: targets, contracts, golden files, lists of words, `SOUL.md`.

use crate::{
    dialect::clawspec::{
        ledger_contracts::joined,
        paths,
        stage_contracts::{ContractLookup, NamedContract},
        target::{Directory, TargetLookup, change_to, is_defined},
    },
    files::{FileKind, Files},
    finding::{Finding, MessageParts, Report},
    kind::target_of,
    lint_node::LintNode,
    new_file::{self, Template},
    problem::{Code, Edit, Fix, Severity},
    relations::Items,
    shape::scalar,
    words::nearest_file,
};

use crate::rules::missing_file::Missing;

/// Checks the paths of an entry of the coverage ledger.
pub(crate) fn check_entry(item: &LintNode<'_>, base: &str, files: &dyn Files, report: &mut Report) {
    let target = item.get("path").or_else(|| item.get("id"));
    if let Some(target) = target
        && let Some(path) = target.text()
        && let Some(wanted) = joined(base, path)
        && files.kind(&wanted).is_none()
    {
        report.push(target.finding(missing(path, &wanted, FileKind::Directory, None, files)));
    }
    let Some(contracts) = item.get("contracts") else { return };
    let mut named: Vec<(LintNode<'_>, Template)> = Vec::new();
    named.extend(contracts.get("scenario_file").map(|file| (file, Template::Scenarios)));
    if item.get("tier").is_some_and(|tier| tier.text() == Some("orchestrator")) {
        named.extend(contracts.get("pipeline_file").map(|file| (file, Template::Pipeline)));
        let handoffs = contracts.get("handoff_files").map(|list| list.items()).unwrap_or_default();
        named.extend(handoffs.into_iter().map(|file| (file, Template::Handoff)));
    }
    for (file, template) in named {
        let Some(path) = file.text() else { continue };
        let Some(wanted) = joined(base, path) else { continue };
        if files.kind(&wanted) != Some(FileKind::File) {
            report.push(file.finding(missing(path, &wanted, FileKind::File, Some(template), files)));
        }
    }
}

fn missing(path: &str, wanted: &str, kind: FileKind, first: Option<Template>, files: &dyn Files) -> Missing {
    Missing { severity: Severity::Warning, ..Missing::of(path, wanted, kind, first, files) }
}

/// Checks the target directory of a contract.
pub(crate) fn check_target(target: &Directory<'_>, files: &dyn Files, report: &mut Report) {
    let found = target.found(files);
    if found == TargetLookup::Target {
        return;
    }
    let Directory { path, key, wanted, definition, .. } = target;
    // The author moved the directory, or copied the contract: the target is where the contract is.
    let here = target_of(files.place()).filter(|here| here != wanted && is_defined(here, files)).map(str::to_owned);
    let near = match found {
        TargetLookup::Nothing => nearest(wanted, FileKind::Directory, files),
        TargetLookup::Target | TargetLookup::Undefined | TargetLookup::NoDirectory => None,
    };
    let template = if *definition == "SOUL.md" { Template::Soul } else { Template::Skill };
    let creation = new_file::creation(&target.file(), template, files);
    let message = match found {
        TargetLookup::NoDirectory => {
            let words = MessageParts::new(format!("`{wanted}` is not a directory"))
                .help(format!("name the directory that contains `{definition}`"));
            return report.push(path.problem(Code::MissingFile, words));
        }
        TargetLookup::Target | TargetLookup::Undefined => format!("`{wanted}` has no `{definition}`"),
        TargetLookup::Nothing => format!("`{wanted}` in `{key}` does not exist"),
    };
    let to_here = here.as_deref().and_then(|here| change_to(path, key, here, true));
    let edits = near.as_deref().and_then(|near| path.replaced(scalar(near)));
    let is_said = |edits: &Vec<Edit>| to_here.as_ref().is_some_and(|known| known.edits == *edits);
    let to_near = near.zip(edits.filter(|edits| !is_said(edits)));
    let to_near = to_near.map(|(near, edits)| Fix::guess(format!("change it to `{near}`"), edits));
    let to_near = to_near.map(|fix| Fix { preferred: here.is_none(), ..fix });
    let words = MessageParts::new(message).note("ClawSpec refuses to run this target");
    let finding = path.problem(Code::MissingFile, words.fix(to_here).fix(to_near).fix(creation));
    report.push(match found {
        TargetLookup::Undefined => finding.with_severity(Severity::Warning),
        TargetLookup::Target | TargetLookup::NoDirectory | TargetLookup::Nothing => finding,
    });
}

/// Checks the patterns of the settings.
pub(crate) fn check_settings(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    if !paths::is_placed(files) {
        return;
    }
    for pattern in root.get("scenario_patterns").map(|list| list.items()).unwrap_or_default() {
        let Some(text) = pattern.text().filter(|text| !text.is_empty()) else { continue };
        let found = files.glob(text);
        if found.paths.is_empty() && !found.cut {
            let words =
                MessageParts::new(format!("no file matches `{text}`")).help("correct the pattern, or remove it");
            report.push(pattern.problem(Code::MissingFile, words).with_severity(Severity::Warning));
        }
    }
}

/// Checks the handoff contract of a stage.
pub(crate) fn check_stage(contract: &NamedContract<'_>, stages: Items<'_>, files: &dyn Files, report: &mut Report) {
    let name = &contract.name.name;
    let (at, range) = stages.place(contract.index, contract.name);
    match &contract.lookup {
        ContractLookup::Nowhere if name.contains(['*', '?', '{']) => {
            let message = format!("wildcards and template variables in `{name}` are not expanded");
            let words = MessageParts::new(message).help("name one file");
            report.push(Finding::stated(Code::MissingFile, words, at, range));
        }
        ContractLookup::Nowhere | ContractLookup::Unread => {}
        ContractLookup::Found { document, path, .. } => {
            if document.root().is_none_or(|root| root.get("handoff").is_none()) {
                let words = MessageParts::new(format!("`{path}` is not a handoff contract: it has no `handoff`"));
                report.push(Finding::stated(Code::MissingFile, words, at, range));
            }
        }
        ContractLookup::Missing(path) => {
            let missing = Missing::of(name, path, FileKind::File, Some(Template::Handoff), files);
            let note = Some("the path is relative to the directory of the skill");
            report.push(Finding::new(Missing { path: path.clone(), root: None, note, ..missing }, at, range));
        }
    }
}

/// Returns the path in the same directory that is most similar to a missing one.
fn nearest(wanted: &str, kind: FileKind, files: &dyn Files) -> Option<String> {
    let (directory, name) = wanted.rsplit_once('/').unwrap_or(("", wanted));
    let entries = files.list(directory);
    let near = nearest_file(name, entries.iter().filter(|(_, found)| *found == kind).map(|(name, _)| name.as_str()))?;
    Some(if directory.is_empty() { near.to_owned() } else { format!("{directory}/{near}") })
}
