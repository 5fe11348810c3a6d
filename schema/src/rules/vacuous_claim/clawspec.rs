//! Claims of ClawSpec's files that cannot fail, or that hold from before.

use rustc_hash::FxHashMap;

use crate::{
    dialect::clawspec::facts::{Expected, Items},
    finding::{Finding, Relation, Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    spot::Spot,
};

pub(crate) mod assertion;

/// A file that an earlier scenario leaves behind.
#[derive(Debug)]
struct FromBefore(String);

/// Settings that let ClawSpec find no scenario.
#[derive(Debug)]
struct NoPatterns;

/// Looks for files that an earlier scenario of the contract leaves behind, where their time is not asked for.
pub(crate) fn check_relations(scenarios: Items<'_>, report: &mut Report) {
    // Where each file is expected first.
    let mut first: FxHashMap<&str, (usize, &Expected)> = FxHashMap::default();
    for (index, facts) in scenarios.all() {
        let mut reported: Vec<&str> = Vec::new();
        for expected in &facts.expected {
            let path = expected.path.name.as_str();
            let Some((earlier, other)) = first.get(path).filter(|(earlier, _)| *earlier < index) else {
                first.entry(path).or_insert((index, expected));
                continue;
            };
            // One assertion that asks for the time of the file speaks for all of the scenario.
            let is_new = facts.expected.iter().any(|other| other.path.name == path && !other.may_be_old);
            if is_new || reported.contains(&path) || facts.absent.iter().any(|absent| absent == path) {
                continue;
            }
            reported.push(path);
            let (at, range) = scenarios.place(index, &expected.path);
            let (first_at, first_range) = scenarios.place(*earlier, &other.path);
            let finding = Finding::new(FromBefore(path.to_owned()), at, range);
            report.push(finding.related(Relation::Labelled("expected here first"), first_at, first_range));
        }
    }
}

/// Looks at the settings.
pub(crate) fn check_settings(root: &Spot<'_>, report: &mut Report) {
    if let Some(patterns) = root.get("scenario_patterns").filter(|list| list.is_list() && list.is_empty()) {
        report.push(patterns.finding(NoPatterns));
    }
}

impl Rule for FromBefore {
    fn code(&self) -> Code {
        Code::VacuousClaim
    }

    fn severity(&self) -> Severity {
        Severity::Hint
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let assertion = site.at.parent().and_then(|at| Spot::root(site.root).at(&at));
        let edits = assertion
            .and_then(|assertion| assertion.with_behind("path", &[("updated_after", "\"{{run_started_at}}\"".to_owned())]));
        Words::new(format!("`{}` may be there from before", self.0))
            .note("an earlier scenario expects the same file, and its file satisfies this assertion")
            .help("add `updated_after: \"{{run_started_at}}\"`")
            .fix(edits.map(|edits| Fix::guess("add `updated_after`", edits)))
    }
}

impl Rule for NoPatterns {
    fn code(&self) -> Code {
        Code::VacuousClaim
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("an empty list of `scenario_patterns`")
            .note("ClawSpec finds no scenario then")
            .help("add a pattern, or remove the key to use the default")
    }
}
