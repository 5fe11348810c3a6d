//! The command line: arguments, output, exit status.

use std::{fs, process::Command};

use crate::support::{Done, Place, repository, suite};

const GOOD: &str = "{output: {contains: [hello]}}";

#[test]
fn the_starter_suite_passes_and_is_never_overwritten() {
    let place = Place::empty();
    assert_eq!(place.run(&["init", "kindlm"]).code, Some(0));
    let checked = place.run(&["check", "--deny", "warnings"]);
    assert!(checked.code == Some(0) && checked.stdout.starts_with("no problems in "), "{checked:?}");
    let ran = place.run(&["run"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("3 tests: 3 passed"), "{ran:?}");
    place.write("kindlm.yaml", "mine");
    let again = place.run(&["init", "kindlm"]);
    assert_eq!((again.code, place.read("kindlm.yaml").as_str()), (Some(2), "mine"));
    assert!(again.stderr.contains("already exists"), "{again:?}");
}

#[test]
fn starters_of_the_other_formats_have_no_problems_and_overwrite_nothing() {
    for (dialect, first, last) in [
        ("cli-bench", "cli-bench.yaml", "tasks/basics.yaml"),
        ("clawspec", "clawspec.yaml", "skills/greeter/tests/scenarios.yaml"),
    ] {
        let place = Place::empty();
        assert_eq!(place.run(&["init", dialect]).code, Some(0));
        let checked = place.run(&["check", "--deny", "warnings"]);
        assert_eq!(checked.code, Some(0), "{checked:?}");
        assert!(checked.stdout.starts_with("no problems in ") && checked.stdout.ends_with(" tests\n"), "{checked:?}");
        // One existing file is enough to leave everything unchanged.
        fs::remove_file(place.path().join(first)).unwrap();
        place.write(last, "mine");
        let again = place.run(&["init", dialect]);
        assert_eq!((again.code, place.read(last).as_str()), (Some(2), "mine"));
        assert!(again.stderr.contains("already exists") && !place.path().join(first).exists(), "{again:?}");
    }
}

#[test]
fn starter_suite_of_cli_bench_runs_and_passes_without_a_key() {
    let place = Place::empty();
    assert!(place.run(&["init", "cli-bench"]).stdout.contains("rehearsal.script.yaml"));
    let done = Done::of(&place.program(&["run"]).env_remove("ANTHROPIC_API_KEY").output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("2 tests: 2 passed"), "{done:?}");
}

#[test]
fn starter_workspace_of_clawspec_runs_and_passes_again_and_again() {
    let place = Place::empty();
    assert!(place.run(&["init", "clawspec"]).stdout.contains("rehearsal.gateway.yaml"));
    for _ in 0..2 {
        let done = place.run(&["run"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stdout.contains("2 tests: 2 passed"), "{done:?}");
    }
    let script = place.read("rehearsal.gateway.yaml");
    place.write("rehearsal.gateway.yaml", format!("{script}health: {{ status: 503 }}\n"));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("gateway_healthy"), "{done:?}");
    place.write("rehearsal.gateway.yaml", "runs:\n  - when: { skill: /other }\n");
    let done = place.run(&["run"]);
    assert!(done.stdout.contains("has no run for the skill `/greeter`"), "{done:?}");
    place.write("rehearsal.gateway.yaml", "runs: 1\n");
    let done = place.run(&["run"]);
    assert!(done.stdout.contains("rehearsal.gateway.yaml: line 1"), "{done:?}");
}

#[test]
fn the_shipped_examples_pass() {
    let place = Place::copy_of("schema/examples");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = place.run(&["check", "--deny", "warnings"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn suites_are_found_below_the_directory_unless_version_control_ignores_them() {
    let place = Place::empty();
    for directory in ["a", "b/c", "ignored", "node_modules/x"] {
        place.write(&format!("{directory}/kindlm.yaml"), suite("echo hello", GOOD));
    }
    place.write(".gitignore", "ignored\nnode_modules\n");
    let done = place.run(&["list"]);
    assert_eq!(done.stdout.matches("kindlm.yaml").count(), 2, "{done:?}");
    assert!(done.stdout.contains("a/kindlm.yaml") && done.stdout.contains("b/c/kindlm.yaml"), "{done:?}");
    // A path on the command line is not ignored, and nothing is listed twice.
    let done = place.run(&["list", "ignored", "ignored/kindlm.yaml"]);
    assert_eq!(done.stdout.matches("kindlm.yaml").count(), 1, "{done:?}");
}

#[test]
fn a_place_without_a_suite_is_an_error() {
    let done = Place::empty().run(&["check"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("speclens init"), "{done:?}");
    let done = Place::empty().run(&["run", "nowhere"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("nowhere"), "{done:?}");
}

#[test]
fn directory_that_cannot_be_searched_is_an_error_and_hides_no_other_suite() {
    let place = Place::empty();
    place.write("ok/kindlm.yaml", suite("echo hello", GOOD));
    // Permissions do not affect every user; a path that is too long does.
    let name = "d".repeat(200);
    let chain = |root: &str, length: usize| format!("{root}/{}", vec![name.as_str(); length].join("/"));
    place.write(&format!("{}/kindlm.yaml", chain("inner", 12)), suite("echo hello", "{output: {contains: [bye]}}"));
    fs::create_dir_all(place.path().join(chain("deep", 12))).unwrap();
    fs::rename(place.path().join("inner"), place.path().join(chain("deep", 12)).join("inner")).unwrap();
    for (arguments, shown) in
        [(&["run"][..], "1 passed"), (&["check"], "in 1 file"), (&["list"], "ok/kindlm.yaml"), (&["run", "deep"], "")]
    {
        let done = place.run(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert_eq!(shown.is_empty(), done.stdout.is_empty(), "{arguments:?}: {done:?}");
        assert!(done.stdout.contains(shown), "{arguments:?}: {done:?}");
        assert!(done.stderr.contains("cannot read `") && done.stderr.contains("/inner/ddd"), "{done:?}");
        assert_eq!(done.stderr.matches("/inner/").count(), 1, "the path is named once: {done:?}");
    }
    // An ignore file can leave it out.
    place.write(".ignore", "/deep\n");
    assert_eq!(place.run(&["run"]).code, Some(0));
}

#[test]
fn what_is_no_file_is_not_taken_for_one() {
    let place = Place::empty();
    fs::create_dir_all(place.path().join("d/kindlm.yaml")).unwrap();
    for path in ["d", "d/kindlm.yaml", "."] {
        let done = place.run(&["check", path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains("d/kindlm.yaml` is a directory"), "{path}: {done:?}");
    }
    place.write("e/other", "");
    std::os::unix::fs::symlink("nowhere", place.path().join("e/kindlm.yaml")).unwrap();
    let done = place.run(&["check", "e"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("error[unreadable-file]: cannot read the file: No such file"), "{done:?}");
}

#[test]
fn suite_under_another_name_is_recognized_by_its_content() {
    let place = Place::empty();
    place.write("agent.yaml", suite("echo hello", GOOD));
    place.write("other.yaml", "a: 1\n");
    assert_eq!(place.run(&["run", "agent.yaml"]).code, Some(0));
    let done = place.run(&["run", "other.yaml"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("other.yaml` is not a suite"), "{done:?}");
}

#[test]
fn a_suite_with_errors_is_refused_and_the_others_run() {
    let place = Place::empty();
    place.write("good/kindlm.yaml", suite("echo hello", GOOD));
    place.write(
        "bad/kindlm.yaml",
        "kindlm: 1\nproject: x\nsuite: {name: bad}\ntests:\n  - name: a\n    command: touch marker\n",
    );
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("refused") && done.stdout.contains("1 passed"), "{done:?}");
    assert!(!place.exists("bad/marker"));
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(2));
    assert_eq!(report["suites"][0]["status"], "error");
    assert_eq!(report["suites"][1]["status"], "pass");
}

#[test]
fn warnings_fail_only_when_they_are_denied() {
    let place = Place::with(
        &suite("echo hello", "{output: {contains: [hello]}, latency: {maxMs: 60000}}")
            .replace("project", "projct: x\nproject"),
    );
    assert_eq!(place.run(&["check"]).code, Some(0));
    let denied = place.run(&["check", "--deny", "warnings"]);
    assert_eq!(denied.code, Some(2), "{denied:?}");
    assert!(denied.stdout.contains("error[unknown-key]"), "{denied:?}");
}

#[test]
fn wrong_command_lines_are_errors() {
    let place = Place::with(&suite("echo hello", GOOD));
    for arguments in [
        &["run", "--nothing"][..],
        &["run", "--test", "none"],
        &["run", "--tag", "none"],
        &["run", "--report", "json=nowhere/report.json"],
        &["run", "--jobs", "0"],
        &["run", "--repeat", "0"],
        &["run", "--timeout", "never"],
        &["run", "--timeout", "-1"],
        &["run", "--report", "xml"],
        &["run", "--report", "json="],
        &["run", "--dry-run", "--report", "json"],
        &["run", "--report", "json", "--report", "junit"],
        &["run", "--set", "report.evidence"],
        &["run", "--set", "report.evidence=maybe"],
        &["run", "--set", "nothing=1"],
        &["explain", "no-such-thing-at-all"],
        &["schema", "nothing"],
        &["trust", "nowhere"],
        &["init", "nothing"],
        &["frobnicate"],
        &[],
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert!(!done.stderr.is_empty() && !done.text().contains("panicked"), "{arguments:?}: {done:?}");
    }
    let done = place.run(&["run", "--test", "onyl"]);
    assert!(done.stderr.contains("did you mean `only`?"), "{done:?}");
}

#[test]
fn invalid_pattern_of_names_is_taken_as_a_name() {
    let place = Place::with(&suite("echo hello", GOOD).replace("name: only", "name: \"a[b\""));
    assert_eq!(place.run(&["run", "--test", "a[b"]).code, Some(0));
    assert_eq!(place.run(&["run", "--test", "a*"]).code, Some(0));
}

#[test]
fn bytes_that_are_no_text_are_a_clear_problem() {
    let good = suite("echo hello", GOOD);
    let utf16: Vec<u8> = [0xfeff].into_iter().chain(good.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let inputs: [(&str, Vec<u8>, &str); 4] = [
        ("NUL", good.replace("hello", "hel\0lo").into_bytes(), "NUL byte"),
        (
            "Latin-1",
            good.replace("demo", "d\u{1}mo").bytes().map(|it| if it == 1 { 0xe9 } else { it }).collect(),
            "not UTF-8",
        ),
        ("UTF-16", utf16, "UTF-16"),
        ("binary", (0..=255).collect(), "not UTF-8"),
    ];
    for (name, bytes, expected) in inputs {
        let place = Place::empty();
        place.write("kindlm.yaml", bytes);
        for command in ["check", "run", "list"] {
            let done = place.run(&[command]);
            assert_eq!(done.code, Some(2), "{name} {command}: {done:?}");
            assert!(!done.text().contains("panicked"), "{name} {command}: {done:?}");
        }
        let done = place.run(&["check"]);
        assert!(done.stdout.contains("error[encoding]") && done.stdout.contains(expected), "{name}: {done:?}");
        assert!(name == "NUL" || done.stdout.contains("help: save the file as UTF-8"), "{name}: {done:?}");
    }
    let bom = Place::with(&format!("\u{feff}{}", good.replace('\n', "\r\n")));
    let done = bom.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn files_that_cannot_be_read_are_a_clear_problem() {
    let place = Place::empty();
    place.write("empty/kindlm.yaml", "");
    let done = place.run(&["check", "empty"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    // Opening a pipe would block.
    let made = Command::new("mkfifo").arg(place.path().join("kindlm.yaml")).status().unwrap();
    assert!(made.success());
    let done = place.run(&["check", "kindlm.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("error[unreadable-file]") && done.stdout.contains("not a regular file"), "{done:?}");
    assert!(done.stdout.contains("help: put a regular file in its place"), "{done:?}");
}

#[test]
fn settings_decide_and_their_problems_are_reported() {
    let place = Place::empty();
    place.write("speclens.yaml", "severity: {unknown-key: error}\nlimits: {concurrency: many}\n");
    place.write("sub/kindlm.yaml", suite("echo hello", GOOD).replace("project", "projct: x\nproject"));
    let done = place.run(&["check"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("error[unknown-key]"), "{done:?}");
    assert!(done.stdout.contains("speclens.yaml:2"), "{done:?}");
    let (_, report) = place.check(&[]);
    let paths: Vec<&str> = report["suites"][0]["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["place"]["path"].as_str().unwrap())
        .collect();
    assert!(paths.contains(&"speclens.yaml") && paths.contains(&"sub/kindlm.yaml"), "{paths:?}");
    assert!(report["suites"][0].get("cases").is_none());
}

#[test]
fn problem_in_the_settings_is_reported_once_in_every_format() {
    let place = Place::empty();
    place.write("speclens.yaml", "severity: {nonsense: error}\n");
    for name in ["a", "b", "c"] {
        place.write(&format!("{name}/kindlm.yaml"), suite("true", GOOD));
    }
    for format in ["human", "json", "sarif", "github"] {
        let done = place.run(&["check", "--format", format]);
        assert_eq!(done.stdout.matches("unknown code `nonsense`").count(), 1, "{format}: {done:?}");
    }
}

#[test]
fn explanations_are_printed_as_json_with_the_same_text() {
    let place = Place::empty();
    for name in ["skill", "argsMatch", "vacuous-claim"] {
        let text = place.run(&["explain", name]).stdout;
        let json = place.run(&["explain", name, "--format", "json"]).json();
        assert_eq!((&json["name"], json["text"].as_str()), (&name.into(), Some(&*text)));
    }
    assert_eq!(place.run(&["explain", "nothing-like-it", "--format", "json"]).code, Some(2));
}

#[test]
fn commands_in_the_skill_for_agents_exist() {
    let place = Place::empty();
    let skill = place.run(&["explain", "skill"]).stdout;
    let commands: Vec<&str> = skill.split('`').filter(|code| code.starts_with("speclens ")).collect();
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let help = place.run(&[words[0], "--help"]);
        assert_eq!(help.code, Some(0), "{command}");
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(
                help.stdout.contains(&format!("{option} ")) || help.stdout.contains(&format!("{option}\n")),
                "{command}"
            );
        }
    }
}

#[test]
fn everything_that_is_explained_is_printed() {
    let place = Place::empty();
    for name in ["unknown-key", "argsMatch", "expect.output", "gates.passRateMin"] {
        let done = place.run(&["explain", name]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stdout.len() > 40, "{done:?}");
    }
    assert!(place.run(&["explain"]).stdout.contains("vacuous-claim"));
    for kind in ["kindlm", "speclens", "report"] {
        let printed = place.run(&["schema", kind]).stdout;
        let committed = repository().join(format!("schema/json/{kind}.schema.json"));
        assert_eq!(printed, fs::read_to_string(committed).unwrap(), "{kind}");
    }
    assert_eq!(place.run(&["--version"]).stdout, "speclens 0.1.0\n");
}

#[test]
fn trust_is_remembered_by_the_real_path() {
    let place = Place::empty();
    fs::create_dir(place.path().join("suite")).unwrap();
    let state = tempfile::tempdir().unwrap();
    let output = place.program(&["trust", "suite"]).env("XDG_STATE_HOME", state.path()).output().unwrap();
    assert_eq!(Done::of(&output).code, Some(0));
    let stored = fs::read_to_string(state.path().join("speclens/trusted-folders")).unwrap();
    let real = fs::canonicalize(place.path().join("suite")).unwrap();
    assert_eq!(stored, format!("{}\n", real.display()));
}

#[test]
fn trust_is_listed_and_taken_back() {
    let place = Place::empty();
    fs::create_dir_all(place.path().join("suite/inner")).unwrap();
    fs::create_dir(place.path().join("other")).unwrap();
    let state = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        Done::of(&place.program(&[&["trust"], args].concat()).env("XDG_STATE_HOME", state.path()).output().unwrap())
    };
    assert_eq!(run(&["--list"]).stdout, "");
    for directory in ["suite", "other"] {
        assert_eq!(run(&[directory]).code, Some(0));
    }
    let real = |name: &str| fs::canonicalize(place.path()).unwrap().join(name).display().to_string();
    assert_eq!(run(&["--list"]).stdout, format!("{}\n{}\n", real("suite"), real("other")));

    // Trust in a parent directory can be removed only there.
    let inner = run(&["--remove", "suite/inner"]);
    assert!(inner.code == Some(2) && inner.stderr.contains(&format!("remove {}", real("suite"))), "{inner:?}");
    fs::remove_dir_all(place.path().join("other")).unwrap();
    for directory in ["suite", "other"] {
        assert_eq!(run(&["--remove", directory]).code, Some(0));
    }
    assert_eq!(run(&["--list"]).stdout, "");
    let again = run(&["--remove", "suite"]);
    assert!(again.code == Some(2) && again.stderr.contains("is not trusted"), "{again:?}");
    assert_eq!(run(&["--list", "suite"]).code, Some(2));
}

#[test]
fn closed_output_is_not_an_error() {
    let place = Place::empty();
    let mut child = place.start(&["schema", "kindlm"]);
    drop(child.stdout.take());
    let done = Done::at_end_of(child);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
}

#[test]
fn log_goes_to_standard_error_and_colors_only_to_terminals() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [goodbye]}}"));
    let done = place.run_with(&[("SPECLENS_LOG", "trace")], &["run"]);
    assert!(!done.stdout.contains('\u{1b}') && !done.stdout.contains("TRACE"), "{done:?}");
    let forced = place.run_with(&[("CLICOLOR_FORCE", "1")], &["run"]);
    assert!(forced.stdout.contains('\u{1b}'), "{forced:?}");
    let unwanted = place.run_with(&[("CLICOLOR_FORCE", "0"), ("NO_COLOR", "1")], &["run"]);
    assert!(!unwanted.stdout.contains('\u{1b}'), "{unwanted:?}");
}

#[test]
fn trust_says_what_is_wrong_with_a_directory() {
    let place = Place::with(&suite("echo hello", GOOD));
    let done = place.run(&["trust", "nowhere"]);
    assert!(
        done.stderr.contains("cannot trust `nowhere`: the directory does not exist; name the directory"),
        "{done:?}"
    );
    let done = place.run(&["trust", "kindlm.yaml"]);
    assert!(done.stderr.contains("cannot trust `kindlm.yaml`: not a directory"), "{done:?}");
    let done = place.run(&["trust", "--list"]);
    assert!(done.code == Some(0) && done.stderr.contains("no directory is trusted"), "{done:?}");
}
