//! Describes the models that can work on tests: how they are reached and whether their keys are set, but never a key.

use std::sync::Arc;

use speclens_runner::model::{Description, KeyState, Models, Quote};
use speclens_schema::{
    analysis::Analyzer,
    document::{Document, NodeRef},
    files::Files,
    json_schema::SpecFile,
    script,
    settings::{Price, Provider, Settings},
    suite::{Subject, case_items, name_of_item},
};

use super::{markdown, names};

/// Maximum number of tests that are read to find one that asks models.
const MAX_READ: usize = 50;

/// Returns the models that can work on the tests of a document: those of its suite, and the scripts next to it.
pub(crate) fn choices(document: &Document, file: SpecFile, analyzer: Analyzer, files: &dyn Files) -> Vec<String> {
    if !file.dialect().is_some_and(|format| format.chooses_models()) {
        return Vec::new();
    }
    let items = case_items(file, document).into_iter().flatten().filter(|item| name_of_item(file, *item).is_some());
    let subjects = |item: NodeRef<'_>| -> Vec<Subject> {
        let suite = analyzer.suite_at(document, item.range().start, files);
        suite.cases.iter().flat_map(|case| case.action.subjects()).collect()
    };
    let asks = |subjects: &Vec<Subject>| subjects.iter().any(|subject| subject.model_id().is_some());
    // Tests that ask models mostly ask the same ones.
    let Some(subjects) = items.take(MAX_READ).map(subjects).find(asks) else { return Vec::new() };
    let named = subjects.iter().filter_map(|subject| subject.model_id().map(str::to_owned));
    let scripts = files.glob(&format!("*{}", script::ENDING)).paths.into_iter();
    let scripts = scripts.filter_map(|path| Some(format!("{}{}", script::PREFIX, path.strip_suffix(script::ENDING)?)));
    names::distinct(named.chain(scripts))
}

/// The settings and variables that decide how a model is reached.
#[derive(Clone, Copy)]
pub(crate) struct Reach<'r> {
    pub settings: &'r Arc<Settings>,
    pub environment: &'r dyn Fn(&str) -> Option<String>,
}

impl Reach<'_> {
    pub(super) fn of_model(self, id: &str) -> String {
        let models = Models::new(Arc::clone(self.settings), 1, self.environment);
        let described = match models.describe(id) {
            Ok(described) => described,
            Err(error) => return format!("This model cannot be used: {}.", error.message),
        };
        let place = place(&described);
        let Some(Quote { price: Price { input, output }, source }) = described.price else {
            return format!("{place}\n\nIts price is unknown.");
        };
        if input == 0.0 && output == 0.0 {
            return format!("{place}\n\nIts tokens cost nothing.");
        }
        format!("{place}\n\nOne million tokens cost ${input} (input) and ${output} (output) ({source}).")
    }

    pub(super) fn of_provider(self, name: &str, entry: NodeRef<'_>) -> Option<String> {
        let text = |key: &str| entry.get(key).and_then(NodeRef::text);
        // KindLM sends the key of a variable to the other providers only.
        let sends_key = !matches!(name, "ollama" | "http" | "mcp");
        let provider = Provider {
            api: None,
            base_url: text("baseUrl").or_else(|| text("url")).or_else(|| text("serverUrl")).map(Into::into),
            key_env: text("apiKeyEnv").filter(|_| sends_key).map(Into::into),
        };
        let providers = [(name.to_owned(), provider)].into();
        let settings = Arc::new(Settings { providers, ..Settings::default() });
        let described = Models::new(settings, 1, self.environment).describe(&format!("{name}/any")).ok()?;
        // Their headers decide what is sent.
        let has_headers = matches!(name, "http" | "mcp");
        Some(if has_headers {
            format!("Requests go to {}.", markdown::inline(&described.host))
        } else {
            place(&described)
        })
    }
}

fn place(described: &Description) -> String {
    let host = markdown::inline(&described.host);
    let host = if described.is_gateway { format!("{host} (the AI Gateway)") } else { host };
    match &described.key {
        KeyState::NotNeeded => format!("Requests go to {host}, without a key."),
        KeyState::Set(variable) => {
            format!("Requests go to {host} with the key in {}, which is set.", markdown::inline(variable))
        }
        KeyState::Missing(variable) => {
            format!("Requests go to {host} with the key in {}, which is not set.", markdown::inline(variable))
        }
    }
}
