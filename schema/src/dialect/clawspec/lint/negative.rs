//! The cures of a contract without a negative scenario: a tag for the scenario that is one, or a new scenario.

use crate::{
    dialect::clawspec::lower,
    document::Shape,
    edit,
    files::Files,
    problem::{Edit, Fix},
    rules::placeholder::placeholder,
    shape::scalar,
    spot::Spot,
};

/// Words in the name of a scenario that shows what a target refuses.
const WORDS: [&str; 14] = [
    "negative", "refuse", "reject", "deny", "denie", "invalid", "missing", "fail", "forbid", "block", "unauth",
    "wrong", "error", "abort",
];

pub(super) fn cures(scenarios: &Spot<'_>, files: &dyn Files) -> Vec<Fix> {
    let looks = |scenario: &Spot<'_>| {
        let name = scenario.get("name").and_then(|name| name.text()).unwrap_or_default().to_lowercase();
        WORDS.iter().any(|word| name.contains(word))
    };
    let items = scenarios.items();
    let tagged = items.iter().filter(|scenario| looks(scenario)).take(3).enumerate().filter_map(|(index, scenario)| {
        let edits = tag(scenario)?;
        let title = format!("tag `{}` as `negative`", scenario.get("name")?.text()?);
        Some(if index == 0 { Fix::guess(title, edits) } else { Fix::suggestion(title, edits) })
    });
    let mut fixes: Vec<Fix> = tagged.collect();
    let lines = scenario(&lower::settings(files).log_path());
    let is_taken = items.iter().any(|item| item.get("name").is_some_and(|name| name.text() == Some("refuses")));
    let edits = edit::lines_at_end(scenarios.node, &lines).filter(|_| !is_taken);
    fixes.extend(edits.map(|edits| Fix::suggestion("add a negative scenario, and fill it in", edits)));
    fixes
}

/// The lines of a negative scenario: the one thing that can be observed of a refusal is that a tool is not called.
pub(crate) fn scenario(log_path: &str) -> [String; 9] {
    let (refused, tool) = (placeholder("a request that it must refuse"), placeholder("the tool that it must not call"));
    [
        "- name: refuses".to_owned(),
        "  tags: [negative]".to_owned(),
        "  when:".to_owned(),
        format!("    invoke: {refused}"),
        "  then:".to_owned(),
        "    - type: tool_not_called".to_owned(),
        format!("      tool: {tool}"),
        format!("      log_path: {}", scalar(log_path)),
        format!("      run_id: {}", scalar("{{run_id}}")),
    ]
}

/// The first tag that is `negative` but for its capitals.
pub(super) fn capital<'d>(scenarios: &Spot<'d>) -> Option<Spot<'d>> {
    let items = scenarios.items().into_iter();
    let mut tags = items.filter_map(|scenario| scenario.get("tags")).flat_map(|tags| tags.items());
    tags.find(|tag| tag.text().is_some_and(|text| text.eq_ignore_ascii_case("negative")))
}

/// The edits that tag a scenario.
fn tag(scenario: &Spot<'_>) -> Option<Vec<Edit>> {
    let Some(tags) = scenario.get("tags") else {
        return scenario.with_behind("name", &[("tags", "[negative]".to_owned())]);
    };
    match tags.node.shape() {
        Shape::Sequence => edit::item_at_end(tags.node, "negative"),
        Shape::Mapping | Shape::Scalar | Shape::Dangling => None,
    }
}
