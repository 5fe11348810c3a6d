//! `--dry-run`: what would run, where, and what it would take.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::Arc,
};

use speclens_runner::{
    clock::Clock,
    event::{Event, SuiteResult},
    exec::{self, agent::Bound},
    model::Models,
    report::{SuiteReport, human, plain},
    run::{Mode, Options},
};
use speclens_schema::{
    dialect::cli_bench::config::HelpMode,
    evidence::{Context, Moment},
    judge::Judged,
    problem::Severity,
    suite::{Action, AgentAction, Case, Subject},
    verdict::Verdict,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{cli::load::Loaded, job::Prepared};
use asked::Asked;

mod asked;

/// A suite, with the tests that are chosen of it.
pub(super) struct Chosen<'s> {
    pub(super) loaded: &'s Loaded,
    pub(super) cases: &'s BTreeSet<usize>,
    /// What it runs with; `None` where it is refused.
    pub(super) prepared: Option<&'s Prepared>,
    /// What time it is.
    pub(super) clock: Clock,
}

impl<'s> Chosen<'s> {
    /// Returns the models that it may ask; `None` where it is refused.
    pub(super) fn models(&self) -> Option<&'s Models> {
        self.prepared.map(Prepared::models)
    }

    fn triggers(&self) -> BTreeSet<usize> {
        let cases = &self.loaded.report.suite.cases;
        let is_trigger = |index: &usize| matches!(cases[*index].action, Action::Trigger(_)) && !cases[*index].skip;
        self.cases.iter().copied().filter(is_trigger).collect()
    }

    /// Whether one of the tests is of something that is started elsewhere.
    pub(super) fn has_triggers(&self) -> bool {
        !self.triggers().is_empty()
    }

    /// Checks the preconditions of tests that start something elsewhere; `None` where there are none.
    pub(super) async fn checked(&self, cancel: CancellationToken) -> Option<Arc<SuiteResult>> {
        let cases = self.triggers();
        let prepared = self.prepared.filter(|_| !cases.is_empty())?;
        let options = Options { mode: Mode::Preconditions, cases: Some(cases), ..Options::default() };
        let (sender, _) = mpsc::unbounded_channel::<Event>();
        let job = prepared.job(Arc::new(prepared.book()));
        Some(speclens_runner::run::run(job, options, cancel, sender).await)
    }
}

/// Every chosen test, with what it would do. Models and help modes that are named take the place of those of the suites.
pub(super) fn describe(
    suites: &[Chosen<'_>],
    checked: &[Option<Arc<SuiteResult>>],
    models: &[String],
    help_modes: &[HelpMode],
) -> String {
    let mut text = String::new();
    let mut sum = Sum::default();
    for (suite, checked) in suites.iter().zip(checked) {
        let report = &suite.loaded.report;
        let Some(own) = suite.models() else {
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
            let lines = lines(suite, case, &subjects, &mut sum);
            let mask = |text: &str| report.source.secrets.mask(text);
            let _ = writeln!(text, "  {}", plain::line(&mask(&lines.title)));
            let preconditions = checked.iter().flat_map(|result| preconditions(case, index, result));
            for line in lines.does.into_iter().chain(preconditions) {
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

/// What is known of the preconditions of a test.
fn preconditions(case: &Case, index: usize, result: &SuiteResult) -> Vec<String> {
    let Some(outcome) = result.cases.iter().find(|it| it.case == index) else { return Vec::new() };
    let line = |judged: &Judged| {
        let Verdict { label, outcome, .. } = &judged.verdict;
        let message = outcome.message();
        let colon = if message.is_empty() { "" } else { ": " };
        format!("given {label} ({}){colon}{message}", outcome.status().as_str())
    };
    let runs = outcome.runs.iter().take(1);
    let absent = runs.clone().filter_map(|run| run.absence.as_ref()).map(|absence| absence.message.clone());
    let verdicts = runs.flat_map(|run| &run.verdicts).filter(|it| case.claims[it.claim].is_precondition()).map(line);
    absent.chain(verdicts).collect()
}

fn lines(suite: &Chosen<'_>, case: &Case, subjects: &[Subject], sum: &mut Sum) -> Lines {
    let runs = subjects.len() * case.repeat as usize;
    let does = match &case.action {
        Action::Command(command) => match &command.expanded {
            Ok(script) => script.trim_end().lines().map(str::to_owned).collect(),
            Err(names) => vec![format!("{} (no value for {})", command.template, names.join(", "))],
        },
        Action::Prompt(prompt) => vec![format!("prompt `{}` for {}", prompt.prompt, prompt.models.join(", "))],
        Action::Agent(_) if subjects.is_empty() => vec![exec::NO_MODEL.to_owned()],
        Action::Agent(agent) => task(agent, subjects),
        Action::Trigger(trigger) => match suite.prepared.and_then(Prepared::gateway) {
            Some(gateway) => {
                exec::trigger::described(trigger, &case.name, gateway, suite.clock, &suite.loaded.directory)
            }
            None => Vec::new(),
        },
        Action::None => vec!["nothing".to_owned()],
    };
    let obstacle = exec::unsupported(suite.loaded.report.dialect, &case.action);
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
