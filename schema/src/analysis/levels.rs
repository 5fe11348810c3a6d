//! Severities of problems, from settings, comments at the top of the file, and the kind of the file.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Analyzer;
use crate::{
    dialect::Dialect,
    directive::Allowance,
    problem::{Code, Problem, SettingsCondition},
    settings::Settings,
};

/// Decides which problems are reported, and with which severity.
pub(super) struct Levels<'s> {
    settings: &'s Settings,
    dialect: Option<Dialect>,
    /// Codes that are allowed in the whole file.
    allowed: Vec<Code>,
    /// Whether the document is in a directory.
    is_saved: bool,
    key: u64,
}

impl<'s> Levels<'s> {
    /// Takes the comments that apply to the whole file (`everywhere`).
    pub(super) fn of(analyzer: &Analyzer, settings: &'s Settings, everywhere: &[&Allowance]) -> Levels<'s> {
        let codes = everywhere.iter().flat_map(|allowance| &allowance.codes);
        let allowed: Vec<Code> =
            codes.filter_map(|(word, _)| Code::parse(word)).filter(|code| !code.is_always_an_error()).collect();
        let (dialect, is_saved) = (analyzer.file.dialect(), analyzer.is_saved);
        let mut hasher = FxHasher::default();
        let conditions = [settings.has_to_be_read(dialect), settings.judge.is_none(), settings.clawspec.has_traces()];
        (&settings.severity, conditions, &allowed, is_saved).hash(&mut hasher);
        Levels { settings, dialect, allowed, is_saved, key: hasher.finish() }
    }

    /// Returns a hash of everything that affects the result.
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// Whether a problem does not apply to the location of the document or to its readers.
    pub(super) fn is_of_no_concern(&self, problem: &Problem) -> bool {
        let is_met = problem.only_with.is_none_or(|condition| match condition {
            SettingsCondition::Compat => self.settings.has_to_be_read(self.dialect),
            SettingsCondition::NoJudge => self.settings.judge.is_none(),
            SettingsCondition::Traces => self.settings.clawspec.has_traces(),
            SettingsCondition::NoTraces => !self.settings.clawspec.has_traces(),
        });
        !is_met || (!self.is_saved && problem.code == Code::MissingFile)
    }

    /// Sets the severity of a problem from the settings. Returns whether it is reported.
    pub(super) fn adjust(&self, problem: &mut Problem) -> bool {
        let severity = self.settings.severity_in(self.dialect, problem.code, problem.severity);
        problem.severity = severity.unwrap_or(problem.severity);
        severity.is_some()
    }

    /// Sets the severity of a problem of an item from the settings. Returns whether it is reported.
    pub(super) fn tells(&self, problem: &mut Problem) -> bool {
        !self.is_of_no_concern(problem) && !self.allowed.contains(&problem.code) && self.adjust(problem)
    }
}
