//! `speclens check`: what is wrong, without running anything.

use std::path::PathBuf;

use clap::ValueEnum;
use speclens_runner::report::{SuiteReport, human, json};
use speclens_schema::problem::Severity;

use super::{INVALID, PASSED, load, output};

/// The options of `speclens check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites, or directories to search
    paths: Vec<PathBuf>,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Also fail on warnings
    #[arg(long, value_enum)]
    deny: Option<Deny>,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text with source snippets
    Human,
    /// The JSON report
    Json,
}

/// What counts as wrong beside errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Warnings
    Warnings,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let reports: Vec<SuiteReport> = load::suites(&args.paths)?.into_iter().map(|loaded| loaded.report).collect();
    let text = match args.format {
        Format::Human => human::check(&reports),
        Format::Json => json::render(&reports, json::Content::default()),
    };
    output::print(&text)?;
    let worst = if args.deny == Some(Deny::Warnings) { Severity::Warning } else { Severity::Error };
    let bad = reports.iter().flat_map(SuiteReport::all_problems).any(|(_, problem)| problem.severity <= worst);
    Ok(if bad { INVALID } else { PASSED })
}
