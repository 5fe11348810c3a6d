//! The ClawSpec workspace of the failing examples, and its report.

use std::fs;

use crate::support::{Place, repository};

/// The expected report. A failing run of the test rewrites it.
const EXPECTED: &str = "tests/gateway/failing.txt";

/// Returns a report without the parts that differ between runs: durations, times and ids.
fn steady(report: &str) -> String {
    let line = |line: &str| {
        let line = match line.rsplit_once(" (") {
            Some((test, took)) if took.ends_with("ms)") || took.ends_with(" s)") => test,
            Some(_) | None => line,
        };
        if let Some(dashes) = line.find('-').filter(|_| line.ends_with("- called here")) {
            return format!("{}--- called here", &line[..dashes]);
        }
        let Some((before, rest)) = line.split_once("run_id=") else { return line.to_owned() };
        let (number, text) = (before.split('|').next().unwrap_or_default(), rest.split_once(' '));
        format!("{number}| TIME run_id=RUN {}", text.map_or("", |(_, text)| text))
    };
    report.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn failing_workspace_shows_what_is_wrong_and_what_helps() {
    let place = Place::copy_of("tests/specs/failing/newsletter");
    let done = place.run_with(&[("SPECLENS_NOW", "2026-05-14T12:00:00Z")], &["run"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(1), ""), "{done:?}");
    let found = steady(&done.stdout);
    let path = repository().join(EXPECTED);
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if found != expected {
        fs::write(&path, &found).unwrap();
        panic!("{EXPECTED} was written anew: look at what changed\n{found}");
    }
}
