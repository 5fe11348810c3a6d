//! `run --recorded --accept`: the observed values are written in place of what failing assertions expect.

use crate::support::{Place, suite};

const CALL: &str = r#"{"kindlm":"tool_call","name":"f","arguments":{"id":"0815","count":3}}"#;

/// Returns a suite with lists in two styles.
fn refunds() -> String {
    format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n  - name: refund\n    command: |\n      echo 'Refund: approve'\n      echo '{CALL}'\n    expect:\n      output:\n        contains:\n        - 'refund approved' # what it says\n      toolCalls: [{{tool: f, argsMatch: {{id: \"1\", count: '2'}}}}]\n  - name: other\n    command: echo bye\n    expect:\n      output:\n        contains:\n          - \"byee\"\n"
    )
}

fn accepted(text: &str) -> String {
    let text = text.replace("'refund approved'", "\"Refund: approve\"").replace("id: \"1\"", "id: \"0815\"");
    text.replace("'2'", "3")
}

#[test]
fn changes_are_printed_and_written_until_all_tests_pass() {
    for text in [refunds(), refunds().replace('\n', "\r\n"), refunds().replace("\n  ", "\n")] {
        let place = Place::with(&text);
        assert_eq!(place.run(&["run"]).code, Some(1), "{text}");
        let done = place.run(&["run", "--recorded", "--accept"]);
        assert_eq!(done.code, Some(0), "{done:?}\n{}", place.read("kindlm.yaml"));
        assert_eq!(place.read("kindlm.yaml"), accepted(&text).replace("\"byee\"", "bye"));
        let changed: Vec<(char, &str)> = done
            .stdout
            .lines()
            .filter_map(|line| Some((line.chars().next()?, line[1..].trim().strip_prefix("- ")?)))
            .collect();
        for line in
            [('-', "'refund approved' # what it says"), ('+', "\"Refund: approve\" # what it says"), ('+', "bye")]
        {
            assert!(changed.contains(&line), "{line:?}: {done:?}");
        }
        assert!(done.stderr.contains("accepted 4 values in 1 file"), "{done:?}");
        // Nothing is left.
        let done = place.run(&["run", "--recorded", "--accept"]);
        assert!(done.code == Some(0) && done.stderr.contains("nothing to accept"), "{done:?}");
    }
}

#[test]
fn changes_are_only_shown_with_diff_and_only_of_selected_tests() {
    let place = Place::with(&refunds());
    place.run(&["run"]);
    let done = place.run(&["run", "--recorded", "--accept", "--diff", "--test", "other"]);
    assert_eq!((done.code, place.read("kindlm.yaml")), (Some(0), refunds()), "{done:?}");
    assert!(done.stdout.contains("-          - \"byee\"\n+          - bye\n"), "{done:?}");
    assert!(
        !done.stdout.contains("approve") && done.stderr.contains("`--accept` would change 1 value in 1 file"),
        "{done:?}"
    );
    let done = place.run(&["run", "--recorded", "--accept", "--test", "refund"]);
    assert_eq!((done.code, place.read("kindlm.yaml")), (Some(0), accepted(&refunds())), "{done:?}");
    assert_eq!(place.run(&["run", "--accept"]).code, Some(2));
    // The report owns standard output.
    let done = place.run(&["run", "--recorded", "--accept", "--report", "json"]);
    assert!(done.json().is_object() && done.stderr.contains("+          - bye"), "{done:?}");
}

#[test]
fn value_on_which_attempts_disagree_is_kept() {
    // The attempts write outside of the suite, whose files they would otherwise depend on.
    let outside = Place::empty();
    let count = outside.path().join("n").display().to_string();
    let command = format!("echo x >> {count}; echo size $(wc -l < {count})");
    let text = suite(&command, "{output: {contains: [\"size 0\"], maxLength: 3}}");
    let text = text.replace("    expect", "    repeat: 2\n    expect");
    let place = Place::with(&text);
    assert_eq!(place.run(&["run", "--jobs", "1"]).code, Some(1));
    let done = place.run(&["run", "--recorded", "--accept"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(place.read("kindlm.yaml"), text.replace("maxLength: 3", "maxLength: 6"));
    let note = "kindlm.yaml:8: attempts of `only` observed different values, so the expected one is kept";
    assert!(done.stderr.contains(note), "{done:?}");
}

#[cfg(unix)]
#[test]
fn task_files_of_a_suite_are_changed_and_models_must_agree() {
    let place = Place::empty();
    place.write("cli-bench.yaml", "cli: sh\nproviders: [scripted/one, scripted/two]\ntasks: [file://tasks/*.yaml]\n");
    place.write(
        "tasks/a.yaml",
        "- id: same\n  intent: Print a greeting\n  max_turns: 3\n  assert:\n  - output_equals: hi\n- id: apart\n  intent: Print a name\n  max_turns: 3\n  assert: [{ output_equals: x }]\n",
    );
    place.write("one.script.yaml", "tasks:\n  same: [{ run: echo hello }]\n  apart: [{ run: echo one }]\n");
    place.write("two.script.yaml", "tasks:\n  same: [{ run: echo hello }]\n  apart: [{ run: echo two }]\n");
    let before = place.read("tasks/a.yaml");
    assert_eq!(place.run(&["run"]).code, Some(1));
    let done = place.run(&["run", "--recorded", "--accept"]);
    assert_eq!(place.read("tasks/a.yaml"), before.replace("output_equals: hi", "output_equals: hello"), "{done:?}");
    assert!(done.stdout.contains("+++ tasks/a.yaml"), "{done:?}");
    assert!(done.stderr.contains("tasks/a.yaml:9: attempts of `apart` observed different values"), "{done:?}");
}
