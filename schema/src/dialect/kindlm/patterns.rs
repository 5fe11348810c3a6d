//! The regular expressions of an `expect`, compiled once for the rules about them.

use crate::{
    check::pattern::{EcmaPattern, PatternError},
    spot::Spot,
};

/// A pattern of `guardrails.pii`.
pub(crate) struct Pattern<'d> {
    pub(crate) spot: Spot<'d>,
    pub(crate) text: &'d str,
    pub(crate) compiled: Result<EcmaPattern, PatternError>,
}

/// Returns the patterns of an `expect`.
pub(crate) fn of_expect<'d>(expect: &Spot<'d>) -> Vec<Pattern<'d>> {
    let Some(pii) = expect.find(&["guardrails", "pii"]) else { return Vec::new() };
    let deny = pii.get("denyPatterns").map(|list| list.items()).unwrap_or_default();
    let custom = pii.get("customPatterns").map(|list| list.items()).unwrap_or_default();
    let custom = custom.iter().filter_map(|custom| custom.get("pattern"));
    let compiled = |spot: Spot<'d>| {
        let text = spot.text()?;
        Some(Pattern { compiled: EcmaPattern::compile(text, true), text, spot })
    };
    deny.into_iter().chain(custom).filter_map(compiled).collect()
}
