//! The lenses above tests: run it, and what came of it last.

use std::ops::Range;

use speclens_schema::document::Document;

/// What is known about a test.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseState {
    /// Nothing was recorded.
    NeverRun,
    /// It runs now.
    Running,
    /// What was recorded is of something else than what the test does now.
    Stale,
    /// Everything holds.
    Passed {
        /// From start to end.
        duration_ms: f64,
    },
    /// Something is worth a look.
    Warned {
        /// How many claims warn.
        claims: usize,
        /// From start to end.
        duration_ms: f64,
    },
    /// Claims do not hold.
    Failed {
        /// How many.
        claims: usize,
    },
    /// Something that a claim needs was not observed.
    Unknown {
        /// How many claims are concerned.
        claims: usize,
    },
    /// The run broke.
    Broke {
        /// Why.
        message: String,
    },
}

/// A lens.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// The bytes it stands above.
    pub range: Range<usize>,
    /// What it says.
    pub title: String,
    /// What a click does.
    pub action: LensAction,
}

/// What a click on a lens does.
#[derive(Clone, Debug, PartialEq)]
pub enum LensAction {
    /// Runs the test with this name.
    Run(String),
    /// Runs every test of the file.
    RunFile,
    /// Shows what the last run of this test did.
    Transcript(String),
    /// Cancels the runs of the test with this name.
    Cancel(String),
    /// Nothing: the lens only tells.
    None,
}

impl CaseState {
    /// The state in a few words; nothing for a test that never ran.
    pub fn title(&self) -> Option<String> {
        let claims = |count: &usize| if *count == 1 { "1 claim".to_owned() } else { format!("{count} claims") };
        Some(match self {
            CaseState::NeverRun => return None,
            CaseState::Running => "… running, click to cancel".to_owned(),
            CaseState::Stale => "⚠ stale, run again".to_owned(),
            CaseState::Passed { duration_ms } => format!("✓ passed {}", duration(*duration_ms)),
            CaseState::Warned { claims: count, duration_ms } => {
                format!("✓ passed {}, {} worth a look", duration(*duration_ms), claims(count))
            }
            CaseState::Failed { claims: count } => format!("✗ {} failed", claims(count)),
            CaseState::Unknown { claims: count } => format!("? {} unknown", claims(count)),
            CaseState::Broke { message } => format!("! broke: {message}"),
        })
    }
}

/// A duration as a person says it.
pub fn duration(milliseconds: f64) -> String {
    if milliseconds < 1000.0 {
        format!("{} ms", milliseconds.round())
    } else {
        format!("{:.1} s", milliseconds / 1000.0)
    }
}

/// The lenses of a suite. `state` knows about a test by its name.
pub fn lenses(document: &Document, state: impl Fn(&str) -> Option<CaseState>) -> Vec<Lens> {
    let mut lenses = Vec::new();
    let Some(root) = document.root() else { return lenses };
    let Some(tests) = root.entry("tests") else { return lenses };
    let (mut passed, mut failed, mut other, mut count) = (0, 0, 0, 0);
    for test in tests.value.items() {
        let Some(name) = test.get("name").and_then(|name| name.as_str()).filter(|name| !name.is_empty()) else {
            continue;
        };
        count += 1;
        let range = test.range();
        let range = range.start..range.start + name.len().min(range.len());
        let known = state(name).unwrap_or(CaseState::NeverRun);
        match &known {
            CaseState::Passed { .. } | CaseState::Warned { .. } => passed += 1,
            CaseState::Failed { .. } | CaseState::Broke { .. } => failed += 1,
            CaseState::NeverRun | CaseState::Running | CaseState::Stale | CaseState::Unknown { .. } => other += 1,
        }
        lenses
            .push(Lens { range: range.clone(), title: "▶ Run".to_owned(), action: LensAction::Run(name.to_owned()) });
        if let Some(title) = known.title() {
            let action = match known {
                CaseState::Running => LensAction::Cancel(name.to_owned()),
                CaseState::Stale => LensAction::Run(name.to_owned()),
                CaseState::NeverRun
                | CaseState::Passed { .. }
                | CaseState::Warned { .. }
                | CaseState::Failed { .. }
                | CaseState::Unknown { .. }
                | CaseState::Broke { .. } => LensAction::Transcript(name.to_owned()),
            };
            lenses.push(Lens { range, title, action });
        }
    }
    if count > 0 {
        // Above the first entry, where it can always be seen.
        let range = root.entries().next().map_or(0..0, |entry| entry.key.range());
        let title = "▶ Run file".to_owned();
        let mut file = vec![Lens { range: range.clone(), title, action: LensAction::RunFile }];
        if passed + failed > 0 {
            let mut words = Vec::new();
            for (number, word) in [(failed, "failed"), (passed, "passed"), (other, "without result")] {
                if number > 0 {
                    words.push(format!("{number} {word}"));
                }
            }
            file.push(Lens { range, title: words.join(", "), action: LensAction::None });
        }
        file.append(&mut lenses);
        lenses = file;
    }
    lenses
}

/// The name of the test around an offset.
pub fn test_at(document: &Document, offset: usize) -> Option<String> {
    let pointer = document.pointer_at(offset);
    let mut steps = pointer.steps();
    let (list, index) = (steps.next()?, steps.next()?);
    let test = document.root()?.get(&list).filter(|_| list == "tests")?.item_at(index.parse().ok()?)?;
    test.get("name")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use speclens_schema::{dialect::ScalarRules, document::Document};

    use super::{CaseState, lenses};

    #[track_caller]
    fn check(text: &str, states: &[(&str, CaseState)], expected: Expect) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let state = |name: &str| states.iter().find(|(known, _)| *known == name).map(|(_, state)| state.clone());
        let lines: Vec<String> = lenses(&document, state)
            .into_iter()
            .map(|lens| format!("{}: {}\n", document.text().byte_to_line(lens.range.start) + 1, lens.title))
            .collect();
        expected.assert_eq(&lines.concat());
    }

    #[test]
    fn every_named_test_can_be_run() {
        check(
            "tests:\n  - name: a\n    command: x\n  - command: y\n  - name: b\n",
            &[],
            expect![[r#"
                1: ▶ Run file
                2: ▶ Run
                5: ▶ Run
            "#]],
        );
    }

    #[test]
    fn lenses_tell_what_came_of_the_last_run() {
        check(
            "tests:\n- name: a\n- name: b\n- name: c\n- name: d\n- name: e\n",
            &[
                ("a", CaseState::Passed { duration_ms: 1234.0 }),
                ("b", CaseState::Failed { claims: 2 }),
                ("c", CaseState::Stale),
                ("d", CaseState::Broke { message: "timed out after 1000 ms".to_owned() }),
                ("e", CaseState::Running),
            ],
            expect![[r#"
                1: ▶ Run file
                1: 2 failed, 1 passed, 2 without result
                2: ▶ Run
                2: ✓ passed 1.2 s
                3: ▶ Run
                3: ✗ 2 claims failed
                4: ▶ Run
                4: ⚠ stale, run again
                5: ▶ Run
                5: ! broke: timed out after 1000 ms
                6: ▶ Run
                6: … running, click to cancel
            "#]],
        );
    }
}
