//! Counts the requests of a suite by model, with the price of each model.

use std::{collections::BTreeMap, fmt::Write};

use speclens_runner::{
    exec::agent::grouped,
    model::{Description, KeyState, Models, Quote, manual},
    report::{human::dollars, plain},
};
use speclens_schema::{
    evidence::TemplateValues, mask::Secrets, script, settings::Price, suite::program_of, template_syntax,
};

use super::{Action, Case, Context, ObservationTime, Subject, UsageBound, word};

/// The models that a suite would call.
#[derive(Debug, Default)]
pub(super) struct ModelRequests {
    /// Acting models: attempts, and an upper bound of their usage.
    models: Vec<(String, u64, UsageBound)>,
    /// Judges: number of questions.
    judges: Vec<(String, u64)>,
}

impl ModelRequests {
    /// Adds the attempts of a test.
    pub(super) fn add(&mut self, case: &Case, subjects: &[Subject]) {
        let repeat = u64::from(case.repeat);
        match &case.action {
            Action::Agent(agent) => {
                for subject in subjects {
                    let Some(id) = subject.model_id() else { continue };
                    // A program calls models by itself.
                    let is_program = program_of(id).is_some();
                    let bound =
                        if is_program { UsageBound::default() } else { UsageBound::of(agent, subject).times(repeat) };
                    match self.models.iter_mut().find(|(known, ..)| known == id) {
                        Some((_, attempts, sum)) => {
                            *attempts += repeat;
                            *sum = sum.plus(bound);
                        }
                        None => self.models.push((id.to_owned(), repeat, bound)),
                    }
                }
            }
            Action::Command(_) | Action::Prompt(_) | Action::Trigger(_) | Action::None => {}
        }
        let attempts = repeat * subjects.len() as u64;
        for need in case.needs(ObservationTime::After, &any_run()) {
            let Some((id, times)) = need.asked() else { continue };
            let times = u64::from(times);
            match self.judges.iter_mut().find(|(known, _)| *known == id) {
                Some((_, questions)) => *questions += attempts * times,
                None => self.judges.push((id, attempts * times)),
            }
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.models.iter().map(|(.., bound)| bound.requests).sum()
    }

    pub(super) fn questions(&self) -> u64 {
        self.judges.iter().map(|(_, questions)| questions).sum()
    }

    /// Returns a paragraph per model, and whether one of them has estimated token counts.
    pub(super) fn describe(&self, models: &Models, secrets: &Secrets) -> (String, bool) {
        let mut text = String::new();
        let mut has_tokens = false;
        let mut line = |depth: &str, line: String| {
            let _ = writeln!(text, "{depth}{}", plain::line(&secrets.mask(&line)));
        };
        for (id, attempts, bound) in &self.models {
            let requests = bound.requests;
            let times = format!("{attempts} {}", word(*attempts, "attempt"));
            if program_of(id).is_some() {
                line("  ", format!("{id}: {times}; its requests are unknown"));
                continue;
            }
            line("  ", format!("model {id}: {times}, at most {requests} {}", word(requests, "request")));
            let (place, price) = reached(id, models);
            has_tokens |= price != ModelPrice::Free;
            line("      ", place);
            line("      ", spent(*bound, price));
        }
        for (id, questions) in &self.judges {
            line("  ", format!("judge {id}: at most {questions} {}", word(*questions, "question")));
        }
        (text, has_tokens)
    }
}

/// Returns a context without a particular run: each template has a value, so that every question is counted.
fn any_run() -> Context {
    let values: BTreeMap<String, String> = template_syntax::syntaxes()
        .flat_map(|syntax| syntax.variables)
        .map(|variable| (variable.name.to_owned(), variable.name.to_owned()))
        .collect();
    let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: Some(0) };
    Context { templates: Some(templates), ..Context::default() }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ModelPrice {
    /// Free: no provider is called.
    Free,
    /// A known price.
    Price(Quote),
    /// The price is not known.
    Unknown,
}

/// Returns how a model is reached, and its price.
fn reached(id: &str, models: &Models) -> (String, ModelPrice) {
    if id == manual::ID {
        return ("you answer at this terminal".to_owned(), ModelPrice::Free);
    }
    let path = id.strip_prefix("scripted:").map(str::to_owned).or_else(|| script::file_of(id));
    if let Some(path) = path {
        // Opening a script only reads it.
        return match models.open(id) {
            Ok(_) => (format!("played from {path}, without a network"), ModelPrice::Free),
            Err(error) => {
                (format!("the tests of this model would end with an error: {}", error.message), ModelPrice::Unknown)
            }
        };
    }
    let Description { host, is_gateway, key, price } = match models.describe(id) {
        Ok(described) => described,
        Err(error) => {
            return (
                format!("the tests of this model would end with an error: {}", error.message),
                ModelPrice::Unknown,
            );
        }
    };
    let host = if is_gateway { format!("{host} (the AI Gateway)") } else { host };
    let place = match key {
        KeyState::NotNeeded => format!("requests go to {host}, without a key"),
        KeyState::Set(variable) => format!("requests go to {host} with the key in {variable}, which is set"),
        KeyState::Missing(variable) => {
            format!(
                "requests go to {host} with the key in {variable}, which is not set, so the tests of this model would end \
                 with an error"
            )
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
