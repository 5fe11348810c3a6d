//! How far the targets of a coverage ledger are covered: what `speclens coverage` tells.

use std::ops::Range;

use super::ledger_contracts::{Contracts, base, joined};
use crate::{
    document::{Document, Pointer},
    files::{FileKind, Files},
    spot::Spot,
};

/// The directory of ledgers whose paths begin two levels above them.
pub const NESTED_DIRECTORY: &str = "docs/testing";

/// The targets of a ledger, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Targets of the group.
    pub targets: Vec<CoveredTarget>,
}

/// A target, and what is missing of its coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredTarget {
    /// The group that it belongs to.
    pub wave: String,
    /// Its path: the name of the item.
    pub id: String,
    /// Kind of target.
    pub tier: Option<String>,
    /// What is missing; empty for a target that is covered.
    pub gaps: Vec<Gap>,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What kind of thing.
    pub kind: GapKind,
    /// The problem.
    pub message: String,
    /// The node in the ledger that it is about.
    pub at: Pointer,
    /// The bytes of that node.
    pub range: Range<usize>,
}

/// What may be missing. The words are ClawSpec's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapKind {
    /// The target itself.
    TargetMissing,
    /// The scenario contract that the ledger names.
    ScenarioFile,
    /// The pipeline contract that the ledger names.
    PipelineFile,
    /// A handoff contract that the ledger names.
    HandoffFile,
    /// A scenario that shows what the target refuses.
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
    /// Looks at what a ledger names. `files` are those of the workspace, with the ledger at its place.
    pub fn of(document: &Document, files: &dyn Files) -> Coverage {
        let Some(root) = document.root().map(Spot::root) else { return Coverage::default() };
        let mut contracts = Contracts::new(base(files.place()), files);
        let waves = root.get("waves").map(|waves| waves.entries()).unwrap_or_default();
        let mut targets = Vec::new();
        for (wave, spot) in waves {
            for item in spot.get("items").map(|items| items.items()).unwrap_or_default() {
                targets.extend(CoveredTarget::of(&wave, &item, &mut contracts, files));
            }
        }
        Coverage { targets }
    }

    /// Returns the number of targets without a gap.
    pub fn covered(&self) -> usize {
        self.targets.iter().filter(|target| target.gaps.is_empty()).count()
    }

    /// Returns the share of targets without a gap, in percent; that of a ledger without targets is 0.
    pub fn percent(&self) -> f64 {
        match self.targets.len() {
            0 => 0.0,
            // Far fewer targets than a double can count.
            all => self.covered() as f64 * 100.0 / all as f64,
        }
    }
}

impl CoveredTarget {
    fn of(wave: &str, item: &Spot<'_>, contracts: &mut Contracts<'_>, files: &dyn Files) -> Option<CoveredTarget> {
        let id = item.get("id")?;
        let text = |spot: Option<&Spot<'_>>| spot.and_then(|spot| spot.text()).map(str::to_owned);
        let tier = text(item.get("tier").as_ref());
        let mut gaps = Vec::new();
        let mut add = |kind, spot: &Spot<'_>, message: String| {
            gaps.push(Gap { kind, message, at: spot.at.clone(), range: spot.range() });
        };
        let kind_of = |path: &str| joined(base(files.place()), path).and_then(|path| files.kind(&path));
        let target = item.get("path").filter(|path| path.text().is_some()).unwrap_or_else(|| id.clone());
        if let Some(path) = target.text()
            && kind_of(path).is_none()
        {
            add(GapKind::TargetMissing, &target, format!("`{path}` does not exist"));
        }
        let named = item.get("contracts");
        let of = |key: &str| named.as_ref().and_then(|contracts| contracts.get(key));
        let mut wanted = vec![(GapKind::ScenarioFile, of("scenario_file"))];
        if tier.as_deref() == Some("orchestrator") {
            wanted.push((GapKind::PipelineFile, of("pipeline_file")));
            let handoffs = of("handoff_files").map(|list| list.items()).unwrap_or_default();
            wanted.extend(handoffs.into_iter().map(|handoff| (GapKind::HandoffFile, Some(handoff))));
        }
        for (kind, file) in wanted {
            if let Some(file) = file
                && let Some(path) = file.text()
                && kind_of(path) != Some(FileKind::File)
            {
                add(kind, &file, format!("`{path}` does not exist"));
            }
        }
        let claimed = item.find(&["coverage", "negative"]);
        if claimed.as_ref().and_then(|claimed| claimed.bool()) != Some(true) {
            let spot = claimed.as_ref().unwrap_or(&id);
            add(GapKind::NegativeTest, spot, "`coverage.negative` is not `true`".to_owned());
        } else if let Some(false) = contracts.of(named.as_ref()).map(|contract| contract.has_negative) {
            let spot = of("scenario_file").unwrap_or_else(|| id.clone());
            add(GapKind::NegativeTest, &spot, "no scenario of the contract is tagged `negative`".to_owned());
        }
        Some(CoveredTarget { wave: wave.to_owned(), id: id.text()?.to_owned(), tier, gaps })
    }
}

#[cfg(test)]
mod tests {
    use super::Coverage;
    use crate::{dialect::ScalarRules, document::Document, files::MemoryFiles};

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
