//! What the assertions of a test notice if its recorded run is damaged: a lens, and a section of the transcript.

use std::fmt::Write;

use speclens_runner::event::RunResult;
use speclens_schema::{
    audit::{Effect, Tally, audit},
    evidence::Evidence,
    format::Dialect,
    mask::Secrets,
    suite::Case,
    verdict::Status,
    words::plural,
};

use super::{
    markdown,
    outcome::{CaseOutcome, CaseState},
    transcript::Language,
};

/// Evidence of more bytes than this is not audited while somebody waits for lenses; `speclens audit` does it.
const MAX_BYTES: usize = 100_000;

/// What the assertions of a test notice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Audited {
    pub tally: Tally,
    /// The faults that none of them notices.
    pub survivors: Vec<String>,
}

impl Audited {
    /// Returns the title of its lens; `None` if every fault is noticed.
    pub(crate) fn title(&self) -> Option<String> {
        let Tally { noticed, survived, .. } = self.tally;
        (survived > 0).then(|| format!("audit: {noticed} of {} noticed", plural(self.tally.tried(), "fault")))
    }

    /// Returns the section of a transcript; empty if every fault is noticed.
    pub(crate) fn section(&self, language: Language) -> String {
        let Some(title) = self.title() else { return String::new() };
        let (mut text, shown): (String, fn(&str) -> String) = match language {
            Language::Markdown => (format!("\n## Audit\n\n{title}. No assertion notices if\n\n"), markdown::escaped),
            Language::Text => (format!("\n{title}; no assertion notices if\n"), str::to_owned),
        };
        for survivor in &self.survivors {
            let _ = writeln!(text, "- {}", shown(&markdown::without_breaks(survivor)));
        }
        text
    }
}

impl CaseOutcome {
    /// Audits the first passing attempt, once. `None` if none passed, or it is too large.
    pub(crate) fn audited(&self, case: &Case, dialect: Dialect) -> Option<&Audited> {
        let has_passed = matches!(self.known.state, CaseState::Passed { .. } | CaseState::Warned { .. });
        has_passed.then(|| self.audit.get_or_init(|| self.audit_of(case, dialect)).as_ref()).flatten()
    }

    fn audit_of(&self, case: &Case, dialect: Dialect) -> Option<Audited> {
        let has_passed = |result: &&RunResult| matches!(result.status, Status::Pass | Status::Warn);
        let first = self.attempts.iter().map(|attempt| &attempt.result).find(has_passed)?;
        let mut evidence = Evidence::clone(&*first.evidence.get()?);
        let bytes: usize = evidence.captures_mut().iter().map(|capture| capture.text.len()).sum();
        // A claim with a secret is unknown, so the test has not passed.
        let audit = (bytes <= MAX_BYTES).then(|| audit(case, dialect, &evidence, &Secrets::none())).flatten()?;
        let survivors = audit.tried.iter().filter(|tried| tried.effect == Effect::Survived);
        Some(Audited {
            tally: Tally::of(&audit.tried),
            survivors: survivors.map(|tried| tried.fault.sentence()).collect(),
        })
    }
}
