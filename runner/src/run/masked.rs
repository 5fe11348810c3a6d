//! Evidence without secrets: the only evidence that is recorded, judged, or shown to whoever observes more.

use std::sync::Arc;

use speclens_schema::{
    dialect::Dialect,
    evidence::{Evidence, Observation, Output, Ran},
    mask::Secrets,
};

use crate::exec::Attempt;

/// An attempt whose evidence and notes have stars instead of secrets.
#[derive(Debug)]
pub(super) struct Masked {
    evidence: Evidence,
    notes: Vec<String>,
    dialect: Dialect,
    secrets: Arc<Secrets>,
}

impl Masked {
    /// Masks what an act left behind.
    pub(super) fn of(attempt: Attempt, dialect: Dialect, secrets: &Arc<Secrets>) -> Masked {
        let Attempt { mut evidence, mut notes } = attempt;
        // What is masked has no name any more.
        let streams = evidence.all_commands().flat_map(Ran::streams);
        let texts: Vec<&str> = streams.map(|stream| stream.text.as_str()).collect();
        let names: Vec<String> = match !secrets.is_empty() && texts.iter().any(|text| secrets.contains_secret(text)) {
            true => secrets.names_in(&texts).iter().map(|name| format!("`{name}`")).collect(),
            false => Vec::new(),
        };
        dialect.mask(&mut evidence, secrets);
        notes.iter_mut().for_each(|note| *note = secrets.mask(note));
        if let Some(note) = evidence.mask_note().filter(|_| !names.is_empty()) {
            notes.push(format!("{note} ({})", names.join(", ")));
        }
        Masked { evidence, notes, dialect, secrets: Arc::clone(secrets) }
    }

    /// Adds what was observed on behalf of claims, masked.
    pub(super) fn with(mut self, observations: Vec<Observation>) -> Masked {
        let mut observed = Evidence { observations, ..Evidence::default() };
        self.dialect.mask(&mut observed, &self.secrets);
        self.evidence.observations.append(&mut observed.observations);
        self
    }

    /// Adds notes, masked.
    pub(super) fn noting(mut self, notes: Vec<String>) -> Masked {
        self.notes.extend(notes.iter().map(|note| self.secrets.mask(note)));
        self
    }

    /// Puts what was observed before the act in front of everything that was observed after it.
    pub(super) fn after(mut self, before: Masked) -> Masked {
        self.evidence.observations.splice(..0, before.evidence.observations);
        self
    }

    /// Returns what was observed.
    pub(super) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Returns what the act put out, as the dialect reads it.
    pub(super) fn output(&self) -> Option<Output> {
        let mut read = Evidence { command: self.evidence.command.clone(), ..Evidence::default() };
        self.dialect.interpret(&mut read);
        read.output
    }

    /// Returns how many bytes of captured text it holds.
    pub(super) fn size(&mut self) -> usize {
        size_of(&mut self.evidence)
    }

    /// Returns the evidence and the notes.
    pub(super) fn into_parts(self) -> (Evidence, Vec<String>) {
        (self.evidence, self.notes)
    }
}

/// Returns how many bytes of captured text it holds.
pub(super) fn size_of(evidence: &mut Evidence) -> usize {
    evidence.captures_mut().iter().map(|capture| capture.text.len()).sum()
}
