//! Discovery of files, and recognition of their kinds.

use crate::support::{Place, suite};

const GOOD: &str = "{output: {contains: [hello]}}";
const TASKS: &str = "- id: a\n  intent: Say hello.\n  assert:\n    - exit_code: 0\n";
const SCENARIOS: &str = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios: []\n";

/// Returns the files that `check` reports, in its order.
fn checked(place: &Place, arguments: &[&str]) -> Vec<(String, String)> {
    let (_, report) = place.check(arguments);
    let text = |suite: &serde_json::Value, key: &str| suite[key].as_str().unwrap().to_owned();
    report["suites"].as_array().unwrap().iter().map(|suite| (text(suite, "path"), text(suite, "dialect"))).collect()
}

#[test]
fn every_kind_is_found_by_name_place_reach_or_content() {
    let place = Place::empty();
    place.write("kindlm/kindlm.yaml", suite("echo hello", GOOD));
    place.write("bench/cli-bench.yaml", "cli: sh\ntasks:\n  - file://tasks/*.yaml\n");
    place.write("bench/tasks/free-name.yaml", TASKS);
    place.write("bench/tasks-elsewhere.yaml", TASKS);
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("skills/a/tests/scenarios.yaml", SCENARIOS);
    place.write(
        "skills/a/tests/more.yaml",
        SCENARIOS
            .replace("{type: skill, path: skills/a, trigger: /a}", "\n  type: skill\n  path: skills/a\n  trigger: /a"),
    );
    place.write("skills/a/tests/handoffs/a-to-b.yaml", "");
    place.write("other/tests/scenarios.yaml", "openapi: 3.1.0\ninfo: {}\n");
    place.write("notes.yaml", "# speclens: dialect=clawspec-ledger\nwaves: {}\n");
    place.write("agent.yaml", suite("echo hello", GOOD));
    place.write("docker-compose.yaml", "services: {}\n");
    let found = checked(&place, &[]);
    let expected = [
        ("agent.yaml", "kindlm"),
        ("bench/cli-bench.yaml", "cli-bench"),
        ("bench/tasks/free-name.yaml", "cli-bench"),
        ("clawspec.yaml", "clawspec"),
        ("kindlm/kindlm.yaml", "kindlm"),
        ("notes.yaml", "clawspec"),
        ("skills/a/tests/handoffs/a-to-b.yaml", "clawspec"),
        ("skills/a/tests/more.yaml", "clawspec"),
        ("skills/a/tests/scenarios.yaml", "clawspec"),
    ];
    let expected = expected.map(|(path, dialect)| (path.to_owned(), dialect.to_owned()));
    assert_eq!(found, expected);
    // A suite that is recognized by its content alone is run only if it is named; its omission is reported.
    for command in ["run", "list"] {
        let done = place.run(&[command]);
        assert!(done.stderr.contains("agent.yaml` looks like a KindLM suite"), "{done:?}");
        assert!(!done.stdout.contains("agent.yaml"), "{done:?}");
    }
    assert!(place.run(&["run", "agent.yaml"]).stdout.contains("agent.yaml"));
}

/// A contract that could belong to another tool: neither its name nor its keys are unique to ClawSpec.
const VAGUE: &str = "scenarios:\n  - name: a\n    when: {invoke: /a}\n    then: []\n";

#[test]
fn scenario_patterns_name_contracts_whatever_they_are_called() {
    let place = Place::empty();
    place.write("clawspec.yaml", "scenario_patterns: [qa/**/*.feature, 'qa/**/*.yaml', generated/*.yaml]\n");
    place.write("qa/deep/login.feature", SCENARIOS);
    place.write("qa/vague.yaml", VAGUE);
    place.write("qa/typing.yaml", "");
    // Other matches of the pattern: a contract of another kind, files of other tools, a text.
    place.write(
        "qa/handoff.yaml",
        "version: '1.0'\nhandoff: {from: a, to: b}\ncaller_provides: {}\ncallee_produces: {}\n",
    );
    place.write("qa/compose.yaml", "services: {}\n");
    place.write("qa/list.yaml", "- a\n");
    place.write("qa/notes.feature", "Feature: a\n");
    // A generated contract is not under version control.
    place.write(".gitignore", "generated/\n");
    place.write("generated/one.yaml", SCENARIOS);
    place.write("generated/kept-out/two.yaml", SCENARIOS);
    let mut files: Vec<String> = checked(&place, &[]).into_iter().map(|(path, _)| path).collect();
    files.sort_unstable();
    let expected = [
        "clawspec.yaml", "generated/one.yaml", "qa/deep/login.feature", "qa/handoff.yaml", "qa/typing.yaml",
        "qa/vague.yaml",
    ];
    assert_eq!(files, expected);
    // From a directory below the settings, too.
    let files: Vec<String> = checked(&place, &["qa/deep"]).into_iter().map(|(path, _)| path).collect();
    assert_eq!(files, ["qa/deep/login.feature"]);
}

#[test]
fn scenarios_that_the_patterns_leave_out_are_checked_and_not_run() {
    let place = Place::empty();
    let contract = SCENARIOS.replace(
        "scenarios: []",
        "scenarios: [{name: one, tags: [negative], when: {invoke: /a}, then: [{type: file_present, path: x}]}]",
    );
    place.write("clawspec.yaml", "gateway_base_url: http://127.0.0.1:9\n");
    place.write("skills/a/tests/scenarios.yaml", &contract);
    place.write("drafts/more.yaml", &contract);
    let listed = |variable: Option<&str>, arguments: &[&str]| {
        let variable = variable.map(|patterns| ("CLAWSPEC_SCENARIO_PATTERNS", patterns));
        let done = place.run_with(variable.as_slice(), &[&["list"], arguments].concat());
        let files = ["skills/a/tests/scenarios.yaml", "drafts/more.yaml"];
        let found: Vec<&str> = files.into_iter().filter(|path| done.stdout.contains(path)).collect();
        (found, done.stderr)
    };
    let both = vec!["skills/a/tests/scenarios.yaml", "drafts/more.yaml"];
    assert_eq!(listed(None, &[]).0, both, "without patterns of its own, a workspace is searched for both");
    place.write(
        "clawspec.yaml",
        "gateway_base_url: http://127.0.0.1:9\nscenario_patterns: ['skills/**/scenarios.yaml']\n",
    );
    let (found, said) = listed(None, &[]);
    assert_eq!(found, ["skills/a/tests/scenarios.yaml"]);
    assert!(
        said.contains(
            "drafts/more.yaml` is skipped because no pattern of `scenario_patterns` matches it; name it on \
            the command line, or add a pattern"
        ),
        "{said}"
    );
    assert_eq!(listed(None, &["drafts/more.yaml"]).0, ["drafts/more.yaml"], "it is named");
    assert_eq!(checked(&place, &[]).len(), 3, "a check does no harm");
    // The environment takes precedence.
    let (found, said) = listed(Some(" drafts/*.yaml , nothing/*"), &[]);
    assert_eq!(found, ["drafts/more.yaml"]);
    assert!(said.contains("no pattern of `CLAWSPEC_SCENARIO_PATTERNS` matches it"), "{said}");
    let done = place.run_with(&[("CLAWSPEC_SCENARIO_PATTERNS", "drafts/*.yaml")], &["check", "drafts"]);
    assert!(!done.text().contains("no scenario pattern matches"), "{done:?}");
    assert!(place.run(&["check", "drafts"]).text().contains("no scenario pattern matches"));
}

#[test]
fn named_file_is_recognized_by_its_content() {
    let place = Place::empty();
    place.write("agent.yaml", suite("echo hello", GOOD));
    place.write("tasks.yaml", TASKS);
    place.write("compose.yaml", "services: {}\n");
    place.write("said.yaml", "# speclens: dialect=cli-bnch\nservices: {}\n");
    place.write("far.yaml", "# speclens: dialect=qwertz\nservices: {}\n");
    assert_eq!(checked(&place, &["tasks.yaml", "agent.yaml"]).len(), 2);
    for (path, reason) in
        [("compose.yaml", "is not a suite"), ("far.yaml", "has the unknown kind `qwertz`; the kinds are kindlm, ")]
    {
        let done = place.run(&["check", path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(reason), "{done:?}");
    }
}

#[test]
fn misspelled_kind_is_reported_in_its_file() {
    let place = Place::empty();
    for (path, comment, message) in [
        ("word.yaml", "# speclens: dialect=cli-bnch", "unknown kind of file `cli-bnch`"),
        ("verb.yaml", "# speclens: dialekt=cli-bench", "unknown directive `dialekt`"),
        ("colon.yaml", "# speclens dialect=cli-bench", "missing `:` after `speclens`"),
    ] {
        place.write(path, format!("{comment}\nservices: {{}}\n"));
        let done = place.run(&["check", path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stdout.contains(message) && done.stdout.contains("cli-bench`"), "{done:?}");
    }
}

#[test]
fn file_of_another_tool_is_refused_with_what_it_lacks() {
    let place = Place::empty();
    place.write("clawspec.yaml", "report_dir: reports\n");
    let molecule = "scenarios:\n  - name: default\n    driver: {name: docker}\n";
    for (path, text, reason) in [
        ("molecule.yml", molecule, "neither its name nor its content"),
        (
            "deploy/tests/scenarios.yaml",
            molecule,
            "it looks like a ClawSpec scenario file, but lacks `version`, `target`",
        ),
        ("deploy/tests/pipeline.yaml", "stages: [build]\n", "it looks like a ClawSpec pipeline, but lacks `version`"),
        ("docs/coverage-ledger.yaml", "- a\n", "write `# speclens: dialect=clawspec-ledger` at the top"),
        ("deploy/tests/baselines.yaml", "- a\n", "`# speclens: dialect=clawspec-baselines`"),
        ("deploy/tests/handoffs/a.yaml", "- a\n", "`# speclens: dialect=clawspec-handoff`"),
    ] {
        place.write(path, text);
        let done = place.run(&["check", path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains("is not a suite") && done.stderr.contains(reason), "{done:?}");
    }
    // Nor is any of them one if it is not named.
    assert_eq!(checked(&place, &[]).len(), 1);
}

#[test]
fn problems_in_a_task_file_are_found_through_the_suite_that_names_it() {
    let place = Place::empty();
    place.write("bench/my.yaml", "cli: sh\ntasks:\n  - file://tasks/one.yaml\n");
    place.write("bench/tasks/one.yaml", "- id: a\n  intnt: Say hello.\n");
    let done = place.run(&["check", "bench/my.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("bench/tasks/one.yaml") && done.stdout.contains("intnt"), "{done:?}");
}

#[test]
fn a_part_of_a_suite_is_not_run_alone() {
    let place = Place::empty();
    place.write("cli-bench.yaml", "cli: sh\nproviders: [a/b]\ntasks:\n  - file://tasks/*.yaml\n");
    place.write("tasks/one.yaml", TASKS);
    let done = place.run(&["run", "tasks/one.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("is part of a suite; name `cli-bench.yaml`"), "{done:?}");
    // Nothing ran, so the results are unknown, and nothing passes.
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(
        done.stdout.contains("`a` is not the id of a known provider") || done.stdout.contains("error["),
        "{done:?}"
    );
    let (_, report) = place.report(&[]);
    let case = &report["suites"][0]["cases"][0];
    assert_eq!((&case["place"]["path"], &case["place"]["pointer"]), (&"tasks/one.yaml".into(), &"/0".into()));
    let done = place.run(&["list"]);
    assert!(done.stdout.contains("a (agent"), "{done:?}");
}

#[test]
fn paths_of_contracts_start_where_the_command_does_when_nothing_else_says_where() {
    let place = Place::empty();
    let scenarios = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n  - name: refuses\n    tags: [negative]\n    when: {invoke: /a}\n    then:\n      - {type: artifact_exists, path: out.md}\n";
    place.write("skills/a/SKILL.md", "# A\n");
    place.write("skills/a/tests/scenarios.yaml", scenarios);
    for arguments in [&["check"][..], &["check", "skills/a/tests/scenarios.yaml"]] {
        let done = place.run(arguments);
        assert!(!done.stdout.contains("missing-file"), "{done:?}");
    }
    place.write("skills/a/tests/scenarios.yaml", scenarios.replace("skills/a,", "skills/b,"));
    let done = place.run(&["check"]);
    assert!(done.stdout.contains("`skills/b` in `target.path` does not exist"), "{done:?}");
    assert!(
        !done.stdout.contains("target-mismatch") && done.stdout.contains("change `target.path` to `skills/a`"),
        "{done:?}"
    );
}

#[test]
fn paths_of_contracts_start_where_the_path_of_the_target_does() {
    let place = Place::empty();
    let scenarios = "version: \"1.0\"\ntarget: {type: skill, path: skills/mail/a, trigger: /a}\nscenarios:\n  - name: refuses\n    tags: [negative]\n    when: {invoke: /a}\n    then:\n      - {type: artifact_exists, path: out.md}\n";
    place.write("skills/mail/a/SKILL.md", "---\nname: a\ndescription: b\n---\n# A\n");
    place.write("skills/mail/a/tests/scenarios.yaml", scenarios);
    for directory in ["skills", "skills/mail", "skills/mail/a", "skills/mail/a/tests"] {
        let shown = place.run_in(directory, &["check"]).stdout;
        assert!(!shown.contains("target-mismatch") && !shown.contains("does not exist"), "{directory}: {shown}");
    }
}

#[test]
fn a_test_of_a_task_file_is_counted_once() {
    let place = Place::empty();
    place.write("bench/cli-bench.yaml", "cli: sh\nproviders: [a/b]\ntasks:\n  - file://tasks/*.yaml\n");
    place.write("bench/tasks/one.yaml", TASKS);
    for arguments in [&["check"][..], &["check", "bench/cli-bench.yaml"], &["check", "bench/tasks/one.yaml"]] {
        let done = place.run(arguments);
        assert!(done.stdout.contains(" with 1 test\n"), "{arguments:?} {done:?}");
    }
}

#[test]
fn an_id_in_two_files_is_shown_in_both() {
    let place = Place::empty();
    place.write("bench/cli-bench.yaml", "cli: sh\nproviders: [a/b]\ntasks:\n  - file://tasks/*.yaml\n");
    place.write("bench/tasks/one.yaml", TASKS);
    place.write("bench/tasks/two.yaml", format!("# ä😀\r\n{}", TASKS.replace('\n', "\r\n")));
    let duplicates = |suite: &serde_json::Value| -> Vec<serde_json::Value> {
        let problems = suite["problems"].as_array().unwrap().iter();
        problems.filter(|problem| problem["code"] == "duplicate-name").cloned().collect()
    };
    let (_, report) = place.check(&[]);
    let places = |suite: usize| -> Vec<(String, u64)> {
        let found = duplicates(&report["suites"][suite]);
        let related = found.iter().flat_map(|problem| problem["related"].as_array().unwrap());
        let place = |it: &serde_json::Value| {
            (it["path"].as_str().unwrap().to_owned(), it["range"]["start"]["line"].as_u64().unwrap())
        };
        related.map(|related| place(&related["place"])).collect()
    };
    let (one, two) = (("bench/tasks/one.yaml".to_owned(), 0), ("bench/tasks/two.yaml".to_owned(), 1));
    assert_eq!(places(0), [one.clone(), two.clone()], "{report:#}");
    assert_eq!(places(1), [two], "{report:#}");
    assert_eq!(places(2), [one], "{report:#}");
    let human = place.run(&["check", "bench/tasks/two.yaml"]).stdout;
    assert!(human.contains("bench/tasks/one.yaml:1:7") && human.contains("also used here"), "{human}");
    let sarif = place.run(&["check", "--format", "sarif", "bench/tasks/two.yaml"]).json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let found = results.iter().find(|result| result["ruleId"] == "duplicate-name").unwrap();
    let other = &found["relatedLocations"][0]["physicalLocation"];
    assert_eq!(other["artifactLocation"]["uri"], "bench/tasks/one.yaml", "{found:#}");
    assert_eq!(other["region"]["startLine"], 1, "{found:#}");
}

/// Files of other tools under names of contracts.
const FOREIGN: [(&str, &str); 6] = [
    ("load/tests/scenarios.yaml", "config:\n  target: https://x\nscenarios:\n  - flow:\n      - get: {url: /}\n"),
    ("deploy/tests/pipeline.yaml", "stages: [build, test]\nbuild: {script: [make]}\n"),
    ("api/tests/pipeline.yaml", "test_name: a\nstages:\n- name: b\n  request: {url: x}\n"),
    ("old/tests/pipeline.yaml", "pipeline: [{step: build}]\n"),
    ("models/tests/baselines.yaml", "baselines: {model: 0.9}\n"),
    ("k8s/tests/handoffs/service.yaml", "apiVersion: v1\nkind: Service\n"),
];

#[test]
fn files_of_other_tools_are_left_alone_under_any_name() {
    let place = Place::empty();
    for (path, text) in FOREIGN {
        place.write(path, text);
    }
    let done = place.run(&["check"]);
    assert!(done.stderr.contains("no suite in this directory"), "{done:?}");
    // Next to ClawSpec files nothing changes.
    place.write("clawspec.yaml", "scenario_patterns: ['skills/**/tests/scenarios.yaml']\n");
    place.write("kindlm.yaml", suite("echo hello", GOOD));
    assert_eq!(checked(&place, &[]).len(), 2);
    place.run(&["check", "--fix"]);
    for (path, text) in FOREIGN {
        assert_eq!(place.read(path), text);
    }
}

#[test]
fn a_file_whose_kind_is_a_guess_is_not_fixed_unseen() {
    let text = "target: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n- name: a\n  when: {invoke: /a}\n  \
                then:\n  - {type: file_present, path: b}\n";
    let place = Place::empty();
    place.write("notes/one.yaml", text);
    let done = place.run(&["check", "notes"]);
    assert!(done.stdout.contains("`version`") && !done.stdout.contains("--fix"), "{done:?}");
    place.run(&["check", "--fix", "notes"]);
    assert_eq!(place.read("notes/one.yaml"), text);
    // Naming the file, or moving it to a place for such files, decides its kind.
    place.run(&["check", "--fix", "notes/one.yaml"]);
    assert!(place.read("notes/one.yaml").starts_with("version: \"1.0\"\n"));
    place.write("skills/a/tests/scenarios.yaml", text);
    place.run(&["check", "--fix", "skills"]);
    assert!(place.read("skills/a/tests/scenarios.yaml").starts_with("version: \"1.0\"\n"));
    // A file that could belong to another tool is refused, and not changed.
    let (path, foreign) = FOREIGN[0];
    place.write(path, foreign);
    let done = place.run(&["check", "--fix", path]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains(&format!("{path}` is not a suite: ")), "{done:?}");
    assert_eq!(place.read(path), foreign);
}
