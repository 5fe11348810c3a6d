//! `--dry-run`: what would run.

use std::{collections::BTreeSet, fmt::Write};

use speclens_runner::report::plain;
use speclens_schema::suite::Action;

use crate::cli::load::Loaded;

/// Every chosen test, with what it would do.
pub(super) fn describe(suites: &[Loaded], chosen: &[BTreeSet<usize>]) -> String {
    let mut text = String::new();
    let mut attempts = 0;
    for (loaded, cases) in suites.iter().zip(chosen) {
        let report = &loaded.report;
        if cases.is_empty() && !report.is_refused() {
            continue;
        }
        let _ = writeln!(text, "{}", plain::line(&report.source.path));
        if report.is_refused() {
            let _ = writeln!(text, "  refused: the suite has errors, see `speclens check`");
            continue;
        }
        for &index in cases {
            let case = &report.suite.cases[index];
            let does = match &case.action {
                Action::Command(command) => match &command.expanded {
                    Ok(script) => script.trim_end().replace('\n', "\n      "),
                    Err(names) => format!("{} (no value for {})", command.template, names.join(", ")),
                },
                Action::Prompt(prompt) => {
                    format!("prompt `{}` for {} (not supported yet)", prompt.prompt, prompt.models.join(", "))
                }
                Action::Agent(agent) => {
                    let subjects: Vec<String> = agent.subjects().iter().map(ToString::to_string).collect();
                    format!("a task for {} (not supported yet)", subjects.join(", "))
                }
                Action::Trigger(_) => "a call of the gateway (not supported yet)".to_owned(),
                Action::None => "nothing".to_owned(),
            };
            let runs = case.action.subjects().len() * case.repeat as usize;
            let mut remarks = vec![match (case.skip, runs) {
                (true, _) => "skipped".to_owned(),
                (false, 1) => "once".to_owned(),
                (false, runs) => format!("{runs} times"),
            }];
            if !case.tags.is_empty() {
                remarks.push(format!("tags {}", case.tags.join(", ")));
            }
            attempts += if case.skip { 0 } else { runs };
            let (name, remarks) = (plain::line(&case.name), plain::line(&remarks.join("; ")));
            let _ = writeln!(text, "  {name} ({remarks})\n      {}", plain::block(&does));
        }
    }
    let _ = writeln!(text, "{attempts} {} would run", if attempts == 1 { "attempt" } else { "attempts" });
    text
}
