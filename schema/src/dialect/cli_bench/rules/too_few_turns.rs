use crate::{
    dialect::cli_bench::{
        config::HelpMode,
        facts::{About, SuiteFacts, tasks},
        tasks::Difficulty,
    },
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
    relations::Items,
    words::plural,
};

/// A task with too few turns.
#[derive(Debug)]
enum TooFewTurns {
    /// For its difficulty, as written, which requires at least this many.
    ForDifficulty { turns: f64, difficulty: String, least: u32 },
    /// For looking up how to use the program.
    ForDiscovery { turns: u32 },
}

/// Compares `max_turns` of a task with its `difficulty`.
pub(crate) fn check_task(task: &LintNode<'_>, report: &mut Report) {
    let (Some(difficulty), Some(turns)) = (task.get("difficulty"), task.get("max_turns")) else { return };
    let (Some(word), Some(count)) = (difficulty.text(), turns.number()) else { return };
    let Some(least) = Difficulty::parse(word).map(Difficulty::least_turns) else { return };
    if count >= 1.0 && count < f64::from(least) {
        let rule = TooFewTurns::ForDifficulty { turns: count, difficulty: word.to_owned(), least };
        report.push(turns.finding(rule).with("the difficulty", &difficulty));
    }
}

/// Reports tasks whose turns `discoverable` uses up.
pub(crate) fn check_relations(items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    if !suite.help_modes.contains(&HelpMode::Discoverable) {
        return;
    }
    for (index, task) in tasks(items, About::Turns) {
        if let Some((named, turns @ 0..=2)) = &task.max_turns {
            let (at, range) = items.place(index, named);
            report.push(Finding::new(TooFewTurns::ForDiscovery { turns: *turns }, at, range));
        }
    }
}

impl Rule for TooFewTurns {
    const CODE: Code = Code::TooFewTurns;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            TooFewTurns::ForDifficulty { turns, difficulty, least } => {
                let noun = if *turns == 1.0 { "turn" } else { "turns" };
                MessageParts::new(format!("{turns} {noun} may be too few for `difficulty: {difficulty}`"))
                    .help(format!("allow at least {least} turns"))
            }
            TooFewTurns::ForDiscovery { turns } => {
                let turns = plural(*turns as usize, "turn");
                MessageParts::new(format!("{turns} may be too few with `help_modes: [discoverable]`"))
                    .note("looking up help takes one to three turns")
                    .help("raise `max_turns`")
            }
        }
    }
}
