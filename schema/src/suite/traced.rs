//! A suite whose tests are judged by a trace, instead of acting.

use std::sync::Arc;

use super::{Case, Suite};
use crate::{
    dialect::{Dialect, Gates},
    evidence::{Context, Need},
};

impl Suite {
    /// Returns the tests as a trace can judge them: those of KindLM whole, those of ClawSpec with their assertions about
    /// traces. `None`: the format has no such assertions.
    pub fn judged_by_trace(&self) -> Option<Suite> {
        let needs_trace = |case: &Case| {
            let mut case = case.clone();
            case.claims.retain(|claim| claim.check.needs(&Context::default()).contains(&Need::Trace));
            (!case.claims.is_empty()).then_some(case)
        };
        let cases: Vec<Case> = match self.dialect {
            Dialect::CliBench => return None,
            Dialect::KindLm => self.cases.iter().map(|case| Case::clone(case)).collect(),
            Dialect::ClawSpec => self.cases.iter().filter_map(|case| needs_trace(case)).collect(),
        };
        Some(Suite { cases: cases.into_iter().map(Arc::new).collect(), gates: Gates::default(), ..self.clone() })
    }
}
