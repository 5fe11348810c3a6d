//! Messages of `speclens check` with what to do about them, however the file is written.

use serde_json::Value;

use crate::support::{Place, suite};

/// Returns the problems of a report with this code.
fn with_code<'r>(report: &'r Value, code: &str) -> Vec<&'r Value> {
    let suites = report["suites"].as_array().unwrap();
    let problems = suites.iter().flat_map(|suite| suite["problems"].as_array().unwrap());
    problems.filter(|problem| problem["code"] == code).collect()
}

#[test]
fn empty_item_on_another_line_is_reported_at_its_comma_with_help() {
    for (tags, line, column) in [
        ("tags: [a,, b]", 0, 9),
        ("tags: [a,\n      , b]", 1, 6),
        ("tags: ['a', # one\n      , \"b\"]", 1, 6),
        ("tags:\n      [\n        a,\n        ,\n      ]", 3, 8),
        ("tags: [{a: 1},\n      , [b]]", 1, 6),
    ] {
        for line_break in ["\n", "\r\n"] {
            let text = suite("echo hello", "{output: {contains: [hello]}}")
                .replace("    command", &format!("    {tags}\n    command"));
            let first = text.lines().position(|line| line.trim_start().starts_with("tags")).unwrap();
            let place = Place::with(&text.replace('\n', line_break));
            let (code, report) = place.check(&[]);
            let found = with_code(&report, "syntax");
            assert_eq!((code, found.len()), (Some(2), 1), "{text}: {report:#}");
            assert_eq!(found[0]["message"], "empty list item", "{text}");
            let start = &found[0]["place"]["range"]["start"];
            let indent = if line == 0 { 4 } else { 0 };
            assert_eq!(
                (start["line"].as_u64(), start["character"].as_u64()),
                (Some((first + line) as u64), Some(column + indent)),
                "{text}"
            );
            assert!(found[0]["help"].is_string(), "{text}: {found:#?}");
        }
    }
}

#[test]
fn misspelled_key_that_sets_no_threshold_is_a_warning() {
    for (key, severity) in [
        ("modles: [scripted/a]", "warning"),
        ("modles:\n  - scripted/a", "warning"),
        ("'modles': 0.5", "warning"),
        ("\"modelss\": [scripted/a]", "warning"),
        ("models: [scripted/a]", "warning"),
        // These would set limits.
        ("modles: {scripted/a: 0.5}", "error"),
        ("models:\n  scripted/a: 0.5", "error"),
        ("thresolds: {models: {scripted/a: 0.5}}", "error"),
    ] {
        for line_break in ["\n", "\r\n"] {
            let text = format!("cli: sh\n{key}\ntasks:\n  - {{id: a, intent: print it, assert: [{{ran: a}}]}}\n");
            let place = Place::empty();
            place.write("cli-bench.yaml", text.replace('\n', line_break));
            let (_, report) = place.check(&[]);
            let found: Vec<_> =
                with_code(&report, "unknown-key").iter().map(|it| it["severity"].as_str().unwrap()).collect();
            assert_eq!(found, [severity], "{text}: {report:#}");
        }
    }
}

#[test]
fn missing_space_in_settings_is_reported_at_the_key() {
    for (text, at) in [
        ("judge:openai/gpt-4o\n", (0, 0)),
        ("clawspec:\n  gateway:demo.gateway.yaml\n", (1, 2)),
        ("clawspec: {gateway:demo.gateway.yaml}\n", (0, 11)),
    ] {
        for line_break in ["\n", "\r\n"] {
            let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
            place.write("speclens.yaml", text.replace('\n', line_break));
            let (code, report) = place.check(&[]);
            let found = with_code(&report, "wrong-type");
            assert_eq!((code, found.len()), (Some(2), 1), "{text}: {report:#}");
            assert_eq!(found[0]["message"], "missing space after the colon", "{text}");
            let start = &found[0]["place"]["range"]["start"];
            assert_eq!((start["line"].as_u64(), start["character"].as_u64()), (Some(at.0), Some(at.1)), "{text}");
            assert!(found[0]["help"].is_string(), "{text}: {found:#?}");
        }
    }
}

#[test]
fn invalid_values_of_settings_have_help() {
    let model = "write the id of the model that scores, such as `anthropic/claude-haiku-4-5`";
    let share = "write a number from 0 to 1, such as `0.9`";
    for (text, help) in [
        ("judge: [a/b]\n", model),
        ("judge:\n  - a/b\n  - c/d\n", model),
        ("judge: 'gpt'\n", model),
        ("thresholds: {pass_rate: 2}\n", share),
        ("thresholds:\n  pass_rate: \"high\"\n", share),
        ("limits: {concurrency: 0}\n", "write an integer from 1 to 64"),
        ("recordings: {enabled: maybe}\n", "write `true` or `false`"),
        ("clawspec: {thresholds: none}\n", "write `fail` or `warn`"),
    ] {
        for line_break in ["\n", "\r\n"] {
            let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
            place.write("speclens.yaml", text.replace('\n', line_break));
            let (code, report) = place.check(&[]);
            let found = with_code(&report, "invalid-setting");
            assert_eq!((code, found.len()), (Some(2), 1), "{text}: {report:#}");
            assert_eq!(found[0]["help"], help, "{text}");
            let shown = place.run(&["check"]);
            assert!(shown.stdout.contains(&format!("= help: {help}\n")), "{text}: {shown:?}");
        }
    }
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    place.write("speclens.yaml", b"\xff\xfej\0u\0d\0g\0e\0:\0 \0a\0/\0b\0\n\0");
    let (_, report) = place.check(&[]);
    assert_eq!(with_code(&report, "encoding")[0]["help"], "save the file as UTF-8", "{report:#}");
    assert!(place.run(&["check"]).stdout.contains("= help: save the file as UTF-8\n"));
}
