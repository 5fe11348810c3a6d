//! Expectations of KindLM that cannot be judged.

use crate::{
    dialect::kindlm::facts::{About, SuiteFacts},
    finding::{MessageParts, Report},
    problem::Code,
};

/// Checks the providers that tests need.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    let [providers, ..] = &suite.root.sections;
    let embeds = suite.root.providers.iter().any(|provider| provider.name == "openai");
    // The missing part may be in text that cannot be parsed.
    if embeds || !providers.filled || !providers.readable || suite.has_damage() {
        return;
    }
    for test in suite.about(About::Embedding) {
        if let Some(method) = &test.facts.embedding {
            let words = MessageParts::new("`method: embedding` needs the provider `openai`")
                .help("add `openai` to `providers`, or choose another `method`");
            report.push(test.place(method).problem(Code::NeverEvaluated, words));
        }
    }
}
