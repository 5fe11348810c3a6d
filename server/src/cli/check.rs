//! `speclens check`: reports problems without running anything.

use std::path::PathBuf;

use clap::ValueEnum;
use speclens_runner::report::{SuiteReport, check, github, json, sarif};
use speclens_schema::{problem::Severity, words::plural};

use super::{INVALID, PASSED, discover::Wanted, fix, levels, load, output};

/// The options of `speclens check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    levels: levels::LevelArgs,
    /// Lowest severity to print
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = MinSeverity::Warning)]
    level: MinSeverity,
    /// Print every problem with its source lines, even if many files have problems
    #[arg(long)]
    verbose: bool,
    /// Apply safe fixes, then report the remaining problems
    #[arg(long)]
    fix: bool,
    /// Print the changes of `--fix` as a unified diff without applying them
    #[arg(long, conflicts_with = "format")]
    diff: bool,
}

/// Output formats of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text with the source lines of each problem; a summary if many files have problems
    Human,
    /// One line per problem: `path:line:column: severity[code]: message`
    Concise,
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands that annotate lines on GitHub
    Github,
}

/// The lowest severity that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MinSeverity {
    /// Errors only
    Error,
    Warning,
    /// Errors, warnings and information
    Information,
    /// Everything
    Hint,
}

impl MinSeverity {
    fn severity(self) -> Severity {
        match self {
            MinSeverity::Error => Severity::Error,
            MinSeverity::Warning => Severity::Warning,
            MinSeverity::Information => Severity::Information,
            MinSeverity::Hint => Severity::Hint,
        }
    }
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let levels = args.levels.levels()?;
    let mut load = load::suites(&args.paths, Wanted::Files, &levels);
    let mut outcome = None;
    // With `--diff`, `--fix` only selects the changes to show.
    if args.fix && !args.diff {
        let fixed = fix::apply(&load.suites);
        if !fixed.fixed.is_empty() {
            // The remaining problems are those of the files as they are now.
            drop(load);
            load = load::suites(&args.paths, Wanted::Files, &levels);
        }
        outcome = Some(fixed);
    }
    let load::Load { suites, failures, activity } = load;
    let is_human = args.format == Format::Human && !args.diff;
    let fixable = if is_human && !args.fix { fix::count(&suites) } else { 0 };
    let diff = args.diff.then(|| fix::diff(&suites));
    let reports: Vec<SuiteReport> = suites.into_iter().map(|loaded| loaded.report).collect();
    let view = check::View { least: args.level.severity(), verbose: args.verbose };
    let text = match args.format {
        _ if diff.is_some() => String::new(),
        // The failures are the whole report.
        Format::Human | Format::Concise if reports.is_empty() => String::new(),
        Format::Human => human(&reports, view, outcome.as_ref(), fixable),
        Format::Concise => check::concise(&reports, view.least),
        Format::Json => {
            let failures: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
            json::render(&reports, &failures, json::Content::default())
        }
        Format::Sarif => sarif::render(&reports),
        Format::Github => github::render(&reports),
    };
    drop(activity);
    if args.format != Format::Json {
        failures.iter().for_each(output::complain);
    }
    match args.format {
        Format::Human | Format::Concise => output::print(&text)?,
        Format::Json | Format::Sarif | Format::Github => output::print_plain(&text)?,
    }
    if let Some((text, count)) = diff {
        output::print(&text)?;
        output::note(&format!("`--fix` would fix {}", plural(count, "problem")));
    }
    let unwritten = outcome.as_ref().is_some_and(|outcome| !outcome.failed.is_empty());
    if let Some(outcome) = outcome.filter(|_| args.format != Format::Human) {
        // Standard output belongs to the report.
        output::note(&fix::summary(&outcome));
    }
    let bad = unwritten || !failures.is_empty() || reports.iter().any(SuiteReport::is_refused);
    Ok(if bad { INVALID } else { PASSED })
}

/// Returns the report as text: what was fixed, what remains, what can be fixed.
fn human(reports: &[SuiteReport], view: check::View, outcome: Option<&fix::Outcome>, fixable: usize) -> String {
    let Some(outcome) = outcome else {
        let hint = match fixable {
            0 => String::new(),
            count => format!("`speclens check --fix` can fix {}\n", plural(count, "problem")),
        };
        return format!("{}{hint}", check::human(reports, view));
    };
    format!("{}{}{}\n", fix::describe(outcome), check::human(reports, view), fix::summary(outcome))
}
