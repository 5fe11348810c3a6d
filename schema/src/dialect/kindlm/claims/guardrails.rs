//! `guardrails`: personal data and keywords in the text of the output.

use std::sync::{Arc, LazyLock, OnceLock};

use super::{actual, text_of, verdict, without};
use crate::{
    act::Act,
    check::{
        memo::Memo,
        pattern::{EcmaMatch, EcmaPattern, PatternError, PatternErrorKind, refused_by_original},
        text::visible,
    },
    dialect::kindlm::expect::{Detector, KeywordsGuardrail, PiiGuardrail},
    document::Pointer,
    mask::texts_of,
    seen::{Found, Proof, Seen, Why},
    text::Text,
    verdict::{At, Check, FailureCode, Judged, Mismatch, Related, Row, Verdict},
};

#[derive(Clone, Debug)]
pub(crate) struct PiiClaim {
    enabled: bool,
    patterns: Vec<PiiPattern>,
}

#[derive(Clone, Debug)]
struct PiiPattern {
    name: String,
    at: Pointer,
    source: String,
    is_custom: bool,
    /// The detector with this pattern.
    detector: Option<Detector>,
    compiled: Arc<Compiled>,
}

/// A pattern, compiled on first use.
type Compiled = OnceLock<Result<EcmaPattern, PatternError>>;

impl PiiPattern {
    fn compiled(&self) -> Result<&EcmaPattern, &PatternError> {
        let ignores_case = self.detector.is_none();
        self.compiled.get_or_init(|| EcmaPattern::compile(&self.source, ignores_case)).as_ref()
    }
}

/// Default of `denyPatterns`: social security numbers, payment cards, e-mail addresses.
const DEFAULT_PATTERNS: [&str; 3] = [
    r"\b\d{3}-\d{2}-\d{4}\b",
    r"\b\d{4}[\s-]?\d{4}[\s-]?\d{4}[\s-]?\d{4}\b",
    r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Z|a-z]{2,}\b",
];

/// Maximum total number of matches to count.
const MAX_MATCHES: usize = 1_000;

const LABEL: &str = "No PII detected";

impl PiiClaim {
    /// Creates the claim with its detectors or patterns, or with the default ones.
    pub(crate) fn new(expect: &PiiGuardrail) -> PiiClaim {
        let mut patterns = Vec::new();
        let mut add = |name: String, at: Pointer, source: &str, detector: Option<Detector>, is_custom: bool| {
            static KNOWN: LazyLock<Memo<(String, bool), Compiled>> = LazyLock::new(Memo::new);
            let compiled = KNOWN.get((source.to_owned(), detector.is_some()), |_| OnceLock::new());
            patterns.push(PiiPattern { name, at, source: source.to_owned(), is_custom, detector, compiled });
        };
        let at = |key: &str, index| Pointer::root().key(key).index(index);
        let numbered = |index: usize| format!("pii-pattern-{}", index + 1);
        match (&expect.detectors, &expect.deny_patterns) {
            (Some(detectors), _) => detectors.iter().enumerate().for_each(|(index, detector)| {
                let (name, source) = (detector.name().to_owned(), detector.pattern());
                add(name, at("detectors", index), source, Some(*detector), false);
            }),
            (None, Some(written)) => written.iter().enumerate().for_each(|(index, source)| {
                add(numbered(index), at("denyPatterns", index), source, None, false);
            }),
            (None, None) => DEFAULT_PATTERNS.iter().enumerate().for_each(|(index, source)| {
                add(numbered(index), Pointer::root(), source, None, false);
            }),
        }
        for (index, pattern) in expect.custom_patterns.iter().flatten().enumerate() {
            add(pattern.name.0.clone(), at("customPatterns", index).key("pattern"), &pattern.pattern, None, true);
        }
        PiiClaim { enabled: expect.enabled, patterns }
    }

    /// Returns the row if a pattern is not valid.
    fn usable(&self) -> Result<(), Row> {
        if let Some(refused) = self.patterns.iter().find(|it| refused_by_original(&it.source)) {
            let kind = if refused.is_custom { "Custom" } else { "Deny" };
            let message = format!(
                "{kind} pattern \"{}\" contains nested quantifiers and may cause catastrophic backtracking",
                refused.name
            );
            let mismatch = Mismatch::new(message, "a pattern without nested quantifiers", refused.source.clone());
            return Err(Row::refused(refused.at.clone(), mismatch));
        }
        let invalid = |pattern: &&PiiPattern| {
            pattern.compiled().is_err_and(|error| error.kind != PatternErrorKind::Untranslatable)
        };
        match self.patterns.iter().find(invalid) {
            Some(pattern) => {
                let reason = pattern.compiled().err().map(ToString::to_string).unwrap_or_default();
                Err(Why::Error(format!("pattern \"{}\": {reason}", pattern.name))).at(pattern.at.clone())
            }
            None => Ok(()),
        }
    }

    fn judge(&self, act: Act<'_>) -> Judged {
        let text = text_of(act)?;
        let mut found: Vec<(&PiiPattern, EcmaMatch)> = Vec::new();
        let mut seen: Option<Proof> = None;
        let mut unknown = None;
        for pattern in &self.patterns {
            match pattern.search(&text, MAX_MATCHES.saturating_sub(found.len())) {
                Ok(Found::Yes(matches, proof)) => {
                    seen = Some(proof);
                    found.extend(matches.into_iter().map(|it| (pattern, it)));
                }
                Ok(Found::No(_)) if pattern.is_seen_by_a_reader(&text) => {
                    let reason = "the output contains a match with invisible characters or with separate accents";
                    unknown = unknown.or(Some((pattern, Why::unknown(reason))));
                }
                Ok(Found::No(_)) => {}
                Err(why) => unknown = unknown.or(Some((pattern, why))),
            }
        }
        let (Some(proof), Some((first, _))) = (seen, found.first()) else {
            return match unknown {
                Some((pattern, why)) => Err(why).at(pattern.at.clone()),
                None => text.complete().map(|(_, proof)| Row::pass("", proof)).map_err(Row::from),
            };
        };
        let shown = |(pattern, it): &(&PiiPattern, EcmaMatch)| format!("{}={}", pattern.name, redacted(&it.text));
        let listed: Vec<String> = found.iter().map(shown).collect();
        let noted = |found: &(&PiiPattern, EcmaMatch)| format!("line {}: {}", found.1.line, shown(found));
        let mismatch = Mismatch::new(
            format!("Found {} PII match(es): {}", found.len(), listed.join(", ")),
            "no match",
            listed.join("\n"),
        )
        .notes(found.iter().take(20).map(noted));
        let by_pattern = found.chunk_by(|one, other| std::ptr::eq(one.0, other.0)).skip(1);
        let related = by_pattern.map(|matches| {
            Related::in_claim(format!("{} more found by this pattern", matches.len()), matches[0].0.at.clone())
        });
        Ok(Row::fail(first.at.clone(), proof, mismatch).relating(related))
    }
}

impl PiiPattern {
    /// Returns the matches in a text, at most `limit`. One without a character says nothing.
    fn search(&self, text: &Text<'_>, limit: usize) -> Seen<Found<Vec<EcmaMatch>>> {
        let named = |reason: &dyn std::fmt::Display| Why::unknown(format!("pattern \"{}\": {reason}", self.name));
        let compiled = self.compiled().map_err(|error| named(error))?;
        let counts = |text: &str| !text.is_empty() && self.detector.is_none_or(|detector| detector.accepts(text));
        text.matches(compiled, limit, counts).search(|matches| (!matches.is_empty()).then(|| matches.clone()))
    }

    /// Whether there is a match in what a reader sees of a text.
    fn is_seen_by_a_reader(&self, text: &Text<'_>) -> bool {
        let seen = visible(text.so_far());
        *seen != *text.so_far() && self.search(&Text::whole(&seen), 1).is_ok_and(|found| found.is_yes())
    }
}

impl Check for PiiClaim {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let row = |code, judged| verdict(("pii", code), "", LABEL, judged);
        match self.usable() {
            _ if !self.enabled => Vec::new(),
            Err(refused) => vec![row(FailureCode::InvalidPattern, Err(refused))],
            Ok(()) => vec![row(FailureCode::PiiDetected, self.judge(act))],
        }
    }

    fn texts(&self) -> Vec<String> {
        self.patterns.iter().filter(|it| !it.at.is_root()).map(|it| it.source.clone()).collect()
    }
}

/// Returns a finding with all but its ends masked, counted in UTF-16 units.
fn redacted(text: &str) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= 4 {
        return "*".repeat(units.len());
    }
    let ends = |units: &[u16]| String::from_utf16_lossy(units);
    format!("{}{}{}", ends(&units[..2]), "*".repeat(units.len() - 4), ends(&units[units.len() - 2..]))
}

impl Check for KeywordsGuardrail {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let text = text_of(act);
        let lower = text.as_ref().map(Text::lowercase).map_err(Why::clone);
        let shown = text.as_ref().map(Text::so_far).unwrap_or_default();
        let found = |phrase: &str| lower.as_ref().map_err(Why::clone)?.contains(&phrase.to_lowercase());
        let mut verdicts = Vec::new();
        let allowed = self.allow.as_deref().unwrap_or_default();
        if !allowed.is_empty() {
            let list = allowed.join(", ");
            let mismatch = || {
                Mismatch::new(
                    format!("Expected at least one of [{list}] in output"),
                    format!("at least one of [{list}]"),
                    actual(shown),
                )
            };
            let judged = Found::any(allowed.iter().map(|phrase| found(phrase)));
            let judged = judged.map(|found| Row::present("", found, mismatch)).map_err(Row::from);
            let kind = ("keywords_present", FailureCode::KeywordMissing);
            verdicts.push(verdict(kind, "allow", "Required keyword present", judged));
        }
        for (index, phrase) in self.deny.iter().enumerate() {
            let message = format!("Denied keyword \"{phrase}\" found in output");
            let judged = without(&lower, shown, phrase, message);
            let kind = ("keywords_absent", FailureCode::KeywordDenied);
            let at = Pointer::root().key("deny").index(index);
            verdicts.push(verdict(kind, at, format!("Keyword \"{phrase}\" absent"), judged));
        }
        verdicts
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(self).unwrap_or_default())
    }
}
