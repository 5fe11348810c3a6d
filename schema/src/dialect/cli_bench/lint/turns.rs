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
        let message = format!("a {word} task is expected to take {least} turns or more, and gets {count}");
        let problem = turns.problem(Code::TooFewTurns, message);
        problems.push(problem.with_related("how hard it is", difficulty.at.clone(), difficulty.range()));
    }
}
