use crate::{
    dialect::clawspec::{facts::About, ledger_contracts::Contracts, lower, negative_scenario, siblings::Sibling},
    document::Shape,
    edit,
    files::Files,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Severity},
    relations::Items,
    validate::is_damaged,
};

/// No scenario is tagged `negative`.
#[derive(Debug)]
struct NoNegative {
    /// Path of the gateway log, for a scenario that reads it.
    log_path: String,
}

/// The coverage ledger claims a negative scenario that does not exist.
#[derive(Debug)]
struct Claimed;

/// The coverage ledger does not claim an existing negative scenario.
#[derive(Debug)]
struct Unclaimed;

/// Checks the scenarios of a contract and of others for the same target.
pub(crate) fn check_relations(
    root: &LintNode<'_>,
    items: Items<'_>,
    siblings: &[Sibling],
    files: &dyn Files,
    report: &mut Report,
) {
    let Some(scenarios) = root.get("scenarios").filter(|list| list.is_list() && !list.is_empty()) else { return };
    let is_there = items.about(About::Negative).next().is_some() || siblings.iter().any(Sibling::has_negative);
    if !is_there && root.node.document().is_intact() && !is_damaged(root.node) {
        report.push(scenarios.head_finding(NoNegative { log_path: lower::settings(files).log_path() }));
    }
}

/// Checks that `coverage.negative` of a ledger entry agrees with the contract.
pub(crate) fn check_entry(item: &LintNode<'_>, contracts: &mut Contracts<'_>, report: &mut Report) {
    let Some(has_negative) = contracts.have_negative(item.get("contracts").as_ref()) else { return };
    let claimed = item.find(&["coverage", "negative"]);
    match (claimed.as_ref().and_then(LintNode::bool), has_negative) {
        (Some(true), false) => report.push(claimed.as_ref().unwrap_or(item).finding(Claimed)),
        (Some(false) | None, true) => report.push(claimed.as_ref().unwrap_or(item).head_finding(Unclaimed)),
        (Some(true), true) | (Some(false) | None, false) => {}
    }
}

/// Words in the names of scenarios that test what a target must refuse.
const WORDS: [&str; 14] = [
    "negative", "refuse", "reject", "deny", "denie", "invalid", "missing", "fail", "forbid", "block", "unauth",
    "wrong", "error", "abort",
];

/// Returns the fixes: a tag for an existing negative scenario, or a new scenario.
fn fixes_of(scenarios: &LintNode<'_>, log_path: &str) -> Vec<Fix> {
    let looks = |scenario: &LintNode<'_>| {
        let name = scenario.text_at("name").unwrap_or_default().to_lowercase();
        WORDS.iter().any(|word| name.contains(word))
    };
    let items = scenarios.items();
    let tagged = items.iter().filter(|scenario| looks(scenario)).take(3).enumerate().filter_map(|(index, scenario)| {
        let edits = tag(scenario)?;
        let title = format!("tag `{}` with `negative`", scenario.get("name")?.text()?);
        Some(if index == 0 { Fix::guess(title, edits) } else { Fix::suggestion(title, edits) })
    });
    let mut fixes: Vec<Fix> = tagged.collect();
    let lines = negative_scenario::lines(log_path);
    let is_taken = items.iter().any(|item| item.get("name").is_some_and(|name| name.text() == Some("refuses")));
    let edits = edit::lines_at_end(scenarios.node, &lines).filter(|_| !is_taken);
    fixes.extend(edits.map(|edits| Fix::suggestion("add a scenario tagged `negative`", edits)));
    fixes
}

/// Returns the first tag that differs from `negative` only in case.
fn capital<'d>(scenarios: &LintNode<'d>) -> Option<LintNode<'d>> {
    let items = scenarios.items().into_iter();
    let mut tags = items.filter_map(|scenario| scenario.get("tags")).flat_map(|tags| tags.items());
    tags.find(|tag| tag.text().is_some_and(|text| text.eq_ignore_ascii_case("negative")))
}

/// Returns the edits that tag a scenario.
fn tag(scenario: &LintNode<'_>) -> Option<Vec<Edit>> {
    let Some(tags) = scenario.get("tags") else {
        return scenario.with_behind("name", &[("tags", "[negative]".to_owned())]);
    };
    match tags.node.shape() {
        Shape::Sequence => edit::item_at_end(tags.node, "negative"),
        Shape::Mapping | Shape::Scalar | Shape::Dangling => None,
    }
}

impl Rule for NoNegative {
    const CODE: Code = Code::MissingNegative;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let words = MessageParts::new("no scenario is tagged `negative`")
            .note("ClawSpec refuses to run this target, and every other target that is selected with it");
        let Some(scenarios) = location.lint_node() else { return words };
        match capital(&scenarios) {
            Some(tag) => {
                let written = tag.text().unwrap_or_default();
                let help = format!("change the tag `{written}` to `negative`");
                let edits = tag.replaced("negative");
                words.note("tags are case-sensitive in ClawSpec").remedy(help, Fix::guess, edits)
            }
            None => words
                .help("tag a scenario `negative`, or add a scenario with this tag")
                .fix(fixes_of(&scenarios, &self.log_path)),
        }
    }
}

impl Rule for Claimed {
    const CODE: Code = Code::MissingNegative;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("`coverage.negative` is `true`, but the contract has no scenario tagged `negative`")
            .help("add such a scenario, or write `negative: false`")
    }
}

impl Rule for Unclaimed {
    const CODE: Code = Code::MissingNegative;
    const SEVERITY: Severity = Severity::Information;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("the contract has a scenario tagged `negative`, but `coverage.negative` is not `true`")
            .help("write `negative: true`")
    }
}
