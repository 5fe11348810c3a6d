//! A script, ready to be played: its turns, each with its line number.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::{
    analysis::Analyzer,
    document::{self, Document, Encoding, Pointer},
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::Severity,
    settings::Settings,
};

use super::{Answer, Script, Tokens, Turn};

/// An item of a script, and its line number.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<T> {
    /// Line number of its start, from 1.
    pub number: usize,
    pub item: T,
}

/// A script, ready to be played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    pub tasks: BTreeMap<String, Vec<Line<Turn>>>,
    /// Turns of all tests that `tasks` does not list. `None`: such tests break.
    pub default: Option<Vec<Line<Turn>>>,
    /// Answers to requests without tools.
    pub answers: Vec<Line<Answer>>,
    /// Token counts of replies that do not set their own.
    pub usage: Option<Tokens>,
}

/// Parses a script. The error contains the line of the first problem, and can follow the name of the file.
pub fn read(text: &str) -> Result<Lines, String> {
    let (script, places): (Script, Places) = read_valid(text, SpecFile::SCRIPT)?;
    let root = Pointer::root();
    let tasks = root.key("tasks");
    Ok(Lines {
        tasks: script
            .tasks
            .into_iter()
            .map(|(id, list)| (id.clone(), places.numbered(&tasks.key(&id), list)))
            .collect(),
        default: script.default.map(|list| places.numbered(&root.key("default"), list)),
        answers: places.numbered(&root.key("answers"), script.answers),
        usage: script.usage,
    })
}

/// The text of a file that is played, to find the lines of its parts.
pub(crate) struct Places(Document);

impl Places {
    /// Returns the line that a part begins in; the first one is 1.
    pub(crate) fn line_of(&self, at: &Pointer) -> usize {
        self.line_at(self.0.range_of(at).start)
    }

    pub(crate) fn numbered<T>(&self, list: &Pointer, items: Vec<T>) -> Vec<Line<T>> {
        let line = |(index, item)| Line { number: self.line_of(&list.index(index)), item };
        items.into_iter().enumerate().map(line).collect()
    }

    fn line_at(&self, offset: usize) -> usize {
        document::Lines::new(self.0.text(), Encoding::Utf8).place(offset).line + 1
    }
}

/// Reads a file that is played. The error names the line of the first problem, and is made to follow the name of the file.
pub(crate) fn read_valid<T: DeserializeOwned>(text: &str, file: SpecFile) -> Result<(T, Places), String> {
    let document = Document::read(text, file.scalar_rules());
    let problems = Analyzer::new(file).problems(&document, &MemoryFiles::default(), &Settings::default());
    let value = document.root().map(|root| root.to_value()).transpose();
    let places = Places(document);
    if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
        return Err(format!("line {}: {}", places.line_at(problem.range.start), problem.message));
    }
    let value = value.map_err(|_| "it has too many aliases".to_owned())?.unwrap_or_default();
    let read = T::deserialize(&value).map_err(|error| error.to_string())?;
    Ok((read, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "# careful\ntasks:\n  create-user:\n  - run: mycli user create alice\n    expect: {exit_code: 0}\n  - run: [a, b]\n  - say: Done.\ndefault:\n- say: \"no\"\nanswers:\n- asked: polite\n  fail: rate-limit\nusage: {input_tokens: 100, output_tokens: 20}\n";

    #[test]
    fn turns_know_their_lines() {
        for text in [SCRIPT.to_owned(), SCRIPT.replace('\n', "\r\n"), SCRIPT.replace("\"no\"", "'no'")] {
            let script = read(&text).unwrap();
            let turns = &script.tasks["create-user"];
            assert_eq!(turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [4, 6, 7]);
            assert_eq!(turns[0].item.run.0.len(), 1);
            assert_eq!(turns[1].item.run.0.len(), 2);
            assert_eq!(script.default.as_ref().unwrap()[0].number, 9);
            assert_eq!(script.answers[0].number, 11);
            assert_eq!(script.usage.unwrap().input_tokens, 100);
        }
    }

    #[test]
    fn a_script_with_an_error_is_refused_with_its_line() {
        for (text, expected) in [
            ("tasks: 1\n", "line 1: "),
            ("default:\n- say: a\n- fail: sometimes\n", "line 3: "),
            ("default:\n- run: []\n", "line 2: "),
            ("default:\n- say: [\n", "line 2: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}{error}");
        }
        assert_eq!(read("").unwrap_err(), "line 1: the file is empty");
    }
}
