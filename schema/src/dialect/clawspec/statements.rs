//! Compares assertions about the same subject, to find two that cannot both hold.

use rustc_hash::FxHashMap;

use crate::{
    check::text::case_folded,
    finding::{MessageParts, Report},
    lint_node::LintNode,
    pattern::is_literal,
    problem::Code,
};

/// Maximum number of statements about one subject that are compared with those that deny it.
const MAX_COMPARED: usize = 256;

pub(crate) enum Statement<'d> {
    /// Something with a name occurs, or does not.
    Named(NamedStatement<'d>),
    /// Only these tools are called in a run.
    Only { run: LoggedRun<'d>, names: Vec<&'d str>, node: LintNode<'d> },
    /// Something that has only one value has this one.
    Value { of: String, value: String, node: LintNode<'d> },
}

/// Something with a name occurs, or does not.
pub(crate) struct NamedStatement<'d> {
    about: Subject<'d>,
    name: &'d str,
    holds: bool,
    node: LintNode<'d>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Subject<'d> {
    /// Calls of a tool in a run, in the log of the gateway.
    Call(LoggedRun<'d>),
    /// Calls of a tool, in the trace.
    Span,
    File,
    /// A file whose name contains wildcards, which count as they are.
    LiteralFile,
    Log(&'d str),
    /// Models in the trace. Part of a name is enough.
    Model,
    /// Headings and words in this file.
    Content(&'d str),
}

/// Run that an assertion is about: the path of the log and the id of the run, if they are not the defaults.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct LoggedRun<'d> {
    log_path: Option<&'d str>,
    run_id: Option<&'d str>,
}

impl<'d> LoggedRun<'d> {
    pub(crate) fn of(assertion: &LintNode<'d>) -> LoggedRun<'d> {
        let is_own = |run: &str| run.chars().filter(|letter| *letter != ' ').eq("{{run_id}}".chars());
        let run_id = assertion.text_at("run_id").filter(|run| !is_own(run));
        LoggedRun { log_path: assertion.text_at("log_path"), run_id }
    }
}

impl<'d> Subject<'d> {
    /// Returns a file whose path is literal. Other assertions expand wildcards, so they are about different files.
    pub(crate) fn one_file(assertion: &LintNode<'d>) -> Subject<'d> {
        let is_wild = assertion.text_at("path").is_some_and(|path| path.contains(['*', '?', '[']));
        if is_wild { Subject::LiteralFile } else { Subject::File }
    }

    pub(crate) fn content(assertion: &LintNode<'d>) -> Subject<'d> {
        Subject::Content(assertion.text_at("path").unwrap_or_default())
    }

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

    fn message(self, whole: &str, part: &str) -> MessageParts {
        let verb = match self {
            Subject::Call(_) | Subject::Span => "be called".to_owned(),
            Subject::File | Subject::LiteralFile => "exist".to_owned(),
            Subject::Log(path) | Subject::Content(path) => format!("be in `{path}`"),
            Subject::Model => "be used".to_owned(),
        };
        let words = if whole == part {
            MessageParts::new(format!("`{whole}` both must and must not {verb}"))
        } else {
            let words = MessageParts::new(format!("`{whole}` must {verb}, but `{part}` must not"));
            words.note(format!("`{part}` is part of `{whole}`"))
        };
        words.help("remove one of the two")
    }
}

impl<'d> Statement<'d> {
    pub(crate) fn at(
        assertion: &LintNode<'d>,
        key: &str,
        about: Subject<'d>,
        holds: bool,
    ) -> impl Iterator<Item = Statement<'d>> {
        let items = assertion.get(key).map(|member| if member.is_list() { member.items() } else { vec![member] });
        items.into_iter().flatten().filter_map(move |node| {
            let name = node.text().filter(|name| !name.is_empty())?;
            Some(Statement::Named(NamedStatement { about, name, holds, node }))
        })
    }

    pub(crate) fn file(&self, exists: bool) -> Option<(&'d str, &LintNode<'d>)> {
        match self {
            Statement::Named(NamedStatement { about: Subject::File | Subject::LiteralFile, name, holds, node }) => {
                (*holds == exists).then_some((*name, node))
            }
            Statement::Named(_) | Statement::Only { .. } | Statement::Value { .. } => None,
        }
    }

    /// Returns the statement about the value of what the key `of` names.
    pub(crate) fn value(assertion: &LintNode<'d>, of: &str, expected: &str) -> Option<Statement<'d>> {
        let (kind, at) = (assertion.text_at("type")?, assertion.text_at(of)?);
        // A state may change between two assertions that wait.
        if assertion.get("timeout").is_some() || assertion.get("updated_after").is_some() {
            return None;
        }
        let node = assertion.get(expected)?;
        // Strings never equal numbers; numbers are equal in any notation.
        let value = match (node.number(), node.text()) {
            (Some(number), _) => number.to_string(),
            (None, Some(text)) if !text.is_empty() => text.to_owned(),
            _ => return None,
        };
        Some(Statement::Value { of: format!("{kind} {at}"), value, node })
    }
}

/// Checks what the assertions of a list say.
pub(crate) fn check<'d>(said: impl Iterator<Item = Statement<'d>>, report: &mut Report) {
    let mut named = Vec::new();
    let mut allowed = Vec::new();
    let mut values: FxHashMap<String, (String, LintNode<'_>)> = FxHashMap::default();
    for statement in said {
        match statement {
            Statement::Named(statement) => named.push(statement),
            Statement::Only { run, names, node } => allowed.push((run, names, node)),
            Statement::Value { of, value, node } => match values.get(&of) {
                Some((other, first)) if *other != value => {
                    let key = node.at.last().unwrap_or_default();
                    let words = MessageParts::new(format!("`{key}` cannot be both `{other}` and `{value}`"))
                        .help("remove one of the two");
                    report.push(node.problem(Code::Contradiction, words).with("the other assertion", first));
                }
                Some(_) => {}
                None => {
                    values.insert(of, (value, node));
                }
            },
        }
    }
    check_named(&named, report);
    for called in named.iter().filter(|it| it.holds) {
        let (Subject::Call(run), name) = (called.about, called.name) else { continue };
        if let Some((_, _, tools)) = allowed.iter().find(|(of, names, _)| *of == run && !names.contains(&name)) {
            let words = MessageParts::new(format!("`{name}` must be called, but is not in `allowed_tools`"))
                .help(format!("add `{name}` to `allowed_tools`, or remove this assertion"));
            let finding = called.node.problem(Code::Contradiction, words);
            report.push(finding.with("the tools that are allowed", tools));
        }
    }
}

/// Reports what must and must not occur, at the later of the two.
fn check_named(said: &[NamedStatement<'_>], report: &mut Report) {
    let mut held: FxHashMap<Subject<'_>, Vec<&NamedStatement<'_>>> = FxHashMap::default();
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
        let is_first = denied.node.range().start < other.node.range().start;
        let (first, last) = if is_first { (denied, other) } else { (other, denied) };
        let finding = last.node.problem(Code::Contradiction, denied.about.message(other.name, denied.name));
        report.push(finding.with("the other assertion", &first.node));
    }
}
