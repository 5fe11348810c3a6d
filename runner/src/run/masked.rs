//! Evidence without secrets: the only evidence that is recorded, judged, or shown to observers.

use std::sync::Arc;

use speclens_schema::{
    evidence::{Evidence, Observation, Output, Ran},
    format::Dialect,
    mask::Secrets,
};

use crate::exec::Attempt;

/// An attempt with stars instead of secrets in its evidence and notes.
#[derive(Debug)]
pub(super) struct Masked {
    evidence: Evidence,
    notes: Vec<String>,
    dialect: Dialect,
    secrets: Arc<Secrets>,
}

impl Masked {
    pub(super) fn of(attempt: Attempt, dialect: Dialect, secrets: &Arc<Secrets>) -> Masked {
        let Attempt { mut evidence, mut notes } = attempt;
        // Masked text no longer has a name.
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

    pub(super) fn with(mut self, observations: Vec<Observation>) -> Masked {
        let mut observed = Evidence { observations, ..Evidence::default() };
        self.dialect.mask(&mut observed, &self.secrets);
        self.evidence.observations.append(&mut observed.observations);
        self
    }

    pub(super) fn noting(mut self, notes: Vec<String>) -> Masked {
        self.notes.extend(notes.iter().map(|note| self.secrets.mask(note)));
        self
    }

    pub(super) fn after(mut self, before: Masked) -> Masked {
        self.evidence.observations.splice(..0, before.evidence.observations);
        self
    }

    pub(super) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    pub(super) fn output(&self) -> Option<Output> {
        let Evidence { command, turns, ended, .. } = &self.evidence;
        let (command, turns, ended) = (command.clone(), turns.clone(), *ended);
        let mut read = Evidence { command, turns, ended, ..Evidence::default() };
        self.dialect.interpret(&mut read);
        read.output
    }

    /// Returns the number of bytes of captured text.
    pub(super) fn size(&mut self) -> usize {
        size_of(&mut self.evidence)
    }

    pub(super) fn into_parts(self) -> (Evidence, Vec<String>) {
        (self.evidence, self.notes)
    }
}

/// Returns the number of bytes of captured text.
pub(super) fn size_of(evidence: &mut Evidence) -> usize {
    evidence.captures_mut().iter().map(|capture| capture.text.len()).sum()
}
