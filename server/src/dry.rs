//! Describes what a run would do, where, and at which cost, without running anything.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use speclens_runner::{
    event::SuiteResult,
    exec::{self, agent::UsageBound},
    report::plain,
};
use speclens_schema::{
    evidence::{Context, ObservationTime},
    judge::Judged,
    mask::Secrets,
    suite::{Action, AgentAction, Case, HelpMode, Subject, Suite},
    verdict::Verdict,
    words::plural,
};

use crate::job::Prepared;

use model_requests::ModelRequests;

mod model_requests;

/// A part of a suite, with its subjects.
#[derive(Debug)]
pub(crate) struct Plan<'p> {
    pub suite: &'p Suite,
    pub cases: &'p BTreeSet<usize>,
    pub prepared: &'p Prepared,
    /// The results of checked preconditions; `None` if they were not checked.
    pub checked: Option<&'p SuiteResult>,
    pub secrets: &'p Secrets,
    /// The models that replace those of the suite; empty for those of the suite.
    pub chosen: &'p [String],
    /// The help modes that replace those of the suite; empty for those of the suite.
    pub help_modes: &'p [HelpMode],
}

impl Plan<'_> {
    /// Describes every chosen test and its models, and adds them to the totals.
    pub(crate) fn describe(&self, sum: &mut Totals) -> String {
        let mut text = String::new();
        let mut asked = ModelRequests::default();
        for &index in self.cases {
            let case = &self.suite.cases[index];
            let subjects = case.action.subjects_of(self.chosen, self.help_modes);
            let lines = self.lines(case, &subjects, sum);
            let _ = writeln!(text, "  {}", plain::line(&self.secrets.mask(&lines.title)));
            let preconditions = self.checked.map(|result| preconditions(case, index, result)).unwrap_or_default();
            for line in lines.does.into_iter().chain(preconditions) {
                let _ = writeln!(text, "      {}", plain::line(&self.secrets.mask(&line)));
            }
            if !case.skip {
                asked.add(case, &subjects);
            }
        }
        let (paragraphs, has_tokens) = asked.describe(self.prepared.models(), self.secrets);
        text.push_str(&paragraphs);
        sum.requests += asked.requests();
        sum.questions += asked.questions();
        sum.has_tokens |= has_tokens;
        text
    }
}

struct Lines {
    title: String,
    does: Vec<String>,
}

impl Plan<'_> {
    fn lines(&self, case: &Case, subjects: &[Subject], sum: &mut Totals) -> Lines {
        let runs = subjects.len() * case.repeat as usize;
        let does = match &case.action {
            Action::Command(command) => match &command.expanded {
                Ok(script) => script.trim_end().lines().map(str::to_owned).collect(),
                Err(names) => vec![format!("{} (no value for {})", command.template, names.join(", "))],
            },
            Action::Prompt(prompt) => vec![format!("prompt `{}` for {}", prompt.prompt, prompt.models.join(", "))],
            Action::Agent(_) if subjects.is_empty() => vec![exec::NO_MODEL.to_owned()],
            Action::Agent(agent) => task(agent, subjects),
            Action::Trigger(trigger) => self.prepared.describe(trigger, &case.name),
            Action::None => vec!["no action".to_owned()],
        };
        let obstacle = exec::unsupported(self.suite.dialect, &case.action);
        let mut details = vec![match (case.skip, obstacle, runs) {
            (true, _, _) => "skipped".to_owned(),
            (false, Some(_), _) => "not supported".to_owned(),
            (false, None, 1) => "once".to_owned(),
            (false, None, runs) => format!("{runs} times"),
        }];
        if !case.tags.is_empty() {
            details.push(format!("tags {}", case.tags.join(", ")));
        }
        match obstacle.filter(|_| !case.skip) {
            Some(obstacle) => *sum.unsupported.entry(obstacle).or_default() += 1,
            None => sum.attempts += if case.skip { 0 } else { runs },
        }
        Lines { title: format!("{} ({})", case.name, details.join("; ")), does }
    }
}

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

/// Returns names as a list: "a, b and c".
fn and(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// Returns what an agent would do, and where. Its commands are not known in advance.
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
        [mode] => format!(", help mode {mode}"),
        _ => format!(", in each of the help modes {}", modes.join(", ")),
    };
    let place = match &agent.surroundings.workdir {
        Some(workdir) => format!("in the directory `{workdir}`"),
        None => "in a new directory".to_owned(),
    };
    let content = agent.scaffold().map(|scaffold| format!(" with a copy of `{scaffold}`")).unwrap_or_default();
    let turns = plural(agent.max_turns as usize, "turn");
    let each = if names.len() > 1 { " each" } else { "" };
    let mut lines = vec![
        format!("attempted by {}, at most {turns}{each}{help}", and(&names)),
        format!("the model chooses the commands; they run {place}{content}"),
    ];
    let setup = agent.surroundings.setup.iter().chain(&agent.setup).map(|command| ("setup", command));
    let teardown = agent.teardown.iter().map(|command| ("teardown", command));
    lines.extend(setup.chain(teardown).map(|(when, command)| format!("{when}: {}", command.trim_end())));
    lines
}

/// The totals over all suites.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    attempts: usize,
    requests: u64,
    questions: u64,
    has_tokens: bool,
    unsupported: BTreeMap<&'static str, usize>,
}

impl Totals {
    pub(crate) fn sentences(&self) -> String {
        let Totals { attempts, requests, questions, has_tokens, unsupported } = self;
        let mut asks = Vec::new();
        if *requests > 0 {
            asks.push(format!("at most {requests} {} to models", word(*requests, "request")));
        }
        if *questions > 0 {
            asks.push(format!("at most {questions} {} to judges", word(*questions, "question")));
        }
        let asks = if asks.is_empty() { String::new() } else { format!(", with {}", asks.join(" and ")) };
        let mut text = format!("{} would run{asks}\n", plural(*attempts, "attempt"));
        if *has_tokens {
            let _ = writeln!(text, "tokens and costs assume {}", exec::agent::assumptions());
        }
        for (obstacle, count) in unsupported {
            let tests = plural(*count, "test");
            let _ = writeln!(text, "{tests} would not run: {obstacle} are not supported");
        }
        text
    }
}

fn word(count: u64, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
