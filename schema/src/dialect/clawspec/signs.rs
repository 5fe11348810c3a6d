//! Recognizes the files of the format. Other tools use the same names and keys.

use crate::{
    kind::{
        Candidate, Signs, Strength, is_at,
        outline::{Entry, Outline},
    },
    words::nearest,
};

pub(super) struct Scenarios;

impl Signs for Scenarios {
    fn root_keys(&self) -> &'static [&'static str] {
        &["scenarios", "target"]
    }

    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        let outline = candidate.outline;
        let target = candidate.members("target", &["type", "path", "trigger"]);
        if !outline.has("scenarios") || target == 0 {
            return None;
        }
        let is_typed = outline.members("target").any(|it| it.key == "type" && ["skill", "agent"].contains(&it.text()));
        let is_telling = is_typed || target > 1 || steps(outline) > 0;
        let is_like_one = is_telling || candidate.members("target", &["path", "trigger"]) > 0;
        is_like_one.then_some(Strength::of_keys(is_telling))
    }

    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.has("scenarios")
            && (steps(candidate.outline) > 1 || candidate.has("version") && candidate.has("target"))
    }

    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        let has = |key: &str| candidate.near(key).is_some();
        // The start of a mapping or a list, not a sentence.
        let is_structured = |value: &str| value.is_empty() || value.starts_with(['{', '[', '&', '*']);
        has("target")
            || has("scenarios") && has("version")
            || is_begun(candidate, "scenarios")
            || has("scenarios") && acts_and_claims(candidate.outline).any(|it| is_structured(it.value))
    }

    /// Whether the scenarios neither act nor assert like those of the format, and have other keys.
    fn is_of_another_tool(&self, candidate: &Candidate<'_>) -> bool {
        let outline = candidate.outline;
        let scenario = candidate.shape.any_field("scenarios").and_then(|(_, list)| list.item());
        let known: Vec<&str> = scenario.iter().flat_map(|it| it.all_fields()).map(|field| field.name).collect();
        let is_known = |key: &str| known.contains(&key) || nearest(key, known.iter().copied()).is_some();
        let is_step = |key: &str| ["given", "when", "then"].iter().any(|step| key == *step || is_near(key, step));
        !outline.has("target")
            && !outline.of_items("scenarios").any(|entry| is_step(entry.key))
            && !acts_and_claims(outline).any(|entry| entry.key != "expected" && entry.key != "steps")
            && outline.of_items("scenarios").any(|entry| !is_known(entry.key))
    }

    /// Whether a scenario has an action or an assertion, possibly under a key that ClawSpec does not know.
    fn is_clear_in_its_place(&self, candidate: &Candidate<'_>) -> Option<bool> {
        Some(acts_and_claims(candidate.outline).next().is_some())
    }

    /// Whether a file in the tests of a skill has a name like `tests/smoke-scenarios.yaml`.
    fn may_be_named(&self, path: &str) -> bool {
        let patterns = ["tests/*scenarios.yaml", "tests/*scenarios.yml", "tests/scenarios.yaml", "tests/scenarios.yml"];
        patterns.iter().any(|pattern| is_at(path, pattern))
    }

    fn is_named_by_patterns(&self) -> bool {
        true
    }
}

pub(super) struct Handoff;

impl Signs for Handoff {
    fn root_keys(&self) -> &'static [&'static str] {
        &["handoff"]
    }

    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        let outline = candidate.outline;
        let has_sides = outline.has("caller_provides") || outline.has("callee_produces");
        let has_agents = || outline.has("version") && candidate.members("handoff", &["from", "to"]) > 0;
        let is_like_one = candidate.members("handoff", &["from", "to", "mechanism"]) > 0 && (has_sides || has_agents());
        is_like_one.then_some(Strength::of_keys(has_sides))
    }

    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.has("caller_provides") && candidate.has("callee_produces")
    }

    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        ["handoff", "caller_provides", "callee_produces"].into_iter().any(|key| candidate.near(key).is_some())
    }
}

pub(super) struct Pipeline;

impl Signs for Pipeline {
    fn root_keys(&self) -> &'static [&'static str] {
        &["pipeline", "stages"]
    }

    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        let outline = candidate.outline;
        let has_stages = outline.has("stages") && outline.members("stages").next().is_none();
        let is_like_one = has_stages && candidate.members("pipeline", &["skill_path", "trigger"]) > 0;
        is_like_one.then(|| Strength::of_keys(candidate.members("pipeline", &["skill_path"]) > 0))
    }

    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.has("stages") && candidate.has_in_items("stages", &["handoff_contract", "produces"])
    }

    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        let has = |key: &str| candidate.near(key).is_some();
        let is_own = |entry: &Entry<'_>| match entry.key {
            "skill_path" | "estimated_duration" => true,
            // In other tools it is a list, here a number.
            "stages" => entry.text().parse::<u32>().is_ok(),
            _ => false,
        };
        let steps = ["agent", "produces", "handoff_contract", "requires_approval"];
        has("final_assertions")
            || has("pipeline_health")
            || is_begun(candidate, "stages")
            || has("pipeline") && has("stages")
            || candidate.near("stages").is_some_and(|stages| candidate.has_in_items(stages.key, &steps))
            || candidate.near("pipeline").is_some_and(|it| candidate.outline.members(it.key).any(is_own))
    }
}

pub(super) struct Ledger;

impl Signs for Ledger {
    fn root_keys(&self) -> &'static [&'static str] {
        &["waves"]
    }

    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.has("waves")
    }

    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.near("waves").is_some()
    }
}

pub(super) struct Baselines;

impl Signs for Baselines {
    fn root_keys(&self) -> &'static [&'static str] {
        &["baselines"]
    }

    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.has("baselines") && candidate.has("version")
    }

    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        candidate.near("baselines").is_some()
    }
}

/// Whether a key, or a similar one, is the start of a file without other content.
fn is_begun(candidate: &Candidate<'_>, key: &str) -> bool {
    !candidate.outline.other && candidate.near(key).is_some_and(|entry| candidate.is_unfilled(entry.key))
}

fn is_near(key: &str, other: &str) -> bool {
    nearest(key, [other]).is_some()
}

/// Returns how many of `when` and `then` have ClawSpec's structure in the scenarios: in other tools they are sentences.
fn steps(outline: &Outline<'_>) -> usize {
    let has = |step: &str, bracket: char| {
        let mut found = outline.of_items("scenarios").filter(|entry| entry.key == step);
        found.any(|entry| entry.value.is_empty() || entry.value.starts_with([bracket, '&', '*']))
    };
    usize::from(has("when", '{')) + usize::from(has("then", '['))
}

fn acts_and_claims<'o>(outline: &'o Outline<'_>) -> impl Iterator<Item = &'o Entry<'o>> {
    let words = ["given", "when", "then", "steps", "assertions", "preconditions", "expected", "invoke"];
    outline.of_items("scenarios").filter(move |entry| words.contains(&entry.key))
}
