//! Secrets of a suite, its environment, its commands and its model, and all files and reports about them.

use std::fs;

use super::{
    SUITE, place_of,
    provider::{calling, provider, saying},
    with_key,
};
use crate::support::{Done, Place};

/// The planted secrets: the value of a variable with a secret-looking name, of one that the settings name, of one that
/// the suite sets, the match of a pattern, and the key of the provider.
const PLANTED: [&str; 5] =
    ["planted-by-name", "planted-by-list", "planted-by-suite", "tok_12ab", "key-0123456789abcdef"];

/// Returns a suite whose model says, runs and writes all of them. One assertion fails, so as much as possible is shown.
fn leaking() -> Place {
    let redactions =
        "env: {TOKEN: planted-by-suite}\nredact_env: [TOKEN, OUTER]\nredact_patterns: ['tok_[a-z0-9]{4}']\n";
    let provider = provider(|turn| match turn {
        0 => calling(
            turn,
            &format!("cat name > out.txt; echo {} $MY_API_KEY $OUTER $TOKEN >> out.txt", PLANTED.join(" ")),
        ),
        1 => calling(turn, "cat out.txt; cat out.txt >&2"),
        _ => saying(&format!("I used {}.", PLANTED.join(", "))),
    });
    let suite = SUITE.replace("output_contains: hello\n", "output_contains: nothing of this kind is ever written\n");
    let suite =
        suite.replace("verify: {run: cat name out.txt, output_contains: hello}", "verify: {run: cat out.txt; exit 3}");
    place_of(&format!("{suite}{redactions}"), &provider)
}

fn done(place: &Place, arguments: &[&str]) -> Done {
    let mut program = with_key(place, arguments);
    Done::of(&program.env("MY_API_KEY", PLANTED[0]).env("OUTER", PLANTED[1]).output().unwrap())
}

#[test]
fn planted_secrets_are_in_no_report_no_recording_and_no_list() {
    let place = leaking();
    let mut written = Vec::new();
    for mode in [&[][..], &["--recorded"]] {
        for format in ["human", "json", "junit", "sarif", "github"] {
            let report = format!("{format}=report.{format}");
            let arguments = [&["run", "--report", &report, "--report", "human", "--set", "report.evidence=true"], mode];
            let done = done(&place, &arguments.concat());
            assert_eq!(done.code, Some(1), "{done:?}");
            assert!(done.stdout.contains("nothing of this kind"), "{done:?}");
            written.push((format!("{format} {mode:?}"), place.read(&format!("report.{format}"))));
            written.push(("terminal".to_owned(), done.text()));
        }
    }
    for arguments in [&["recordings", "list"][..], &["recordings", "show", "greet"], &["run", "--dry-run"], &["list"]] {
        written.push((arguments.join(" "), done(&place, arguments).text()));
    }
    let files = place.recordings().into_iter().chain(place.texts());
    written.extend(files.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())));
    let json = written.iter().find(|(name, _)| name.starts_with("json")).unwrap();
    assert!(json.1.contains("hello ****") && json.1.contains("I used ***"), "what is masked was observed: {}", json.1);
    for secret in PLANTED {
        for (name, text) in &written {
            assert!(!text.contains(secret), "{name} holds {secret}:\n{text}");
        }
    }
}
