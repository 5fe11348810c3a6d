//! Expectations of KindLM that cannot be judged.

use crate::{
    dialect::kindlm::{
        facts::{About, SuiteFacts},
        parts::TestParts,
    },
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// An expectation that is not judged.
#[derive(Debug)]
enum NeverEvaluated {
    /// An expectation about the whole answer, in a single reply.
    OfReply(&'static str),
    /// `method: embedding` without the required provider.
    Embedding,
}

/// Checks the replies of a test.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    if !parts.asks_model {
        return;
    }
    for turn in &parts.turns {
        for key in ["judge", "baseline"] {
            if let Some(claim) = turn.find(&["expect", key]) {
                report.push(claim.head_finding(NeverEvaluated::OfReply(key)));
            }
        }
    }
}

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
            report.push(test.place(method).finding(NeverEvaluated::Embedding));
        }
    }
}

impl Rule for NeverEvaluated {
    const CODE: Code = Code::NeverEvaluated;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            NeverEvaluated::OfReply(key) => MessageParts::new(format!("`{key}` is not evaluated for a single reply"))
                .help("move it to the `expect` of the test"),
            NeverEvaluated::Embedding => MessageParts::new("`method: embedding` needs the provider `openai`")
                .help("add `openai` to `providers`, or choose another `method`"),
        }
    }
}
