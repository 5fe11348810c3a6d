//! `speclens check`: what is wrong, without running anything.

use std::path::PathBuf;

use clap::ValueEnum;
use speclens_runner::report::{SuiteReport, github, human, json, sarif};

use super::{INVALID, PASSED, discover::Wanted, fix, levels, load, output};

/// The options of `speclens check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites, or directories to search
    paths: Vec<PathBuf>,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    levels: levels::LevelArgs,
    /// Apply the fixes that need nobody's judgement, and say what is left
    #[arg(long)]
    fix: bool,
    /// Print what `--fix` would change as a unified diff; change nothing
    #[arg(long, conflicts_with_all = ["fix", "format"])]
    diff: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text with source snippets
    Human,
    /// The JSON report
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands that annotate lines on GitHub
    Github,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let levels = args.levels.levels()?;
    let mut suites = load::suites(&args.paths, Wanted::Files, &levels)?;
    let mut outcome = None;
    if args.fix {
        let fixed = fix::apply(&suites);
        if !fixed.fixed.is_empty() {
            // What is left is what the files say now.
            suites = load::suites(&args.paths, Wanted::Files, &levels)?;
        }
        outcome = Some(fixed);
    }
    if args.diff {
        let (text, count) = fix::diff(&suites);
        output::print(&text)?;
        output::remark(&format!("`--fix` would fix {}", fix::plural(count, "problem")));
    }
    let failed = outcome.as_ref().is_some_and(|outcome| !outcome.failed.is_empty());
    let fixable = if args.format == Format::Human && !args.fix && !args.diff { fix::count(&suites) } else { 0 };
    let reports: Vec<SuiteReport> = suites.into_iter().map(|loaded| loaded.report).collect();
    match args.format {
        _ if args.diff => {}
        Format::Human => output::print(&human(&reports, outcome.as_ref(), fixable))?,
        Format::Json => output::print(&json::render(&reports, json::Content::default()))?,
        Format::Sarif => output::print(&sarif::render(&reports))?,
        Format::Github => output::print(&github::render(&reports))?,
    }
    if let Some(outcome) = outcome.filter(|_| args.format != Format::Human) {
        // Standard output belongs to the report.
        output::remark(&fix::summary(&outcome));
    }
    let bad = failed || reports.iter().any(SuiteReport::is_refused);
    Ok(if bad { INVALID } else { PASSED })
}

/// The report for people: what was done, what is left, what could be done.
fn human(reports: &[SuiteReport], outcome: Option<&fix::Outcome>, fixable: usize) -> String {
    let Some(outcome) = outcome else {
        let hint = match fixable {
            0 => String::new(),
            count => format!("`speclens check --fix` can fix {}\n", fix::plural(count, "problem")),
        };
        return format!("{}{hint}", human::check(reports));
    };
    format!("{}{}{}\n", fix::describe(outcome), human::check(reports), fix::summary(outcome))
}
