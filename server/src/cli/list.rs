//! `speclens list`: the suites and their tests.

use std::{fmt::Write, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use speclens_runner::report::plain;
use speclens_schema::{
    suite::{Action, Case, HelpMode, Subject, TriggerKind},
    words::shell_word,
};

use super::{
    INVALID, PASSED,
    discover::Wanted,
    levels::Levels,
    load::{self, Loaded},
    output::{self, Format},
};

/// The options of `speclens list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let load::Load { suites, failures, .. } = load::suites(&args.paths, Wanted::Suites, &Levels::default());
    failures.iter().for_each(output::complain);
    let text = match args.format {
        Format::Human => suites.iter().map(human).collect(),
        Format::Json => {
            output::json(&json!({ "speclens": 1, "suites": suites.iter().map(entry).collect::<Vec<_>>() }))?
        }
    };
    output::print(&text)?;
    let refused = !failures.is_empty() || suites.iter().any(|loaded| loaded.report.is_refused());
    Ok(if refused { INVALID } else { PASSED })
}

fn human(loaded: &Loaded) -> String {
    let report = &loaded.report;
    let mask = |text: &str| plain::line(&report.source.secrets.mask(text));
    let path = plain::line(&report.source.path);
    let name = report.suite.name.as_ref().map(|name| format!(" ({})", mask(name))).unwrap_or_default();
    let refused = match report.is_refused() {
        true => format!(": has errors; run `speclens check {}`", shell_word(&path)),
        false => String::new(),
    };
    let mut text = format!("{path}{name}{refused}\n");
    for case in &report.suite.cases {
        let mut details = acts(&case.action);
        if case.repeat > 1 {
            details.push(format!("{} times", case.repeat));
        }
        if !case.tags.is_empty() {
            details.push(format!("tags {}", case.tags.join(", ")));
        }
        if case.skip {
            details.push("skipped".to_owned());
        }
        let _ = writeln!(text, "  {} ({})", mask(&case.name), mask(&details.join("; ")));
    }
    text
}

fn entry(loaded: &Loaded) -> Value {
    let report = &loaded.report;
    let mask = |text: &str| report.source.secrets.mask(text);
    let test = |case: &Arc<Case>| {
        json!({
            "name": mask(&case.name),
            "tags": case.tags.iter().map(|tag| mask(tag)).collect::<Vec<_>>(),
            "skip": case.skip,
            "repeat": case.repeat,
            "action": match case.action {
                Action::Command(_) => "command",
                Action::Prompt(_) => "prompt",
                Action::Agent(_) => "agent",
                Action::Trigger(_) => "trigger",
                Action::None => "none",
            },
            "subjects": case.action.subjects().iter().map(|it| mask(&it.to_string())).collect::<Vec<_>>(),
            "claims": case.claims.len(),
        })
    };
    json!({
        "path": report.source.path,
        "dialect": report.dialect,
        "name": report.suite.name.as_deref().map(mask),
        "refused": report.is_refused(),
        "tests": report.suite.cases.iter().map(test).collect::<Vec<_>>(),
    })
}

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
