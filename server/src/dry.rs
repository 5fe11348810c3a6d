//! Describes what a run would do, where, and at which cost, without running anything.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use speclens_runner::{
    event::SuiteResult,
    exec::{
        self,
        agent::{UsageBound, grouped},
    },
    model::{Description, KeyState, Models, Quote, manual},
    report::{human::dollars, plain},
};
use speclens_schema::{
    evidence::{AskedModel, Context, Need, ObservationTime, QuestionKind, QuestionNeed, TemplateValues},
    judge::Judged,
    mask::Secrets,
    script,
    settings::Price,
    suite::{Action, AgentAction, Case, HelpMode, PromptAction, PromptTexts, Subject, Suite, program_of},
    template_syntax,
    verdict::Verdict,
    words::plural,
};

use crate::job::Prepared;

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
    pub(crate) fn describe(&self, sum: &mut Totals) -> String {
        let mut text = String::new();
        let mut asked = ModelRequests::default();
        for &index in self.cases {
            let case = &self.suite.cases[index];
            let subjects = case.action.subjects_of(self.chosen, self.help_modes);
            let (title, does) = self.lines(case, &subjects, sum);
            let _ = writeln!(text, "  {}", plain::line(&self.secrets.mask(&title)));
            let preconditions = self.checked.map(|result| preconditions(case, index, result)).unwrap_or_default();
            for line in does.into_iter().chain(preconditions) {
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

    fn lines(&self, case: &Case, subjects: &[Subject], sum: &mut Totals) -> (String, Vec<String>) {
        let runs = subjects.len() * case.repeat as usize;
        let does = match &case.action {
            Action::Command(command) => match &command.expanded {
                Ok(script) => script.trim_end().lines().map(str::to_owned).collect(),
                Err(names) => vec![format!("{} (no value for {})", command.template, names.join(", "))],
            },
            Action::Prompt(prompt) => conversation(prompt, subjects),
            Action::Agent(_) if subjects.is_empty() => vec![exec::NO_MODEL.to_owned()],
            Action::Agent(agent) => task(agent, subjects),
            Action::Trigger(trigger) => self.prepared.describe(trigger, &case.name),
            Action::None => vec!["no action".to_owned()],
        };
        let mut details = vec![match (case.skip, runs) {
            (true, _) => "skipped".to_owned(),
            (false, 1) => "once".to_owned(),
            (false, runs) => format!("{runs} times"),
        }];
        if !case.tags.is_empty() {
            details.push(format!("tags {}", case.tags.join(", ")));
        }
        sum.attempts += if case.skip { 0 } else { runs };
        (format!("{} ({})", case.name, details.join("; ")), does)
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

/// Returns what a model would be asked.
fn conversation(prompt: &PromptAction, subjects: &[Subject]) -> Vec<String> {
    let names: Vec<&str> = subjects.iter().filter_map(Subject::model_id).collect();
    let turns = plural(prompt.max_turns as usize, "turn");
    let mut lines = vec![format!("prompt `{}` for {}, at most {turns}", prompt.prompt, and(&names))];
    if !prompt.missing.is_empty() {
        lines.push(format!("not sent, because there is no value for {}", prompt.missing.join(", ")));
    }
    let PromptTexts { system, user, assistant, follow_ups } = &prompt.texts;
    let texts = [("system", system.as_ref()), ("user", Some(user)), ("assistant", assistant.as_ref())];
    let texts = texts.into_iter().filter_map(|(role, text)| Some((role, text?)));
    let texts = texts.chain(follow_ups.iter().map(|text| ("then user", text)));
    lines.extend(texts.map(|(role, text)| format!("{role}: {}", text.trim_end())));
    if !prompt.tools.is_empty() {
        let names: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
        lines.push(format!("simulated tools: {}", names.join(", ")));
    }
    lines
}

#[derive(Debug, Default)]
pub(crate) struct Totals {
    attempts: usize,
    requests: u64,
    questions: u64,
    has_tokens: bool,
}

impl Totals {
    pub(crate) fn sentences(&self) -> String {
        let Totals { attempts, requests, questions, has_tokens } = self;
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
        text
    }
}

fn word(count: u64, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

#[derive(Debug)]
struct ActingModel {
    id: String,
    /// How the suite itself describes it.
    asked: Option<AskedModel>,
    attempts: u64,
    bound: UsageBound,
}

/// A judge, or a model that embeds texts.
#[derive(Debug)]
struct AskedJudge {
    id: String,
    /// The question, without a text that differs; `None` if its length is not known.
    question: Option<QuestionNeed>,
    questions: u64,
    bound: UsageBound,
}

impl AskedJudge {
    fn embeds(&self) -> bool {
        self.question.as_ref().is_some_and(|question| question.kind == QuestionKind::Similarity)
    }

    fn is_of(&self, id: &str, question: Option<&QuestionNeed>) -> bool {
        let reached = |question: &QuestionNeed| (question.kind, question.peer.clone());
        self.id == id && self.question.as_ref().map(reached) == question.map(reached)
    }
}

#[derive(Debug, Default)]
pub(super) struct ModelRequests {
    models: Vec<ActingModel>,
    judges: Vec<AskedJudge>,
}

impl ModelRequests {
    pub(super) fn add(&mut self, case: &Case, subjects: &[Subject]) {
        let repeat = u64::from(case.repeat);
        for subject in subjects {
            self.add_questions(case, subject);
            let Some(id) = subject.model_id() else { continue };
            // A program calls models by itself.
            let (asked, bound) = match &case.action {
                Action::Agent(_) if program_of(id).is_some() => (None, UsageBound::default()),
                Action::Agent(agent) => (None, UsageBound::of(agent, subject).times(repeat)),
                Action::Prompt(prompt) => {
                    let model = prompt.model(id);
                    let bound = exec::prompt::usage_bound(prompt, &model).times(repeat);
                    (Some(model.asked).filter(|asked| !asked.provider.is_empty()), bound)
                }
                Action::Command(_) | Action::Trigger(_) | Action::None => continue,
            };
            match self.models.iter_mut().find(|known| known.id == id) {
                Some(known) => {
                    known.attempts += repeat;
                    known.bound = known.bound.plus(bound);
                }
                None => self.models.push(ActingModel { id: id.to_owned(), asked, attempts: repeat, bound }),
            }
        }
    }

    fn add_questions(&mut self, case: &Case, subject: &Subject) {
        let repeat = u64::from(case.repeat);
        let prompt = if let Action::Prompt(prompt) = &case.action { Some(prompt) } else { None };
        let asked = prompt.zip(subject.model_id()).map(|(prompt, id)| prompt.model(id));
        for need in case.needs(ObservationTime::After, &any_run(subject)) {
            let Some((id, times)) = need.asked() else { continue };
            let question = if let Need::Question(question) = need { Some(question) } else { None };
            let questions = repeat * u64::from(times);
            let bound = question.as_ref().map(|question| exec::prompt::question_bound(question, asked.as_ref()));
            let bound = bound.unwrap_or_default().times(repeat);
            match self.judges.iter_mut().find(|known| known.is_of(&id, question.as_ref())) {
                Some(known) => {
                    known.questions += questions;
                    known.bound = known.bound.plus(bound);
                }
                None => self.judges.push(AskedJudge { id, question, questions, bound }),
            }
        }
    }

    /// Returns the number of requests to tested models, and for embeddings.
    pub(super) fn requests(&self) -> u64 {
        let embeddings = self.judges.iter().filter(|judge| judge.embeds()).map(|judge| judge.bound.requests);
        self.models.iter().map(|model| model.bound.requests).chain(embeddings).sum()
    }

    pub(super) fn questions(&self) -> u64 {
        self.judges.iter().filter(|judge| !judge.embeds()).map(|judge| judge.questions).sum()
    }

    pub(super) fn describe(&self, models: &Models, secrets: &Secrets) -> (String, bool) {
        let mut text = String::new();
        let mut has_tokens = false;
        let mut line = |depth: &str, line: String| {
            let _ = writeln!(text, "{depth}{}", plain::line(&secrets.mask(&line)));
        };
        for ActingModel { id, asked, attempts, bound } in &self.models {
            let requests = bound.requests;
            let times = format!("{attempts} {}", word(*attempts, "attempt"));
            if program_of(id).is_some() {
                line("  ", format!("{id}: {times}; its requests are unknown"));
                continue;
            }
            line("  ", format!("model {id}: {times}, at most {requests} {}", word(requests, "request")));
            let (place, price) = reached(id, asked.as_ref(), models, "the tests of this model would end with an error");
            has_tokens |= price != ModelPrice::Free;
            line("      ", place);
            line("      ", spent(*bound, price));
        }
        for judge in &self.judges {
            let AskedJudge { id, question, questions, bound } = judge;
            line(
                "  ",
                match judge.embeds() {
                    true => format!("embeddings of {id}: at most {} requests", bound.requests),
                    false => format!("judge {id}: at most {questions} {}", word(*questions, "question")),
                },
            );
            let Some(question) = question else { continue };
            let (place, price) = reached(id, Some(&question.peer), models, "what it judges would be unknown");
            // The price is that of answers.
            let price = if judge.embeds() && price != ModelPrice::Free { ModelPrice::Unknown } else { price };
            has_tokens |= price != ModelPrice::Free;
            line("      ", place);
            line("      ", spent(*bound, price));
        }
        (text, has_tokens)
    }
}

/// Returns a context of a subject without a particular run: each template has a value, so that every question is counted.
fn any_run(subject: &Subject) -> Context {
    let values: BTreeMap<String, String> = template_syntax::syntaxes()
        .flat_map(|syntax| syntax.variables)
        .map(|variable| (variable.name.to_owned(), variable.name.to_owned()))
        .collect();
    let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: Some(0) };
    Context { templates: Some(templates), subject: Some(subject.to_string()), ..Context::default() }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ModelPrice {
    /// Free: no provider is called.
    Free,
    Price(Quote),
    /// The price is not known.
    Unknown,
}

/// Returns where a model is reached, and its price. `otherwise` is what follows if it is not.
fn reached(id: &str, asked: Option<&AskedModel>, models: &Models, otherwise: &str) -> (String, ModelPrice) {
    let own = asked.map(AskedModel::id);
    let id = own.as_deref().unwrap_or(id);
    if id == manual::ID {
        return ("you answer at this terminal".to_owned(), ModelPrice::Free);
    }
    let path = id.strip_prefix("scripted:").map(str::to_owned).or_else(|| script::file_of(id));
    if let Some(path) = path {
        // Opening a script only reads it.
        return match models.open(id) {
            Ok(_) => (format!("played from {path}, without a network"), ModelPrice::Free),
            Err(error) => (format!("{otherwise}: {}", error.message), ModelPrice::Unknown),
        };
    }
    let described = asked.map_or_else(|| models.describe(id), |asked| models.describe_peer(asked));
    let Description { host, is_gateway, key, price } = match described {
        Ok(described) => described,
        Err(error) => return (format!("{otherwise}: {}", error.message), ModelPrice::Unknown),
    };
    let host = if is_gateway { format!("{host} (the AI Gateway)") } else { host };
    let place = match key {
        KeyState::NotNeeded => format!("requests go to {host}, without a key"),
        KeyState::Set(variable) => format!("requests go to {host} with the key in {variable}, which is set"),
        KeyState::Missing(variable) => {
            format!("requests go to {host} with the key in {variable}, which is not set, so {otherwise}")
        }
    };
    (place, price.map_or(ModelPrice::Unknown, ModelPrice::Price))
}

fn spent(bound: UsageBound, price: ModelPrice) -> String {
    const MILLION: f64 = 1_000_000.0;
    let UsageBound { requests: _, input_tokens, output_tokens } = bound;
    let tokens = format!("at most {} input and {} output tokens", grouped(input_tokens), grouped(output_tokens));
    match price {
        ModelPrice::Free => "costs nothing".to_owned(),
        ModelPrice::Unknown => format!("{tokens}; cost unknown"),
        ModelPrice::Price(Quote { price: Price { input, output }, source }) => {
            // Token counts are far below the precision of a double.
            let usd = (input_tokens as f64 * input + output_tokens as f64 * output) / MILLION;
            format!("{tokens}; at most {} ({source})", dollars(usd))
        }
    }
}

#[cfg(test)]
mod tests {
    use speclens_runner::model::PriceSource;

    use super::*;

    #[test]
    fn cost_is_a_number_only_where_a_price_is_known() {
        let bound = UsageBound { requests: 4, input_tokens: 1_000_000, output_tokens: 10_000 };
        let price = Price { input: 3.0, output: 15.0 };
        let of = |source| ModelPrice::Price(Quote { price, source });
        assert_eq!(
            spent(bound, of(PriceSource::Settings)),
            "at most 1,000,000 input and 10,000 output tokens; at most $3.15 (from `prices` in `speclens.yaml`)"
        );
        assert!(spent(bound, of(PriceSource::List)).contains("at most $3.15 (list price of 20"));
        assert!(spent(bound, ModelPrice::Unknown).ends_with("; cost unknown"));
        assert_eq!(spent(bound, ModelPrice::Free), "costs nothing");
    }
}
