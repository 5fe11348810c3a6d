use std::{fs, path::Path, sync::Arc};

use speclens_schema::json_schema::SpecFile;

use super::Scopes;
use crate::read::Buffers;

const TASKS: &str = "- id: a\n  intent: b\n  assert: [{ ran: x }]\n";

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[track_caller]
fn check(scopes: &Scopes, root: &Path, path: &str, expected: Option<(SpecFile, &str, &str, Option<&str>)>) {
    let path = root.join(path);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let found = scopes.find(&path, &text);
    let found = found.as_ref().map(|scope| {
        let root = scope.root.strip_prefix(root).unwrap().to_str().unwrap();
        (scope.file, root, scope.place.as_str(), scope.main.as_deref())
    });
    assert_eq!(found, expected, "{}", path.display());
}

#[test]
fn a_task_file_belongs_to_the_main_file_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    write(
        &root,
        &[
            ("cli-bench.yaml", "cli: a\ntasks: [file://other/*.yaml]\n"),
            ("bench/cli-bench.yaml", "cli: a\ntasks:\n  - file://tasks/**/*.yaml\n"),
            ("bench/tasks/deep/a.yaml", "x: 1\n"),
            ("bench/else.yaml", "x: 1\n"),
            ("loose.yaml", TASKS),
            ("my.yaml", "cli: b\ntasks: [file://loose.yaml]\n"),
        ],
    );
    let scopes = Scopes::new(vec![root.clone()], Arc::default());
    let tasks = |root, place, main| Some((SpecFile::CLI_BENCH_TASKS, root, place, main));
    check(&scopes, &root, "bench/tasks/deep/a.yaml", tasks("bench", "tasks/deep/a.yaml", Some("cli-bench.yaml")));
    check(&scopes, &root, "bench/else.yaml", None);
    check(&scopes, &root, "loose.yaml", tasks("", "loose.yaml", None));
    check(&scopes, &root, "my.yaml", Some((SpecFile::CLI_BENCH, "", "my.yaml", None)));
}

#[test]
fn a_script_belongs_to_the_suite_that_names_it_else_to_the_nearest() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    write(
        &root,
        &[
            ("cli-bench.yaml", "cli: a\nproviders: [a/b]\ntasks: []\n"),
            ("cli-bench.yml", "cli: a\nproviders: [scripted/deep/bold]\ntasks: []\n"),
            ("deep/bold.script.yaml", "default: []\n"),
            ("other.script.yaml", "default: []\n"),
        ],
    );
    let scopes = Scopes::new(vec![root.clone()], Arc::default());
    let script = |place, main| Some((SpecFile::SCRIPT, "", place, Some(main)));
    check(&scopes, &root, "deep/bold.script.yaml", script("deep/bold.script.yaml", "cli-bench.yml"));
    check(&scopes, &root, "other.script.yaml", script("other.script.yaml", "cli-bench.yaml"));
}

#[test]
fn in_a_workspace_the_place_decides() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let names = ["tests/scenarios.yaml", "tests/pipeline.yaml", "tests/baselines.yaml", "tests/handoffs/a.yaml"];
    write(
        &root,
        &[
            ("w/clawspec.yaml", ""),
            ("w/coverage-ledger.yaml", "waves: {}\n"),
            ("w/other/coverage-ledger.yaml", "- a\n"),
            ("w/other/tests/baselines.yaml", "- a\n"),
            ("w/other/tests/handoffs/a.yaml", "- a\n"),
            ("w/other/tests/pipeline.yaml", "stages: [build]\n"),
        ],
    );
    for above in ["w", "x"] {
        write(
            &root,
            &names
                .map(|name| (format!("{above}/{name}"), "version: \"1.0\"\n"))
                .each_ref()
                .map(|(a, b)| (a.as_str(), *b)),
        );
    }
    let scopes = Scopes::new(vec![root.clone()], Arc::default());
    let kinds = [
        SpecFile::CLAWSPEC_SCENARIOS,
        SpecFile::CLAWSPEC_PIPELINE,
        SpecFile::CLAWSPEC_BASELINES,
        SpecFile::CLAWSPEC_HANDOFF,
    ];
    for (name, kind) in names.into_iter().zip(kinds) {
        check(&scopes, &root, &format!("w/{name}"), Some((kind, "w", name, None)));
        check(&scopes, &root, &format!("x/{name}"), None);
    }
    let ledger = Some((SpecFile::CLAWSPEC_LEDGER, "w", "coverage-ledger.yaml", None));
    check(&scopes, &root, "w/coverage-ledger.yaml", ledger);
    // A name alone is not sufficient, with or without settings above it.
    for stranger in ["coverage-ledger", "tests/baselines", "tests/handoffs/a", "tests/pipeline"] {
        check(&scopes, &root, &format!("w/other/{stranger}.yaml"), None);
    }
}

#[test]
fn file_beside_a_skill_needs_settings_above_it_or_a_key_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let stranger = "scenarios:\n  - id: one\n    user_message: Hello\n";
    let stages = "stages: [build, test]\n";
    let contract = "version: \"1.0\"\ntarget: {type: skill, path: s, trigger: /s}\nscenarios: []\n";
    write(
        &root,
        &[
            ("w/clawspec.yaml", ""),
            ("w/s/SKILL.md", ""),
            ("w/s/tests/scenarios.yaml", stranger),
            ("x/s/SKILL.md", ""),
            ("x/s/tests/scenarios.yaml", stranger),
            ("x/s/tests/pipeline.yaml", stages),
            ("y/s/SOUL.md", ""),
            ("y/s/tests/scenarios.yaml", contract),
        ],
    );
    let scopes = Scopes::new(vec![root.clone()], Arc::default());
    let scenarios = |root| Some((SpecFile::CLAWSPEC_SCENARIOS, root, "s/tests/scenarios.yaml", None));
    check(&scopes, &root, "w/s/tests/scenarios.yaml", scenarios("w"));
    check(&scopes, &root, "x/s/tests/scenarios.yaml", None);
    check(&scopes, &root, "x/s/tests/pipeline.yaml", None);
    // Without settings, nothing says which directory the root is.
    let of_folder = Some((SpecFile::CLAWSPEC_SCENARIOS, "", "y/s/tests/scenarios.yaml", None));
    check(&scopes, &root, "y/s/tests/scenarios.yaml", of_folder);
    let is_guess = |path: &str, text: &str| scopes.find(&root.join(path), text).map(|scope| scope.is_guess);
    assert_eq!(is_guess("w/s/tests/scenarios.yaml", stranger), Some(true));
    assert_eq!(is_guess("y/s/tests/scenarios.yaml", contract), Some(false));
}

#[test]
fn ledger_of_the_settings_may_have_any_name() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    write(
        &root,
        &[
            ("clawspec.yaml", "ledger_path: ./docs/plan.yaml\n"),
            ("docs/plan.yaml", "wave:\n  one: {}\n"),
            ("docs/other.yaml", "waves: {}\n"),
            ("old/clawspec.yml", "ledger_path: x.yaml\n"),
        ],
    );
    let scopes = Scopes::new(vec![root.clone()], Arc::default());
    check(&scopes, &root, "docs/plan.yaml", Some((SpecFile::CLAWSPEC_LEDGER, "", "docs/plan.yaml", None)));
    check(&scopes, &root, "docs/other.yaml", None);
    check(&scopes, &root, "old/clawspec.yml", Some((SpecFile::CLAWSPEC, "", "old/clawspec.yml", None)));
}

#[test]
fn unsaved_text_takes_precedence() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    write(&root, &[("cli-bench.yaml", "cli: a\ntasks: []\n"), ("t.yaml", "x: 1\n")]);
    let buffers = Arc::new(Buffers::default());
    let scopes = Scopes::new(Vec::new(), Arc::clone(&buffers));
    check(&scopes, &root, "t.yaml", None);
    buffers.set(&root.join("cli-bench.yaml"), "cli: a\ntasks: [file://t.yaml]\n".into());
    scopes.forget();
    let expected = (SpecFile::CLI_BENCH_TASKS, "", "t.yaml", Some("cli-bench.yaml"));
    check(&scopes, &root, "t.yaml", Some(expected));
}

#[test]
fn a_contract_belongs_to_its_workspace() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let path = "w/skills/a/tests/scenarios.yaml";
    write(&root, &[(path, "")]);
    let scopes = Scopes::new(vec![root.join("w")], Arc::default());
    let expected = |root, place| Some((SpecFile::CLAWSPEC_SCENARIOS, root, place, None));
    check(&scopes, &root, path, expected("w", "skills/a/tests/scenarios.yaml"));
    write(&root, &[("w/skills/clawspec.yaml", ""), ("clawspec.yaml", "")]);
    check(&scopes, &root, path, expected("w/skills", "a/tests/scenarios.yaml"));
    let scope = scopes.find(&root.join(path), "").unwrap();
    assert_eq!(scope.settings_directory(), root.join("w/skills/a/tests"));
    // Without a folder, upwards as far as there are skills or agents.
    fs::remove_file(root.join("w/skills/clawspec.yaml")).unwrap();
    let scopes = Scopes::new(Vec::new(), Arc::default());
    check(&scopes, &root, path, expected("", path));
    // A folder that is a part of the workspace: the path of the target shows the extent of the workspace.
    let text = "version: \"1.0\"\ntarget: {type: skill, path: ./skills/a/, trigger: /a}\nscenarios: []\n";
    let handoff = "w/skills/a/tests/handoffs/a-to-b.yaml";
    fs::remove_file(root.join("clawspec.yaml")).unwrap();
    write(&root, &[(path, text), (handoff, "")]);
    for folder in ["w/skills", "w/skills/a", "w"] {
        let scopes = Scopes::new(vec![root.join(folder)], Arc::default());
        check(&scopes, &root, path, expected("w", "skills/a/tests/scenarios.yaml"));
        let place = "skills/a/tests/handoffs/a-to-b.yaml";
        check(&scopes, &root, handoff, Some((SpecFile::CLAWSPEC_HANDOFF, "w", place, None)));
    }
    // The path of another target is ignored, and no path makes a workspace smaller.
    for target in ["skills/b", "a", "../a"] {
        write(&root, &[(path, &text.replace("./skills/a/", target))]);
        let scopes = Scopes::new(vec![root.join("w/skills")], Arc::default());
        check(&scopes, &root, path, expected("w/skills", "a/tests/scenarios.yaml"));
    }
    write(&root, &[(path, ""), ("clawspec.yaml", "")]);
    let scopes = Scopes::new(Vec::new(), Arc::default());
    // Without any of these, the directory of the targets.
    fs::remove_file(root.join("clawspec.yaml")).unwrap();
    check(&scopes, &root, path, expected("w", "skills/a/tests/scenarios.yaml"));
}
