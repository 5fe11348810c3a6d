//! The output of `speclens check` for people: each problem with its lines, one line each, or, for many files, a summary
//! by code.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use speclens_schema::{
    check::text::shortened,
    document::{Encoding, Lines},
    problem::{Code, Problem, Severity},
    words::plural,
};

use super::{
    SourceText, SuiteReport,
    human::problem_snippet,
    plain::{self, BOLD, CYAN, DIM, GREEN, RED, YELLOW},
};

/// Problems of more files than this are summarized instead of printed one by one.
const MAX_FILES_IN_FULL: usize = 20;
const MAX_MESSAGES_PER_CODE: usize = 3;
/// A message in a summary has at most this many characters.
const MAX_MESSAGE_CHARS: usize = 150;

#[derive(Clone, Copy, Debug)]
pub struct View {
    pub least: Severity,
    /// Whether each problem is printed with its lines, whatever the number of files.
    pub verbose: bool,
}

type LocatedProblem<'r> = (&'r SourceText, &'r Problem);

/// Returns the report: each problem with its lines, and a summary by code where there are many files.
pub fn human(reports: &[SuiteReport], view: View) -> String {
    let all = all(reports);
    let (printed, left): (Vec<LocatedProblem<'_>>, Vec<LocatedProblem<'_>>) =
        all.into_iter().partition(|(_, problem)| problem.severity <= view.least);
    let files: BTreeSet<&str> = printed.iter().map(|(source, _)| source.path.as_str()).collect();
    let many = files.len() > MAX_FILES_IN_FULL;
    let mut text = String::new();
    if view.verbose || !many {
        for (source, problem) in &printed {
            let _ = writeln!(text, "{}\n", problem_snippet(source, problem));
        }
    }
    if many {
        summary(&mut text, &printed);
    }
    totals(&mut text, reports, &printed, &left);
    if many && !view.verbose {
        let _ = writeln!(
            text,
            "to see every problem, name fewer files, or add `--format concise` (one line each) or `--verbose`"
        );
    }
    text
}

/// Returns one line for each problem: `path:line:column: severity[code]: message`, all counted from 1, columns in characters.
pub fn concise(reports: &[SuiteReport], least: Severity) -> String {
    let mut text = String::new();
    for (source, problem) in all(reports).into_iter().filter(|(_, problem)| problem.severity <= least) {
        let message = source.secrets.mask(&problem.message);
        let _ = writeln!(
            text,
            "{}: {}[{}]: {}",
            place(source, problem),
            problem.severity.as_str(),
            problem.code.as_str(),
            plain::line(&message)
        );
    }
    text
}

/// Returns all problems in the order of the files; those of settings that several suites share once.
fn all(reports: &[SuiteReport]) -> Vec<LocatedProblem<'_>> {
    let mut settings = BTreeSet::new();
    reports.iter().flat_map(|report| report.new_problems(&mut settings)).collect()
}

fn place(source: &SourceText, problem: &Problem) -> String {
    let start = Lines::new(source.document.text(), Encoding::Utf32).places(problem.range.clone()).start;
    format!("{}:{}:{}", plain::line(&source.path), start.line + 1, start.column + 1)
}

#[derive(Default)]
struct Group<'r> {
    files: BTreeSet<&'r str>,
    problems: usize,
    with_safe_fix: usize,
    messages: BTreeMap<String, Message<'r>>,
}

struct Message<'r> {
    first: LocatedProblem<'r>,
    message: String,
    is_same: bool,
    problems: usize,
}

fn summary(text: &mut String, printed: &[LocatedProblem<'_>]) {
    let mut groups: BTreeMap<(Severity, Code), Group<'_>> = BTreeMap::new();
    for &(source, problem) in printed {
        let group = groups.entry((problem.severity, problem.code)).or_default();
        group.files.insert(&source.path);
        group.problems += 1;
        group.with_safe_fix += usize::from(problem.fixes.iter().any(|fix| fix.is_safe()));
        let message = source.secrets.mask(&problem.message);
        let entry = group.messages.entry(nameless(&message)).or_insert_with(|| Message {
            first: (source, problem),
            message: message.clone(),
            is_same: true,
            problems: 0,
        });
        entry.is_same &= entry.message == message;
        entry.problems += 1;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((severity, _), group)| (*severity, std::cmp::Reverse(group.problems)));
    for ((severity, code), group) in groups {
        let style = match severity {
            Severity::Error => RED,
            Severity::Warning => YELLOW,
            Severity::Information | Severity::Hint => CYAN,
        };
        let _ = write!(text, "{style}{}[{}]{style:#}", severity.as_str(), code.as_str());
        let _ = write!(text, "{BOLD}: {} in {}{BOLD:#}", group.problems, plural(group.files.len(), "file"));
        // How many are fixed is known only when the fixes are applied: some conflict, and one may fix several problems.
        let _ = match group.with_safe_fix {
            0 => writeln!(text),
            count => writeln!(text, ", {count} with a safe fix"),
        };
        let mut messages: Vec<_> = group.messages.into_iter().collect();
        messages.sort_by_key(|(_, message)| std::cmp::Reverse(message.problems));
        for (_, message) in messages.iter().take(MAX_MESSAGES_PER_CODE) {
            let words = if message.is_same { "" } else { "such as: " };
            let shown = shortened(&plain::line(&format!("{words}{}", message.message)), MAX_MESSAGE_CHARS);
            let (source, problem) = message.first;
            let more = if message.problems > 1 { ", ..." } else { "" };
            let _ = writeln!(
                text,
                "  {:>5}  {shown}\n         {DIM}{}{more}{DIM:#}",
                message.problems,
                place(source, problem)
            );
        }
        if let Some(rest) = messages.get(MAX_MESSAGES_PER_CODE..).filter(|rest| !rest.is_empty()) {
            let problems: usize = rest.iter().map(|(_, message)| message.problems).sum();
            let _ = writeln!(text, "  {problems:>5}  with {}", plural(rest.len(), "other message"));
        }
        text.push('\n');
    }
}

/// Returns the message with `…` for each name in backticks, to compare it with others.
fn nameless(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts: Vec<&str> = parts.map(|(index, part)| if index % 2 == 1 { "…" } else { part }).collect();
    parts.join("`")
}

fn totals(text: &mut String, reports: &[SuiteReport], printed: &[LocatedProblem<'_>], left: &[LocatedProblem<'_>]) {
    let words = [
        (Severity::Error, "error", RED),
        (Severity::Warning, "warning", YELLOW),
        (Severity::Information, "information message", CYAN),
        (Severity::Hint, "hint", CYAN),
    ];
    let counted = |found: &[LocatedProblem<'_>]| {
        let count = |severity| found.iter().filter(|(_, problem)| problem.severity == severity).count();
        let parts = words.into_iter().map(|(severity, word, style)| (count(severity), word, style));
        let parts = parts.filter(|(count, _, _)| *count > 0);
        parts.map(|(count, word, style)| format!("{style}{}{style:#}", plural(count, word))).collect::<Vec<_>>()
    };
    let checked = format!("{} with {}", plural(reports.len(), "file"), plural(SuiteReport::tests(reports), "test"));
    let parts = counted(printed);
    let _ = match parts.is_empty() {
        true => writeln!(text, "{GREEN}no problems{GREEN:#} in {checked}"),
        false => writeln!(text, "{} in {checked}", parts.join(", ")),
    };
    let least = left.iter().map(|(_, problem)| problem.severity).max();
    if let Some(least) = least {
        let _ = writeln!(
            text,
            "{} not shown; add `--level {}` to see all problems",
            counted(left).join(", "),
            least.as_str()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGE_CHARS, nameless, shortened};

    #[test]
    fn messages_that_differ_in_names_are_one_group() {
        assert_eq!(nameless("unknown key `a`, as in `b c`"), "unknown key `…`, as in `…`");
        assert_eq!(nameless("no names"), "no names");
        assert_eq!(nameless("`open"), "`…");
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(shortened("short", MAX_MESSAGE_CHARS), "short");
        let long = "é".repeat(200);
        assert_eq!(shortened(&long, MAX_MESSAGE_CHARS), format!("{}…", "é".repeat(150)));
    }
}
