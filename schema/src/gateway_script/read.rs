//! A scripted gateway, ready to be played: its runs and steps, each with its line number.

use crate::{
    document::Pointer,
    json_schema::SpecFile,
    script::{Line, Places, read_valid},
};

use super::{GatewayScript, Health, LogForm, Run, Score, Step, When};

/// A scripted gateway, ready to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// A scripted run.
    pub runs: Vec<RunLines>,
    /// Response of `/health`.
    pub health: Health,
    /// Answers of the judge.
    pub scores: Vec<Score>,
    /// Path of the log, with unexpanded templates; `None` if the script does not set it.
    pub log: Option<String>,
    /// Format of the log lines.
    pub form: LogForm,
    /// Whether runs send spans.
    pub spans: bool,
}

/// A run, with the line numbers of its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLines {
    /// Line number of its start, from 1.
    pub number: usize,
    /// Conditions that start the run.
    pub when: When,
    /// Agent of the run.
    pub agent: String,
    /// Steps of the run, in order.
    pub steps: Vec<Line<Step>>,
    /// Whether the run ends.
    pub done: bool,
}

/// Parses a scripted gateway. The error contains the line of the first problem, and can follow the name of the file.
pub fn read(text: &str) -> Result<Lines, String> {
    let (script, places): (GatewayScript, Places) = read_valid(text, SpecFile::GATEWAY)?;
    let runs = Pointer::root().key("runs");
    let run = |(index, run): (usize, Run)| {
        let at = runs.index(index);
        let Run { when, agent, steps, done } = run;
        let agent = agent.or_else(|| when.agent.clone());
        RunLines {
            number: places.line_of(&at),
            agent: agent.map_or_else(|| "main".to_owned(), |agent| agent.0),
            when,
            steps: places.numbered(&at.key("steps"), steps),
            done: done.unwrap_or(true),
        }
    };
    let log = script.log.unwrap_or_default();
    Ok(Lines {
        runs: script.runs.into_iter().enumerate().map(run).collect(),
        health: script.health.unwrap_or_default(),
        scores: script.scores,
        log: log.path.map(|path| path.0),
        form: log.format.unwrap_or_default(),
        spans: script.spans.unwrap_or(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "# a\nruns:\n  - when: {skill: /brief}\n    steps:\n      - tool: {name: a}\n      - wait_ms: 5\n  - when: {agent: copy}\n    done: false\nlog: {format: json}\n";

    #[test]
    fn runs_and_steps_have_their_lines() {
        for text in [SCRIPT.to_owned(), SCRIPT.replace('\n', "\r\n"), SCRIPT.replace("/brief", "'/brief'")] {
            let lines = read(&text).unwrap();
            assert_eq!(lines.runs.iter().map(|run| run.number).collect::<Vec<_>>(), [3, 7]);
            assert_eq!(lines.runs[0].steps.iter().map(|step| step.number).collect::<Vec<_>>(), [5, 6]);
            let agents: Vec<&str> = lines.runs.iter().map(|run| run.agent.as_str()).collect();
            assert_eq!(agents, ["main", "copy"]);
            assert_eq!(lines.runs.iter().map(|run| run.done).collect::<Vec<_>>(), [true, false]);
            assert_eq!((lines.form, lines.log, lines.spans), (LogForm::Json, None, true));
        }
    }

    #[test]
    fn a_gateway_with_an_error_is_refused_with_its_line() {
        for (text, expected) in [
            ("runs: 1\n", "line 1: "),
            ("runs:\n- when: {skill: /a}\n  steps:\n  - tool: {}\n", "line 4: "),
            ("runs:\n- when: {skill: /a}\n  steps:\n  - log: '{{to_day}}'\n", "line 4: "),
            ("runs:\n- when: {skill: /a}\n  steps:\n  - write: {path: ../a, content: b}\n", "line 4: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}{error}");
        }
        assert_eq!(read("").unwrap_err(), "line 1: the file is empty");
    }
}
