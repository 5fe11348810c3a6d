//! Detected kinds, and files of other tools that are ignored.

use super::*;

#[track_caller]
fn check(path: &str, text: &str, expected: Option<SpecFile>) {
    let found = detect(path, text, &FileContext::NOTHING).map(|found| found.file);
    assert_eq!(found, expected, "{path}\n{text}");
}

#[test]
fn names_that_only_we_have_need_no_content() {
    check("a/kindlm.yaml", "", Some(SpecFile::KINDLM));
    check("kindlm.yml", "x: 1\n", Some(SpecFile::KINDLM));
    check("a/cli-bench.yaml", "", Some(SpecFile::CLI_BENCH));
    check("speclens.yaml", "", Some(SpecFile::SETTINGS));
    check("w/clawspec.yaml", "", Some(SpecFile::CLAWSPEC));
    check("my-kindlm.yaml", "", None);
}

#[test]
fn scripted_models_need_their_name_and_turns_or_answers() {
    let script = Some(SpecFile::SCRIPT);
    for text in
        ["", "# a\n", "default:\n", "default:\n- say: a\n", "tasks:\n  a:\n  - run: b\n", "answers:\n  - asked: a\n"]
    {
        check("suite/careful.script.yaml", text, script);
        check("suite/careful.script.yaml", &text.replace('\n', "\r\n"), script);
        check("suite/careful.yaml", text, None);
    }
    check("careful.script.yaml", "{default: [{say: a}]}\n", script);
    for misspelled in ["defalt:\n- say: a\n", "task:\n  a:\n  - run: b\n", "anwsers:\n  - asked: a\n", "defualt:\n"] {
        check("suite/careful.script.yaml", misspelled, script);
    }
    check("x.yaml", "# speclens: dialect=script\n", script);
    check("build.script.yaml", "name: build\nsteps:\n  - run: make\n", None);
    check("build.script.yaml", "default:\n  - stage: a\n", None);
    check(".script.yaml", "default: []\n", None);
    let typing =
        detect("careful.script.yaml", "def\n", &FileContext::NOTHING).map(|found| (found.file, found.is_guess));
    assert_eq!(typing, Some((SpecFile::SCRIPT, true)));
}

#[test]
fn scripted_gateways_need_their_name_and_runs_or_scores() {
    let gateway = Some(SpecFile::GATEWAY);
    for text in ["", "# a\n", "runs:\n", "runs:\n- when: {skill: /a}\n", "scores:\n  - score: 4\n", "runs: []\n"] {
        check("suite/demo.gateway.yaml", text, gateway);
        check("suite/demo.gateway.yaml", &text.replace('\n', "\r\n"), gateway);
        check("suite/demo.yaml", text, None);
    }
    check("x.yaml", "# speclens: dialect=gateway\n", gateway);
    check("suite/demo.gateway.yaml", "run:\n- when: {skill: /a}\n", gateway);
    check("ingress.gateway.yaml", "apiVersion: networking.istio.io/v1\nkind: Gateway\nspec: {servers: []}\n", None);
    check("api.gateway.yaml", "runs:\n  - name: build\n", None);
    check(".gateway.yaml", "runs: []\n", None);
}

#[track_caller]
fn check_in(workspace: Workspace, path: &str, text: &str, expected: Option<(SpecFile, bool)>) {
    let context = FileContext { workspace: &|| workspace, ..FileContext::NOTHING };
    let found = detect(path, text, &context).map(|found| (found.file, found.is_guess));
    assert_eq!(found, expected, "{path} {workspace:?}\n{text}");
}

#[test]
fn names_that_others_have_need_a_second_sign() {
    let path = "a/tests/scenarios.yaml";
    let ours = Some((SpecFile::CLAWSPEC_SCENARIOS, false));
    for text in ["", "# a comment\n\n", "version: \"1.0\"\n", "version: \"1.0\"\ntar", "scenarios:\n", "hello world\n"]
    {
        check_in(Workspace::Unknown, path, text, None);
        check_in(Workspace::Settings, path, text, ours);
        check_in(Workspace::Target, path, text, ours);
    }
    // Misspelled keys; a list only where no other tool has its files.
    check_in(Workspace::Settings, path, "vresion: '1.0'\nscenaros:\n- name: a\n", ours);
    check_in(Workspace::Settings, path, "- a\n- b\n", None);
    check_in(Workspace::Settings, "skills/a/tests/scenarios.yaml", "- a\n- b\n", ours);
    // Only the content, and the content with the name.
    let text = "target: {type: skill, path: a}\nscenarios: []\n";
    check_in(Workspace::Unknown, path, text, ours);
    check_in(Workspace::Unknown, "x.yaml", text, Some((SpecFile::CLAWSPEC_SCENARIOS, true)));
    check_in(Workspace::Settings, "x.yaml", text, ours);
    check_in(Workspace::Unknown, path, "scenarios:\n- name: a\n  when: {invoke: b}\n  then:\n  - type: c\n", ours);
    // Directories in which ClawSpec looks.
    let guess = |file| Some((file, true));
    check_in(Workspace::Unknown, "skills/a/tests/scenarios.yaml", "", guess(SpecFile::CLAWSPEC_SCENARIOS));
    check_in(Workspace::Unknown, "agents/a/tests/handoffs/a-to-b.yaml", "", guess(SpecFile::CLAWSPEC_HANDOFF));
    let far = "name: a\nversion: \"1.0.0\"\nskill_path: s\nscenarios:\n  - id: x\n    then:\n      - a sentence\n";
    check_in(Workspace::Unknown, "skills/a/tests/scenarios.yaml", far, ours);
    check_in(Workspace::Unknown, "e2e/tests/scenarios.yaml", far, None);
    let load = "config:\n  target: x\nscenarios:\n  - name: a\n    flow: []\n";
    check_in(Workspace::Unknown, "skills/a/tests/scenarios.yaml", load, None);
    check_in(Workspace::Unknown, "s/tests/pipeline.yaml", "pipeline:\n  name: x\n", None);
    check_in(
        Workspace::Target,
        "s/tests/pipeline.yaml",
        "pipeline:\n  name: x\n",
        Some((SpecFile::CLAWSPEC_PIPELINE, false)),
    );
    let ledger = Some((SpecFile::CLAWSPEC_LEDGER, false));
    check_in(Workspace::Unknown, "docs/testing/coverage-ledger.yaml", "waves:\n  one: {}\n", ledger);
    check_in(Workspace::Settings, "s/tests/baselines.yaml", "metadata: {}\nreports: []\n", None);
    let baselines = Some((SpecFile::CLAWSPEC_BASELINES, false));
    check_in(Workspace::Unknown, "s/tests/baselines.yaml", "version: \"1.0\"\nbaselines: {}\n", baselines);
    check("scenarios.yaml", "", None);
    // The content of a contract decides its kind.
    let handoff = "version: \"1.0\"\nhandoff:\n  from: a\n  to: b\n";
    check("s/tests/pipeline.yaml", handoff, Some(SpecFile::CLAWSPEC_HANDOFF));
}

#[test]
fn content_of_other_tools_outweighs_directory_and_name() {
    let items = "{name: add, input: [1, 2], expected: 3}";
    for scenarios in [format!("[{items}]"), format!("\n  - {items}"), "\n- name: add\n  input: [1, 2]\n".to_owned()] {
        let text = format!("scenarios: {scenarios}\n");
        for path in ["agents/a/tests/scenarios.yaml", "skills/a/tests/scenarios.yaml"] {
            check(path, &text, None);
            check_in(Workspace::Settings, path, &text, None);
        }
    }
    for tasks in ["[{name: build, command: make}]", "\n  - name: build\n    command: make"] {
        check("commands.yaml", &format!("cli: mytool\ntasks: {tasks}\n"), None);
    }
    let is_guess = |path, text| detect(path, text, &FileContext::NOTHING).map(|found| found.is_guess);
    assert_eq!(is_guess("kindlm.yaml", "services:\n  web: {image: a}\n"), Some(true));
    assert_eq!(is_guess("kindlm.yaml", "tests:\n  - name: a\n"), Some(false));
    assert_eq!(is_guess("kindlm.yaml", "kindml: 1\n"), Some(false));
}

#[test]
fn person_who_names_a_file_makes_its_content_sure_and_no_other_file_ours() {
    let context = FileContext { is_asked_for: true, ..FileContext::NOTHING };
    let file = |path, text| detect(path, text, &context).map(|found| (found.file, found.is_guess));
    for text in ["", "config: {}\nscenarios: []\n", "openapi: 3.1.0\ninfo: {}\n"] {
        assert_eq!(file("tests/scenarios.yaml", text), None);
    }
    let text = "target: {type: skill, path: a}\nscenarios: []\n";
    assert_eq!(file("x.yaml", text), Some((SpecFile::CLAWSPEC_SCENARIOS, false)));
}

#[test]
fn files_of_other_tools_are_not_ours_under_any_name() {
    let strangers = [
        // Artillery
        "config:\n  target: https://x\n  phases: [{duration: 1}]\nscenarios:\n  - flow: [{get: {url: /}}]\n",
        "config:\n  target: https://x\nscenarios:\n- name: a\n  flow:\n  - get: {url: /}\n",
        // GitLab CI
        "stages: [build, test]\nbuild: {script: [make]}\n",
        "stages:\n- build\n- test\nbuild-job:\n  stage: build\n  script:\n  - make\n",
        // Tavern
        "test_name: a\nstages:\n  - name: b\n    request: {url: x}\n    response: {status_code: 200}\n",
        // Steps of other runners
        "pipeline:\n  - step: build\n",
        "pipeline:\n  build:\n    image: golang\n",
        "stages:\n  prepare:\n    cmd: python a.py\n",
        // GitHub Actions
        "name: ci\non: push\njobs:\n  a:\n    steps: []\n",
        // Kubernetes, Compose, Helm
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
        "version: \"3.9\"\nservices:\n  web: {image: a}\n",
        "replicaCount: 1\nimage: {repository: a}\nservice: {type: ClusterIP}\n",
        // OpenAPI, Ansible, pre-commit, pytest
        "openapi: 3.1.0\ninfo: {title: a, version: '1.0'}\npaths: {}\n",
        "- hosts: all\n  tasks:\n    - name: x\n      command: y\n",
        "repos:\n  - repo: https://x\n    rev: v1\n    hooks: [{id: a}]\n",
        "markers: [slow]\ntestpaths: [tests]\n",
        // Sentences of behavior-driven tests
        "scenarios:\n  - name: a\n    given: a user\n    when: the user logs in\n    then: a page is shown\n",
        "baselines:\n  model: 0.9\n",
        // Molecule
        "scenarios:\n  - name: default\n    driver: {name: docker}\n",
        "dependency:\n  name: galaxy\ndriver:\n  name: docker\nscenario:\n  name: default\n",
        // Azure Pipelines, Harness
        "trigger: [main]\nstages:\n  - stage: Build\n    jobs: []\n",
        "stages:\n  - stage: Build\n    jobs: []\n",
        "pipeline:\n  name: build\n  identifier: build\n  stages:\n    - stage: {name: a}\n",
        // Lists
        "- a\n- b\n",
        "- path: src\n  covered: true\n",
    ];
    let paths = [
        "deploy/tests/scenarios.yaml",
        "deploy/tests/load-scenarios.yaml",
        "deploy/tests/pipeline.yaml",
        "deploy/tests/baselines.yaml",
        "deploy/tests/handoffs/a.yaml",
        "coverage-ledger.yaml",
        "x.yaml",
    ];
    for text in strangers {
        for path in paths {
            check_in(Workspace::Unknown, path, text, None);
        }
    }
    // In a repository that also has settings of ClawSpec, or beside a skill.
    for text in strangers {
        for path in paths {
            check_in(Workspace::Settings, path, text, None);
            check_in(Workspace::BesideSkill, path, text, None);
        }
    }
}

#[test]
fn file_beside_a_skill_needs_a_key_of_its_own_format() {
    let scenarios = SpecFile::CLAWSPEC_SCENARIOS;
    for (path, text, expected) in [
        (
            "tests/scenarios.yaml",
            "version: 1\nskill: s\nscenarios:\n  - name: a\n    prompt: hi\n    expect: [b]\n",
            None,
        ),
        ("tests/scenarios.yaml", "scenarios:\n- id: one\n  user_message: Hello\n  expected_behavior: greets\n", None),
        ("tests/scenarios.yaml", "scenarios: [{id: one, user_message: Hello}]\n", None),
        ("tests/scenarios.yaml", "config: {target: x}\nscenarios:\n  - flow: []\n", None),
        ("tests/scenarios.yaml", "hello world\n", None),
        ("tests/pipeline.yaml", "stages: [build, test]\n", None),
        ("tests/pipeline.yaml", "stages:\n- build\n- test\n", None),
        ("tests/pipeline.yaml", "stages: [build, test]\nbuild: {script: make}\n", None),
        ("tests/pipeline.yaml", "stages:\n  - name: build\n    script: make\n", None),
        ("tests/baselines.yaml", "baselines:\n  mae: 0.3\n", None),
        ("tests/handoffs/a.yaml", "from: a\nto: b\nmessage: hi\n", None),
        // What is begun may become a contract.
        ("tests/scenarios.yaml", "", Some((scenarios, true))),
        ("tests/scenarios.yaml", "scenarios:\n  - na\n", Some((scenarios, true))),
        ("tests/scenarios.yaml", "scenarios:\n  - name: a\n", Some((scenarios, true))),
        ("tests/scenarios.yaml", "version: \"1.0\"\n", Some((scenarios, false))),
        ("tests/scenarios.yaml", "target:\n  type: skill\n", Some((scenarios, false))),
        ("tests/scenarios.yaml", "version: '1.0'\nscenarios:\n- name: a\n  then: []\n", Some((scenarios, false))),
        ("tests/pipeline.yaml", "stages:\n  - name: a\n    agent: b\n", Some((SpecFile::CLAWSPEC_PIPELINE, false))),
        ("tests/handoffs/a.yaml", "handoff: {from: a, to: b}\n", Some((SpecFile::CLAWSPEC_HANDOFF, false))),
    ] {
        for directory in ["s/", "skills/s/", ".claude/skills/s/"] {
            for text in [text.to_owned(), text.replace('\n', "\r\n")] {
                check_in(Workspace::BesideSkill, &format!("{directory}{path}"), &text, expected);
            }
        }
    }
    // Below the settings of ClawSpec, a file of another tool is recognized, but not fixed automatically.
    let stranger = "config: {target: x}\nscenarios:\n  - flow: []\n";
    check_in(Workspace::Target, "s/tests/scenarios.yaml", stranger, Some((scenarios, true)));
    let context = FileContext { is_named_by_pattern: &|| true, ..FileContext::NOTHING };
    let found = detect("skills/s/tests/scenarios.yaml", stranger, &context).map(|found| found.is_guess);
    assert_eq!(found, Some(true));
}

#[test]
fn what_is_in_a_file_says_what_it_is() {
    check("x.yaml", "kindlm: 1\n", Some(SpecFile::KINDLM));
    check("x.yaml", "kindlm: 1\nnode: 22\n", None);
    check("x.yaml", "cli: git\ntasks:\n  build:\n    cmds: [make]\n", None);
    check("x.yaml", "---\n# c\ncli: git\ntasks:\n  - id: a\n", Some(SpecFile::CLI_BENCH));
    check("x.yaml", "cli: git\n", None);
    check("x.yaml", "- id: a\n  intent: b\n  assert:\n    - ran: x\n", Some(SpecFile::CLI_BENCH_TASKS));
    check("x.yaml", "-   id: a\n    'intent': b\n    assert: []\n", Some(SpecFile::CLI_BENCH_TASKS));
    check("x.yaml", "- id: a\n  meta:\n    intent: b\n    assert: c\n", None);
    let scenarios = "version: \"1.0\"\ntarget:\n  type: skill\n  path: a\nscenarios:\n  - name: \"x\n";
    check("x.yaml", scenarios, Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("x.yaml", "target:\n  type: web\nscenarios: []\n", None);
    let braces = "target: {type: skill, also: [a, trigger: b], path: c}\nscenarios: []\n";
    check("x.yaml", braces, Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("x.yaml", "target: {type: web, also: {path: c}}\nscenarios: []\n", None);
    check("x.yaml", "- {id: a, intent: b, assert: [{ran: c}]}\n", Some(SpecFile::CLI_BENCH_TASKS));
    check("x.yaml", "pipeline:\n  name: a\n  skill_path: b\nstages:\n  - name: c\n", Some(SpecFile::CLAWSPEC_PIPELINE));
    for other in [
        "on: push\njobs:\n  a:\n    steps: []\n",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
        "stages: [a]\npipeline:\n  a: 1\n",
        "",
        "- hosts: all\n  tasks:\n    - name: x\n",
        "%YAML 1.2\n---\na: 1\n",
    ] {
        check("x.yaml", other, None);
    }
}

#[test]
fn a_file_in_brackets_is_read_as_well() {
    let json = "{\n  \"version\": \"1.0\",\n  \"target\": {\n    \"type\": \"skill\",\n    \"path\": \"a\"\n  },\n  \
                \"scenarios\": [{\"name\": \"x\", \"when\": {\"invoke\": \"a: {b\"}}]\n}\n";
    check("x.yaml", json, Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("x.yaml", &json.replace('\n', ""), Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("x.yaml", "# a\n{kindlm: 1}", Some(SpecFile::KINDLM));
    check("x.yaml", "{cli: git, tasks: [{id: a}]}", Some(SpecFile::CLI_BENCH));
    check("x.yaml", "[{id: a, 'intent': \"b\", assert: []}]", Some(SpecFile::CLI_BENCH_TASKS));
    check("x.yaml", "{a: {kindlm: 1}, b: [scenarios, target: {path: c}]}", None);
    check("x.yaml", "{{a}}: b\n", None);
    check("skills/a/tests/scenarios.yaml", "{\"scenarios\": [", Some(SpecFile::CLAWSPEC_SCENARIOS));
}

#[test]
fn scenarios_beside_the_tests_of_a_skill() {
    let text = "scenarios:\n  - name: a\n";
    check("skills/a/tests/parallel-scenarios.yaml", text, Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("skills/a/tests/scenarios.yml", text, Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("skills/a/parallel-scenarios.yaml", text, None);
    check("skills/a/tests/parallel-scenarios.yaml", "cases: []\n", None);
}

#[test]
fn the_author_has_the_first_word() {
    check("x.yaml", "# speclens: dialect=clawspec-handoff\na: 1\n", Some(SpecFile::CLAWSPEC_HANDOFF));
    check("kindlm.yaml", "\u{feff}---\n#speclens: dialect=cli-bench-tasks\n", Some(SpecFile::CLI_BENCH_TASKS));
    check("x.yaml", "# speclens: dialect=nothing\nkindlm: 1\n", Some(SpecFile::KINDLM));
    check("x.yaml", "a: 1\n# speclens: dialect=kindlm\n", None);
    let nothing = DeclaredKind { word: "nothing".to_owned(), kind: None, meant: None };
    assert_eq!(said("# speclens: dialect=nothing\n"), Some(nothing));
    // The name of a dialect, if the content decides which of its files it is.
    let tasks = "# speclens: dialect=cli-bench\n- id: a\n  intent: b\n  assert: []\n";
    check("x.yaml", tasks, Some(SpecFile::CLI_BENCH_TASKS));
    let scenarios = "# speclens: dialect=clawspec\ntarget:\n  path: a\nscenarios: []\n";
    check("x.yaml", scenarios, Some(SpecFile::CLAWSPEC_SCENARIOS));
    check("x.yaml", "# speclens: dialect=clawspec\n", Some(SpecFile::CLAWSPEC));
    check(
        "x.yaml",
        "# speclens: dialect=clawspec\nversion: '1.0'\nscenarios: []\n",
        Some(SpecFile::CLAWSPEC_SCENARIOS),
    );
    check("s/tests/pipeline.yaml", "# speclens: dialect=clawspec\n", Some(SpecFile::CLAWSPEC_PIPELINE));
    check("x.yaml", "# speclens: dialect=clawspec\nwaves: {}\n", Some(SpecFile::CLAWSPEC_LEDGER));
    // A misspelling does not disable the directive.
    for slip in [
        "speclens: dialect=clawspec-handof",
        "speclens: dialekt=clawspec-handoff",
        "speclens dialect=clawspec-handoff",
        "speclens: kind: clawspec-handoff",
    ] {
        check("x.yaml", &format!("# {slip}\na: 1\n"), Some(SpecFile::CLAWSPEC_HANDOFF));
        let both = format!("# {slip}\n# speclens: dialect=kindlm\na: 1\n");
        check("x.yaml", &both, Some(SpecFile::KINDLM));
    }
}

#[test]
fn a_file_that_a_suite_names_holds_tasks() {
    let named = FileContext { is_named_by_suite: true, ..FileContext::NOTHING };
    let file = |path| detect(path, "", &named).map(|found| (found.file, found.is_guess));
    assert_eq!(file("tasks/a.yaml"), Some((SpecFile::CLI_BENCH_TASKS, false)));
    assert_eq!(file("cli-bench.yaml"), Some((SpecFile::CLI_BENCH, false)));
}
