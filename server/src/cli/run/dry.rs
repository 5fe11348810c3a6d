//! `--dry-run`: what would run, where, and what it would take.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use speclens_runner::{
    exec::{self, agent::Bound},
    model::Models,
    report::{SuiteReport, human, plain},
};
use speclens_schema::{
    dialect::cli_bench::config::HelpMode,
    evidence::{Context, Moment},
    problem::Severity,
    suite::{Action, AgentAction, Case, Subject},
};

use crate::cli::load::Loaded;
use asked::Asked;

mod asked;

/// A suite, with the tests that are chosen of it.
pub(super) struct Chosen<'s> {
    pub(super) loaded: &'s Loaded,
    pub(super) cases: &'s BTreeSet<usize>,
    /// The models that it may ask; `None` where it is refused.
    pub(super) models: Option<&'s Models>,
}

/// Every chosen test, with what it would do. Models and help modes that are named take the place of those of the suites.
pub(super) fn describe(suites: &[Chosen<'_>], models: &[String], help_modes: &[HelpMode]) -> String {
    let mut text = String::new();
    let mut sum = Sum::default();
    for suite in suites {
        let report = &suite.loaded.report;
        let Some(own) = suite.models else {
            let what = if suite.loaded.workspace.wrong().is_some() { "its settings have" } else { "the suite has" };
            let _ = writeln!(text, "{}\n  refused: {what} errors", plain::line(&report.source.path));
            problems(&mut text, report);
            continue;
        };
        if suite.cases.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", plain::line(&report.source.path));
        problems(&mut text, report);
        let mut asked = Asked::default();
        for &index in suite.cases {
            let case = &report.suite.cases[index];
            let subjects = case.action.subjects_of(models, help_modes);
            let lines = lines(suite.loaded, case, &subjects, &mut sum);
            let mask = |text: &str| report.source.secrets.mask(text);
            let _ = writeln!(text, "  {}", plain::line(&mask(&lines.title)));
            for line in lines.does {
                let _ = writeln!(text, "      {}", plain::line(&mask(&line)));
            }
            if !case.skip {
                asked.add(case, &subjects);
            }
        }
        let (paragraphs, has_tokens) = asked.describe(own, &report.source.secrets);
        text.push_str(&paragraphs);
        sum.requests += asked.requests();
        sum.questions += asked.questions();
        sum.has_tokens |= has_tokens;
    }
    text.push_str(&sum.sentences());
    text
}

/// The errors and warnings of a suite and of its parts.
fn problems(text: &mut String, report: &SuiteReport) {
    for (source, problem) in report.all_problems().filter(|(_, problem)| problem.severity <= Severity::Warning) {
        let _ = writeln!(text, "{}\n", human::problem_snippet(source, problem));
    }
}

/// What is said about a test.
struct Lines {
    title: String,
    does: Vec<String>,
}

fn lines(loaded: &Loaded, case: &Case, subjects: &[Subject], sum: &mut Sum) -> Lines {
    let runs = subjects.len() * case.repeat as usize;
    let does = match &case.action {
        Action::Command(command) => match &command.expanded {
            Ok(script) => script.trim_end().lines().map(str::to_owned).collect(),
            Err(names) => vec![format!("{} (no value for {})", command.template, names.join(", "))],
        },
        Action::Prompt(prompt) => vec![format!("prompt `{}` for {}", prompt.prompt, prompt.models.join(", "))],
        Action::Agent(_) if subjects.is_empty() => vec![exec::NO_MODEL.to_owned()],
        Action::Agent(agent) => task(agent, subjects),
        Action::Trigger(_) => vec!["a call of the gateway".to_owned()],
        Action::None => vec!["nothing".to_owned()],
    };
    let obstacle = exec::unsupported(loaded.report.dialect, &case.action);
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
        Some(obstacle) => *sum.unsupported.entry(obstacle).or_default() += 1,
        None => sum.attempts += if case.skip { 0 } else { runs },
    }
    Lines { title: format!("{} ({})", case.name, remarks.join("; ")), does }
}

/// What an agent would do, and where. Its own commands are not known before it has chosen them.
fn task(agent: &AgentAction, subjects: &[Subject]) -> Vec<String> {
    let mut names: Vec<&str> = subjects.iter().filter_map(Subject::model_id).collect();
    names.dedup();
    let modes: BTreeSet<&str> = subjects
        .iter()
        .filter_map(|subject| match subject {
            Subject::Model { mode, .. } => mode.map(HelpMode::as_str),
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        })
        .collect();
    let modes: Vec<&str> = modes.into_iter().collect();
    let help = match modes[..] {
        [] => String::new(),
        [mode] if mode == HelpMode::default().as_str() => String::new(),
        [mode] => format!(", in the help mode {mode}"),
        _ => format!(", in each of the help modes {}", modes.join(", ")),
    };
    let place = match &agent.surroundings.workdir {
        Some(workdir) => format!("in the directory {workdir}"),
        None => "in a new directory".to_owned(),
    };
    let content = agent.scaffold().map(|scaffold| format!(" with a copy of {scaffold}")).unwrap_or_default();
    let mut lines = vec![
        format!("a task for {}{help}, in at most {} turns", names.join(", "), agent.max_turns),
        format!("{place}{content}, with commands that the model chooses"),
    ];
    let setup = agent.surroundings.setup.iter().chain(&agent.setup).map(|command| ("setup", command));
    let teardown = agent.teardown.iter().map(|command| ("teardown", command));
    lines.extend(setup.chain(teardown).map(|(when, command)| format!("{when}: {}", command.trim_end())));
    lines
}

/// The sum over all suites.
#[derive(Default)]
struct Sum {
    attempts: usize,
    requests: u64,
    questions: u64,
    /// Whether tokens were estimated.
    has_tokens: bool,
    /// Tests by what this version cannot do.
    unsupported: BTreeMap<&'static str, usize>,
}

impl Sum {
    fn sentences(&self) -> String {
        let Sum { attempts, requests, questions, has_tokens, unsupported } = self;
        let attempts_word = if *attempts == 1 { "attempt" } else { "attempts" };
        let mut asks = Vec::new();
        if *requests > 0 {
            asks.push(format!("at most {requests} {} to models", word(*requests, "request")));
        }
        if *questions > 0 {
            asks.push(format!("at most {questions} {} to judges", word(*questions, "question")));
        }
        let asks = if asks.is_empty() { String::new() } else { format!(", with {}", asks.join(" and ")) };
        let mut text = format!("{attempts} {attempts_word} would run{asks}\n");
        if *has_tokens {
            let _ = writeln!(text, "tokens and costs assume {}", exec::agent::assumptions());
        }
        for (obstacle, count) in unsupported {
            let tests = if *count == 1 { "test" } else { "tests" };
            let _ = writeln!(text, "{count} {tests} would not: {obstacle} is not supported yet");
        }
        text
    }
}

fn word(count: u64, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
