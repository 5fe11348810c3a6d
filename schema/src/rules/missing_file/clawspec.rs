//! Missing files and directories of ClawSpec files: targets, contracts, golden files, lists of words, `SOUL.md`.

use crate::{
    dialect::clawspec::{
        ledger_contracts::joined,
        paths,
        stage_contracts::{ContractLookup, NamedContract},
        target::{Directory, TargetLookup, change_to, is_defined},
    },
    files::{FileKind, Files},
    finding::{Finding, Location, MessageParts, Report, Rule},
    kind::target_of,
    lint_node::LintNode,
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    relations::Items,
    shape::scalar,
    words::nearest_file,
};

use super::Missing;

/// A target without its definition.
#[derive(Debug)]
struct NoTarget {
    wanted: String,
    key: &'static str,
    definition: &'static str,
    found: TargetLookup,
    /// Directory of the contract, if it has a definition.
    here: Option<String>,
    /// Most similar directory, if there is none with the name.
    near: Option<String>,
    creation: Option<Fix>,
}

/// A pattern without matching contracts.
#[derive(Debug)]
struct NoMatch(String);

/// An invalid path of a handoff contract, which is taken literally.
#[derive(Debug)]
struct TakenLiterally(String);

/// Another file instead of a handoff contract.
#[derive(Debug)]
struct NotAHandoff(String);

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
    report.push(path.finding(NoTarget { wanted: wanted.clone(), key, definition, found, here, near, creation }));
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
            report.push(pattern.finding(NoMatch(text.to_owned())));
        }
    }
}

/// Checks the handoff contract of a stage.
pub(crate) fn check_stage(contract: &NamedContract<'_>, stages: Items<'_>, files: &dyn Files, report: &mut Report) {
    let name = &contract.name.name;
    let (at, range) = stages.place(contract.index, contract.name);
    match &contract.lookup {
        ContractLookup::Nowhere if name.contains(['*', '?', '{']) => {
            report.push(Finding::new(TakenLiterally(name.clone()), at, range));
        }
        ContractLookup::Nowhere | ContractLookup::Unread => {}
        ContractLookup::Found { document, path, .. } => {
            if document.root().is_none_or(|root| root.get("handoff").is_none()) {
                report.push(Finding::new(NotAHandoff(path.clone()), at, range));
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

/// Returns the fix that changes the path.
fn instead(location: &Location<'_>, path: &str) -> Option<Fix> {
    let edits = location.lint_node()?.replaced(scalar(path))?;
    Some(Fix::guess(format!("change it to `{path}`"), edits))
}

impl Rule for NoTarget {
    const CODE: Code = Code::MissingFile;

    fn severity(&self) -> Severity {
        match self.found {
            TargetLookup::Undefined => Severity::Warning,
            TargetLookup::Target | TargetLookup::NoDirectory | TargetLookup::Nothing => Severity::Error,
        }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let NoTarget { wanted, key, definition, found, here, near, creation } = self;
        let words = match found {
            TargetLookup::NoDirectory => {
                return MessageParts::new(format!("`{wanted}` is not a directory"))
                    .help(format!("name the directory that contains `{definition}`"));
            }
            TargetLookup::Target | TargetLookup::Undefined => {
                MessageParts::new(format!("`{wanted}` has no `{definition}`"))
            }
            TargetLookup::Nothing => MessageParts::new(format!("`{wanted}` in `{key}` does not exist")),
        };
        let lint_node = location.lint_node();
        let to_here = here.as_deref().and_then(|here| change_to(lint_node.as_ref()?, key, here, true));
        let is_said = |fix: &Fix| to_here.as_ref().is_some_and(|known| known.edits == fix.edits);
        let to_near = near.as_deref().and_then(|near| instead(location, near)).filter(|fix| !is_said(fix));
        let to_near = to_near.map(|fix| Fix { preferred: here.is_none(), ..fix });
        words.note("ClawSpec refuses to run this target").fix(to_here).fix(to_near).fix(creation.clone())
    }
}

impl Rule for NoMatch {
    const CODE: Code = Code::MissingFile;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("no file matches `{}`", self.0)).help("correct the pattern, or remove it")
    }
}

impl Rule for TakenLiterally {
    const CODE: Code = Code::MissingFile;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("wildcards and template variables in `{}` are not expanded", self.0))
            .help("name one file")
    }
}

impl Rule for NotAHandoff {
    const CODE: Code = Code::MissingFile;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` is not a handoff contract: it has no `handoff`", self.0))
    }
}
