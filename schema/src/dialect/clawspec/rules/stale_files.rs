//! Files that an earlier scenario of the contract expects as well: unless the time of the file is checked, the earlier
//! one satisfies the assertion too.

use rustc_hash::FxHashMap;

use crate::{
    dialect::clawspec::{assertion::TypeInfo, statements::Statement},
    document::NodeRef,
    finding::{Finding, MessageParts, Relation, Report},
    lint_node::LintNode,
    names::Named,
    problem::{Code, Fix, Problem, Severity, Subject},
    relations::{Facts, Items, Kind, Topic},
};

/// What a scenario says about files.
pub(crate) struct FileFacts {
    /// Files that must exist afterwards.
    expected: Vec<ExpectedFile>,
    /// Files that must not exist before.
    absent: Vec<String>,
}

struct ExpectedFile {
    path: Named,
    /// Block that contains the written path, and its offset there. Aliased values are written elsewhere.
    written: Option<(u64, usize)>,
    /// Whether a file from before the run is accepted.
    may_be_old: bool,
}

/// Topic of the scenarios that expect a file.
#[derive(Clone, Copy)]
struct Expectation;

impl Kind for Expectation {
    type Facts = FileFacts;

    fn number(self) -> u8 {
        0
    }
}

/// Returns what a scenario says about files.
pub(crate) fn facts_of(item: NodeRef<'_>) -> Facts {
    let start = item.range().start;
    let item = LintNode::root(item);
    let assertions = |list: &str| item.get(list).map(|list| list.items()).unwrap_or_default();
    let mut expected = Vec::new();
    for assertion in assertions("then") {
        let Some(info) = TypeInfo::of(&assertion).filter(|info| info.waits) else { continue };
        let may_be_old = assertion.get("updated_after").is_none();
        expected.extend((info.says)(&assertion).iter().filter_map(|said| said.file(true)).map(|(path, node)| {
            let path = Named::new(path, &node.at, node.range(), start);
            ExpectedFile { path, written: written(node.node), may_be_old }
        }));
    }
    let before = assertions("given");
    let said = before.iter().filter_map(|it| Some((TypeInfo::of(it)?.says)(it))).flatten();
    let absent = said.filter_map(|said: Statement<'_>| Some(said.file(false)?.0.to_owned())).collect();
    let topics: Vec<Topic> = expected.iter().map(|file| Topic::named(Expectation, &file.path.name)).collect();
    Facts::new(FileFacts { expected, absent }, topics)
}

/// Returns the block that contains a value as written, and its offset there.
fn written(value: NodeRef<'_>) -> Option<(u64, usize)> {
    let (start, block) = value.document().block_of(value)?;
    Some((block.id(), value.own_range().start - start))
}

/// Reports files from an earlier scenario of the contract whose time is not checked.
pub(crate) fn check(items: Items<'_>, report: &mut Report) {
    // First expectation of each file.
    let mut first: FxHashMap<&str, (usize, &Named)> = FxHashMap::default();
    let mut findings: Vec<Finding> = Vec::new();
    // Index of the finding for each written location, which aliases repeat.
    let mut numbers: FxHashMap<(u64, usize), usize> = FxHashMap::default();
    for (item, facts) in items.sharing(Expectation) {
        let mut reported: Vec<&str> = Vec::new();
        for expected in &facts.expected {
            let path = expected.path.name.as_str();
            let Some((earlier, earlier_path)) = first.get(path).filter(|(earlier, _)| *earlier < item) else {
                first.entry(path).or_insert((item, &expected.path));
                continue;
            };
            // One assertion that checks the time of the file is sufficient for the whole scenario.
            let is_new = facts.expected.iter().any(|other| other.path.name == path && !other.may_be_old);
            if is_new || reported.contains(&path) || facts.absent.iter().any(|absent| absent == path) {
                continue;
            }
            reported.push(path);
            let (at, range) = items.place(item, &expected.path);
            let number = expected.written.map(|written| *numbers.entry(written).or_insert(findings.len()));
            if let Some(number) = number.filter(|number| *number < findings.len()) {
                findings[number].add_related(Relation::UsedAgain, at, range);
                continue;
            }
            let words = MessageParts::new(format!("`{path}` may already exist"))
                .note("an earlier scenario expects the same file, and its file would satisfy this assertion too")
                .help("add `updated_after: \"{{run_started_at}}\"`")
                .subject(Subject::OldFile);
            let finding = Finding::stated(Code::VacuousClaim, words, at, range).with_severity(Severity::Hint);
            let (first_at, first_range) = items.place(*earlier, earlier_path);
            findings.push(finding.related(Relation::Labelled("first expected here"), first_at, first_range));
        }
    }
    report.extend(findings);
}

/// Adds the fix that checks the time of a file.
pub(crate) fn fix_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.subject == Some(Subject::OldFile)) {
        let assertion = problem.at.parent().and_then(|at| LintNode::root(root).at(&at));
        let edits = assertion.and_then(|assertion| {
            assertion.with_behind("path", &[("updated_after", "\"{{run_started_at}}\"".to_owned())])
        });
        problem.fixes.extend(edits.map(|edits| Fix::guess("add `updated_after: \"{{run_started_at}}\"`", edits)));
    }
}
