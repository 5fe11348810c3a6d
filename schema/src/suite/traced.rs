//! Suites whose tests are judged by a trace instead of running.

use std::sync::Arc;

use super::{Case, Suite};
use crate::{
    evidence::{Context, Need},
    format::Traced,
    gates::Gates,
};

impl Suite {
    /// Returns the tests that a trace can judge, with the assertions that it can decide. `None` if the format has no
    /// such assertions.
    pub fn judged_by_trace(&self) -> Option<Suite> {
        let needs_trace = |case: &Case| {
            let mut case = case.clone();
            case.claims.retain(|claim| claim.check.needs(&Context::default()).contains(&Need::Trace));
            (!case.claims.is_empty()).then_some(case)
        };
        let cases: Vec<Case> = match self.dialect.traced() {
            Traced::None => return None,
            Traced::All => self.cases.iter().map(|case| Case::clone(case)).collect(),
            Traced::AboutTraces => self.cases.iter().filter_map(|case| needs_trace(case)).collect(),
        };
        Some(Suite { cases: cases.into_iter().map(Arc::new).collect(), gates: Gates::default(), ..self.clone() })
    }
}
