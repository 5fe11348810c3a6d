//! The results of the tests by subject: a table if it fits, or else lines.

use std::fmt::Write;

use anstyle::Style;
use speclens_schema::{verdict::Status, words::plural};
use unicode_width::UnicodeWidthStr;

use crate::{
    event::SuiteResult,
    report::{
        SuiteReport,
        matrix::{Cost, Matrix, MatrixRow, Score, Spending, Stability},
        plain::{self, BOLD, DIM, GREEN, RED, YELLOW},
    },
};

const MAX_NAME: usize = 40;
const MAX_LISTED: usize = 10;

/// Writes the end of the report of a suite: its tests by model, if models acted, and the total cost.
pub(super) fn write(text: &mut String, report: &SuiteReport, result: &SuiteResult, width: usize) {
    let matrix = Matrix::of(result);
    if matrix.has_models() {
        let view = View { report, matrix: &matrix };
        if matrix.subjects.len() > 1 || matrix.has_repeats() {
            match view.table().filter(|lines| lines.iter().all(|line| width_of(line) <= width)) {
                Some(lines) => lines.iter().for_each(|line| write_line(line, text)),
                None => view.lines(text),
            }
            text.push('\n');
            view.stability(text);
        } else if let [only] = &matrix.subjects[..]
            && let Some(turns) = only.score.mean_turns()
        {
            let _ = writeln!(text, "  {DIM}{}: {turns:.1} turns per test{DIM:#}\n", name(report, &only.name));
        }
    }
    if let Some(version) = report.version() {
        let _ = writeln!(text, "  {BOLD}version{BOLD:#}: {}\n", plain::line(&version));
    }
    met_gates(text, report, result);
    spending(text, matrix.spending);
}

fn name(report: &SuiteReport, text: &str) -> String {
    plain::line(&report.masked(text))
}

type Line = Vec<(String, Style)>;

fn width_of(line: &Line) -> usize {
    line.iter().map(|(piece, _)| piece.width()).sum()
}

fn write_line(line: &Line, text: &mut String) {
    let shown = line.iter().rposition(|(piece, _)| !piece.trim().is_empty()).map_or(0, |last| last + 1);
    for (piece, style) in &line[..shown] {
        let _ = write!(text, "{style}{piece}{style:#}");
    }
    text.push('\n');
}

struct View<'v> {
    report: &'v SuiteReport,
    matrix: &'v Matrix<'v>,
}

struct Column {
    heading: &'static str,
    text: fn(Score) -> String,
    is_known: fn(Score) -> bool,
}

const COLUMNS: [Column; 3] = [
    Column {
        heading: "passed",
        text: |score| match score.runs {
            0 => "-".to_owned(),
            runs => format!("{}/{runs}", score.passed),
        },
        is_known: |_| true,
    },
    Column {
        heading: "turns",
        text: |score| score.mean_turns().map_or_else(|| "-".to_owned(), |turns| format!("{turns:.1}")),
        is_known: |score| score.mean_turns().is_some(),
    },
    Column {
        heading: "cost",
        text: |score| match score.cost {
            cost if cost.is_nothing() => "-".to_owned(),
            cost => cost.known().map_or_else(|| "?".to_owned(), dollars),
        },
        is_known: |score| score.cost.priced > 0,
    },
];

impl View<'_> {
    fn case(&self, row: &MatrixRow) -> String {
        name(self.report, &self.report.suite.cases[row.case].name)
    }

    fn subject(&self, index: usize) -> String {
        name(self.report, &self.matrix.subjects[index].name)
    }

    /// Returns the lines of the table; `None` if a name is too long for one.
    fn table(&self) -> Option<Vec<Line>> {
        const ALL: &str = "all tests";
        let totals: Vec<Score> = self.matrix.subjects.iter().map(|subject| subject.score).collect();
        let is_known = |column: &&Column| totals.iter().any(|score| (column.is_known)(*score));
        let columns: Vec<&Column> = COLUMNS.iter().filter(is_known).collect();
        let scores = || self.matrix.rows.iter().map(|row| &row.scores).chain([&totals]);
        let names: Vec<String> = self.matrix.rows.iter().map(|row| self.case(row)).collect();
        let first = names.iter().map(|name| name.width()).max()?.max(ALL.len());
        if first > MAX_NAME {
            return None;
        }
        // The width of each column of each subject.
        let room = |widths: &[usize]| widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
        let widths_of = |subject: usize| {
            let cells = |column: &Column| scores().map(|row| (column.text)(row[subject]).width()).max().unwrap_or(0);
            let widths = columns.iter().map(|column| cells(column).max(column.heading.len()));
            let mut widths: Vec<usize> = widths.collect();
            // A long name takes its space from the first column.
            let sum = room(&widths);
            widths[0] += self.subject(subject).width().saturating_sub(sum);
            widths
        };
        let widths: Vec<Vec<usize>> = (0..totals.len()).map(widths_of).collect();
        let margin = || vec![(" ".repeat(first + 2), DIM)];
        let (mut head, mut kinds, mut rates) = (margin(), margin(), margin());
        for (subject, widths) in widths.iter().enumerate() {
            let shown = self.subject(subject);
            head.push((format!("  {}{shown}", " ".repeat(room(widths).saturating_sub(shown.width()))), BOLD));
            for (column, width) in columns.iter().zip(widths) {
                kinds.push((format!("  {:>width$}", column.heading), DIM));
            }
            let rate = totals[subject].rate().map(|rate| format!("{}%", percent(rate))).unwrap_or_default();
            rates.push((format!("  {rate:>width$}", width = widths[0]), DIM));
            rates.push((" ".repeat(widths[1..].iter().map(|width| width + 2).sum()), DIM));
        }
        let mut lines = vec![head, kinds];
        for (title, row) in names.iter().map(String::as_str).chain([ALL]).zip(scores()) {
            let style = if title == ALL { BOLD } else { Style::new() };
            let mut line = vec![(format!("  {title}{}", " ".repeat(first - title.width())), style)];
            for (score, widths) in row.iter().zip(&widths) {
                for (index, (column, width)) in columns.iter().zip(widths).enumerate() {
                    let style = if index == 0 { color(*score) } else { Style::new() };
                    line.push((format!("  {:>width$}", (column.text)(*score)), style));
                }
            }
            lines.push(line);
        }
        lines.push(rates);
        Some(lines)
    }

    /// Writes the same as lines, for narrow terminals, long names and many subjects.
    fn lines(&self, text: &mut String) {
        for (index, subject) in self.matrix.subjects.iter().enumerate() {
            let score = subject.score;
            let rate = score.rate().map(|rate| format!(" ({}%)", percent(rate))).unwrap_or_default();
            let mut figures = vec![format!("{} of {} passed{rate}", score.passed, plural(score.runs, "attempt"))];
            figures.extend(score.mean_turns().map(|turns| format!("{turns:.1} turns per attempt")));
            figures.extend(score.cost.known().map(dollars));
            let _ = writeln!(text, "  {BOLD}{}{BOLD:#}: {}", self.subject(index), figures.join(", "));
            for row in self.matrix.rows.iter().filter(|row| row.scores[index].runs > 0) {
                let (score, style) = (row.scores[index], color(row.scores[index]));
                let _ = writeln!(text, "    {style}{}/{}{style:#} {}", score.passed, score.runs, self.case(row));
            }
        }
    }

    /// Writes which tests agree in all repetitions, which in some, and which fail in all.
    fn stability(&self, text: &mut String) {
        if !self.matrix.has_repeats() {
            return;
        }
        let of = |wanted: Stability| {
            let listed = self.matrix.rows.iter().filter_map(|row| {
                let begun = || row.scores.iter().filter(|score| score.runs > 0);
                let with = |index: usize| row.scores[index].stability() == Some(wanted);
                let indices: Vec<usize> = (0..row.scores.len()).filter(|index| with(*index)).collect();
                match indices.len() {
                    0 => None,
                    all if all == begun().count() => Some(self.case(row)),
                    _ => {
                        let names: Vec<String> = indices.into_iter().map(|index| self.subject(index)).collect();
                        Some(format!("{} ({})", self.case(row), names.join(", ")))
                    }
                }
            });
            listed.collect::<Vec<_>>()
        };
        for (stability, word, style) in [
            (Stability::Stable, "stable", GREEN),
            (Stability::Flaky, "flaky", YELLOW),
            (Stability::Failing, "always failing", RED),
        ] {
            let listed = of(stability);
            if listed.is_empty() {
                continue;
            }
            let more = match listed.len().saturating_sub(MAX_LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let _ =
                writeln!(text, "  {style}{word}{style:#}: {}{more}", listed[..listed.len().min(MAX_LISTED)].join(", "));
        }
        text.push('\n');
    }
}

/// Writes the gates that are met or only inform. Those that fail have a separate part in the report.
fn met_gates(text: &mut String, report: &SuiteReport, result: &SuiteResult) {
    let mut any = false;
    for gate in result.gates.gates.iter().filter(|gate| gate.source.is_set()) {
        let (mark, style) = match gate.status {
            Status::Pass => ("✓", GREEN),
            Status::Warn => ("⚠", YELLOW),
            Status::Skip | Status::Unknown | Status::Fail | Status::Error => continue,
        };
        any = true;
        let _ = writeln!(text, "  {style}{mark}{style:#} {}", name(report, &gate.message));
    }
    if any {
        text.push('\n');
    }
}

fn spending(text: &mut String, spending: Spending) {
    let of = |word: &str, cost: Cost| match cost {
        cost if cost.is_nothing() => None,
        Cost { usd, unpriced: 0, .. } => Some(format!("{word} {}", dollars(usd))),
        Cost { priced: 0, .. } => Some(format!("{word} unknown")),
        Cost { usd, unpriced, .. } => {
            Some(format!("{word} at least {} ({} without a price)", dollars(usd), plural(unpriced, "attempt")))
        }
    };
    let parts = [of("models", spending.subjects), of("judges", spending.judges)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        let when = if spending.is_replayed { " when recorded" } else { "" };
        let _ = writeln!(text, "  {BOLD}cost{when}{BOLD:#}: {}\n", parts.join(", "));
    }
}

fn color(score: Score) -> Style {
    match score.stability() {
        Some(Stability::Stable) => GREEN,
        Some(Stability::Flaky) => YELLOW,
        Some(Stability::Failing) => RED,
        None => DIM,
    }
}

/// Returns a percentage, with a decimal if it is not 0.
pub(in crate::report) fn percent(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

pub fn dollars(usd: f64) -> String {
    if usd == 0.0 || usd >= 1.0 { format!("${usd:.2}") } else { format!("${usd:.4}") }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use serde_json::json;

    use speclens_schema::{
        analysis::Analyzer,
        document::{Document, Pointer, ScalarRules},
        evidence::Usage,
        files::MemoryFiles,
        format::Dialect,
        gates::{GateOutcome, GateReport, GateSource},
        json_schema::SpecFile,
        mask::Secrets,
        settings::Settings,
        suite::Subject,
    };

    use super::*;
    use crate::{
        event::{CaseResult, Figures, Judges, Origin, RunResult},
        report::{Root, SourceText},
    };

    fn run(model: &str, repeat: u32, status: Status, turns: u32, cost_usd: Option<f64>) -> Arc<RunResult> {
        let usage = Some(Usage { input_tokens: 100, output_tokens: 10, cost_usd });
        Arc::new(RunResult {
            figures: Figures { turns: Some(turns), usage, ..Figures::default() },
            origin: Origin::Recorded,
            ..RunResult::of(&Subject::model(model, None), repeat, status)
        })
    }

    fn written(names: &[&str], runs: Vec<Vec<Arc<RunResult>>>, gates: Vec<GateOutcome>, width: usize) -> String {
        let tasks = names.iter().map(|name| format!("  - {{id: {}, intent: x, assert: []}}\n", json!(name)));
        let document = Document::read(&format!("cli: a\ntasks:\n{}", tasks.collect::<String>()), ScalarRules::Yaml12);
        let files = MemoryFiles::default();
        let suite = Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &files, &Settings::default()).suite;
        let source = SourceText { path: "cli-bench.yaml".to_owned(), document, secrets: Arc::new(Secrets::none()) };
        let cases = runs.into_iter().enumerate();
        let result = SuiteResult {
            status: Status::Fail,
            cases: cases.map(|(case, runs)| CaseResult { case, status: Status::Fail, runs }).collect(),
            gates: GateReport { gates, rescued: false },
            failed: true,
            inconclusive: false,
            cancelled: false,
            duration: Duration::ZERO,
        };
        let report = SuiteReport {
            source,
            real_path: std::path::PathBuf::new(),
            root: Root::default(),
            dialect: Dialect::CLI_BENCH,
            settings: None,
            parts: Vec::new(),
            problems: Vec::new(),
            suite: Arc::new(suite),
            result: None,
        };
        let mut text = String::new();
        write(&mut text, &report, &result, width);
        text
    }

    fn bare(text: &str) -> String {
        let mut plain = String::new();
        let mut escaped = false;
        for it in text.chars() {
            match it {
                '\u{1b}' => escaped = true,
                'm' if escaped => escaped = false,
                it if !escaped => plain.push(it),
                _ => {}
            }
        }
        plain
    }

    fn two_models(width: usize) -> String {
        let (one, other) = ("anthropic/claude-sonnet-4.6", "openai/gpt-4o-mini");
        let runs = |first: [Status; 2], second: [Status; 2]| {
            let of = |model, statuses: [Status; 2], cost: Option<f64>| {
                let each = statuses.into_iter().enumerate();
                each.map(|(repeat, status)| run(model, repeat as u32, status, 2 + repeat as u32, cost))
                    .collect::<Vec<_>>()
            };
            [of(one, first, Some(0.004)), of(other, second, None)].concat()
        };
        let gate = |status, message: &str| GateOutcome {
            name: "passRate",
            source: GateSource::Suite(Pointer::root()),
            status,
            expected: 75.0,
            actual: 75.0,
            message: message.to_owned(),
        };
        let gates = vec![gate(Status::Pass, "a: pass rate 75% meets 75%"), gate(Status::Fail, "shown elsewhere")];
        let runs = vec![
            runs([Status::Pass; 2], [Status::Pass, Status::Fail]),
            runs([Status::Pass, Status::Error], [Status::Fail; 2]),
        ];
        bare(&written(&["show-help", "export-as-csv"], runs, gates, width))
    }

    const TAIL: [&str; 10] = [
        "",
        "  stable: show-help (claude-sonnet-4.6)",
        "  flaky: show-help (gpt-4o-mini), export-as-csv (claude-sonnet-4.6)",
        "  always failing: export-as-csv (gpt-4o-mini)",
        "",
        "  ✓ a: pass rate 75% meets 75%",
        "",
        "  cost: models at least $0.0160 (4 attempts without a price)",
        "",
        "",
    ];

    #[test]
    fn tests_by_model_are_a_table_where_it_fits() {
        let table = [
            "                      claude-sonnet-4.6          gpt-4o-mini",
            "                 passed  turns     cost  passed  turns  cost",
            "  show-help         2/2    2.5  $0.0080     1/2    2.5     ?",
            "  export-as-csv     1/2    2.5  $0.0080     0/2    2.5     ?",
            "  all tests         3/4    2.5  $0.0160     1/4    2.5     ?",
            "                    75%                     25%",
        ];
        assert_eq!(two_models(60).split('\n').collect::<Vec<_>>(), [&table[..], &TAIL].concat());
    }

    #[test]
    fn tests_by_model_are_lines_where_the_terminal_is_narrow() {
        let lines = [
            "  claude-sonnet-4.6: 3 of 4 attempts passed (75%), 2.5 turns per attempt, $0.0160",
            "    2/2 show-help",
            "    1/2 export-as-csv",
            "  gpt-4o-mini: 1 of 4 attempts passed (25%), 2.5 turns per attempt",
            "    1/2 show-help",
            "    0/2 export-as-csv",
        ];
        assert_eq!(two_models(59).split('\n').collect::<Vec<_>>(), [&lines[..], &TAIL].concat());
    }

    #[test]
    fn single_attempts_of_one_model_have_no_table() {
        let text = bare(&written(&["a"], vec![vec![run("a/b", 0, Status::Pass, 3, Some(1.5))]], Vec::new(), 80));
        assert_eq!(text, "  b: 3.0 turns per test\n\n  cost: models $1.50\n\n");
    }

    #[test]
    fn cost_of_judges_is_apart_and_shown_without_models() {
        let mut judged = RunResult::clone(&run("a/b", 0, Status::Pass, 1, None));
        judged.subject = Subject::Command;
        judged.figures = Figures { judges: Some(Judges { answers: 3, cost_usd: Some(0.0123) }), ..Figures::default() };
        let with = |origin| {
            let judged = RunResult { origin, ..judged.clone() };
            bare(&written(&["a"], vec![vec![Arc::new(judged)]], Vec::new(), 80))
        };
        assert_eq!(with(Origin::Recorded), "  cost: judges $0.0123\n\n");
        assert_eq!(with(Origin::Replayed), "  cost when recorded: judges $0.0123\n\n");
    }

    #[test]
    fn names_of_tests_and_models_write_no_control_sequence() {
        let runs = vec![vec![run("a/\u{1b}]0;x\u{7}", 0, Status::Pass, 1, None), run("a/b", 0, Status::Pass, 1, None)]];
        for width in [100, 10] {
            let text = written(&["\u{1b}[2Jname"], runs.clone(), Vec::new(), width);
            // The colors of the report itself are the only escape sequences.
            assert!(!text.contains("\u{1b}]") && !text.contains("\u{1b}[2J") && !text.contains('\u{7}'), "{text:?}");
            assert!(text.contains("\u{fffd}[2Jname"), "{text:?}");
        }
    }
}
