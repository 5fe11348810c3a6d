//! How many turns a task gets, compared with how hard it is.

use crate::{
    problem::{Code, Problem},
    spot::Spot,
};

use super::super::tasks::Difficulty;

/// `max_turns` against `difficulty`.
pub(super) fn lint(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    let (Some(difficulty), Some(turns)) = (task.get("difficulty"), task.get("max_turns")) else { return };
    let (Some(word), Some(count)) = (difficulty.text(), turns.number()) else { return };
    let Some(least) = Difficulty::parse(word).map(Difficulty::least_turns) else { return };
    if count >= 1.0 && count < f64::from(least) {
        let message = format!("{count} turns are few for a task of `difficulty: {word}`");
        let problem = turns.problem(Code::TooFewTurns, message).with_help(format!("allow {least} turns or more"));
        problems.push(problem.with_related("the difficulty", difficulty.at.clone(), difficulty.range()));
    }
}
