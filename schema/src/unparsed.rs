//! Parts of a test that cannot be parsed. Each may have been a claim, so the test cannot pass.

use std::sync::Arc;

use crate::{
    act::Act,
    document::Pointer,
    problem::Problem,
    suite::{Case, Claim},
    verdict::{Check, Outcome, Verdict},
};

pub const KIND: &str = "invalid-part";

/// A part of a test with an error: always unknown.
#[derive(Clone, Debug)]
struct InvalidPart {
    reason: String,
}

impl Check for InvalidPart {
    fn check(&self, _: Act<'_>) -> Vec<Verdict> {
        vec![Verdict::of(KIND, "Invalid part", Outcome::Unknown(self.reason.clone()))]
    }

    fn texts(&self) -> Vec<String> {
        vec![self.reason.clone()]
    }
}

impl Case {
    /// Returns the case with these errors, because of which it cannot pass; without errors, because it could not be
    /// read as a whole.
    pub(crate) fn with_errors(&self, errors: &[&Problem]) -> Case {
        let mut case = Case { intact: false, ..self.clone() };
        let mut add = |at: Pointer, message: &str| {
            let reason = format!("part of this test is invalid: {message}");
            case.claims.push(Claim { at, phase: None, check: Arc::new(InvalidPart { reason }) });
        };
        for error in errors {
            // A line that belongs to no key is not part of the test.
            let is_inside = self.file.is_none() && error.at.below(&self.at).is_some();
            add(if is_inside { error.at.clone() } else { self.at.clone() }, &error.message);
        }
        if errors.is_empty() {
            add(self.at.clone(), "correct the problems that `speclens check` reports");
        }
        case
    }
}
