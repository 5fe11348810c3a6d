//! The output of `speclens check`: details for few files, a summary for many, one line each, and nothing that controls
//! a terminal.

use crate::support::Place;

/// Returns a suite with an error, a warning, and a note or hint about KindLM.
fn wrong(name: &str) -> String {
    format!(
        "kindlm: 1\nproject: demo\nsuite: {{ name: {name} }}\ntests:\n  - name: one\n    \
         comand: x\n    command: echo hello\n    expect: {{ output: {{ containss: [hello] }} }}\n"
    )
}

/// Returns a workspace with this many suites, each with the same problems.
fn workspace(suites: usize) -> Place {
    let place = Place::empty();
    (0..suites).for_each(|number| place.write(&format!("{number:02}/kindlm.yaml"), wrong(&format!("s{number}"))));
    place
}

#[test]
fn hints_and_notes_are_printed_only_on_demand() {
    let place = workspace(1);
    let done = place.run(&["check"]);
    assert!(done.stdout.contains("error[unknown-key]") && done.stdout.contains("warning[unknown-key]"), "{done:?}");
    assert!(!done.stdout.contains("[upstream-differs]"), "{done:?}");
    assert!(done.stdout.contains("not shown; add `--level "), "{done:?}");
    let all = place.run(&["check", "--level", "hint"]);
    assert!(all.stdout.contains("[upstream-differs]") && !all.stdout.contains("not shown"), "{all:?}");
    let errors = place.run(&["check", "--level", "error"]);
    assert!(!errors.stdout.contains("warning[unknown-key]") && errors.stdout.contains("error["), "{errors:?}");
    assert_eq!((done.code, all.code, errors.code), (Some(2), Some(2), Some(2)));
}

#[test]
fn problems_of_many_files_are_summed_up_by_code() {
    let place = workspace(21);
    let done = place.run(&["check"]);
    assert!(done.stdout.contains("error[unknown-key]: 21 in 21 files, 21 with a safe fix\n"), "{done:?}");
    assert!(done.stdout.contains("00/kindlm.yaml:8:25, ...\n"), "{done:?}");
    assert!(!done.stdout.contains("-->"), "{done:?}");
    assert!(done.stdout.contains("`--format concise`"), "{done:?}");
    assert!(done.stdout.lines().count() < 20, "{done:?}");
    let verbose = place.run(&["check", "--verbose"]);
    assert_eq!(verbose.stdout.matches("--> ").count(), 42, "{verbose:?}");
    assert!(verbose.stdout.contains("error[unknown-key]: 21 in 21 files"), "{verbose:?}");
    // A few files are shown in full, without a summary.
    let few = place.run(&["check", "00", "01"]);
    assert_eq!(few.stdout.matches("--> ").count(), 4, "{few:?}");
    assert!(!few.stdout.contains("]: 2 in 2 files"), "{few:?}");
}

#[test]
fn concise_prints_one_line_for_each_problem() {
    let place = workspace(22);
    place.write("🦀/kindlm.yaml", wrong("crab").replace('\n', "\r\n"));
    let done = place.run(&["check", "--format", "concise"]);
    assert_eq!(done.stdout.lines().count(), 46, "{done:?}");
    for line in done.stdout.lines() {
        let (place, rest) = line.split_once(": ").unwrap();
        let mut numbers = place.rsplit(':');
        assert!(
            numbers.by_ref().take(2).all(|number| number.parse::<usize>().is_ok_and(|number| number > 0)),
            "{line}"
        );
        assert!(rest.starts_with("error[unknown-key]: ") || rest.starts_with("warning[unknown-key]: "), "{line}");
    }
    assert!(done.stdout.contains("🦀/kindlm.yaml:8:25: error[unknown-key]: "), "{done:?}");
    let hints = place.run(&["check", "--format", "concise", "--level", "hint", "🦀"]);
    assert!(hints.stdout.contains("[upstream-differs]: "), "{hints:?}");
}

#[test]
fn control_characters_of_names_and_paths_are_never_printed() {
    let place = Place::empty();
    let odd = "x\\e[2J\\x9b31m\\r\\n  ok \\u202e";
    place.write(
        "a\u{1b}[31m\nb\u{9b}/kindlm.yaml",
        format!(
            "kindlm: 1\nproject: demo\nsuite: {{ name: \"{odd}\" }}\ntests:\n  - name: \"{odd}\"\n    tags: [\"{odd}\"]\n    \
             command: \"echo {odd}\"\n    expect: {{ output: {{ contains: [nothing] }} }}\n    extra: 1\n"
        ),
    );
    let commands: [&[&str]; 9] = [
        &["check"],
        &["check", "--format", "concise"],
        &["check", "--format", "github"],
        &["list"],
        &["run", "--dry-run"],
        &["run"],
        &["run", "--report", "github"],
        &["run", "--report", "junit"],
        &["check", "--fix"],
    ];
    for command in commands {
        let done = place.run(command);
        for text in [&done.stdout, &done.stderr] {
            let obeyed = |it: &char| (it.is_control() && *it != '\n') || *it == '\u{202e}';
            assert!(!text.chars().any(|it| obeyed(&it)), "{command:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("  ok ")), "{command:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with('b')), "{command:?}: {text:?}");
        }
    }
}

#[test]
fn long_lines_are_cut_in_snippets_and_fixes() {
    let place = Place::with(&format!("kindlm: 1\nsuite: {{ name: {{{{x}}}} {} }}\n", "y".repeat(1_000_000)));
    let done = place.run(&["check", "--level", "hint"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stdout.len() < 20_000, "{} bytes", done.stdout.len());
}

/// A path that cannot be read does not affect the others.
#[test]
fn failures_hide_no_other_suite() {
    let place = workspace(1);
    let done = place.run(&["check", "missing.yaml", "00"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("missing.yaml` does not exist"), "{done:?}");
    assert!(done.stdout.contains("unknown key"), "{done:?}");
    let done = place.run(&["check", "--format", "json", "missing.yaml", "00"]);
    let report = done.json();
    assert_eq!(report["suites"].as_array().map(Vec::len), Some(1));
    assert!(report["failures"][0].as_str().unwrap().contains("missing.yaml` does not exist"), "{report}");
    assert_eq!(done.stderr, "");
    let (code, report) = place.check(&["missing.yaml"]);
    assert_eq!((report["suites"].as_array().map(Vec::len), code), (Some(0), Some(2)));
    // A run reports it, too, and runs the rest.
    place.write("good/kindlm.yaml", crate::support::suite("echo hello", "{output: {contains: [hello]}}"));
    let done = place.run(&["run", "missing.yaml", "good"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("1 passed") && done.stderr.contains("missing.yaml` does not exist"), "{done:?}");
}

/// Progress is shown to people on a terminal, not to programs that read standard error.
#[cfg(target_os = "linux")]
#[test]
fn long_check_shows_a_sign_of_life_on_a_terminal_only() {
    let place = Place::empty();
    let command = format!("{} check >/dev/null", env!("CARGO_BIN_EXE_speclens"));
    // The duration depends on the machine.
    let shown = [20_000, 600_000].into_iter().any(|tests| {
        let mut text = String::from("kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n");
        for number in 0..tests {
            text.push_str(&format!(
                "  - {{name: t{number}, command: echo {number}, expect: {{output: {{contains: [a]}}}}}}\n"
            ));
        }
        place.write("kindlm.yaml", text);
        let done = place.run(&["check"]);
        assert!(done.code == Some(0) && done.stderr.is_empty(), "{done:?}");
        let mut script = std::process::Command::new("script");
        let terminal = script.args(["-qec", &command, "/dev/null"]).current_dir(place.path()).output().unwrap();
        assert!(terminal.status.success(), "{terminal:?}");
        String::from_utf8(terminal.stdout).unwrap().contains("reading")
    });
    assert!(shown);
}

#[test]
fn scripted_models_are_checked_alone_and_with_their_suite() {
    let place = Place::empty();
    let task = "  - id: a\n    intent: Do it.\n    assert:\n      - exit_code: 0\n";
    place.write("cli-bench.yaml", format!("cli: sh\nproviders: [scripted/careful]\ntasks:\n{task}"));
    place.write("careful.script.yaml", "tasks:\n  b:\n    - {}\n");
    for arguments in [&["check", "careful.script.yaml"][..], &["check"]] {
        let done = place.run(arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        for code in ["warning[unknown-reference]: unknown task `b`", "warning[no-effect]: this turn does nothing"] {
            assert!(done.stdout.contains(code), "{done:?}");
        }
    }
    let refused = place.run(&["run", "careful.script.yaml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let schema = place.run(&["schema", "script"]);
    assert!(schema.stdout.contains("urn:speclens:schema:script"), "{schema:?}");
}
