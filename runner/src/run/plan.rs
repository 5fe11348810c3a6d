//! The attempts of a run, in the order of the file.

use speclens_schema::suite::{Action, Subject, Suite};

use crate::job::Options;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    pub(super) case: usize,
    pub(super) subject: Subject,
    pub(super) repeat: u32,
}

/// Returns the subjects of a run, in the order of the file, each with its number of attempts.
pub fn planned(suite: &Suite, options: &Options) -> Vec<(Subject, usize)> {
    let mut planned: Vec<(Subject, usize)> = Vec::new();
    for unit in plan(suite, &selected(suite, options), options) {
        match planned.iter_mut().find(|(subject, _)| *subject == unit.subject) {
            Some((_, attempts)) => *attempts += 1,
            None => planned.push((unit.subject, 1)),
        }
    }
    planned
}

pub(super) fn selected(suite: &Suite, options: &Options) -> Vec<usize> {
    let is_selected = |index: &usize| options.cases.as_ref().is_none_or(|cases| cases.contains(index));
    (0..suite.cases.len()).filter(is_selected).collect()
}

pub(super) fn plan(suite: &Suite, selected: &[usize], options: &Options) -> Vec<Unit> {
    let mut units = Vec::new();
    for &index in selected {
        let case = &suite.cases[index];
        if case.skip {
            continue;
        }
        let mut subjects = case.action.subjects_of(&options.models, &options.help_modes);
        if subjects.is_empty() && matches!(case.action, Action::None | Action::Agent(_)) {
            subjects.push(Subject::Nobody);
        }
        for subject in subjects {
            let unit = |repeat| Unit { case: index, subject: subject.clone(), repeat };
            units.extend((0..case.repeat).map(unit));
        }
    }
    units
}
