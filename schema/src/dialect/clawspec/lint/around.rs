//! The scenario or the contract that assertions belong to.

use std::{cell::RefCell, ops::Deref};

use rustc_hash::FxHashSet;

use crate::{
    document::Pointer,
    problem::{Problem, Severity},
    spot::Spot,
};

/// What assertions belong to, with the places in it at which something is wrong.
pub(super) struct Around<'d> {
    spot: Spot<'d>,
    wrong: RefCell<FxHashSet<Pointer>>,
}

impl<'d> Around<'d> {
    pub(super) fn new(spot: &Spot<'d>, problems: &[Problem]) -> Around<'d> {
        let around = Around { spot: spot.clone(), wrong: RefCell::default() };
        around.learn(problems);
        around
    }

    /// Takes note of what was found.
    pub(super) fn learn(&self, problems: &[Problem]) {
        let bad = problems.iter().filter(|problem| problem.severity <= Severity::Warning);
        self.wrong.borrow_mut().extend(bad.map(|problem| problem.at.clone()));
    }

    /// Whether something was found at a place.
    pub(super) fn is_wrong(&self, at: &Pointer) -> bool {
        self.wrong.borrow().contains(at)
    }
}

impl<'d> Deref for Around<'d> {
    type Target = Spot<'d>;

    fn deref(&self) -> &Spot<'d> {
        &self.spot
    }
}
