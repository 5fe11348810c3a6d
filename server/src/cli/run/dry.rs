//! `--dry-run`: what would run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use speclens_runner::{exec, report::plain};
use speclens_schema::{dialect::cli_bench::config::HelpMode, suite::Action};

use crate::cli::load::Loaded;

/// Every chosen test, with what it would do. Models and help modes that are named take the place of those of the suites.
pub(super) fn describe(
    suites: &[Loaded],
    chosen: &[BTreeSet<usize>],
    models: &[String],
    help_modes: &[HelpMode],
) -> String {
    let mut text = String::new();
    let mut attempts = 0;
    let mut requests = 0;
    // Tests by what this version cannot do.
    let mut unsupported: BTreeMap<&str, usize> = BTreeMap::new();
    for (loaded, cases) in suites.iter().zip(chosen) {
        let report = &loaded.report;
        if cases.is_empty() && !report.is_refused() {
            continue;
        }
        let _ = writeln!(text, "{}", plain::line(&report.source.path));
        if report.is_refused() {
            let what = if loaded.workspace.wrong().is_some() { "its settings have" } else { "the suite has" };
            let _ = writeln!(text, "  refused: {what} errors, see `speclens check`");
            continue;
        }
        for &index in cases {
            let case = &report.suite.cases[index];
            let subjects = case.action.subjects_of(models, help_modes);
            let runs = subjects.len() * case.repeat as usize;
            let does = match &case.action {
                Action::Command(command) => match &command.expanded {
                    Ok(script) => script.trim_end().replace('\n', "\n      "),
                    Err(names) => format!("{} (no value for {})", command.template, names.join(", ")),
                },
                Action::Prompt(prompt) => format!("prompt `{}` for {}", prompt.prompt, prompt.models.join(", ")),
                Action::Agent(_) if subjects.is_empty() => exec::NO_MODEL.to_owned(),
                Action::Agent(agent) => {
                    requests += if case.skip { 0 } else { runs * agent.max_turns as usize };
                    let subjects: Vec<String> = subjects.iter().map(ToString::to_string).collect();
                    format!("a task for {}, in at most {} turns", subjects.join(", "), agent.max_turns)
                }
                Action::Trigger(_) => "a call of the gateway".to_owned(),
                Action::None => "nothing".to_owned(),
            };
            let obstacle = exec::unsupported(report.dialect, &case.action);
            let mut remarks = vec![match (case.skip, obstacle, runs) {
                (true, _, _) => "skipped".to_owned(),
                (false, Some(_), _) => "cannot run yet".to_owned(),
                (false, None, 1) => "once".to_owned(),
                (false, None, runs) => format!("{runs} times"),
            }];
            if !case.tags.is_empty() {
                remarks.push(format!("tags {}", case.tags.join(", ")));
            }
            match obstacle.filter(|_| !case.skip) {
                Some(obstacle) => *unsupported.entry(obstacle).or_default() += 1,
                None => attempts += if case.skip { 0 } else { runs },
            }
            let mask = |text: &str| loaded.report.source.secrets.mask(text);
            let (name, remarks) = (plain::line(&mask(&case.name)), plain::line(&mask(&remarks.join("; "))));
            let _ = writeln!(text, "  {name} ({remarks})\n      {}", plain::block(&mask(&does)));
        }
    }
    let attempts_word = if attempts == 1 { "attempt" } else { "attempts" };
    let asks = if requests > 0 { format!(", with at most {requests} requests to models") } else { String::new() };
    let _ = writeln!(text, "{attempts} {attempts_word} would run{asks}");
    for (obstacle, count) in unsupported {
        let tests = if count == 1 { "test" } else { "tests" };
        let _ = writeln!(text, "{count} {tests} would not: {obstacle} is not supported yet");
    }
    text
}
