//! Files, output and directories of others: they give no commands, cost no time without end, and decide nothing.

use std::{fs, time::Instant};

use crate::support::{Done, Place, suite};

#[test]
fn trust_that_is_given_thirty_times_at_once_is_kept_thirty_times() {
    let place = Place::empty();
    let names: Vec<String> = (0..30).map(|number| format!("d{number}")).collect();
    names.iter().for_each(|name| fs::create_dir(place.path().join(name)).unwrap());
    let running: Vec<_> = names.iter().map(|name| place.start(&["trust", name])).collect();
    for program in running {
        assert_eq!(Done::at_end_of(program).code, Some(0));
    }
    let listed = place.run(&["trust", "--list"]).stdout;
    assert_eq!(listed.lines().count(), 30, "{listed}");
}

#[cfg(unix)]
#[test]
fn settings_and_repositories_of_another_user_decide_nothing() {
    use std::os::unix::fs::chown;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::empty();
    let text = suite("echo hi", "{output: {contains: [hi]}}");
    place.write("mine/kindlm.yaml", &text);
    place.write("speclens.yaml", "recordings: {redact_patterns: [hi]}\n");
    place.write(".git/HEAD", "");
    let other = |name: &str| chown(place.path().join(name), Some(65534), None).unwrap();
    // A repository of another user does not reach down here.
    other(".git");
    assert_eq!(place.run_in("mine", &["run"]).code, Some(0));
    // Settings of another user in one's own repository are refused.
    chown(place.path().join(".git"), Some(0), None).unwrap();
    assert_eq!(place.run_in("mine", &["run"]).code, Some(3), "the settings mask");
    other("speclens.yaml");
    let refused = place.run_in("mine", &["run"]);
    assert!(refused.code == Some(2) && refused.text().contains("belongs to another user"), "{refused:?}");
    // A link of another user is one of their files.
    fs::rename(place.path().join("speclens.yaml"), place.path().join("real.yaml")).unwrap();
    chown(place.path().join("real.yaml"), Some(0), None).unwrap();
    std::os::unix::fs::symlink("real.yaml", place.path().join("speclens.yaml")).unwrap();
    std::os::unix::fs::lchown(place.path().join("speclens.yaml"), Some(65534), None).unwrap();
    assert_eq!(place.run_in("mine", &["run"]).code, Some(2));
    // Whoever runs the suite of another user runs it under that user's settings.
    other("mine");
    assert_eq!(place.run_in("mine", &["run"]).code, Some(3));
}

#[test]
fn token_is_sent_only_with_encryption_or_to_this_machine() {
    for address in ["http://gateway.invalid", "http://10.0.0.1:18789", "http://me:word@gateway.invalid"] {
        let place = Place::empty();
        place.write("clawspec.yaml", format!("gateway_base_url: {address}\n"));
        let contract = "version: '1.0'\ntarget: {type: skill, path: skills/demo, trigger: /demo}\ndefaults: {timeout: 5}\n\
                        scenarios:\n- {name: one, tags: [negative], when: {invoke: /demo}, then: [{type: file_present, path: a}]}\n";
        place.write("skills/demo/SKILL.md", "---\nname: demo\n---\n");
        place.write("skills/demo/tests/scenarios.yaml", contract);
        let began = Instant::now();
        let done = place.run_with(&[("HOOKS_TOKEN", "hook-token-1234")], &["run"]);
        assert!(done.stdout.contains("the token would be sent over `http://`"), "{done:?}");
        assert!(!done.text().contains("hook-token") && !done.text().contains("me:word"), "{done:?}");
        assert!(began.elapsed().as_secs() < 20);
    }
}

#[test]
fn output_gives_no_commands_to_the_runner_of_a_build_server() {
    let command =
        r"printf '  ::stop-commands::x\n\t::add-mask::y\n::error::z\n##[error]a\n##vso[task.complete]b\n'; exit 1";
    let name = "'::error::a'";
    for list in [
        format!("  - name: {name}\n    command: |-\n      {command}\n    expect: {{output: {{contains: [no]}}}}\n"),
        format!("- name: {name}\n  command: |-\n    {command}\n  expect:\n    output:\n      contains:\n      - no\n"),
    ] {
        let place = Place::with(&format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{list}"));
        for arguments in [&["run"][..], &["run", "--recorded"], &["recordings", "show", "*"], &["list"], &["check"]] {
            let done = place.run(arguments);
            for line in done.text().lines() {
                assert!(!line.trim_start().starts_with("::"), "{arguments:?}: {done:?}");
                assert!(!line.contains("##[") && !line.contains("##vso["), "{arguments:?}: {done:?}");
            }
        }
        assert!(place.run(&["run"]).stdout.contains("| ::stop-commands::x"));
        let report = place.run(&["run", "--report", "github"]);
        assert!(
            report.stdout.lines().filter(|line| line.starts_with("::")).all(|line| line.starts_with("::error file="))
        );
    }
}

#[test]
fn report_for_build_servers_is_xml_whatever_a_command_writes() {
    let command = r"printf 'a\357\277\276b\357\277\277c\001d\342\200\256e\342\200\213f'; exit 1";
    let place = Place::with(&suite(command, "{output: {contains: [\"x\\ny\", no]}}"));
    let done = place.run(&["run", "--report", "junit"]);
    let is_allowed = |it: char| {
        !matches!(it, '\u{fffe}' | '\u{ffff}' | '\u{202e}' | '\u{200b}') && (it >= ' ' || "\n\t\r".contains(it))
    };
    assert!(done.stdout.chars().all(is_allowed), "{done:?}");
    assert!(done.stdout.contains("a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f"), "{done:?}");
    for attribute in done.stdout.split('"').skip(1).step_by(2).filter(|text| !text.contains('<')) {
        assert!(!attribute.contains('\n'), "{attribute}");
    }
}

#[cfg(unix)]
#[test]
fn files_without_end_are_not_read_to_their_end() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&suite("echo hi", "{output: {contains: [hi]}}"));
    for (name, target) in [("zero.yaml", "/dev/zero"), ("kindlm.yml", "/proc/kmsg"), ("cli-bench.yaml", "/dev/tty")] {
        place.write(&format!("{name}.d/x"), "");
        symlink(target, place.path().join(format!("{name}.d")).join(name)).unwrap();
    }
    let began = Instant::now();
    for arguments in [
        &["check"][..],
        &["list"],
        &["trace", "--from", "/dev/zero", "kindlm.yaml"],
        &["trace", "--from", "/proc/kmsg", "kindlm.yaml"],
    ] {
        let done = place.run(arguments);
        assert!(done.code.is_some(), "{done:?}");
    }
    assert!(place.run(&["trace", "--from", "/dev/zero", "kindlm.yaml"]).stderr.contains("not a regular file"));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[cfg(unix)]
#[test]
fn report_directory_that_a_suite_names_stays_in_its_workspace() {
    use crate::{gateway, loopback::Loopback};
    let server = Loopback::acting(|_| gateway::over("run-1"));
    let scenario = "{name: one, tags: [negative], when: {invoke: /demo}, then: [{type: file_present, path: skills/demo/SKILL.md}]}";
    let place = gateway::workspace(&server.url(), &[scenario]);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), place.path().join("linked")).unwrap();
    let absolute = outside.path().display().to_string();
    let above = format!("../{}", outside.path().file_name().unwrap().display());
    for named in [absolute.as_str(), &above, "linked/reports", "reports/../../x"] {
        place.write("clawspec.yaml", format!("gateway_base_url: {}\nreport_dir: {named}\n", server.url()));
        let done = place.run(&["run"]);
        assert!(done.stderr.contains("`report_dir` in `clawspec.yaml` is outside the workspace"), "{named}: {done:?}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{named}");
    }
    // The user may choose any directory.
    let done = place.run_with(&[("CLAWSPEC_REPORT_DIR", &absolute)], &["run"]);
    assert!(fs::read_dir(outside.path()).unwrap().count() > 0, "{done:?}");
}
