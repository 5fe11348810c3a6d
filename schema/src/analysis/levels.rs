//! Severities of problems, from settings and the kind of the file.

use super::Analyzer;
use crate::{
    format::Dialect,
    problem::{Code, Problem, SettingsCondition},
    settings::Settings,
};

/// Decides which problems are reported, and with which severity.
pub(super) struct Levels<'s> {
    settings: &'s Settings,
    dialect: Option<Dialect>,
    /// Whether the document is in a directory.
    is_saved: bool,
}

impl<'s> Levels<'s> {
    pub(super) fn of(analyzer: &Analyzer, settings: &'s Settings) -> Levels<'s> {
        Levels { settings, dialect: analyzer.file.dialect(), is_saved: analyzer.is_saved }
    }

    /// Whether a problem does not apply to the location of the document or to its readers.
    pub(super) fn is_of_no_concern(&self, problem: &Problem) -> bool {
        let is_met = problem.only_with.is_none_or(|condition| match condition {
            SettingsCondition::Compat => self.settings.has_to_be_read(self.dialect),
            SettingsCondition::NoJudge => self.settings.judge.is_none(),
            SettingsCondition::Traces => self.settings.gateway.has_traces(),
            SettingsCondition::NoTraces => !self.settings.gateway.has_traces(),
        });
        !is_met || (!self.is_saved && problem.code == Code::MissingFile)
    }

    /// Sets the severity of a problem from the settings. Returns whether it is reported.
    pub(super) fn adjust(&self, problem: &mut Problem) -> bool {
        let severity = self.settings.severity_in(self.dialect, problem.code, problem.severity);
        problem.severity = severity.unwrap_or(problem.severity);
        severity.is_some()
    }
}
