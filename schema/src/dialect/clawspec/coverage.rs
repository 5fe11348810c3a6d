//! The coverage ledger: its keys, the contracts that it names, and the coverage of its targets, as `speclens coverage`
//! reports it.

use std::{collections::BTreeMap, ops::Range};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    dialect::clawspec::new_file,
    document::{Document, NodeRef, Pointer},
    files::{self, FileKind, Files},
    gateway::workspace::{document_at, joined},
    lint_node::LintNode,
    new_file::Template,
    words::Name,
};

/// A ClawSpec coverage ledger: `coverage-ledger.yaml`.
///
/// ```yaml
/// waves:
///   first:
///     status: active
///     items:
///       - id: skills/newsletter
///         tier: boundary-skill
///         status: covered
///         contracts:
///           scenario_file: skills/newsletter/tests/scenarios.yaml
///         coverage: { negative: true }
/// ```
///
/// Paths are relative to the ledger's directory, or to the directory two levels above it if the ledger is in
/// `docs/testing`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-open" = true))]
pub(crate) struct CoverageLedger {
    /// Groups of targets, by name.
    pub waves: BTreeMap<String, Wave>,
}

/// A group of targets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-open" = true))]
pub(crate) struct Wave {
    /// Status of the group, for documentation only.
    #[schemars(extend("x-null" = "absent"))]
    pub status: Option<String>,
    /// Targets of the group.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub items: Vec<LedgerItem>,
}

/// A target and its coverage.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-open" = true))]
pub(crate) struct LedgerItem {
    /// Path of the target, unique in the ledger.
    #[schemars(extend("x-name" = { "what": "target id", "help": "remove one of the two" }))]
    #[schemars(extend("x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub id: Name,
    /// Directory of the target, if it is not the `id`.
    #[schemars(extend("x-null" = "absent", "x-file" = "directory", "x-above" = "docs/testing", "x-shares" = "targets"))]
    pub path: Option<String>,
    /// Kind of target. For an `orchestrator`, the pipeline and handoff contracts are checked too.
    #[schemars(extend("x-null" = "absent", "examples" = ["orchestrator", "interior-skill", "interior-agent", "boundary-skill"]))]
    pub tier: Option<String>,
    /// Status of the target, for documentation only.
    #[schemars(extend("x-null" = "absent"))]
    pub status: Option<String>,
    /// Contracts that test the target.
    #[schemars(extend("x-null" = "absent"))]
    pub contracts: Option<LedgerContracts>,
    /// Covered kinds of tests. Only `negative` is read.
    #[schemars(extend("x-null" = "absent"))]
    pub coverage: Option<LedgerCoverage>,
    /// Results of manual verification.
    #[schemars(extend("x-null" = "absent"))]
    pub verification: Option<Verification>,
}

/// Contracts that test a target.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-open" = true))]
pub(crate) struct LedgerContracts {
    /// Path of the scenario contract.
    #[schemars(extend("x-null" = "absent", "x-file" = "yaml", "x-above" = "docs/testing", "examples" = ["skills/newsletter/tests/scenarios.yaml"]))]
    pub scenario_file: Option<String>,
    /// Path of the pipeline contract.
    #[schemars(extend("x-null" = "absent", "x-file" = "yaml", "x-above" = "docs/testing", "examples" = ["skills/newsletter/tests/pipeline.yaml"]))]
    pub pipeline_file: Option<String>,
    /// Paths of the handoff contracts.
    #[schemars(extend("x-null" = "absent", "x-file" = "handoff", "x-above" = "docs/testing"))]
    pub handoff_files: Option<Vec<String>>,
}

/// Covered kinds of tests.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-open" = true))]
pub(crate) struct LedgerCoverage {
    /// Whether a scenario tests what the target must refuse.
    #[schemars(extend("x-null" = "absent"))]
    pub negative: Option<bool>,
}

/// Results of manual verification.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-open" = true))]
pub(crate) struct Verification {
    /// Name of the scenario that may run without approval, or null.
    #[schemars(extend("x-null" = "absent", "x-refers" = "scenarios"))]
    pub approved_smoke_scenario: Option<String>,
}

/// Directory of ledgers with paths relative to the directory two levels above.
pub const NESTED_DIRECTORY: &str = "docs/testing";

/// Targets of a ledger, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Targets of all groups, in the order of the ledger.
    pub targets: Vec<CoveredTarget>,
}

/// A target, and its gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredTarget {
    pub wave: String,
    /// Path of the target, which is the name of the item.
    pub id: String,
    pub tier: Option<String>,
    /// Gaps; empty for a covered target.
    pub gaps: Vec<Gap>,
}

/// A missing part of the coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Kind of the missing part.
    pub kind: GapKind,
    pub message: String,
    /// Node in the ledger.
    pub at: Pointer,
    /// Bytes of that node.
    pub range: Range<usize>,
}

/// Kinds of missing parts. The words are ClawSpec's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapKind {
    TargetMissing,
    /// The scenario contract that the ledger names.
    ScenarioFile,
    /// The pipeline contract that the ledger names.
    PipelineFile,
    /// A handoff contract that the ledger names.
    HandoffFile,
    /// A scenario that tests what the target must refuse.
    NegativeTest,
}

impl GapKind {
    /// Returns the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            GapKind::TargetMissing => "target_missing",
            GapKind::ScenarioFile => "scenario_file",
            GapKind::PipelineFile => "pipeline_file",
            GapKind::HandoffFile => "handoff_file",
            GapKind::NegativeTest => "negative_test",
        }
    }
}

impl Coverage {
    /// Checks the files that a ledger names. `files` are those of the workspace, with the ledger at its location.
    pub fn of(document: &Document, files: &dyn Files) -> Coverage {
        let Some(root) = document.root().map(LintNode::root) else { return Coverage::default() };
        let targets = entries(&root).into_iter();
        let targets = targets.filter_map(|(wave, item)| CoveredTarget::of(wave, &item, files));
        Coverage { targets: targets.collect() }
    }

    /// Returns the number of targets without a gap.
    pub fn covered(&self) -> usize {
        self.targets.iter().filter(|target| target.gaps.is_empty()).count()
    }

    /// Returns the share of targets without gaps in percent; 0 for a ledger without targets.
    pub fn percent(&self) -> f64 {
        match self.targets.len() {
            0 => 0.0,
            // The number of targets is small enough to be exact.
            all => self.covered() as f64 * 100.0 / all as f64,
        }
    }
}

impl CoveredTarget {
    fn of(wave: String, item: &LintNode<'_>, files: &dyn Files) -> Option<CoveredTarget> {
        let id = item.get("id")?;
        let tier = item.text_at("tier").map(str::to_owned);
        let mut gaps = Vec::new();
        let mut add = |kind, lint_node: &LintNode<'_>, message: String| {
            gaps.push(Gap { kind, message, at: lint_node.at.clone(), range: lint_node.range() });
        };
        let kind_of = |path: &str| joined(base(files.place()), path).and_then(|path| files.kind(&path));
        let target = item.get("path").filter(|path| path.text().is_some()).unwrap_or_else(|| id.clone());
        if let Some(path) = target.text().filter(|path| kind_of(path).is_none()) {
            add(GapKind::TargetMissing, &target, format!("`{path}` does not exist"));
        }
        for (kind, file, _) in named_contracts(item) {
            if let Some(path) = file.text().filter(|path| kind_of(path) != Some(FileKind::File)) {
                add(kind, &file, format!("`{path}` does not exist"));
            }
        }
        let claimed = item.find(&["coverage", "negative"]);
        if claimed.as_ref().and_then(LintNode::bool) != Some(true) {
            let lint_node = claimed.as_ref().unwrap_or(&id);
            add(GapKind::NegativeTest, lint_node, "`coverage.negative` is not `true`".to_owned());
        } else if contract_has_negative(item, files) == Some(false) {
            let lint_node = item.find(&["contracts", "scenario_file"]).unwrap_or_else(|| id.clone());
            add(GapKind::NegativeTest, &lint_node, "no scenario of the contract is tagged `negative`".to_owned());
        }
        Some(CoveredTarget { wave, id: id.text()?.to_owned(), tier, gaps })
    }
}

pub(crate) fn entries<'d>(root: &LintNode<'d>) -> Vec<(String, LintNode<'d>)> {
    let waves = root.get("waves").map(|waves| waves.entries()).unwrap_or_default();
    let items = |(name, wave): &(String, LintNode<'d>)| {
        let items = wave.get("items").map(|items| items.items()).unwrap_or_default();
        items.into_iter().map(|item| (name.clone(), item)).collect::<Vec<_>>()
    };
    waves.iter().flat_map(items).collect()
}

pub(crate) fn named_contracts<'d>(item: &LintNode<'d>) -> Vec<(GapKind, LintNode<'d>, Template)> {
    let at = |key: &str| item.find(&["contracts", key]);
    let mut named = vec![(GapKind::ScenarioFile, at("scenario_file"), new_file::SCENARIOS)];
    if item.text_at("tier") == Some("orchestrator") {
        named.push((GapKind::PipelineFile, at("pipeline_file"), new_file::PIPELINE));
        let handoffs = at("handoff_files").map(|list| list.items()).unwrap_or_default();
        named.extend(handoffs.into_iter().map(|file| (GapKind::HandoffFile, Some(file), new_file::HANDOFF)));
    }
    named.into_iter().filter_map(|(kind, file, template)| Some((kind, file?, template))).collect()
}

/// Returns the directory that paths are relative to: the ledger's, or the one two levels above [`NESTED_DIRECTORY`].
pub(crate) fn base(place: &str) -> &str {
    files::above(place, NESTED_DIRECTORY)
}

/// Returns the scenario contract of an entry, relative to the root, for a ledger at `place`.
pub(crate) fn contract_of(item: NodeRef<'_>, place: &str) -> Option<String> {
    joined(base(place), item.get("contracts")?.get("scenario_file")?.text()?)
}

/// Whether a scenario of an entry's contract has the tag `negative`; `None` if it has no list of scenarios.
pub(crate) fn contract_has_negative(item: &LintNode<'_>, files: &dyn Files) -> Option<bool> {
    has_negative(&document_at(&contract_of(item.node, files.place())?, files)?)
}

/// Returns whether a scenario of a contract has the tag `negative`; `None` if it has no list of scenarios.
pub(crate) fn has_negative(document: &Document) -> Option<bool> {
    let list = document.root()?.get("scenarios")?;
    let is_negative = |scenario: NodeRef<'_>| {
        scenario.get("tags").is_some_and(|tags| tags.items().any(|tag| tag.as_str() == Some("negative")))
    };
    Some(list.items().any(is_negative))
}

#[cfg(test)]
mod tests {
    use super::Coverage;
    use crate::{
        document::{Document, ScalarRules},
        files::MemoryFiles,
    };

    const CONTRACT: &str = "scenarios:\n- name: a\n  tags: [negative]\n";

    fn gaps(ledger: &str, place: &str, files: &[(&str, &str)]) -> Vec<String> {
        let files = MemoryFiles::new("/w", files.iter().copied()).at(place);
        let coverage = Coverage::of(&Document::read(ledger, ScalarRules::Yaml11), &files);
        let targets = coverage.targets.iter();
        targets
            .flat_map(|target| {
                target.gaps.iter().map(|gap| format!("{} {} {}", target.id, gap.kind.as_str(), gap.message))
            })
            .collect()
    }

    #[test]
    fn each_kind_of_gap_is_reported_of_the_target_that_has_it() {
        let ledger = "\
waves:
  one:
    items:
    - {id: skills/a, coverage: {negative: true}, contracts: {scenario_file: skills/a/tests/scenarios.yaml}}
    - {id: skills/b, contracts: {scenario_file: skills/b/tests/scenarios.yaml}}
    - {id: skills/c, path: skills/a, coverage: {negative: true}, contracts: {scenario_file: c.yaml}}
  two:
    items:
    - id: skills/o
      tier: orchestrator
      coverage: {negative: yes}
      contracts: {pipeline_file: p.yaml, handoff_files: [skills/a/tests/scenarios.yaml, h.yaml]}
    - {id: skills/a, tier: boundary-skill, coverage: {negative: true}, contracts: {pipeline_file: p.yaml}}
";
        let files = [("skills/a/tests/scenarios.yaml", CONTRACT), ("c.yaml", "scenarios: [{name: a}]\n")];
        for end in ["\n", "\r\n"] {
            let found = gaps(&ledger.replace('\n', end), "coverage-ledger.yaml", &files);
            assert_eq!(
                found,
                [
                    "skills/b target_missing `skills/b` does not exist",
                    "skills/b scenario_file `skills/b/tests/scenarios.yaml` does not exist",
                    "skills/b negative_test `coverage.negative` is not `true`",
                    "skills/c negative_test no scenario of the contract is tagged `negative`",
                    "skills/o target_missing `skills/o` does not exist",
                    "skills/o pipeline_file `p.yaml` does not exist",
                    "skills/o handoff_file `h.yaml` does not exist",
                ]
            );
        }
    }

    #[test]
    fn paths_of_a_ledger_in_docs_testing_begin_two_levels_above() {
        let ledger = "waves: {one: {items: [{id: skills/a, coverage: {negative: true}}]}}\n";
        let files = [("skills/a/SKILL.md", "")];
        assert!(gaps(ledger, "docs/testing/coverage-ledger.yaml", &files).is_empty());
        assert_eq!(gaps(ledger, "docs/coverage-ledger.yaml", &files).len(), 1);
        assert!(gaps("waves: []\n", "coverage-ledger.yaml", &files).is_empty());
    }
}
