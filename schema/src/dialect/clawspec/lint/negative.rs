//! The cures of a contract without a negative scenario: a tag for the scenario that is one, or a new scenario.

use crate::{
    document::Shape,
    problem::{Edit, Fix},
    rewrite::moving,
    spot::Spot,
};

/// Words in the name of a scenario that shows what a target refuses.
const WORDS: [&str; 14] = [
    "negative", "refuse", "reject", "deny", "denie", "invalid", "missing", "fail", "forbid", "block", "unauth",
    "wrong", "error", "abort",
];

pub(super) fn cures(scenarios: &Spot<'_>) -> Vec<Fix> {
    let looks = |scenario: &Spot<'_>| {
        let name = scenario.get("name").and_then(|name| name.text()).unwrap_or_default().to_lowercase();
        WORDS.iter().any(|word| name.contains(word))
    };
    let items = scenarios.items();
    let tagged = items.iter().filter(|scenario| looks(scenario)).take(3).enumerate().filter_map(|(index, scenario)| {
        let edit = tag(scenario)?;
        let title = format!("Tag `{}` as `negative`", scenario.get("name")?.text()?);
        Some(if index == 0 { Fix::guess(title, vec![edit]) } else { Fix::suggestion(title, vec![edit]) })
    });
    let mut fixes: Vec<Fix> = tagged.collect();
    let lines = [
        "- name: refuses",
        "  description: What it refuses.",
        "  tags: [negative]",
        "  when:",
        "    invoke: Say what it must refuse",
        "  then:",
        "    - type: no_span_errors",
    ];
    let is_taken = items.iter().any(|item| item.get("name").is_some_and(|name| name.text() == Some("refuses")));
    let edit = moving::append_item(scenarios.node, &lines.map(str::to_owned)).filter(|_| !is_taken);
    fixes.extend(edit.map(|edit| Fix::suggestion("Add a negative scenario", vec![edit])));
    fixes
}

/// The first tag that is `negative` but for its capitals.
pub(super) fn capital<'d>(scenarios: &Spot<'d>) -> Option<Spot<'d>> {
    let items = scenarios.items().into_iter();
    let mut tags = items.filter_map(|scenario| scenario.get("tags")).flat_map(|tags| tags.items());
    tags.find(|tag| tag.text().is_some_and(|text| text.eq_ignore_ascii_case("negative")))
}

/// The edit that tags a scenario.
fn tag(scenario: &Spot<'_>) -> Option<Edit> {
    let Some(tags) = scenario.get("tags") else {
        return super::edits::insert_behind(scenario, "name", &[("tags", "[negative]".to_owned())]);
    };
    match tags.node.shape() {
        Shape::Sequence => moving::append(tags.node, "negative"),
        Shape::Mapping | Shape::Scalar | Shape::Dangling => None,
    }
}
