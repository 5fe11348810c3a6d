//! The cost of answers: list prices of a certain day, and prices of the settings.

use std::{collections::BTreeMap, fmt};

use speclens_schema::{evidence::Usage, settings::Price};

const PRICES_OF: &str = "2026-03-21";

/// Input and output prices in US dollars per million tokens, by provider and model. They are for the shortest prompts
/// and for tokens that are not cached, so a cost is an estimate.
const PRICES: &[(&str, &str, f64, f64)] = &[
    ("anthropic", "claude-3-haiku", 0.25, 1.25),
    ("anthropic", "claude-3-5-haiku", 0.8, 4.0),
    ("anthropic", "claude-3-7-sonnet", 3.0, 15.0),
    ("anthropic", "claude-haiku-4-5", 1.0, 5.0),
    ("anthropic", "claude-opus-4", 15.0, 75.0),
    ("anthropic", "claude-opus-4-1", 15.0, 75.0),
    ("anthropic", "claude-opus-4-5", 5.0, 25.0),
    ("anthropic", "claude-opus-4-6", 5.0, 25.0),
    ("anthropic", "claude-sonnet-4", 3.0, 15.0),
    ("anthropic", "claude-sonnet-4-5", 3.0, 15.0),
    ("anthropic", "claude-sonnet-4-6", 3.0, 15.0),
    ("google", "gemini-1-5-flash", 0.075, 0.3),
    ("google", "gemini-1-5-flash-8b", 0.0375, 0.15),
    ("google", "gemini-1-5-pro", 1.25, 5.0),
    ("google", "gemini-2-0-flash", 0.1, 0.4),
    ("google", "gemini-2-0-flash-lite", 0.075, 0.3),
    ("google", "gemini-2-5-flash", 0.3, 2.5),
    ("google", "gemini-2-5-flash-lite", 0.1, 0.4),
    ("google", "gemini-2-5-pro", 1.25, 10.0),
    ("google", "gemini-3-flash-preview", 0.5, 3.0),
    ("google", "gemini-3-pro-preview", 2.0, 12.0),
    ("openai", "gpt-4-turbo", 10.0, 30.0),
    ("openai", "gpt-4-1", 2.0, 8.0),
    ("openai", "gpt-4-1-mini", 0.4, 1.6),
    ("openai", "gpt-4-1-nano", 0.1, 0.4),
    ("openai", "gpt-4o", 2.5, 10.0),
    ("openai", "gpt-4o-mini", 0.15, 0.6),
    ("openai", "gpt-5", 1.25, 10.0),
    ("openai", "gpt-5-mini", 0.25, 2.0),
    ("openai", "gpt-5-nano", 0.05, 0.4),
    ("openai", "o3-mini", 1.1, 4.4),
    ("openai", "o4-mini", 1.1, 4.4),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quote {
    pub price: Price,
    pub source: PriceSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSource {
    Settings,
    List,
}

impl fmt::Display for PriceSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PriceSource::Settings => formatter.write_str("from `prices` in `speclens.yaml`"),
            PriceSource::List => write!(formatter, "list price of {PRICES_OF}"),
        }
    }
}

/// Returns the price of a model: from the settings, or else its list price; `None` if it is not known.
pub(super) fn price_of(settings: &BTreeMap<String, Price>, id: &str) -> Option<Quote> {
    let of_settings = settings.get(id).map(|price| Quote { price: *price, source: PriceSource::Settings });
    of_settings.or_else(|| list_price(id).map(|price| Quote { price, source: PriceSource::List }))
}

fn list_price(id: &str) -> Option<Price> {
    let (provider, model) = id.split_once('/')?;
    let provider = if provider == "gemini" { "google" } else { provider };
    if provider == "ollama" {
        // It runs on this machine.
        return Some(Price { input: 0.0, output: 0.0 });
    }
    let model = without_day(model).replace('.', "-");
    let (_, _, input, output) = *PRICES.iter().find(|(owner, name, ..)| *owner == provider && *name == model)?;
    Some(Price { input, output })
}

/// Returns a name without its release date: `gpt-4o-2024-08-06` costs as much as `gpt-4o`.
fn without_day(model: &str) -> &str {
    let is_number = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    match *model.rsplitn(4, '-').collect::<Vec<_>>() {
        [day, month, year, name] if is_number(day, 2) && is_number(month, 2) && is_number(year, 4) => name,
        _ => model.rsplit_once('-').filter(|(_, date)| is_number(date, 8)).map_or(model, |(name, _)| name),
    }
}

pub(super) fn is_free(Price { input, output }: Price) -> bool {
    input == 0.0 && output == 0.0
}

/// Returns the usage with its cost. What is free costs nothing, even if no tokens were counted.
pub(super) fn usage(counted: Option<Usage>, price: Option<Price>) -> Option<Usage> {
    let uncounted = || price.is_some_and(is_free).then(Usage::default);
    let Usage { input_tokens, output_tokens, .. } = counted.or_else(uncounted)?;
    Some(priced(input_tokens, output_tokens, price))
}

fn priced(input_tokens: u64, output_tokens: u64, price: Option<Price>) -> Usage {
    const MILLION: f64 = 1_000_000.0;
    // Far fewer tokens than a double can count.
    let cost = |price: Price| (input_tokens as f64 * price.input + output_tokens as f64 * price.output) / MILLION;
    Usage { input_tokens, output_tokens, cost_usd: price.map(cost) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use speclens_schema::settings::Price;

    use super::{PRICES, PriceSource, price_of, priced};

    #[track_caller]
    fn check(id: &str, expected: Option<(f64, f64)>) {
        let found = price_of(&BTreeMap::new(), id).map(|quote| (quote.price.input, quote.price.output));
        assert_eq!(found, expected, "{id}");
    }

    #[test]
    fn price_is_found_under_each_spelling_of_a_model() {
        for id in ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5-20250929"]
        {
            check(id, Some((3.0, 15.0)));
        }
        check("openai/gpt-4o-2024-08-06", Some((2.5, 10.0)));
        check("google/gemini-2.5-flash", Some((0.3, 2.5)));
        check("gemini/gemini-2.5-flash", Some((0.3, 2.5)));
        check("ollama/llama3.2", Some((0.0, 0.0)));
    }

    #[test]
    fn unknown_price_is_no_price() {
        for id in ["openai/gpt-99", "other/gpt-4o", "gpt-4o", "openai/20240806", "openai/"] {
            check(id, None);
        }
        assert_eq!(priced(1000, 1000, None).cost_usd, None);
    }

    #[test]
    fn price_of_settings_wins() {
        let settings = BTreeMap::from([("openai/gpt-4o".to_owned(), Price { input: 1.0, output: 2.0 })]);
        let quote = price_of(&settings, "openai/gpt-4o").unwrap();
        assert_eq!(quote.source, PriceSource::Settings);
        assert_eq!(priced(1_000_000, 500_000, Some(quote.price)).cost_usd, Some(2.0));
    }

    #[test]
    fn table_is_sorted_and_spelled_with_dashes() {
        assert!(PRICES.is_sorted_by(|one, other| one.0 < other.0 || one.0 == other.0 && one.1 != other.1));
        assert!(PRICES.iter().all(|(_, model, ..)| !model.contains('.')));
    }
}
