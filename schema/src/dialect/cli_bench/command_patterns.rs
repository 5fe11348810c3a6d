//! Patterns of commands, as they are written: each is read once for all rules.

use crate::{
    check::pattern::{EcmaPattern, PatternError},
    spot::Spot,
};

use super::assertions::is_literal;

/// What a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A command that must be run.
    Run,
    /// A command that must not be run.
    NotRun,
    /// A command that is counted.
    Count,
}

/// A pattern of commands.
pub(crate) struct WrittenPattern<'d> {
    pub(crate) spot: Spot<'d>,
    pub(crate) text: &'d str,
    pub(crate) purpose: Purpose,
    pub(crate) compiled: Compiled,
}

/// What reading a pattern gives.
pub(crate) enum Compiled {
    /// It finds nothing but its own text.
    Literal,
    Pattern(EcmaPattern),
    Broken(PatternError),
}

impl Compiled {
    fn of(text: &str) -> Compiled {
        if is_literal(text) {
            return Compiled::Literal;
        }
        EcmaPattern::compile(text, false).map_or_else(Compiled::Broken, Compiled::Pattern)
    }
}

impl<'d> WrittenPattern<'d> {
    /// Returns the patterns of an assertion.
    pub(crate) fn all(assertion: &Spot<'d>) -> impl Iterator<Item = WrittenPattern<'d>> {
        let written = [
            (assertion.get("ran"), Purpose::Run),
            (assertion.get("not_ran"), Purpose::NotRun),
            (assertion.find(&["run_count", "pattern"]), Purpose::Count),
        ];
        written.into_iter().filter_map(|(spot, purpose)| {
            let spot = spot?;
            let text = spot.text()?;
            Some(WrittenPattern { compiled: Compiled::of(text), spot, text, purpose })
        })
    }

    /// Whether every command matches.
    pub(crate) fn matches_everything(&self) -> bool {
        match &self.compiled {
            Compiled::Literal => self.text.is_empty(),
            Compiled::Pattern(pattern) => {
                let finds = |text: &&str| pattern.find_iter(text).next().is_some();
                pattern.matches_empty() && ["", "x", "a b"].iter().all(finds)
            }
            Compiled::Broken(_) => false,
        }
    }
}
