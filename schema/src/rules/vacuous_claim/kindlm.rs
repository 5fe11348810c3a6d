//! Expectations and gates of KindLM that always hold.

use crate::{
    dialect::kindlm::{
        facts::{About, Placed, SuiteFacts},
        parts::{Expect, TestParts},
    },
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// Helps for a limit that every value meets.
const RAISE: &str = "raise it";
const LOWER: &str = "lower it";

/// An expectation or a gate that cannot fail.
#[derive(Debug)]
enum Vacuous {
    EmptyList,
    /// All expectations of a test, if nothing happens.
    Idle {
        asks_model: bool,
    },
    /// An empty part of `expect`.
    Empty(Part),
    /// `argsMatch` without arguments.
    AnyArguments,
    /// An empty string that must occur.
    EmptyText,
    /// `minScore: 0`.
    AnyScore,
    /// `cost` of a command test.
    CostOfCommand,
    /// `pii` with an empty list of patterns.
    NoPattern,
    /// `pii` with `enabled: false` as the only expectation.
    PiiOff,
    /// `maxScore: 1`.
    AnyDrift,
    /// `method: field-diff` without fields.
    NoFields,
    /// An infinite bound, by its name.
    Boundless(String),
    /// A forbidden tool that the model does not have.
    ToolNotGiven(String),
    /// A latency limit that the timeout of a command guarantees.
    WithinTimeout {
        most: f64,
        timeout: f64,
    },
    /// A gate whose limit every run meets.
    Gate {
        gate: &'static str,
        limit: f64,
    },
    /// A gate about expectations that no test has.
    IdleGate {
        gate: String,
        lacking: Lacking,
    },
}

/// A part of `expect`.
#[derive(Clone, Copy, Debug)]
enum Part {
    Output,
    Guardrails,
    Keywords,
    Baseline,
}

/// Expectations that a gate is about.
#[derive(Clone, Copy, Debug)]
enum Lacking {
    Judge,
    Drift,
    /// Expectations with a judge or a baseline.
    Graded,
    /// Expectations without a judge or a baseline.
    Plain,
    /// Anything that has a cost.
    Cost,
}

/// Checks the expectations of a test.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    let test = &parts.test;
    for expect in &parts.expects {
        check_expect(expect, report);
        if let Some(cost) = expect.node.get("cost").filter(|_| test.get("command").is_some()) {
            report.push(cost.head_finding(Vacuous::CostOfCommand));
        }
    }
    if let Some(turns) = test.get("conversation").filter(|_| parts.asks_model) {
        empty_list(&turns, report);
    }
    if let Some(expect) = test.get("expect").filter(|_| are_idle(&parts.expects)) {
        report.push(expect.head_finding(Vacuous::Idle { asks_model: parts.asks_model }));
    }
    for unknown in parts.tools.unknown.iter().filter(|unknown| unknown.call.is_forbidden && unknown.near.is_none()) {
        report.push(unknown.call.tool.finding(Vacuous::ToolNotGiven(unknown.call.name.to_owned())));
    }
}

/// Whether there are expectations, and an empty reply without tool calls meets all of them.
fn are_idle(expects: &[Expect<'_>]) -> bool {
    let mut forbids_something = false;
    let mut is_idle = |(key, part): &(String, LintNode<'_>)| {
        // An empty list is reported separately.
        let has = |keys: &[&str]| part.find(keys).is_some_and(|list| !list.is_empty());
        let (only, forbids): (&[&str], bool) = match key.as_str() {
            "output" => (&["format", "notContains", "maxLength"], has(&["notContains"])),
            "guardrails" => {
                let is_off = part.find(&["pii", "enabled"]).and_then(|it| it.bool()) == Some(false);
                (&["pii", "keywords"], part.get("pii").is_some() && !is_off || has(&["keywords", "deny"]))
            }
            "toolCalls" => {
                let is_forbidden = |call: &LintNode<'_>| {
                    call.get("shouldNotCall").and_then(|forbidden| forbidden.bool()) == Some(true)
                };
                forbids_something |= !part.is_empty();
                return part.is_list() && part.items().iter().all(is_forbidden);
            }
            "latency" | "cost" => return true,
            _ => return false,
        };
        forbids_something |= forbids;
        let is_json = part.text_at("format").is_some_and(|format| format != "text");
        let has_allowed = has(&["keywords", "allow"]);
        part.is_mapping()
            && !is_json
            && !has_allowed
            && part.entries().iter().all(|(key, _)| only.contains(&key.as_str()))
    };
    expects.iter().flat_map(|expect| expect.node.entries()).all(|entry| is_idle(&entry)) && forbids_something
}

fn check_expect(expect: &Expect<'_>, report: &mut Report) {
    let node = &expect.node;
    if let Some(output) = &expect.output {
        check_output(output, report);
    }
    if let Some(calls) = &expect.tool_calls {
        empty_list(calls, report);
    }
    for call in expect.wanted() {
        if let Some(args) = call.call.get("argsMatch").filter(|args| args.is_mapping() && args.is_empty()) {
            report.push(args.finding(Vacuous::AnyArguments));
        }
    }
    if let Some(guardrails) = &expect.guardrails {
        check_guardrails(guardrails, report);
        if let Some(enabled) = pii_off(guardrails).filter(|_| has_only(node, "guardrails")) {
            report.push(enabled.finding(Vacuous::PiiOff));
        }
    }
    if let Some(judge) = node.get("judge") {
        empty_list(&judge, report);
        let least = judge.items().into_iter().filter_map(|criterion| criterion.get("minScore"));
        least.filter(|least| least.number() == Some(0.0)).for_each(|it| report.push(it.finding(Vacuous::AnyScore)));
    }
    if let Some(baseline) = node.get("baseline") {
        check_baseline(&baseline, report);
    }
    for bound in [["latency", "maxMs"], ["cost", "maxUsd"]].iter().filter_map(|path| node.find(path)) {
        boundless(&bound, report);
    }
}

/// Returns the `enabled: false` of `pii` if that is all there is in `guardrails`.
fn pii_off<'n>(guardrails: &LintNode<'n>) -> Option<LintNode<'n>> {
    let enabled = guardrails.get("pii")?.get("enabled").filter(|_| has_only(guardrails, "pii"))?;
    (enabled.bool() == Some(false)).then_some(enabled)
}

fn has_only(mapping: &LintNode<'_>, key: &str) -> bool {
    mapping.entries().iter().all(|(name, _)| name == key)
}

fn empty_list(list: &LintNode<'_>, report: &mut Report) {
    if list.is_list() && list.is_empty() {
        report.push(list.finding(Vacuous::EmptyList));
    }
}

fn check_output(output: &LintNode<'_>, report: &mut Report) {
    let is_json = output.text_at("format") == Some("json");
    if output.is_mapping() && !is_json && output.node.entries().all(|entry| entry.key.text() == Some("format")) {
        report.push(output.head_finding(Vacuous::Empty(Part::Output)));
    }
    ["contains", "notContains"].iter().filter_map(|key| output.get(key)).for_each(|list| empty_list(&list, report));
    if let Some(contains) = output.get("contains") {
        empty_texts(&contains, report);
    }
}

/// Reports empty strings in a list of required strings.
fn empty_texts(list: &LintNode<'_>, report: &mut Report) {
    for (_, lint_node) in list.texts().iter().filter(|(text, _)| text.is_empty()) {
        report.push(lint_node.finding(Vacuous::EmptyText));
    }
}

fn check_guardrails(guardrails: &LintNode<'_>, report: &mut Report) {
    if guardrails.is_mapping() && guardrails.is_empty() {
        report.push(guardrails.head_finding(Vacuous::Empty(Part::Guardrails)));
    }
    if let Some(pii) = guardrails.get("pii") {
        let is_off = pii.get("enabled").and_then(|enabled| enabled.bool()) == Some(false);
        let is_empty = |list: &LintNode<'_>| list.is_list() && list.is_empty();
        let has_custom = pii.get("customPatterns").is_some_and(|list| !is_empty(&list));
        if let Some(deny) = pii.get("denyPatterns").filter(|deny| !is_off && !has_custom && is_empty(deny)) {
            report.push(deny.finding(Vacuous::NoPattern));
        }
    }
    let Some(keywords) = guardrails.get("keywords") else { return };
    let is_idle = |(key, list): (String, LintNode<'_>)| ["deny", "allow"].contains(&key.as_str()) && list.is_empty();
    if keywords.is_mapping() && keywords.entries().into_iter().all(is_idle) {
        report.push(keywords.head_finding(Vacuous::Empty(Part::Keywords)));
    }
    if let Some(allow) = keywords.get("allow") {
        empty_texts(&allow, report);
    }
}

fn check_baseline(baseline: &LintNode<'_>, report: &mut Report) {
    let Some(drift) = baseline.get("drift") else {
        if baseline.is_mapping() && baseline.is_empty() {
            report.push(baseline.head_finding(Vacuous::Empty(Part::Baseline)));
        }
        return;
    };
    let method = drift.get("method");
    let name = method.as_ref().and_then(|method| method.text()).unwrap_or("judge");
    if let Some(most) = drift.get("maxScore").filter(|most| most.number() == Some(1.0) && name != "embedding") {
        report.push(most.finding(Vacuous::AnyDrift));
    }
    let fields = drift.get("fields");
    if name == "field-diff" && fields.as_ref().is_none_or(|fields| fields.is_list() && fields.is_empty()) {
        let lint_node = fields.as_ref().or(method.as_ref()).unwrap_or(&drift);
        report.push(lint_node.head_finding(Vacuous::NoFields));
    }
}

fn boundless(bound: &LintNode<'_>, report: &mut Report) {
    if bound.number() == Some(f64::INFINITY) {
        report.push(bound.finding(Vacuous::Boundless(bound.at.last().unwrap_or_default())));
    }
}

/// Reports gates that cannot fail because of their limits.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    const IDLE: [(&str, f64); 5] = [
        ("passRateMin", 0.0),
        ("judgeAvgMin", 0.0),
        ("deterministicPassRate", 0.0),
        ("probabilisticPassRate", 0.0),
        ("driftScoreMax", 1.0),
    ];
    let Some(gates) = root.get("gates") else { return };
    for (gate, limit) in IDLE {
        if let Some(lint_node) = gates.get(gate).filter(|gate| gate.number() == Some(limit)) {
            report.push(lint_node.finding(Vacuous::Gate { gate, limit }));
        }
    }
    for gate in ["costMaxUsd", "latencyMaxMs"].iter().filter_map(|gate| gates.get(gate)) {
        boundless(&gate, report);
    }
}

/// Reports gates about expectations that no test has, and latency limits that a timeout guarantees.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    // The missing part may be in text that cannot be parsed.
    if suite.tests.is_empty() || suite.has_damage() {
        return;
    }
    let judged = suite.has(About::Judge);
    let drifts = suite.has(About::Drift);
    let plain = suite.has(About::PlainClaims);
    for gate in &suite.root.gates {
        let lacking = match gate.name.as_str() {
            "judgeAvgMin" if !judged => Lacking::Judge,
            "driftScoreMax" if !drifts => Lacking::Drift,
            "probabilisticPassRate" if !judged && !drifts => Lacking::Graded,
            "deterministicPassRate" if !plain => Lacking::Plain,
            "costMaxUsd" if !judged && !drifts && !suite.has(About::Paid) => Lacking::Cost,
            _ => continue,
        };
        report.push(Placed::of_root(gate).finding(Vacuous::IdleGate { gate: gate.name.clone(), lacking }));
    }
    let Some(timeout) = suite.root.timeout_ms else { return };
    for test in suite.about(About::Latency).filter(|test| test.facts.has_command && test.facts.prompt.is_none()) {
        if let Some((latency, most)) = test.facts.latency.as_deref()
            && most.is_finite()
            && *most >= timeout
        {
            report.push(test.place(latency).finding(Vacuous::WithinTimeout { most: *most, timeout }));
        }
    }
}

impl Rule for Vacuous {
    const CODE: Code = Code::VacuousClaim;

    fn severity(&self) -> Severity {
        match self {
            // A model answers in most cases, and a test may only be about what it must not say.
            Vacuous::ToolNotGiven(_) | Vacuous::Idle { asks_model: true } => Severity::Hint,
            Vacuous::EmptyList
            | Vacuous::Idle { asks_model: false }
            | Vacuous::Empty(_)
            | Vacuous::AnyArguments
            | Vacuous::EmptyText
            | Vacuous::AnyScore
            | Vacuous::CostOfCommand
            | Vacuous::NoPattern
            | Vacuous::PiiOff
            | Vacuous::AnyDrift
            | Vacuous::NoFields
            | Vacuous::Boundless(_)
            | Vacuous::WithinTimeout { .. }
            | Vacuous::Gate { .. }
            | Vacuous::IdleGate { .. } => Self::SEVERITY,
        }
    }

    fn is_about_absence(&self) -> bool {
        // These are about a value that exists.
        !matches!(
            self,
            Vacuous::AnyScore
                | Vacuous::CostOfCommand
                | Vacuous::AnyDrift
                | Vacuous::Boundless(_)
                | Vacuous::WithinTimeout { .. }
                | Vacuous::Gate { .. }
        )
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Vacuous::EmptyList => {
                MessageParts::new("an empty list checks nothing").help("add an item, or remove the key")
            }
            Vacuous::Idle { asks_model: true } => {
                MessageParts::new("an empty reply without tool calls meets all of these expectations")
                    .help("add an expectation about what must happen, such as `contains`")
            }
            Vacuous::Idle { asks_model: false } => {
                MessageParts::new("a command that does nothing meets all of these expectations")
                    .note("its exit code is not checked")
                    .help("add an expectation about what must happen, such as `contains`")
            }
            Vacuous::Empty(Part::Output) => MessageParts::new("`output` checks nothing")
                .help("add `contains`, `notContains`, `maxLength` or `schemaFile`"),
            Vacuous::Empty(Part::Guardrails) => {
                MessageParts::new("`guardrails` checks nothing").help("add `pii: {}` or `keywords`")
            }
            Vacuous::Empty(Part::Keywords) => {
                MessageParts::new("`keywords` checks nothing").help("add a phrase to `deny` or `allow`")
            }
            Vacuous::Empty(Part::Baseline) => {
                MessageParts::new("`baseline` checks nothing without `drift`").help("add `drift`, or remove `baseline`")
            }
            Vacuous::AnyArguments => {
                MessageParts::new("`{}` matches any arguments").help("add an argument, or remove `argsMatch`")
            }
            Vacuous::EmptyText => {
                MessageParts::new("every output contains the empty string, so this item checks nothing")
                    .help("remove it")
            }
            Vacuous::AnyScore => MessageParts::new("every score meets `minScore: 0`").help(RAISE),
            Vacuous::CostOfCommand => MessageParts::new("the cost of a command is unknown")
                .note("KindLM counts it as 0, so this expectation always passes")
                .help("remove it"),
            Vacuous::NoPattern => MessageParts::new("`pii` checks nothing without a pattern")
                .help("remove `denyPatterns` to search for the built-in patterns"),
            Vacuous::PiiOff => MessageParts::new("`pii` is off, and the test has no other expectation")
                .help("add an expectation, or remove `enabled: false`"),
            Vacuous::AnyDrift => MessageParts::new("no drift exceeds `maxScore: 1`").help(LOWER),
            Vacuous::NoFields => MessageParts::new("`field-diff` checks nothing without `fields`")
                .help("list the fields to compare in `fields`"),
            Vacuous::Boundless(name) => {
                MessageParts::new(format!("no value exceeds `{name}: .inf`")).help("write a finite number")
            }
            Vacuous::ToolNotGiven(name) => {
                MessageParts::new(format!("the model does not have the tool `{name}`, so it cannot call it"))
                    .help(format!("add `{name}` to `tools`"))
            }
            Vacuous::WithinTimeout { most, timeout } => {
                MessageParts::new(format!("no command exceeds `maxMs: {most}`"))
                    .note(format!("`defaults.timeoutMs` stops it after {timeout} ms"))
                    .help(format!("lower it below {timeout}, or raise `defaults.timeoutMs`"))
            }
            Vacuous::Gate { gate, limit } => MessageParts::new(format!("every run passes the gate `{gate}: {limit}`"))
                .help(match *gate {
                    // Without it, its default applies.
                    "passRateMin" => RAISE.to_owned(),
                    "driftScoreMax" => format!("{LOWER}, or remove it"),
                    _ => format!("{RAISE}, or remove it"),
                }),
            Vacuous::IdleGate { gate, lacking } => MessageParts::new(format!("the gate `{gate}` cannot fail"))
                .note(match lacking {
                    Lacking::Judge => "no test has a `judge`",
                    Lacking::Drift => "no test has a `baseline` with `drift`",
                    Lacking::Graded => "no test has a `judge` or a `baseline`",
                    Lacking::Plain => "every expectation is a `judge` or a `baseline`",
                    Lacking::Cost => "every test is a command, whose cost counts as 0",
                })
                .help("remove it"),
        }
    }
}
