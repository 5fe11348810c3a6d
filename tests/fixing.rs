//! `check --fix` and `--diff`: changed and unchanged parts of files. Also `--deny`, `--warn` and `--allow`.

use std::fs;

use crate::support::{Done, Place, suite};

/// Three problems with a safe fix, one with a suggestion, one without a fix.
const WRONG: &str = "\
kindlm: 1
projct: demo   # a comment
suite: { name: demo }
tests:
  - name: greets
    command: \"echo {{greting}}\"
    vars: { greeting: hello }
    expect:
      output:
        containss: [hello]
        maxLength: \"20\"
      toolCals: []
      nonsense: true
";

const RIGHT: &str = "\
kindlm: 1
project: demo   # a comment
suite: { name: demo }
tests:
  - name: greets
    command: \"echo {{greting}}\"
    vars: { greeting: hello }
    expect:
      output:
        contains: [hello]
        maxLength: 20
      toolCalls: []
      nonsense: true
";

fn errors(done: &Done) -> usize {
    done.stdout.matches("error[").count()
}

#[test]
fn safe_fixes_are_applied_and_the_rest_is_reported() {
    let place = Place::with(WRONG);
    let before = place.run(&["check"]);
    assert_eq!(before.code, Some(2), "{before:?}");
    assert!(before.stdout.contains("`speclens check --fix` can fix 4 problems"), "{before:?}");
    assert_eq!(place.read("kindlm.yaml"), WRONG);

    let done = place.run(&["check", "--fix"]);
    assert_eq!(place.read("kindlm.yaml"), RIGHT);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("fixed kindlm.yaml:10: rename it to `contains` [unknown-key]"), "{done:?}");
    assert!(done.stdout.ends_with("fixed 4 problems in 1 file\n"), "{done:?}");
    // The suggestion and the nonsense are left to the author.
    assert!(done.stdout.contains("error[missing-variable]") && done.stdout.contains("`nonsense`"), "{done:?}");
    assert_eq!(errors(&done), errors(&before) - 4, "{done:?}");

    let again = place.run(&["check", "--fix"]);
    assert_eq!(place.read("kindlm.yaml"), RIGHT);
    assert!(again.stdout.ends_with("no safe fix to apply\n"), "{again:?}");
}

#[test]
fn what_is_left_decides_the_exit_status() {
    let place = Place::with(&suite("echo hello", "{outptu: {contains: [hello]}}"));
    assert_eq!(place.run(&["check"]).code, Some(2));
    let done = place.run(&["check", "--fix"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(place.run(&["run"]).code, Some(0));
    // Only the report goes to standard output.
    place.write("kindlm.yaml", suite("echo hello", "{outptu: {contains: [hello]}}"));
    let done = place.run(&["check", "--fix", "--format", "json"]);
    serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap();
    assert!(done.stderr.contains("fixed 1 problem in 1 file"), "{done:?}");
}

#[test]
fn files_keep_their_bytes_but_for_the_fix() {
    let place = Place::empty();
    for (name, text, fixed) in [
        ("crlf", WRONG.replace('\n', "\r\n"), RIGHT.replace('\n', "\r\n")),
        ("bom", format!("\u{feff}{WRONG}"), format!("\u{feff}{RIGHT}")),
        ("open", WRONG.trim_end().to_owned(), RIGHT.trim_end().to_owned()),
        ("emoji", WRONG.replace("a comment", "🦀 é"), RIGHT.replace("a comment", "🦀 é")),
    ] {
        let file = format!("{name}/kindlm.yaml");
        place.write(&file, text);
        place.run(&["check", "--fix", name]);
        assert_eq!(place.read(&file), fixed, "{name}");
    }
    let left: Vec<_> = fs::read_dir(place.path().join("crlf")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn lines_that_a_fix_adds_end_like_their_neighbors() {
    let text = suite("echo hello", "{output: {contains: [hello]}}").replace("kindlm: 1\n", "").replace('\n', "\r\n");
    let place = Place::with(&text);
    place.run(&["check", "--fix"]);
    let fixed = place.read("kindlm.yaml");
    assert!(fixed.contains("kindlm: 1\r\n"), "{fixed:?}");
    assert_eq!(fixed.matches('\n').count(), fixed.matches("\r\n").count(), "{fixed:?}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::empty();
    place.write("real/suite.yaml", WRONG);
    let real = place.path().join("real/suite.yaml");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/suite.yaml", place.path().join("kindlm.yaml")).unwrap();
    place.run(&["check", "--fix", "kindlm.yaml"]);
    assert_eq!(place.read("real/suite.yaml"), RIGHT);
    assert!(fs::symlink_metadata(place.path().join("kindlm.yaml")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);

    place.write("real/suite.yaml", suite("echo hello", "{outptu: {contains: [hello]}}"));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
    let before = place.read("real/suite.yaml");
    let done = place.run(&["check", "--fix", "kindlm.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("write-protected"), "{done:?}");
    assert_eq!(place.read("real/suite.yaml"), before);
}

#[test]
fn what_is_no_text_is_never_written() {
    let place = Place::empty();
    let bytes: Vec<u8> =
        WRONG.replace("a comment", "caf\u{1}").bytes().map(|it| if it == 1 { 0xe9 } else { it }).collect();
    place.write("kindlm.yaml", &bytes);
    let done = place.run(&["check", "--fix"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(fs::read(place.path().join("kindlm.yaml")).unwrap(), bytes);
}

#[test]
fn a_diff_shows_what_would_be_fixed() {
    let place = Place::with(WRONG);
    let done = place.run(&["check", "--diff"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(place.read("kindlm.yaml"), WRONG);
    assert!(done.stdout.starts_with("--- kindlm.yaml\n+++ kindlm.yaml\n@@ "), "{done:?}");
    assert!(done.stdout.contains("-projct: demo   # a comment\n+project: demo   # a comment\n"), "{done:?}");
    assert!(done.stderr.contains("would fix 4 problems"), "{done:?}");
    let both = place.run(&["check", "--fix", "--diff"]);
    assert_eq!((both.code, &both.stdout), (Some(2), &done.stdout), "{both:?}");
    assert_eq!(place.read("kindlm.yaml"), WRONG);
}

/// The report lists every fix: its title, whether it is safe, and its edits.
#[test]
fn report_for_programs_lists_the_fixes() {
    let place = Place::empty();
    let text = WRONG.replace("# a comment", "# 🦀").replace("toolCals: []", "format: json");
    place.write(
        "a/kindlm.yaml",
        text.replace("        maxLength", "        format: json\n        schemaFile: new.json\n        maxLength"),
    );
    let (_, report) = place.check(&[]);
    let problems = report["suites"][0]["problems"].as_array().unwrap();
    let of = |code: &str, word: &str| {
        let problem = problems.iter().find(|it| it["code"] == code && it["message"].as_str().unwrap().contains(word));
        problem.unwrap_or_else(|| panic!("{problems:#?}"))["fixes"].clone()
    };
    let at = |line: usize, from: usize, to: usize| serde_json::json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    assert_eq!(
        of("unknown-key", "projct"),
        serde_json::json!([{
            "title": "rename it to `project`", "applicability": "safe", "preferred": true, "creates": [],
            "edits": [{ "path": "a/kindlm.yaml", "range": at(1, 0, 6), "text": "project" }],
        }])
    );
    let fixes = of("missing-variable", "greting");
    assert_eq!(fixes[0]["applicability"], "suggestion", "{fixes}");
    assert_eq!(fixes[0]["preferred"], true, "{fixes}");
    let fixes = of("missing-file", "new.json");
    assert_eq!(fixes[0]["creates"][0]["path"], "a/new.json", "{fixes}");
    let fixes = of("unknown-key", "nonsense");
    assert_eq!(fixes[0]["title"], "comment it out", "{fixes}");
    assert_eq!(fixes[0]["edits"][0]["text"], "# ", "{fixes}");
}

#[test]
fn settings_are_fixed_too() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    place.write("speclens.yaml", "# mine\nseverity:\n  unussed: off\nlimts: { concurrency: 2 }\n");
    let done = place.run(&["check"]);
    assert!(done.stdout.contains("`speclens check --fix` can fix 2 problems"), "{done:?}");
    let done = place.run(&["check", "--diff"]);
    assert!(done.stdout.contains("--- speclens.yaml") && done.stdout.contains("+  unused: off\n"), "{done:?}");
    let done = place.run(&["check", "--fix"]);
    assert_eq!(place.read("speclens.yaml"), "# mine\nseverity:\n  unused: off\nlimits: { concurrency: 2 }\n");
    assert!(done.stdout.ends_with("fixed 2 problems in 1 file\n"), "{done:?}");
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// If the new text does not fit on the disk, the old one is still there, and no other file.
#[cfg(unix)]
#[test]
fn a_full_disk_costs_nothing() {
    let place = Place::empty();
    let long = format!("{WRONG}{}", "# a long comment that fills the file\n".repeat(200));
    place.write("kindlm.yaml", &long);
    let binary = env!("CARGO_BIN_EXE_speclens");
    let done = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" check --fix", binary])
        .current_dir(place.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert!(stderr.contains("kindlm.yaml` was not changed: cannot write the new text next to the file"), "{stderr}");
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.ends_with("nothing was fixed: kindlm.yaml could not be written\n"), "{said}");
    assert_eq!(place.read("kindlm.yaml"), long);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

/// Files that can be written are; for the others, the output gives the reason and the remedy.
#[cfg(unix)]
#[test]
fn files_that_cannot_be_written_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::empty();
    let wrong = suite("echo hello", "{outptu: {contains: [hello]}}");
    let lock = |name: &str, mode| {
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["a", "b", "c"] {
        place.write(&format!("{name}/kindlm.yaml"), &wrong);
    }
    lock("a/kindlm.yaml", 0o444);
    lock("b/kindlm.yaml", 0o444);
    // Only possible changes are announced.
    assert!(place.run(&["check"]).stdout.ends_with("`speclens check --fix` can fix 1 problem\n"));
    assert!(!place.run(&["check", "a"]).stdout.contains("can fix"));
    let done = place.run(&["check", "--fix", "a", "b", "c"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr.contains("a/kindlm.yaml` was not changed: the file is write-protected; make it writable"),
        "{done:?}"
    );
    assert!(done.stdout.ends_with("fixed 1 problem in 1 file; 2 files could not be written\n"), "{done:?}");
    assert_eq!((place.read("a/kindlm.yaml"), place.read("b/kindlm.yaml")), (wrong.clone(), wrong.clone()));
    assert!(place.read("c/kindlm.yaml").contains("output"));
    let done = place.run(&["check", "--fix", "--format", "json", "a"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.ends_with("nothing was fixed: a/kindlm.yaml could not be written\n"), "{done:?}");

    // Some users may write to any directory.
    place.write("d/kindlm.yaml", &wrong);
    lock("d", 0o555);
    let may_write = fs::write(place.path().join("d/probe"), "").is_ok();
    let done = place.run(&["check", "--fix", "d"]);
    lock("d", 0o755);
    let advice = "d/kindlm.yaml` was not changed: cannot create a file in its directory";
    assert_eq!(done.code, Some(if may_write { 0 } else { 2 }), "{done:?}");
    assert_eq!(done.stderr.contains(advice), !may_write, "{done:?}");
    assert_eq!(place.read("d/kindlm.yaml") == wrong, !may_write, "{done:?}");
}

/// The announced number of fixes is exact, even if one fix leads to another.
#[test]
fn the_count_of_what_can_be_fixed_is_exact() {
    // A rename reveals a quoted number.
    for (expect, count) in
        [("{output: {containss: [hello]}}", 1), ("{outptu: {contains: [hello], maxLength: \"20\"}}", 2)]
    {
        let place = Place::with(&suite("echo hello", expect));
        let word = if count == 1 { "1 problem" } else { "2 problems" };
        let done = place.run(&["check"]);
        assert!(done.stdout.ends_with(&format!("`speclens check --fix` can fix {word}\n")), "{done:?}");
        let done = place.run(&["check", "--diff"]);
        assert!(done.stderr.contains(&format!("`--fix` would fix {word}\n")), "{done:?}");
        let done = place.run(&["check", "--fix"]);
        assert!(done.stdout.ends_with(&format!("fixed {word} in 1 file\n")), "{done:?}");
    }
    // The author chooses one of two keys for one name.
    let place = Place::with(&suite("echo hello", "{output: {containss: [hello], contians: [a]}}"));
    let before = place.read("kindlm.yaml");
    let done = place.run(&["check"]);
    assert!(!done.stdout.contains("--fix"), "{done:?}");
    place.run(&["check", "--fix"]);
    assert_eq!(place.read("kindlm.yaml"), before);
}

#[test]
fn a_path_that_is_not_there_is_answered_with_what_to_do() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    for (path, advice) in [
        ("nope.yaml", "`nope.yaml` does not exist; name an existing file or directory"),
        ("kindml.yaml", "`kindml.yaml` does not exist; did you mean `kindlm.yaml`?"),
        ("./kindml.yaml", "did you mean `./kindlm.yaml`?"),
        ("nowhere/nope.yaml", "`nowhere/nope.yaml` does not exist; name an existing file"),
        ("kindlm.yaml/x", "cannot read `kindlm.yaml/x`"),
    ] {
        let done = place.run(&["check", path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(advice), "{done:?}");
    }
}

#[test]
fn the_command_line_has_the_last_word_on_severities() {
    let text = suite("echo hello", "{output: {contains: [hello]}}").replace("project", "projct: x\nproject");
    let place = Place::with(&text);
    place.write("speclens.yaml", "severity: {unknown-key: hint}\n");
    let shown = |arguments: &[&str]| {
        let done = place.run(&[&["check"], arguments].concat());
        let severity = ["error", "warning", "information", "help"]
            .into_iter()
            .find(|severity| done.stdout.contains(&format!("{severity}[unknown-key]")));
        (done.code, severity)
    };
    assert_eq!(shown(&[]), (Some(0), None));
    assert_eq!(shown(&["--warn", "unknown-key"]), (Some(0), Some("warning")));
    assert_eq!(shown(&["--deny", "unknown-key"]), (Some(2), Some("error")));
    assert_eq!(shown(&["--deny", "warnings"]), (Some(0), None));
    assert_eq!(shown(&["--deny", "warnings", "--warn", "unknown-key"]), (Some(2), Some("error")));
    assert_eq!(shown(&["--allow", "unknown-key,unused"]), (Some(0), None));
    assert!(place.run(&["check"]).stdout.contains("hints not shown; add `--level hint` to see all problems\n"));
    assert!(!place.run(&["check", "--allow", "unknown-key,upstream-differs"]).stdout.contains("hint"));

    assert_eq!(place.run(&["run", "--deny", "unknown-key"]).code, Some(2));
    assert_eq!(place.run(&["run", "--warn", "unknown-key", "--deny", "warnings"]).code, Some(2));
    assert_eq!(place.run(&["run"]).code, Some(0));
}

#[test]
fn a_code_that_does_not_exist_is_an_error_with_the_nearest_name() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    for flag in ["--deny", "--warn", "--allow"] {
        for command in ["check", "run"] {
            let done = place.run(&[command, flag, "unknwn-key"]);
            assert_eq!(done.code, Some(2), "{done:?}");
            assert!(done.stderr.contains("did you mean `unknown-key`?"), "{done:?}");
        }
    }
    assert!(place.run(&["check", "--deny", "warning"]).stderr.contains("did you mean `warnings`?"));
    let done = place.run(&["check", "--deny", "unused", "--allow", "unused"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("`unused` is given to more than one of"), "{done:?}");
}

/// A test that cannot be read would vanish, and the rest would pass.
#[test]
fn what_cannot_be_read_is_an_error_whatever_is_set() {
    let text = format!(
        "# speclens: allow(syntax)\n{}  - name: [broken\n",
        suite("echo hello", "{output: {contains: [hello]}}")
    );
    let place = Place::with(&text);
    place.write("speclens.yaml", "severity: {syntax: off}\n");
    for command in [&["check"][..], &["run"]] {
        let done = place.run(command);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stdout.contains("error[syntax]"), "{done:?}");
        assert!(done.stdout.contains("the severity of `syntax` cannot be changed"), "{done:?}");
        assert!(done.stdout.contains("`syntax` cannot be silenced"), "{done:?}");
    }
    let done = place.run(&["check", "--allow", "syntax"]);
    assert!(done.stderr.contains("the severity of `syntax` cannot be changed"), "{done:?}");
}

/// Paths in such a file begin at the root of the repository.
#[test]
fn files_far_below_their_root_are_fixed_in_place() {
    let place = Place::empty();
    let scenarios = |word: &str| {
        format!(
            "version: \"1.0\"\ntarget: {{type: skill, path: skills/demo}}\nscenarios:\n  - name: one\n    tags: [negative]\n    when: {{invoke: hello}}\n    then:\n      - type: artifact_contains\n        path: out.md\n        {word}: [Summary]\n"
        )
    };
    place.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\n---\n# Demo\n");
    place.write("clawspec.yaml", "version: \"1.0\"\n");
    place.write("skills/demo/tests/scenarios.yaml", scenarios("sectons"));
    let done = place.run(&["check", "--fix"]);
    assert_eq!(place.read("skills/demo/tests/scenarios.yaml"), scenarios("sections"), "{done:?}");
    assert!(done.stdout.contains("fixed skills/demo/tests/scenarios.yaml:10: "), "{done:?}");
}
