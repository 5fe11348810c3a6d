//! Results are unknown without the required evidence.

use super::*;

/// One assertion of every kind, each of which passes on [`evidence`], and the evidence that it needs.
const EVERY_KIND: [&str; 11] = [
    "- exit_code: 1",
    "- output_contains: 'version: 1'",
    "- output_equals: \"version: 1\\nname: my app\"",
    "- error_contains: slow disk",
    "- file_exists: config.yaml",
    "- file_contains: {path: config.yaml, text: my app}",
    "- ran: mycli init",
    "- not_ran: sudo",
    "- run_count: {pattern: mycli, min: 1, max: 3}",
    "- run_count: {pattern: mycli}",
    "- verify: {run: 'wc -l < result.csv', output_contains: '99', output_equals: '99'}",
];

#[test]
fn without_evidence_nothing_passes() {
    assert_eq!(Assertion::NAMES.len(), 10);
    assert!(Assertion::NAMES.iter().all(|name| EVERY_KIND.iter().any(|list| list.contains(name))));
    for list in EVERY_KIND {
        assert_eq!(status(list, &evidence()), Status::Pass, "{list}");
        assert_eq!(status(list, &Evidence::default()), Status::Unknown, "{list}");
    }
}

#[test]
fn only_a_command_that_was_seen_passes_before_the_end() {
    for list in EVERY_KIND {
        for ended in [None, Some(Ended::Deadline)] {
            let is_sighted = list.contains("- ran") || list == "- run_count: {pattern: mycli}";
            let expected = if is_sighted { Status::Pass } else { Status::Unknown };
            assert_eq!(status(list, &Evidence { ended, ..evidence() }), expected, "{list} {ended:?}");
        }
    }
}

#[test]
fn absence_of_a_command_needs_its_whole_text() {
    let damages: [fn(&mut Capture); 3] = [
        |command| command.cut = true,
        |command| command.masked = vec![(0, command.text.len())],
        |command| command.text.insert(0, char::REPLACEMENT_CHARACTER),
    ];
    for damage in damages {
        let mut evidence = evidence();
        evidence.commands.as_mut().unwrap().commands.iter_mut().for_each(|ran| damage(&mut ran.command));
        for list in ["- not_ran: '[a-z]udo'", "- run_count: {pattern: '[a-z]udo', max: 0}"] {
            assert_eq!(status(list, &evidence), Status::Unknown, "{list}");
        }
    }
}

#[test]
fn parts_that_were_not_observed_are_unknown() {
    let without = |remove: &dyn Fn(&mut Ran)| {
        let mut evidence = evidence();
        evidence.commands.as_mut().unwrap().commands.iter_mut().for_each(remove);
        evidence
    };
    assert_eq!(status(EVERY_KIND[0], &without(&|it| it.exit = None)), Status::Unknown);
    assert_eq!(status(EVERY_KIND[1], &without(&|it| it.stdout = None)), Status::Unknown);
    assert_eq!(status(EVERY_KIND[2], &without(&|it| it.stdout = None)), Status::Unknown);
    assert_eq!(status(EVERY_KIND[3], &without(&|it| it.stderr = None)), Status::Unknown);
    let observed = |observation: Observation| Evidence { observations: vec![observation], ..ended() };
    let nothing = |need: Need| observed(Observation { need, answer: Answer::Nothing("no such place".to_owned()) });
    let at = |content| Need::Path { path: "config.yaml".to_owned(), content };
    assert_eq!(status(EVERY_KIND[4], &nothing(at(false))), Status::Unknown);
    assert_eq!(status(EVERY_KIND[5], &nothing(at(true))), Status::Unknown);
    let bare = Observation { need: at(false), answer: Answer::Path(PathState::File { content: None }) };
    assert_eq!(status(EVERY_KIND[4], &observed(bare.clone())), Status::Pass);
    assert_eq!(status(EVERY_KIND[5], &observed(bare)), Status::Unknown);
    assert_eq!(
        status(EVERY_KIND[5], &observed(path("config.yaml", PathState::File { content: None }))),
        Status::Unknown
    );
    let mut answer = printed(0, "99");
    answer.stdout = None;
    assert_eq!(status(EVERY_KIND[10], &observed(ran("wc -l < result.csv", answer.clone()))), Status::Unknown);
    assert_eq!(
        status("- verify: {run: 'wc -l < result.csv'}", &observed(ran("wc -l < result.csv", answer))),
        Status::Pass
    );
    assert_eq!(status(EVERY_KIND[10], &observed(ran("wc -l < result.csv", Ran::default()))), Status::Unknown);
}

#[test]
fn what_was_cut_off_could_decide() {
    let mut log_cut = evidence();
    log_cut.commands.as_mut().unwrap().cut = true;
    let mut past_shell = evidence();
    past_shell.commands.as_mut().unwrap().unseen = Some(CommandGap::PastShell);
    let mut streams_cut = evidence();
    for command in &mut streams_cut.commands.as_mut().unwrap().commands {
        command.stdout.as_mut().unwrap().cut = true;
        command.stderr.as_mut().unwrap().cut = true;
    }
    for (list, log, streams) in [
        ("- exit_code: 1", Status::Unknown, Status::Pass),
        ("- output_contains: 'version: 1'", Status::Unknown, Status::Pass),
        ("- output_contains: zebra", Status::Unknown, Status::Unknown),
        ("- output_equals: \"version: 1\\nname: my app\"", Status::Unknown, Status::Unknown),
        ("- output_equals: zebra", Status::Unknown, Status::Fail),
        ("- error_contains: zebra", Status::Unknown, Status::Unknown),
        ("- ran: mycli init", Status::Pass, Status::Pass),
        ("- ran: zebra", Status::Unknown, Status::Fail),
        ("- not_ran: sudo", Status::Unknown, Status::Pass),
        ("- not_ran: mycli", Status::Fail, Status::Fail),
        ("- run_count: {pattern: mycli, min: 2}", Status::Pass, Status::Pass),
        ("- run_count: {pattern: mycli, min: 3}", Status::Unknown, Status::Fail),
        ("- run_count: {pattern: mycli, max: 2}", Status::Unknown, Status::Pass),
        ("- run_count: {pattern: mycli, max: 1}", Status::Fail, Status::Fail),
    ] {
        assert_eq!(status(list, &log_cut), log, "{list}");
        assert_eq!(status(list, &past_shell), log, "{list}");
        assert_eq!(status(list, &streams_cut), streams, "{list}");
    }
    let cut = Some(Capture { cut: true, ..Capture::whole("9".to_owned()) });
    let answer = Ran { stdout: cut, ..printed(0, "") };
    let evidence = Evidence { observations: vec![ran("x", answer)], ..ended() };
    assert_eq!(status("- verify: {run: x, output_contains: '99'}", &evidence), Status::Unknown);
    assert_eq!(status("- verify: {run: x, output_contains: '9'}", &evidence), Status::Pass);
    assert_eq!(status("- verify: {run: x, output_equals: '9'}", &evidence), Status::Unknown);
}

#[test]
fn what_is_masked_could_decide() {
    // Masked text, and the secrets that a recording masks.
    let secrets = crate::mask::Secrets::new([("TOKEN", "abcdefgh")], &[], &[]);
    let masked = command("mycli login --token abcdefgh", 0, "token abcdefgh\n", "bad token abcdefgh\n");
    let mut evidence =
        Evidence { commands: Some(CommandLog { commands: vec![masked], cut: false, unseen: None }), ..ended() };
    evidence.observations = vec![path("login", file("token=abcdefgh")), ran("x", printed(0, "token abcdefgh"))];
    crate::format::Dialect::CLI_BENCH.mask(&mut evidence, &secrets);
    for (list, expected) in [
        ("- output_contains: token", Status::Pass),
        ("- output_contains: '***'", Status::Unknown),
        ("- output_contains: 'token abc'", Status::Unknown),
        ("- output_contains: nothing of the kind", Status::Fail),
        ("- output_equals: token abcdefgh", Status::Unknown),
        ("- output_equals: token abc", Status::Fail),
        ("- error_contains: abcd", Status::Unknown),
        ("- ran: 'login.*--token'", Status::Pass),
        ("- ran: 'token [a-z]+'", Status::Unknown),
        ("- not_ran: 'sk-[a-z]+'", Status::Unknown),
        ("- not_ran: mycli logout", Status::Pass),
        ("- not_ran: login", Status::Fail),
        ("- run_count: {pattern: 'token [a-z]+', min: 1}", Status::Unknown),
        ("- run_count: {pattern: 'token [a-z]+', max: 1}", Status::Pass),
        ("- run_count: {pattern: 'token [a-z]+', max: 0}", Status::Unknown),
        ("- file_contains: {path: login, text: '=abc'}", Status::Unknown),
        ("- file_contains: {path: login, text: 'token='}", Status::Pass),
        ("- verify: {run: x, output_contains: abc}", Status::Unknown),
        ("- verify: {run: x, output_equals: token abcdefgh}", Status::Unknown),
        ("- verify: {run: x, output_contains: token}", Status::Pass),
    ] {
        assert_eq!(status(list, &evidence), expected, "{list}");
    }
}

#[test]
fn patterns_that_cannot_be_searched_for_never_pass() {
    check(
        "- ran: '(?i:mycli)'\n- not_ran: '^(?:(a+)\\1?)+b$'\n",
        &evidence(),
        expect![[r#"
            unknown /0/ran ran `(?i:mycli)`
              unsupported regular expression: only newer versions of ECMAScript support flags for a group, such as `(?i:a)`
            pass /1/not_ran did not run `^(?:(a+)\1?)+b$`
        "#]],
    );
    let slow = Evidence {
        commands: Some(CommandLog { commands: vec![command(&"a".repeat(60), 0, "", "")], cut: false, unseen: None }),
        ..ended()
    };
    check(
        "- not_ran: '^(?:(a+)\\1?)+b$'\n",
        &slow,
        expect![[r#"
        unknown /0/not_ran did not run `^(?:(a+)\1?)+b$`
          the pattern took too many steps
    "#]],
    );
}
