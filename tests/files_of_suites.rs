//! Limits of a suite's files: files above it, links that lead out, circular links.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::support::{Place, suite};

const TASK: &str = "- id: one\n  intent: Show the history of the repository\n  assert: [{ exit_code: 0 }]\n";

fn main(entry: &str) -> String {
    format!("cli: git\nproviders: [anthropic/claude-opus-4-6]\ntasks: ['{entry}']\n")
}

#[test]
fn a_directory_that_leads_back_to_itself_is_entered_once() {
    let place = Place::empty();
    place.write("cli-bench.yaml", main("file://**/*.yaml"));
    place.write("t/one.yaml", TASK);
    for (link, target) in [("self", "."), ("t/up", ".."), ("t/other.yaml", "one.yaml")] {
        symlink(target, place.path().join(link)).unwrap();
    }
    let done = place.run(&["check", "--deny", "warnings"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "no problems in 2 files with 1 test\n"));
    // Entries that lead to the same file are reported as such, whatever their names.
    place.write("cli-bench.yaml", "cli: git\nproviders: [a/b]\ntasks: [file://t/other.yaml, file://t/one.yaml]\n");
    let done = place.run(&["check"]);
    assert!(done.stdout.contains("warning[collision]: duplicate task file `t/one.yaml`"), "{done:?}");
    assert!(!done.stdout.contains("duplicate-name"), "{done:?}");
}

#[test]
fn link_out_of_the_suite_is_read_in_a_trusted_workspace() {
    let place = Place::empty();
    place.write("w/cli-bench.yaml", main("file://t.yaml"));
    place.write("w/k/kindlm.yaml", suite("true", "{output: {format: json, schemaFile: link.json}}"));
    place.write("out/t.yaml", TASK.replace("exit_code", "exit_cod"));
    place.write("out/s.json", "{\"type\": \"objekt\"}");
    symlink("../out/t.yaml", place.path().join("w/t.yaml")).unwrap();
    symlink("../../out/s.json", place.path().join("w/k/link.json")).unwrap();
    let done = place.run_in("w", &["check"]);
    assert!(done.stdout.contains("unknown key `exit_cod`") && done.stdout.contains(" --> t.yaml:3:14"), "{done:?}");
    assert!(done.stdout.contains("`link.json` cannot be used as a JSON Schema"), "{done:?}");
    assert!(done.stdout.contains("2 errors in 3 files"), "{done:?}");
}

#[test]
fn a_file_above_the_suite_is_read_and_reported_where_others_may_not_have_it() {
    let place = Place::empty();
    place.write("w/sub/cli-bench.yaml", main("file://../t.yaml"));
    place.write("w/t.yaml", TASK.replace("exit_code", "exit_cod"));
    let check = |directory: &str| place.run_in(directory, &["check"]);
    let around = check("w");
    assert!(around.stdout.contains(" --> t.yaml:3:14") && around.stdout.contains("\n1 error in 2 files"), "{around:?}");
    let below = check("w/sub");
    assert!(below.stdout.contains("warning[invalid-path]: `../t.yaml` is outside the workspace"), "{below:?}");
    assert!(below.stdout.contains("unknown key `exit_cod`"), "{below:?}");
    // A repository is one workspace.
    std::fs::create_dir(place.path().join("w/.git")).unwrap();
    assert!(!check("w/sub").stdout.contains("invalid-path"));
    place.write("w/sub/cli-bench.yaml", main("file://../nothing/*.yaml"));
    let none = check("w/sub");
    assert!(none.stdout.contains("no file matches `../nothing/*.yaml`"), "{none:?}");
}

#[test]
fn a_task_file_reports_its_own_problems() {
    let place = Place::empty();
    place.write("cli-bench.yaml", main("file://t.yaml"));
    for (content, expected) in
        [(&b"- id: \xff\n"[..], "encoding"), (b"tasks:\n  - id: a\n", "wrong-type"), (b"", "missing-field")]
    {
        place.write("t.yaml", content);
        let (code, report) = place.check(&[]);
        let problems = |file: &str| -> Vec<String> {
            let suites = report["suites"].as_array().unwrap().iter();
            let of_file = suites.filter(|suite| suite["path"] == file);
            let problems = of_file.flat_map(|suite| suite["problems"].as_array().unwrap());
            problems.map(|problem| problem["code"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(code, Some(2), "{report}");
        assert_eq!(problems("cli-bench.yaml"), [""; 0], "{report}");
        let own = problems("t.yaml");
        assert!(own.len() == 1 && own[0] == expected, "{own:?}");
        // A check of the suite alone has to report that tasks are missing.
        assert!(place.run(&["list"]).stdout.contains("has errors"));
    }
    // A file with a comment about another kind is checked as that.
    place.write("t.yaml", "# speclens: dialect=kindlm\nkindlm: 1\n");
    let (_, report) = place.check(&[]);
    assert!(report.to_string().contains("the task file `t.yaml` is not a list of tasks"), "{report}");
}

#[test]
fn tests_of_a_task_file_outside_the_directory_are_counted_once() {
    let place = Place::empty();
    place.write("out/t.yaml", format!("{TASK}{}", TASK.replace("id: one", "id: two")));
    for entry in ["file://t.yaml", "file://k/t.yaml", "file://*.yaml", "file://../out/t.yaml"] {
        place.write("w/cli-bench.yaml", main(entry));
        for (link, target) in [("w/t.yaml", "../out/t.yaml"), ("w/k", "../out")] {
            let _ = symlink(target, place.path().join(link));
        }
        for (directory, arguments) in
            [("w", &["check"][..]), (".", &["check", "w"]), (".", &["check", "w", "out/t.yaml"])]
        {
            let done = place.run_in(directory, arguments);
            assert!(
                done.stdout.contains("in 2 files with 2 tests\n"),
                "{entry}, {arguments:?} in {directory}: {done:?}"
            );
        }
    }
}
