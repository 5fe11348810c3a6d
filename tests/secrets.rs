//! Secrets in a test's output: a claim that depends on one is unknown, and the others keep their verdicts.

mod leaving;
mod planted;

use serde_json::Value;

use crate::support::{self, Place, attempt, suite};

const KEY: &str = "sk-abcdef1234567890";

/// Runs one test with secrets in its environment. Returns the outcome of every verdict, and the run.
fn outcomes(place: &Place, arguments: &[&str]) -> (Option<i32>, Vec<String>, Value) {
    let mut all = vec!["run", "--report", "json", "--set", "report.evidence=true"];
    all.extend(arguments);
    let done = place.run_with(&[("OPENAI_API_KEY", KEY), ("USER_PASSWORD", "123-45-6789")], &all);
    let run = attempt(&done.json(), 0).clone();
    (done.code, support::outcomes(&run).into_iter().map(str::to_owned).collect(), run)
}

#[track_caller]
fn check(command: &str, expect: &str, expected: &[&str]) {
    let place = Place::with(&suite(command, expect));
    place.write("key.json", r#"{"not": {"pattern": "^sk-"}}"#);
    place.write("args.json", r#"{"properties": {"k": {"not": {"pattern": "^sk-"}}}}"#);
    place.write("n.json", r#"{"required": ["n"]}"#);
    place.write("text.json", r#"{"type": "string", "minLength": 3}"#);
    for arguments in [&[][..], &["--recorded"]] {
        let (code, outcomes, run) = outcomes(&place, arguments);
        assert_eq!(outcomes, expected, "{command}: {run}");
        let exit = if expected.contains(&"fail") { 1 } else { i32::from(expected.contains(&"unknown")) * 3 };
        assert_eq!(code, Some(exit), "{command}: {run}");
        assert!(!run.to_string().contains(KEY) && !run.to_string().contains('\u{fdd0}'), "{run}");
    }
}

#[test]
fn what_a_secret_could_decide_is_unknown() {
    let echo = "echo \"$OPENAI_API_KEY early\"";
    check(echo, "{output: {notContains: ['sk-']}}", &["unknown"]);
    check("echo key sk-abcdef1234567890 leaked", "{output: {notContains: ['sk-']}}", &["unknown"]);
    check(echo, "{guardrails: {pii: {denyPatterns: ['sk-[a-z0-9]+']}}}", &["unknown"]);
    check(echo, "{guardrails: {keywords: {deny: [abcdef], allow: [abcdef]}}}", &["unknown", "unknown"]);
    check(echo, "{output: {schemaFile: key.json}}", &["unknown"]);
    check("echo \"$USER_PASSWORD\"", "{guardrails: {pii: {}}}", &["unknown"]);
    check(echo, "{output: {contains: ['*******************', 'sk-']}}", &["unknown", "unknown"]);
    let call = r#"printf '{"kindlm":"tool_call","name":"x","arguments":{"k":"%s"}}' "$OPENAI_API_KEY""#;
    check(call, "{toolCalls: [{tool: x, argsMatch: {k: '*******************'}}]}", &["pass", "unknown"]);
    check(call, "{toolCalls: [{tool: x, argsSchema: args.json}]}", &["pass", "unknown"]);
    check(call, "{toolCalls: [{tool: x, argsSchema: n.json}]}", &["pass", "unknown"]);
    check(call, "{toolCalls: [{tool: x, argsMatch: {k: no}}]}", &["pass", "unknown"]);
    check(echo, "{output: {schemaFile: text.json}, latency: {maxMs: 60000}}", &["unknown", "pass"]);
    let name = r#"printf '{"kindlm":"tool_call","name":"%s"}' "$OPENAI_API_KEY""#;
    check(name, "{toolCalls: [{tool: sk-abcdef9999999999, shouldNotCall: true}]}", &["unknown"]);
}

#[test]
fn what_a_secret_cannot_decide_keeps_its_verdict() {
    let echo = "echo \"$OPENAI_API_KEY early\"";
    check(echo, "{output: {contains: [early], notContains: ['a text that is longer'], maxLength: 25}}", &["pass"; 3]);
    check(echo, "{output: {notContains: [early], maxLength: 24}}", &["fail", "fail"]);
    check(echo, "{guardrails: {pii: {denyPatterns: ['early\\d{30}']}}}", &["unknown"]);
    check(echo, "{guardrails: {pii: {denyPatterns: ['early']}}}", &["fail"]);
    let call = r#"printf '{"kindlm":"tool_call","name":"x","arguments":{"k":"%s","n":1}}' "$OPENAI_API_KEY""#;
    check(call, "{toolCalls: [{tool: x, argsMatch: {n: 1}}, {tool: y, shouldNotCall: true}]}", &["pass"; 3]);
}

#[test]
fn a_secret_that_hides_how_the_output_reads_leaves_it_unknown() {
    let place = Place::with(&suite(
        r#"printf '{"k":"%s"}\n' "$A_TOKEN"; printf '{"kindlm":"tool_call","name":"x"%s' "$B_TOKEN""#,
        "{output: {format: json, schemaFile: any.json, notContains: [a text that is not there at all]}, toolCalls: [{tool: x, shouldNotCall: true}]}",
    ));
    place.write("any.json", "{}");
    let outcome = |first: &str, second: &str| {
        let done = place.run_with(&[("A_TOKEN", first), ("B_TOKEN", second)], &["run", "--report", "json"]);
        support::outcomes(attempt(&done.json(), 0)).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(outcome("12345678", "}"), ["fail", "pass", "unknown", "pass"]);
    // With stars it would be JSON.
    assert_eq!(outcome("1234\"678", "}"), ["fail", "unknown", "unknown", "pass"]);
    // With stars it would be no call.
    assert_eq!(outcome("12345678", ", \"id\": 1 }"), ["unknown"; 4]);
}

#[test]
fn reports_say_that_something_was_masked() {
    let place = Place::with(&suite("echo \"$OPENAI_API_KEY and $USER_PASSWORD\"", "{output: {maxLength: 100}}"));
    let (code, _, run) = outcomes(&place, &[]);
    assert_eq!(
        (code, &run["notes"][0]),
        (Some(0), &"2 secret values were masked in the output (`OPENAI_API_KEY`, `USER_PASSWORD`)".into())
    );
    let human = place.run_with(&[("OPENAI_API_KEY", KEY)], &["run"]);
    assert!(human.stdout.contains("1 secret value was masked in the output"), "{human:?}");
    let replayed = place.run(&["run", "--recorded"]);
    assert!(replayed.stdout.contains("1 secret value was masked in the output"), "{replayed:?}");
}

#[test]
fn key_of_a_provider_is_masked_whatever_its_variable_is_called() {
    let place = Place::with(&suite("echo \"it is $MY_PROXY\"", "{output: {notContains: [plain-word]}}"));
    for settings in [
        "providers:\r\n  \"local\": {base_url: 'http://localhost:1/v1', key_env: \"MY_PROXY\"}\r\n",
        "providers:\n  local:\n    base_url: http://localhost:1/v1\n    key_env: MY_PROXY\n",
    ] {
        place.write("speclens.yaml", settings);
        let done = place
            .run_with(&[("MY_PROXY", "plain-word")], &["run", "--report", "json", "--set", "report.evidence=true"]);
        assert!(done.code == Some(3) && !done.stdout.contains("is plain-word"), "{done:?}");
        assert!(done.stdout.contains("it is **********"), "{done:?}");
    }
}

#[test]
fn what_becomes_a_secret_later_is_masked_in_what_was_recorded() {
    let place = Place::with(&suite("echo customer-4711", "{output: {contains: [x], notContains: [customer-1]}}"));
    assert_eq!(place.run(&["run"]).code, Some(1));
    place.write("speclens.yaml", "recordings: {redact_patterns: ['customer-\\d+']}\n");
    let (code, outcomes, run) = outcomes(&place, &["--recorded"]);
    assert_eq!((code, outcomes), (Some(3), vec!["unknown".to_owned(), "unknown".to_owned()]));
    assert!(!run.to_string().contains("4711"), "{run}");
    assert_eq!(run["evidence"]["stdout"], "*************\n");
    let human = place.run(&["run", "--recorded"]);
    assert!(!human.text().contains("4711"), "{human:?}");
}

#[test]
fn a_secret_with_escapes_is_masked_where_it_is_read() {
    const SECRET: &str = "abc/def+ghi<jkl&mno/9";
    let place = Place::with(&suite("cat out.txt", "{toolCalls: [{tool: x, argsMatch: {k: zzz}}]}"));
    for written in [r"abc\/def+ghi<jkl&mno\/9", r"abc/def+ghi\u003cjkl\u0026mno/9", r"\u0061bc/def\u002Bghi<jkl&mno/9"]
    {
        place.write("out.txt", format!(r#"{{"kindlm":"tool_call","name":"x","arguments":{{"k":"{written}"}}}}"#));
        for format in ["human", "json", "junit"] {
            let done = place.run_with(
                &[("AWS_SECRET_ACCESS_KEY", SECRET)],
                &["run", "--report", format, "--set", "report.evidence=true"],
            );
            assert!(!done.stdout.contains("ghi") && (format != "json" || done.stdout.contains("***")), "{done:?}");
        }
        for recording in place.recordings() {
            assert!(!std::fs::read_to_string(recording).unwrap().contains("ghi"));
        }
    }
}

#[test]
fn a_key_that_is_pasted_into_a_suite_is_not_printed_by_check() {
    // Assembled here, so no scanner mistakes this file for one with a key.
    let key = format!("sk-{}", "proj-T3stT3stT3stT3stT3stT3stT3stT3stT3st1234");
    let place = Place::with(&suite("echo hello", &format!("{{output: {{contains: [{key}, zz], contans: [{key}]}}}}")));
    place
        .write("skills/demo/clawspec.yaml", format!("gateway_auth_token: {key}\ngateway_log_pattern: \"{{{{x}}}}\"\n"));
    for format in ["human", "concise", "github"] {
        let done = place.run(&["check", "--format", format]);
        assert!(done.stdout.contains("pasted-secret") && !done.text().contains("T3st"), "{format}: {done:?}");
    }
}

#[test]
fn the_character_that_replaces_secrets_hides_nothing_when_a_command_writes_it() {
    let place = Place::with(&suite("printf '\\357\\267\\220'", "{output: {contains: [x]}}"));
    assert_eq!(place.run(&["run"]).code, Some(1));
    place.write("kindlm.yaml", suite("printf '\\357\\267\\220'", "{output: {notContains: [\"\\uFDD0\"]}}"));
    assert_eq!(place.run(&["run"]).code, Some(3));
}

/// A secret of the environment appears in no report, wherever the suite contains it.
#[test]
fn secret_in_the_suite_reaches_no_report() {
    let name = format!("case {KEY}");
    let text = suite("echo hello", &format!("{{output: {{contains: [bye {KEY}], notContanis: [{KEY}]}}, {KEY}: 1}}"))
        .replace("name: only", &format!("name: {name}"))
        .replace("{name: demo}", &format!("{{name: demo {KEY}}}"));
    let place = Place::with(&text);
    let run = |arguments: &[&str]| place.run_with(&[("OPENAI_API_KEY", KEY)], arguments);
    for format in ["human", "concise", "json", "sarif", "github"] {
        let done = run(&["check", "--format", format]);
        assert!(done.stdout.contains("notContanis"), "{format}: {done:?}");
        assert!(done.stdout.contains(&"*".repeat(KEY.len())), "{format}: {done:?}");
        assert!(!done.text().contains(KEY), "{format}: {done:?}");
    }
    let allowed = text.replace(&format!(", {KEY}: 1"), "").replace(&format!(", notContanis: [{KEY}]"), "");
    place.write("kindlm.yaml", allowed);
    for format in ["human", "json", "sarif", "github", "junit"] {
        for mode in [&[][..], &["--recorded"], &["--failed"]] {
            let mut all = vec!["run", "--set", "report.evidence=true", "--report", format];
            all.extend(mode);
            let done = run(&all);
            assert_ne!(done.code, Some(2), "{done:?}");
            assert!(!done.text().contains(KEY), "{format} {mode:?}: {done:?}");
        }
    }
    assert!(!run(&["run", "--dry-run"]).text().contains(KEY));
    for format in ["human", "json"] {
        for command in [&["list"][..], &["recordings", "list"], &["recordings", "show", "case *"]] {
            let mut all = command.to_vec();
            all.extend(["--format", format]);
            let done = run(&all);
            assert!(!done.text().contains(KEY), "{format}: {done:?}");
        }
        assert!(run(&["list", "--format", format]).stdout.contains(&format!("case {}", "*".repeat(KEY.len()))));
    }
    let unmatched = run(&["run", "--test", "case sk"]);
    assert!(unmatched.code == Some(2) && !unmatched.text().contains(KEY), "{unmatched:?}");
    let recordings = place.recordings();
    assert_eq!(recordings.len(), 1);
    assert!(!std::fs::read_to_string(&recordings[0]).unwrap().contains(KEY));
}

/// With stars in it, a fix would destroy the text.
#[test]
fn fix_that_writes_a_secret_is_left_out_of_reports() {
    let place = Place::with(&suite("echo hello", &format!("{{output: {{contains: ['a', \"{KEY}\\d\"]}}}}")));
    for format in ["json", "sarif"] {
        let text = |is_secret: bool| {
            let variables: &[(&str, &str)] = if is_secret { &[("OPENAI_API_KEY", KEY)] } else { &[] };
            place.run_with(variables, &["check", "--format", format]).stdout
        };
        assert!(text(false).contains(KEY), "{}", text(false));
        assert!(!text(true).contains(KEY), "{}", text(true));
    }
}

/// A fix beside a secret may be right, and its title may contain the renamed key.
#[test]
fn secret_beside_a_fix_is_masked_in_what_is_said_of_the_fix() {
    for (key, value) in
        [("contans", format!("[{KEY}]")), ("contans", format!("\n          - {KEY}")), ("contains", KEY.to_owned())]
    {
        for end in ["\n", "\r\n"] {
            let text = suite("echo hello", "{}");
            let claim = format!("expect:\n      output:\n        {key}: {value}");
            let text = text.replace("expect: {}", &claim).replace('\n', end);
            let place = Place::with(&text);
            let run = |arguments: &[&str]| place.run_with(&[("OPENAI_API_KEY", KEY)], arguments);
            let diff = run(&["check", "--diff"]);
            assert!(diff.stdout.contains("+ "), "{diff:?}");
            assert!(diff.stdout.contains(&"*".repeat(KEY.len())) && !diff.text().contains(KEY), "{diff:?}");
            let fixed = run(&["check", "--fix"]);
            assert!(fixed.stdout.contains("fixed kindlm.yaml") && !fixed.text().contains(KEY), "{fixed:?}");
            assert!(place.read("kindlm.yaml").contains(KEY));
        }
    }
}

#[test]
fn variable_that_a_suite_sets_is_masked_where_its_name_looks_secret() {
    let suite = "cli: sh\nenv:\n  API_TOKEN: literal-token-555\n  GREETING: hello-greeting\ntasks:\n- id: one\n  \
                 intent: x\n  env: {USER_PASSWORD: 'literal-word-777'}\n  assert:\n  - file_exists: out\n";
    let quoted = suite.replace("literal-token-555", "\"literal-token-555\"");
    for suite in [suite.to_owned(), suite.replace('\n', "\r\n"), quoted] {
        let place = Place::empty();
        place.write("cli-bench.yaml", suite);
        let program = "exec:echo \"$API_TOKEN $USER_PASSWORD $GREETING\" | tee out";
        for mode in [&[][..], &["--recorded"]] {
            let mut all = vec!["run", "--model", program, "--report", "json", "--set", "report.evidence=true"];
            all.extend(mode);
            let done = place.run(&all);
            assert_eq!(done.code, Some(0), "{done:?}");
            assert!(done.stdout.contains("***************** **************** hello-greeting"), "{done:?}");
            assert!(!done.text().contains("literal-"), "{done:?}");
        }
        for recording in place.recordings() {
            assert!(!std::fs::read_to_string(recording).unwrap().contains("literal-"));
        }
    }
}
