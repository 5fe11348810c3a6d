//! The audit beside a public set of faults: 24 cases whose 263 faults an exact check notices. The set comes with its license,
//! in `mutation-set`.

use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use speclens_schema::{
    act::Act,
    analysis::Analyzer,
    audit::{Effect, Operator, Tally, Tried, audit},
    document::{Document, Pointer},
    evidence::{
        Answer, Capture, CommandLog, Ended, Evidence, Exit, Need, Observation, Ran, Span, SpanKind, ToolCall, Trace,
        TraceAnswer, Turn,
    },
    files::MemoryFiles,
    format::Dialect,
    json_schema::SpecFile,
    mask::Secrets,
    settings::Settings,
    suite::{Case, Claim},
    verdict::{Check, Mismatch, Outcome, Verdict},
};

/// The operators of the set, with the number of their faults.
const OPERATORS: [(Operator, usize); 9] = [
    (Operator::CallRemoved, 39),
    (Operator::CallRepeated, 21),
    (Operator::CallAdded, 24),
    (Operator::CallsReversed, 14),
    (Operator::ArgumentChanged, 39),
    (Operator::ResultFailed, 39),
    (Operator::FalseSuccess, 39),
    (Operator::AnswerOmitted, 24),
    (Operator::AnswerReplaced, 24),
];

/// A case of the set: the calls with their arguments and results, and the answer.
struct Golden {
    name: String,
    calls: Vec<(String, Value, Value)>,
    answer: String,
}

fn set() -> Vec<Golden> {
    let suite: Value = serde_json::from_str(include_str!("mutation-set/suite.json")).unwrap();
    let call = |call: &Value| {
        let name = call["name"].as_str().unwrap().to_owned();
        (name, call["input_parameters"].clone(), call["output"].clone())
    };
    let case = |case: &Value| Golden {
        name: case["case_id"].as_str().unwrap().to_owned(),
        calls: case["tools_called"].as_array().unwrap().iter().map(call).collect(),
        answer: case["actual_output"].as_str().unwrap().to_owned(),
    };
    suite["cases"].as_array().unwrap().iter().map(case).collect()
}

impl Golden {
    /// A conversation: a turn with each call, then the answer.
    fn conversation(&self) -> Evidence {
        let call = |(index, (name, arguments, result)): (usize, &(String, Value, Value))| {
            let (id, name, arguments) = (format!("call-{index}"), name.clone(), arguments.clone());
            let calls = vec![ToolCall { id, name, arguments, result: Some(result.clone()) }];
            Turn { calls, ..Turn::default() }
        };
        let answer = Turn { text: Capture::whole(self.answer.clone()), ..Turn::default() };
        let turns = self.calls.iter().enumerate().map(call).chain([answer]).collect();
        let mut evidence = Evidence { turns, ended: Some(Ended::Done), ..Evidence::default() };
        Dialect::KINDLM.interpret(&mut evidence);
        evidence
    }

    /// The same as commands of an agent: each call is one, and its result is the output.
    fn commands(&self) -> Evidence {
        let command = |(name, arguments, result): &(String, Value, Value)| Ran {
            command: Capture::whole(format!("{name} '{arguments}'")),
            exit: Some(Exit { code: Some(0), signal: None }),
            stdout: Some(Capture::whole(result.to_string())),
            stderr: Some(Capture::default()),
            ..Ran::default()
        };
        let commands = self.calls.iter().map(command).collect();
        let turns = vec![Turn { text: Capture::whole(self.answer.clone()), ..Turn::default() }];
        let commands = Some(CommandLog { commands, ..CommandLog::default() });
        Evidence { commands, turns, ended: Some(Ended::Done), ..Evidence::default() }
    }

    /// The same as a trace, which has the names of the tools and their errors.
    fn trace(&self) -> Evidence {
        let span = |(index, (name, ..)): (usize, &(String, Value, Value))| {
            let at = 10 * index as i64;
            let (id, kind, name) = (format!("span-{index}"), SpanKind::Tool, name.clone());
            Span { id, kind, name, started_us: Some(at), ended_us: Some(at + 5), ..Span::default() }
        };
        let spans: Vec<Span> = self.calls.iter().enumerate().map(span).collect();
        let trace = Trace { started_us: Some(0), ended_us: Some(1000), spans, ..Trace::default() };
        let observations = vec![Observation { need: Need::Trace, answer: Answer::Trace(TraceAnswer::Found(trace)) }];
        Evidence { observations, ended: Some(Ended::RootSpan), ..Evidence::default() }
    }
}

/// An exact check of parts of a conversation.
#[derive(Debug)]
struct Exact {
    calls: Option<Vec<ToolCall>>,
    answer: Option<String>,
}

impl Check for Exact {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let output = act.output().map(|output| (*output.so_far()).clone()).unwrap_or_default();
        let is_exact = self.calls.as_ref().is_none_or(|calls| *calls == output.tool_calls)
            && self.answer.as_ref().is_none_or(|answer| *answer == output.text);
        let outcome = if is_exact { Outcome::Pass } else { Outcome::Fail(Mismatch::default()) };
        vec![Verdict::of("exact", "", outcome)]
    }
}

/// Returns the test of a suite.
fn case_of(file: SpecFile, text: &str) -> Case {
    let rules = file.dialect().unwrap().scalar_rules();
    let document = Document::read(text, rules);
    let analysis = Analyzer::new(file).analyze(&document, &MemoryFiles::default(), &Settings::default());
    let errors: Vec<_> =
        analysis.problems.iter().filter(|it| it.severity == speclens_schema::problem::Severity::Error).collect();
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    Case::clone(&analysis.suite.cases[0])
}

/// Audits each case of the set, and returns the faults of its operators.
fn audited(dialect: Dialect, case: impl Fn(&Golden) -> (Case, Evidence)) -> Vec<Tried> {
    let mut all = Vec::new();
    for golden in set() {
        let (case, evidence) = case(&golden);
        let audit = audit(&case, dialect, &evidence, &Secrets::default());
        let judged = speclens_schema::judge::judge(&case, &evidence, &Secrets::default());
        let audit = audit.unwrap_or_else(|| panic!("{} does not pass: {judged:#?}", golden.name));
        all.extend(audit.tried);
    }
    all.retain(|it| OPERATORS.iter().any(|(operator, _)| *operator == it.fault.operator));
    all
}

/// Checks how many faults of each operator of the set are noticed.
#[track_caller]
fn check(tried: &[Tried], expected: Expect) {
    let mut table = String::new();
    for (operator, count) in OPERATORS {
        let tally = Tally::of(tried.iter().filter(|it| it.fault.operator == operator));
        assert_eq!(tally.inert, 0);
        assert!(tally.tried() == 0 || tally.tried() == count, "{operator:?}: {tally:?}");
        table += &format!("{}: {} of {count}\n", operator.as_str(), tally.noticed);
    }
    let tally = Tally::of(tried);
    table += &format!("all: {} of {}\n", tally.noticed, OPERATORS.iter().map(|(_, count)| count).sum::<usize>());
    expected.assert_eq(&table);
}

fn exact(with_calls: bool, with_answer: bool) -> Vec<Tried> {
    let command = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - {name: t, command: x, expect: {output: {contains: [a]}}}\n";
    let case = case_of(SpecFile::KINDLM, command);
    audited(Dialect::KINDLM, |golden| {
        let evidence = golden.conversation();
        let calls = evidence.turns.iter().flat_map(|turn| turn.calls.clone()).collect();
        let check = Exact { calls: with_calls.then_some(calls), answer: with_answer.then(|| golden.answer.clone()) };
        let claims = vec![Claim { at: Pointer::root(), phase: None, check: Arc::new(check) }];
        (Case { claims, ..case.clone() }, evidence)
    })
}

#[test]
fn exact_check_of_calls_and_answers_notices_every_fault_of_the_public_set() {
    check(
        &exact(true, true),
        expect![[r#"
        call-removed: 39 of 39
        call-repeated: 21 of 21
        call-added: 24 of 24
        calls-reversed: 14 of 14
        argument-changed: 39 of 39
        result-failed: 39 of 39
        false-success: 39 of 39
        answer-omitted: 24 of 24
        answer-replaced: 24 of 24
        all: 263 of 263
    "#]],
    );
}

#[test]
fn exact_check_of_calls_notices_as_many_faults_of_the_public_set_as_published() {
    check(
        &exact(true, false),
        expect![[r#"
        call-removed: 39 of 39
        call-repeated: 21 of 21
        call-added: 24 of 24
        calls-reversed: 14 of 14
        argument-changed: 39 of 39
        result-failed: 39 of 39
        false-success: 39 of 39
        answer-omitted: 0 of 24
        answer-replaced: 0 of 24
        all: 215 of 263
    "#]],
    );
}

#[test]
fn exact_check_of_answers_notices_as_many_faults_of_the_public_set_as_published() {
    check(
        &exact(false, true),
        expect![[r#"
        call-removed: 0 of 39
        call-repeated: 0 of 21
        call-added: 0 of 24
        calls-reversed: 0 of 14
        argument-changed: 0 of 39
        result-failed: 0 of 39
        false-success: 39 of 39
        answer-omitted: 24 of 24
        answer-replaced: 24 of 24
        all: 87 of 263
    "#]],
    );
}

/// Returns a value as JSON, which is YAML as well.
fn written(value: &Value) -> String {
    value.to_string()
}

#[test]
fn best_suite_of_kindlm_cannot_notice_results() {
    let tried = audited(Dialect::KINDLM, |golden| {
        let reference: Vec<Value> =
            golden.calls.iter().map(|(tool, args, _)| json!({ "tool": tool, "args": args })).collect();
        let trajectory = json!({ "reference": reference, "exactMatch": true });
        let trajectory = if reference.is_empty() { String::new() } else { format!("\n      trajectory: {trajectory}") };
        let text = format!(
            "kindlm: 1\nproject: p\nsuite: {{name: s}}\nproviders: {{openai: {{apiKeyEnv: KEY}}}}\n\
             models: [{{id: m, provider: openai, model: gpt-4o}}]\nprompts: {{p: {{user: hi}}}}\n\
             tests:\n  - name: t\n    prompt: p\n    expect:\n      output: {{contains: [{}]}}{trajectory}\n",
            written(&json!(golden.answer))
        );
        (case_of(SpecFile::KINDLM, &text), golden.conversation())
    });
    check(
        &tried,
        expect![[r#"
        call-removed: 39 of 39
        call-repeated: 21 of 21
        call-added: 22 of 24
        calls-reversed: 14 of 14
        argument-changed: 39 of 39
        result-failed: 0 of 39
        false-success: 39 of 39
        answer-omitted: 24 of 24
        answer-replaced: 24 of 24
        all: 222 of 263
    "#]],
    );
}

#[test]
fn best_suite_of_cli_bench_cannot_notice_answers_and_earlier_results() {
    let tried = audited(Dialect::CLI_BENCH, |golden| {
        let commands = golden.commands();
        let commands = &commands.commands.as_ref().unwrap().commands;
        let count = commands.len();
        let mut assertions = vec![json!({ "run_count": { "pattern": "", "max": count } })];
        for ran in commands {
            let pattern = format!("^{}$", regex_escaped(&ran.command.text));
            assertions.push(json!({ "run_count": { "pattern": pattern, "min": 1, "max": 1 } }));
        }
        if let Some(last) = commands.last() {
            assertions.push(json!({ "exit_code": 0 }));
            assertions.push(json!({ "output_equals": last.stdout.as_ref().unwrap().text }));
        }
        let text = format!(
            "cli: tool\nproviders: [openai/gpt-4o]\ntasks:\n  - id: t\n    intent: Do it\n    assert: {}\n",
            written(&json!(assertions))
        );
        (case_of(SpecFile::CLI_BENCH, &text), golden.commands())
    });
    check(
        &tried,
        expect![[r#"
            call-removed: 39 of 39
            call-repeated: 21 of 21
            call-added: 24 of 24
            calls-reversed: 14 of 14
            argument-changed: 39 of 39
            result-failed: 22 of 39
            false-success: 0 of 39
            answer-omitted: 0 of 24
            answer-replaced: 0 of 24
            all: 159 of 263
        "#]],
    );
}

#[test]
fn best_suite_of_clawspec_notices_names_order_and_errors() {
    let tried = audited(Dialect::CLAWSPEC, |golden| {
        let names: Vec<&str> = golden.calls.iter().map(|(name, ..)| &**name).collect();
        let then = json!([
            { "type": "tool_sequence", "expected": names, "mode": "strict" },
            { "type": "no_span_errors" },
        ]);
        let text = format!(
            "version: \"1.0\"\ntarget: {{type: skill, path: skills/a, trigger: /a}}\nscenarios:\n  - name: t\n    tags: [negative]\n    when: {{invoke: /a}}\n    then: {}\n",
            written(&then)
        );
        (case_of(SpecFile::CLAWSPEC_SCENARIOS, &text), golden.trace())
    });
    check(
        &tried,
        expect![[r#"
        call-removed: 39 of 39
        call-repeated: 21 of 21
        call-added: 24 of 24
        calls-reversed: 14 of 14
        argument-changed: 0 of 39
        result-failed: 39 of 39
        false-success: 0 of 39
        answer-omitted: 0 of 24
        answer-replaced: 0 of 24
        all: 137 of 263
    "#]],
    );
}

fn regex_escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, letter| {
        if r"\.+*?()|[]{}^$/-".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
        escaped
    })
}

#[test]
fn damage_that_changes_nothing_is_counted_apart() {
    let (one, two) = (("a".to_owned(), json!({}), json!(1)), ("a".to_owned(), json!({}), json!(1)));
    let golden = Golden { name: "twins".to_owned(), calls: vec![one, two], answer: "a".to_owned() };
    let evidence = golden.conversation();
    let text = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - {name: t, command: x, expect: {output: {contains: [a]}}}\n";
    let audit = audit(&case_of(SpecFile::KINDLM, text), Dialect::KINDLM, &evidence, &Secrets::default()).unwrap();
    let swapped = audit.tried.iter().find(|it| it.fault.operator == Operator::ArgumentsSwapped).unwrap();
    assert_eq!(swapped.effect, Effect::Inert);
}
