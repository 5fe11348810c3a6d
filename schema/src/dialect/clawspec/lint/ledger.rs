//! The coverage ledger: what it names is there, and covered.

use std::collections::HashMap;

use crate::{
    dialect::ScalarRules,
    document::{Document, NodeRef},
    files::{FileKind, Files},
    new_file::{self, Template},
    problem::{Code, Problem, Severity, Subject},
    spot::Spot,
    validate::rename_title,
    words::Search,
};

use super::files as paths;

pub(super) fn lint(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let waves = root.get("waves").filter(Spot::is_mapping).map(|waves| waves.entries()).unwrap_or_default();
    let items: Vec<Spot<'_>> =
        waves.iter().filter_map(|(_, wave)| wave.get("items")).flat_map(|items| items.items()).collect();
    let mut known: HashMap<&str, Spot<'_>> = HashMap::new();
    let mut contracts = Contracts::new(base(files.place()), files);
    for item in &items {
        if let Some(id) = item.get("id")
            && let Some(text) = id.text().filter(|text| !text.is_empty())
        {
            match known.get(text) {
                Some(first) => {
                    let problem = id
                        .problem(Code::DuplicateName, format!("duplicate id `{text}` in the ledger"))
                        .with_subject(Subject::Name(text.to_owned()));
                    problems.push(problem.with_related("first here", first.at.clone(), first.range()));
                }
                None => drop(known.insert(text, id)),
            }
        }
        lint_keys(item, problems);
        if paths::is_placed(files) {
            lint_item(item, &mut contracts, problems);
        }
    }
}

/// Keys that are almost those that are read: any other is free.
fn lint_keys(item: &Spot<'_>, problems: &mut Vec<Problem>) {
    let known: [(&str, &[&str]); 4] = [
        ("", &["id", "path", "tier", "status", "contracts", "coverage", "verification"]),
        ("contracts", &["scenario_file", "pipeline_file", "handoff_files"]),
        ("coverage", &["negative"]),
        ("verification", &["approved_smoke_scenario"]),
    ];
    for (block, names) in known {
        let Some(mapping) = (if block.is_empty() { Some(item.clone()) } else { item.get(block) }) else { continue };
        for (key, member) in mapping.entries() {
            if names.contains(&key.as_str()) || key.len() < 4 {
                continue;
            }
            let free = names.iter().copied().filter(|name| mapping.get(name).is_none());
            if let Some(name) = crate::words::nearest(&key, free) {
                let problem = member.head_problem(Code::UnknownKey, format!("unknown key `{key}`"));
                problems.push(problem.with_severity(Severity::Warning).with_help(rename_title(name)));
            }
        }
    }
}

/// The directory that paths begin in: the ledger's, or two levels above `docs/testing`.
pub(in crate::dialect::clawspec) fn base(place: &str) -> &str {
    let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
    match directory {
        "docs/testing" => "",
        directory => directory.strip_suffix("/docs/testing").unwrap_or(directory),
    }
}

/// The scenario contract of an entry, from the root, in a ledger at `place`.
pub fn contract_of(item: NodeRef<'_>, place: &str) -> Option<String> {
    joined(base(place), item.get("contracts")?.get("scenario_file")?.text()?)
}

/// A path of a ledger, from the root of the workspace.
pub(in crate::dialect::clawspec) fn joined(base: &str, path: &str) -> Option<String> {
    paths::below_root(&if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") })
}

fn lint_item(item: &Spot<'_>, known: &mut Contracts<'_>, problems: &mut Vec<Problem>) {
    let (base, files) = (known.base, known.files);
    let target = item.get("path").or_else(|| item.get("id"));
    if let Some(target) = target
        && let Some(wanted) = target.text().and_then(|path| joined(base, path))
        && files.kind(&wanted).is_none()
    {
        let problem = paths::missing(&target, &wanted, FileKind::Directory, files);
        problems.push(problem.with_severity(Severity::Warning));
    }
    let contracts = item.get("contracts");
    let orchestrator = item.get("tier").is_some_and(|tier| tier.text() == Some("orchestrator"));
    let mut named: Vec<(Spot<'_>, Template)> =
        contracts.iter().filter_map(|it| it.get("scenario_file")).map(|file| (file, Template::Scenarios)).collect();
    if orchestrator {
        let pipelines = contracts.iter().filter_map(|it| it.get("pipeline_file"));
        named.extend(pipelines.map(|file| (file, Template::Pipeline)));
        let handoffs = contracts.iter().filter_map(|it| it.get("handoff_files")).flat_map(|list| list.items());
        named.extend(handoffs.map(|file| (file, Template::Handoff)));
        for (key, what) in [("pipeline_file", "pipeline"), ("handoff_files", "handoffs")] {
            if contracts.as_ref().is_some_and(|contracts| contracts.get(key).is_none()) {
                let problem = item.head_problem(Code::MissingField, format!("an orchestrator has no `{key}`"));
                let note = format!("no contract covers its {what}, and `clawspec coverage` counts no gap for that");
                problems.push(problem.with_severity(Severity::Hint).with_note(note));
            }
        }
    }
    for (file, template) in named {
        let Some(wanted) = file.text().and_then(|path| joined(base, path)) else { continue };
        if files.kind(&wanted) != Some(FileKind::File) {
            let mut problem = paths::missing(&file, &wanted, FileKind::File, files).with_severity(Severity::Warning);
            problem.fixes.extend(new_file::creation(&wanted, template, files));
            problems.push(problem);
        }
    }
    lint_negative(item, contracts.as_ref(), known, problems);
    lint_smoke(item, contracts.as_ref(), known, problems);
}

/// The scenario contracts that the ledger names. Thousands of its entries may name the same one: each is read once.
pub(in crate::dialect::clawspec) struct Contracts<'f> {
    base: &'f str,
    files: &'f dyn Files,
    read: HashMap<String, Option<Contract>>,
}

/// What the ledger asks of a contract.
pub(in crate::dialect::clawspec) struct Contract {
    /// Whether a scenario is tagged `negative`.
    pub(in crate::dialect::clawspec) has_negative: bool,
    /// The names of its scenarios.
    names: Vec<String>,
    search: Search,
}

impl<'f> Contracts<'f> {
    /// Those below a directory.
    pub(in crate::dialect::clawspec) fn new(base: &'f str, files: &'f dyn Files) -> Contracts<'f> {
        Contracts { base, files, read: HashMap::new() }
    }

    /// The contract of an entry; nothing when it has no list of scenarios.
    pub(in crate::dialect::clawspec) fn of(&mut self, contracts: Option<&Spot<'_>>) -> Option<&mut Contract> {
        let path = joined(self.base, contracts?.get("scenario_file")?.text()?)?;
        let files = self.files;
        self.read.entry(path).or_insert_with_key(|path| Contract::read(&files.read(path).ok()?)).as_mut()
    }
}

impl Contract {
    fn read(bytes: &[u8]) -> Option<Contract> {
        let document = Document::read(std::str::from_utf8(bytes).ok()?, ScalarRules::Yaml11);
        let list = document.root()?.get("scenarios")?;
        let is_negative = |scenario: NodeRef<'_>| {
            scenario.get("tags").is_some_and(|tags| tags.items().any(|tag| tag.as_str() == Some("negative")))
        };
        let names = list.items().filter_map(|scenario| scenario.get("name")?.as_str()).map(str::to_owned).collect();
        Some(Contract { has_negative: list.items().any(is_negative), names, search: Search::default() })
    }
}

/// `coverage.negative` says what the contract holds.
fn lint_negative(
    item: &Spot<'_>,
    contracts: Option<&Spot<'_>>,
    known: &mut Contracts<'_>,
    problems: &mut Vec<Problem>,
) {
    let Some(negative) = known.of(contracts).map(|contract| contract.has_negative) else { return };
    let claimed = item.find(&["coverage", "negative"]);
    match (claimed.as_ref().and_then(|it| it.bool()), negative) {
        (Some(true), false) => {
            if let Some(claimed) = claimed {
                let message = "the contract has no scenario that is tagged `negative`";
                problems.push(claimed.problem(Code::MissingNegative, message));
            }
        }
        (Some(false) | None, true) => {
            let place = claimed.unwrap_or_else(|| item.clone());
            let message = "the contract has a scenario that is tagged `negative`";
            let problem = place.head_problem(Code::MissingNegative, message).with_severity(Severity::Information);
            problems.push(problem.with_help("write `negative: true`"));
        }
        (Some(true), true) | (Some(false) | None, false) => {}
    }
}

/// The approved scenario is one of the contract.
fn lint_smoke(item: &Spot<'_>, contracts: Option<&Spot<'_>>, known: &mut Contracts<'_>, problems: &mut Vec<Problem>) {
    let Some(smoke) = item.find(&["verification", "approved_smoke_scenario"]) else { return };
    let Some(name) = smoke.text() else { return };
    let Some(Contract { names, search, .. }) = known.of(contracts) else { return };
    if !names.iter().any(|known| known == name) {
        let near = search.nearest(name, names.iter().map(String::as_str));
        let problem = smoke.problem(Code::UnknownReference, format!("the contract has no scenario `{name}`"));
        problems.push(Problem { help: near.map(|near| format!("change it to `{near}`")), ..problem });
    }
}
