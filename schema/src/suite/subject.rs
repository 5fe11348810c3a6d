//! Who acts in an attempt.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::cli_bench::config::HelpMode;

/// Who acts in an attempt. Evidence of one subject is never taken for that of another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// A shell command.
    Command,
    /// A model.
    Model {
        /// Its id in the suite.
        model: String,
        /// How it learns about the program that it is to use, in cli-bench.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<HelpMode>,
    },
    /// A skill or an agent behind a gateway.
    Gateway {
        /// The directory of the target, from the root of the workspace.
        target: String,
    },
    /// The test does not say who acts.
    Nobody,
}

impl Subject {
    /// A model, in a help mode where the format has them.
    pub fn model(model: &str, mode: Option<HelpMode>) -> Subject {
        Subject::Model { model: model.to_owned(), mode }
    }

    /// The id of the model; `None` where no model acts.
    pub fn model_id(&self) -> Option<&str> {
        match self {
            Subject::Model { model, .. } => Some(model),
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        }
    }
}

/// Returns the names of subjects in lenses, tables and lists: the shortest end of each id that is the end of no other one,
/// with the help mode where there are several.
pub fn short_names(subjects: &[&Subject]) -> Vec<String> {
    let parts: Vec<(String, Option<HelpMode>)> = subjects.iter().map(|subject| parts(subject)).collect();
    let has_modes = parts.iter().any(|(_, mode)| *mode != parts[0].1);
    let name = |(id, mode): &(String, Option<HelpMode>)| {
        let is_unique = |end: &str| {
            let ends = |other: &str| other == end || other.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
            parts.iter().all(|(other, _)| other == id || !ends(other))
        };
        let starts = id.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
        let end = starts.map(|start| &id[start..]).find(|end| is_unique(end)).unwrap_or(id);
        match mode.filter(|_| has_modes) {
            Some(mode) => format!("{end} ({})", mode.as_str()),
            None => end.to_owned(),
        }
    };
    parts.iter().map(name).collect()
}

fn parts(subject: &Subject) -> (String, Option<HelpMode>) {
    match subject {
        Subject::Model { model, mode } => (model.clone(), *mode),
        Subject::Command | Subject::Gateway { .. } | Subject::Nobody => (subject.to_string(), None),
    }
}

/// The name in reports: `command`, `gateway`, `openai:gpt-4o`, `openai:gpt-4o (injected)`.
impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Command => formatter.write_str("command"),
            Subject::Model { model, mode: None } => formatter.write_str(model),
            Subject::Model { model, mode: Some(mode) } => write!(formatter, "{model} ({})", mode.as_str()),
            Subject::Gateway { .. } => formatter.write_str("gateway"),
            Subject::Nobody => formatter.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_name_is_the_shortest_end_that_tells_subjects_apart() {
        let short = |subjects: &[Subject]| short_names(&subjects.iter().collect::<Vec<_>>());
        let model = |id| Subject::model(id, Some(HelpMode::None));
        assert_eq!(
            short(&[model("anthropic/claude-sonnet-4.6"), model("openai/gpt-4o")]),
            ["claude-sonnet-4.6", "gpt-4o"]
        );
        assert_eq!(short(&[model("a/same"), model("b/same"), model("c/x")]), ["a/same", "b/same", "x"]);
        let modes = [model("a/one"), Subject::model("a/one", Some(HelpMode::Injected))];
        assert_eq!(short(&modes), ["one (none)", "one (injected)"]);
        assert_eq!(short(&[model("a/x/one"), model("b/y/one"), model("b/z")]), ["x/one", "y/one", "z"]);
        assert_eq!(short(&[model("one"), model("b/one")]), ["one", "b/one"]);
        assert_eq!(short(&[Subject::Command]), ["command"]);
        assert_eq!(short(&[]), [""; 0]);
    }
}
