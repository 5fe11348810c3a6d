//! Contradictions in ClawSpec files.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    check::text::case_folded,
    dialect::{
        Lookup,
        clawspec::{
            agents,
            stage_contracts::{ContractLookup, NamedContract},
            typed_assertion::TypedAssertion,
        },
    },
    files::Files,
    finding::{Finding, Location, MessageParts, Relation, Report, Rule},
    lint_node::LintNode,
    pattern::is_literal,
    problem::{Code, Fix, OtherFile},
    relations::Items,
    shape::scalar,
};

pub(crate) mod impossible;

/// Maximum number of statements about one subject that are compared with those that deny it.
const MAX_COMPARED: usize = 256;

/// Two statements that cannot both hold.
#[derive(Debug)]
enum Contradiction {
    /// A lower percentile that is greater than a higher one.
    Measures { metric: String, low: &'static str, high: &'static str },
    /// A stage whose contract is for another agent.
    OtherAgent { stage: String, contract: String },
    /// A second value for something that has only one.
    OtherValue { own: String, other: String },
    /// The opposite of another assertion.
    Opposite { event: Event, name: String },
    /// A prohibited part of something that is required.
    Part { event: Event, whole: String, part: String },
    /// A tool that must be called but is not allowed.
    NotAllowed(String),
}

/// Event that one of two opposite assertions requires and the other prohibits.
#[derive(Debug)]
enum Event {
    Call,
    File,
    /// A text in this log.
    Log(String),
    /// Use of a model.
    Model,
    /// A heading, and a word, in this file.
    Heading(String),
}

/// Checks the metrics of a baseline.
pub(crate) fn check_baseline(baseline: &LintNode<'_>, report: &mut Report) {
    const ORDER: [&str; 4] = ["min", "p50", "p95", "max"];
    for (metric, distribution) in baseline.get("metrics").map(|it| it.entries()).unwrap_or_default() {
        let value = |key: &&'static str| {
            let place = distribution.get(key)?;
            Some((*key, place.number()?, place))
        };
        let values: Vec<(&'static str, f64, LintNode<'_>)> = ORDER.iter().filter_map(value).collect();
        for pair in values.windows(2) {
            if let [(low, less, place), (high, more, _)] = pair
                && less > more
            {
                report.push(place.finding(Contradiction::Measures { metric: metric.clone(), low, high }));
            }
        }
    }
}

/// Checks the handoff contract of a stage.
pub(crate) fn check_stage(contract: &NamedContract<'_>, stages: Items<'_>, files: &dyn Files, report: &mut Report) {
    let ContractLookup::Found { path, bytes, document } = &contract.lookup else { return };
    let to = document.root().and_then(|root| LintNode::root(root).find(&["handoff", "to"]));
    let (Some(agent), Some((to, other))) = (&contract.stage.agent, to.and_then(|to| Some((to.clone(), to.text()?))))
    else {
        return;
    };
    let own = agent.name.as_str();
    let is_settled = [own, other].iter().all(|name| !name.trim().is_empty() && !name.contains("{{"));
    let is_misspelled = |name: &str| matches!(agents::look_up(name, files), Lookup::Misspelled(_));
    // A misspelling is reported where it occurs.
    if !is_settled || agents::is_same(own, other) || is_misspelled(own) || is_misspelled(other) {
        return;
    }
    let (at, range) = stages.place(contract.index, agent);
    let file = OtherFile { path: path.clone(), bytes: Arc::clone(bytes) };
    let rule = Contradiction::OtherAgent { stage: own.to_owned(), contract: other.to_owned() };
    let finding = Finding::new(rule, at, range);
    report.push(finding.related_in(file, Relation::ContractFor(other.to_owned()), to.at.clone(), to.range()));
}

/// Subject of an assertion.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Subject<'d> {
    /// Calls of a tool in a run, in the log of the gateway.
    Call(LoggedRun<'d>),
    /// Calls of a tool, in the trace.
    Span,
    /// A file.
    File,
    /// A file whose name contains wildcards, which count as they are.
    LiteralFile,
    /// Text in this log.
    Log(&'d str),
    /// Models in the trace. Part of a name is enough.
    Model,
    /// Headings and words in this file.
    Content(&'d str),
}

impl Subject<'_> {
    /// Whether everything that has the required name also has a prohibited one.
    fn implies(self, required: &str, prohibited: &str) -> bool {
        match self {
            Subject::Call(_) | Subject::Span | Subject::File | Subject::LiteralFile => required == prohibited,
            Subject::Log(_) => {
                required == prohibited
                    || [required, prohibited].into_iter().all(is_literal) && required.contains(prohibited)
            }
            Subject::Model => required.contains(prohibited),
            Subject::Content(_) => case_folded(required).contains(&case_folded(prohibited)),
        }
    }
}

/// Run that an assertion is about: the path of the log and the id of the run, if they are not the defaults.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct LoggedRun<'d> {
    log_path: Option<&'d str>,
    run_id: Option<&'d str>,
}

impl<'d> LoggedRun<'d> {
    fn of(assertion: &LintNode<'d>) -> LoggedRun<'d> {
        let is_own = |run: &str| run.chars().filter(|letter| *letter != ' ').eq("{{run_id}}".chars());
        let run_id = assertion.text_at("run_id").filter(|run| !is_own(run));
        LoggedRun { log_path: assertion.text_at("log_path"), run_id }
    }
}

/// Statement of an assertion.
struct Statement<'d> {
    about: Subject<'d>,
    name: &'d str,
    holds: bool,
    lint_node: LintNode<'d>,
}

/// Returns the expected value of something that has only one value: its name, the value, and the
/// location.
fn value_of<'d>(assertion: &LintNode<'d>, kind: &str) -> Option<(String, String, LintNode<'d>)> {
    let (place, expected) = match kind {
        "decision_routed_to" => ("state_path", "expected_agent"),
        "gateway_response" => ("endpoint", "expected_status"),
        "state_file" if assertion.get("state_path").is_some() => ("state_path", "expected_status"),
        "state_file" => ("path", "expected_status"),
        _ => return None,
    };
    let at = assertion.get(place)?.text()?;
    // A state may change between two assertions that wait.
    if assertion.get("timeout").is_some() || assertion.get("updated_after").is_some() {
        return None;
    }
    let value = assertion.get(expected)?;
    // Strings never equal numbers; numbers are equal in any notation.
    let written = match (value.number(), value.text()) {
        (Some(number), _) => number.to_string(),
        (None, Some(text)) if !text.is_empty() => text.to_owned(),
        _ => return None,
    };
    Some((format!("{kind} {at}"), written, value))
}

fn has_wildcard(assertion: &LintNode<'_>) -> bool {
    let path = assertion.get("path");
    path.as_ref().and_then(LintNode::text).is_some_and(|path| path.contains(['*', '?', '[']))
}

/// Checks the assertions of a list.
pub(crate) fn check_assertions(assertions: &[TypedAssertion<'_>], report: &mut Report) {
    let mut said: Vec<Statement<'_>> = Vec::new();
    let mut values: Vec<(String, String, LintNode<'_>)> = Vec::new();
    let mut allowed: Vec<(LoggedRun<'_>, Vec<&str>, LintNode<'_>)> = Vec::new();
    for assertion in assertions {
        let Some(kind) = assertion.name else { continue };
        if let Some(value) = value_of(assertion, kind) {
            match values.iter().find(|(about, other, _)| *about == value.0 && *other != value.1) {
                Some((_, other, lint_node)) => {
                    let rule = Contradiction::OtherValue { own: value.1, other: other.clone() };
                    report.push(value.2.finding(rule).with("the other assertion", lint_node));
                }
                None => values.push(value),
            }
        }
        let mut say = |about, key: &str, holds| {
            let Some(member) = assertion.get(key) else { return };
            let items = if member.is_list() { member.items() } else { vec![member] };
            said.extend(items.into_iter().filter_map(|lint_node| {
                let name = lint_node.text().filter(|name| !name.is_empty())?;
                Some(Statement { about, name, holds, lint_node })
            }));
        };
        match kind {
            "tool_was_called" => say(Subject::Call(LoggedRun::of(assertion)), "tool", true),
            "tool_not_called" => say(Subject::Call(LoggedRun::of(assertion)), "tool", false),
            "tool_sequence" => say(Subject::Span, "expected", true),
            "tool_not_invoked" => say(Subject::Span, "tool", false),
            // These two treat wildcards literally, the others do not, so they are about different files.
            "file_present" if has_wildcard(assertion) => say(Subject::LiteralFile, "path", true),
            "file_absent" if has_wildcard(assertion) => say(Subject::LiteralFile, "path", false),
            "artifact_contains" => {
                say(Subject::File, "path", true);
                say(Subject::Content(assertion.text_at("path").unwrap_or_default()), "sections", true);
            }
            "file_present" | "artifact_exists" => say(Subject::File, "path", true),
            "file_absent" => say(Subject::File, "path", false),
            "model_used" => {
                say(Subject::Model, "expected", true);
                say(Subject::Model, "not_expected", false);
            }
            "artifact_absent_words" => {
                say(Subject::Content(assertion.text_at("path").unwrap_or_default()), "words", false);
            }
            "log_entry" => {
                let absent = assertion.get("absent").and_then(|it| it.bool()).unwrap_or(false);
                let path = assertion.text_at("path").unwrap_or_default();
                if let Some(pattern) = assertion.get("pattern")
                    && let Some(text) = pattern.text().filter(|text| !text.is_empty())
                {
                    said.push(Statement { about: Subject::Log(path), name: text, holds: !absent, lint_node: pattern });
                }
            }
            "tool_not_permitted" => {
                let Some(tools) = assertion.get("allowed_tools").filter(LintNode::is_list) else { continue };
                let names = tools.texts().into_iter().map(|(name, _)| name).collect();
                allowed.push((LoggedRun::of(assertion), names, tools));
            }
            _ => {}
        }
    }
    let mut held: FxHashMap<Subject<'_>, Vec<&Statement<'_>>> = FxHashMap::default();
    // Most lists deny nothing.
    let denies = said.iter().any(|it| !it.holds);
    for claim in said.iter().filter(|it| it.holds && denies) {
        let same = held.entry(claim.about).or_default();
        if same.len() < MAX_COMPARED {
            same.push(claim);
        }
    }
    for denied in said.iter().filter(|it| !it.holds) {
        let mut same = held.get(&denied.about).into_iter().flatten();
        let Some(other) = same.find(|other| denied.about.implies(other.name, denied.name)).copied() else { continue };
        let (_, last) = if denied.lint_node.range().start < other.lint_node.range().start {
            (denied, other)
        } else {
            (other, denied)
        };
        let first = if std::ptr::eq(last, other) { denied } else { other };
        let event = match denied.about {
            Subject::Call(_) | Subject::Span => Event::Call,
            Subject::File | Subject::LiteralFile => Event::File,
            Subject::Log(path) => Event::Log(path.to_owned()),
            Subject::Model => Event::Model,
            Subject::Content(path) => Event::Heading(path.to_owned()),
        };
        let (whole, part) = (other.name.to_owned(), denied.name.to_owned());
        let rule = match whole == part {
            true => Contradiction::Opposite { event, name: whole },
            false => Contradiction::Part { event, whole, part },
        };
        report.push(last.lint_node.finding(rule).with("the other assertion", &first.lint_node));
    }
    for called in said.iter().filter(|it| it.holds) {
        let Subject::Call(run) = called.about else { continue };
        if let Some((_, _, tools)) = allowed.iter().find(|(of, names, _)| *of == run && !names.contains(&called.name)) {
            let finding = called.lint_node.finding(Contradiction::NotAllowed(called.name.to_owned()));
            report.push(finding.with("the tools that are allowed", tools));
        }
    }
}

impl Rule for Contradiction {
    const CODE: Code = Code::Contradiction;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Contradiction::Measures { metric, low, high } => MessageParts::new(format!(
                "`{low}` of `{metric}` is greater than `{high}`, so they cannot come from the same runs"
            ))
            .help("capture the baseline again"),
            Contradiction::OtherAgent { stage, contract } => MessageParts::new(format!(
                "the agent of this stage is `{stage}`, but the handoff contract is for `{contract}`"
            ))
            .remedy(format!("change it to `{contract}`"), Fix::guess, location.replaced(scalar(contract))),
            Contradiction::OtherValue { own, other } => {
                let key = location.at.last().unwrap_or_default();
                MessageParts::new(format!("`{key}` cannot be both `{other}` and `{own}`")).help("remove one of the two")
            }
            Contradiction::Opposite { event, name } => {
                let words = match event {
                    Event::Call => format!("`{name}` both must and must not be called"),
                    Event::File => format!("`{name}` both must and must not exist"),
                    Event::Log(path) | Event::Heading(path) => {
                        format!("`{name}` both must and must not be in `{path}`")
                    }
                    Event::Model => format!("`{name}` both must and must not be used"),
                };
                MessageParts::new(words).help("remove one of the two")
            }
            Contradiction::Part { event, whole, part } => {
                let words = match event {
                    Event::Call => format!("`{whole}` must be called, but `{part}` must not"),
                    Event::File => format!("`{whole}` must exist, but `{part}` must not"),
                    Event::Log(path) | Event::Heading(path) => {
                        format!("`{whole}` must be in `{path}`, but `{part}` must not")
                    }
                    Event::Model => format!("`{whole}` must be used, but no model with `{part}` in its name"),
                };
                MessageParts::new(words).note(format!("`{part}` is part of `{whole}`")).help("remove one of the two")
            }
            Contradiction::NotAllowed(name) => {
                MessageParts::new(format!("`{name}` must be called, but is not in `allowed_tools`"))
                    .help(format!("add `{name}` to `allowed_tools`, or remove this assertion"))
            }
        }
    }
}
