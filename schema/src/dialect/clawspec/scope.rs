//! The scope in which the assertions of one list are judged.

use std::collections::BTreeMap;

use super::template::CALLEE_RUN_ID;
use crate::{
    evidence::{AskedModel, Context, FilesNeed, ObservationTime},
    gateway::config::{Config, Price},
    seen::Proof,
    settings::{Settings, Shortfall},
    template::{NoValue, expand_trimmed, trimmed_placeholders},
    verdict::{Mismatch, Part, Row},
};

/// Scope that the assertions of one list share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// Time at which they are judged.
    pub moment: ObservationTime,
    pub prices: BTreeMap<String, Price>,
    /// Caller and callee, in a handoff contract.
    pub handoff: Option<(String, String)>,
    /// Source of scores, and the effect of a score below its threshold.
    pub scoring: Scoring,
}

/// Source of scores, and the effect of a score below its threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scoring {
    /// Model that judges. `None`: the judge of the gateway.
    pub judge: Option<AskedModel>,
    /// Effect of a score below its threshold.
    pub shortfall: Shortfall,
}

impl Scoring {
    pub fn of(settings: &Settings) -> Scoring {
        Scoring { judge: settings.judge.as_deref().and_then(AskedModel::of_id), shortfall: settings.gateway.thresholds }
    }
}

impl Scope {
    pub fn new(moment: ObservationTime, config: &Config, scoring: &Scoring) -> Scope {
        Scope { moment, prices: config.prices(), handoff: None, scoring: scoring.clone() }
    }

    pub fn expand(&self, text: &str, context: &Context) -> Result<String, NoValue> {
        expand_trimmed(text, |name| match (name, &self.handoff) {
            ("handoff.from", Some((from, _))) => Some(from.as_str()),
            ("handoff.to", Some((_, to))) => Some(to.as_str()),
            (name, _) => {
                let templates = context.templates.as_ref()?;
                let values = match self.moment {
                    ObservationTime::Before => &templates.before,
                    ObservationTime::After => &templates.after,
                };
                values.get(name).map(String::as_str)
            }
        })
    }

    /// Returns caller and callee if a `run_id` is the run of the callee, which only the log of the run contains.
    pub(crate) fn callee(&self, run_id: Option<&String>) -> Option<(&str, &str)> {
        let (from, to) = self.handoff.as_ref()?;
        let run_id = run_id?;
        let [placeholder] = trimmed_placeholders(run_id)[..] else { return None };
        let is_callee = placeholder.name == CALLEE_RUN_ID && placeholder.text == run_id;
        is_callee.then_some((from, to))
    }

    pub(crate) fn matching(&self, pattern: String) -> FilesNeed {
        FilesNeed { pattern, wildcards: true, moment: self.moment, ..FilesNeed::default() }
    }

    /// The need for the content of the first file that matches an expanded path.
    pub(crate) fn first_matching(&self, pattern: String) -> FilesNeed {
        FilesNeed { literal: true, content: true, ..self.matching(pattern) }
    }

    pub(crate) fn files(&self, path: &str, context: &Context) -> Option<FilesNeed> {
        self.expand(path, context).ok().map(|pattern| self.matching(pattern))
    }

    pub(crate) fn first_file(&self, path: &str, context: &Context) -> Option<FilesNeed> {
        self.expand(path, context).ok().map(|pattern| self.first_matching(pattern))
    }

    /// The row of a score below its threshold.
    pub(crate) fn short(&self, part: impl Into<Part>, proof: Proof, mismatch: Mismatch) -> Row {
        match self.scoring.shortfall {
            Shortfall::Fail => Row::fail(part, proof, mismatch),
            Shortfall::Warn => Row::warn(part, proof, mismatch),
        }
    }
}
