//! `speclens list`: the suites and their tests.

use std::{fmt::Write, path::PathBuf};

use serde::Serialize;
use speclens_runner::report::plain;
use speclens_schema::{
    format::Dialect,
    mask::Secrets,
    suite::{Action, Case, HelpMode, Subject, TriggerKind},
    words::shell_word,
};

use super::{
    INVALID, PASSED,
    discover::Wanted,
    levels::Levels,
    load,
    output::{self, Format},
};

/// The options of `speclens list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Serialize)]
struct List {
    speclens: u32,
    suites: Vec<SuiteEntry>,
}

#[derive(Serialize)]
struct SuiteEntry {
    path: String,
    dialect: Dialect,
    name: Option<String>,
    /// Whether its errors prevent it from running.
    refused: bool,
    tests: Vec<TestEntry>,
}

#[derive(Serialize)]
struct TestEntry {
    name: String,
    tags: Vec<String>,
    skip: bool,
    repeat: u32,
    action: &'static str,
    subjects: Vec<String>,
    claims: usize,
    /// Who acts, and what is started, for people.
    #[serde(skip)]
    acts: Vec<String>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let load::Load { suites, failures, .. } = load::suites(&args.paths, Wanted::Suites, &Levels::default());
    failures.iter().for_each(output::complain);
    let suites: Vec<SuiteEntry> = suites
        .into_iter()
        .map(|loaded| {
            let secrets = &loaded.report.source.secrets;
            SuiteEntry {
                refused: loaded.report.is_refused(),
                dialect: loaded.report.dialect,
                name: loaded.report.suite.name.as_deref().map(|name| secrets.mask(name)),
                tests: loaded.report.suite.cases.iter().map(|case| TestEntry::of(case, secrets)).collect(),
                path: loaded.report.source.path,
            }
        })
        .collect();
    let refused = !failures.is_empty() || suites.iter().any(|suite| suite.refused);
    let text = match args.format {
        Format::Human => human(&suites),
        Format::Json => output::json(&List { speclens: 1, suites })?,
    };
    output::print(&text)?;
    Ok(if refused { INVALID } else { PASSED })
}

fn human(suites: &[SuiteEntry]) -> String {
    let mut text = String::new();
    for suite in suites {
        let name = suite.name.as_ref().map(|name| format!(" ({})", plain::line(name))).unwrap_or_default();
        let refused = match suite.refused {
            true => format!(": has errors; run `speclens check {}`", shell_word(&plain::line(&suite.path))),
            false => String::new(),
        };
        let _ = writeln!(text, "{}{name}{refused}", plain::line(&suite.path));
        for test in &suite.tests {
            let mut details = test.acts.clone();
            if test.repeat > 1 {
                details.push(format!("{} times", test.repeat));
            }
            if !test.tags.is_empty() {
                details.push(format!("tags {}", test.tags.join(", ")));
            }
            if test.skip {
                details.push("skipped".to_owned());
            }
            let _ = writeln!(text, "  {} ({})", plain::line(&test.name), plain::line(&details.join("; ")));
        }
    }
    text
}

impl TestEntry {
    /// Returns the entry of a test, secrets masked.
    fn of(case: &Case, secrets: &Secrets) -> TestEntry {
        TestEntry {
            name: secrets.mask(&case.name),
            tags: case.tags.iter().map(|tag| secrets.mask(tag)).collect(),
            skip: case.skip,
            repeat: case.repeat,
            action: match case.action {
                Action::Command(_) => "command",
                Action::Prompt(_) => "prompt",
                Action::Agent(_) => "agent",
                Action::Trigger(_) => "trigger",
                Action::None => "none",
            },
            subjects: case.action.subjects().iter().map(|subject| secrets.mask(&subject.to_string())).collect(),
            claims: case.claims.len(),
            acts: acts(&case.action).iter().map(|text| secrets.mask(text)).collect(),
        }
    }
}

/// Returns what is started, and by whom.
fn acts(action: &Action) -> Vec<String> {
    let subjects = || action.subjects().iter().map(label).collect::<Vec<_>>().join(", ");
    match action {
        Action::Command(_) => vec!["command".to_owned()],
        Action::Prompt(_) => vec!["prompt".to_owned(), subjects()],
        Action::Agent(_) => vec!["agent".to_owned(), subjects()],
        Action::Trigger(trigger) => match trigger.kind {
            TriggerKind::Skill => vec!["skill".to_owned(), subjects()],
            TriggerKind::Agent => vec!["agent".to_owned(), "openclaw".to_owned()],
            TriggerKind::Pipeline => vec!["pipeline".to_owned(), subjects()],
            TriggerKind::Nothing => vec!["handoff".to_owned()],
        },
        Action::None => vec!["no action".to_owned()],
    }
}

/// Returns a subject for people. The default help mode is omitted.
pub(super) fn label(subject: &Subject) -> String {
    match subject {
        Subject::Model { model, mode: Some(mode) } if *mode == HelpMode::default() => model.clone(),
        Subject::Model { model, mode: Some(mode) } => format!("{model}, help mode {}", mode.as_str()),
        Subject::Model { .. } | Subject::Command | Subject::Gateway { .. } | Subject::Nobody => subject.to_string(),
    }
}
