//! An example of each kind of problem, with its fix. They are taken from the golden files of the tests, so they show
//! what a person sees.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use super::Code;

/// Written by the tests.
const EXAMPLES: &str = include_str!("examples.json");

/// A mistake as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The kind of file that it is in, as the schemas are named.
    pub file: String,
    /// The line that is wrong, and carets under the mistake.
    pub marked: String,
    /// What is said of it: the message, the note and the help, a line for each.
    pub message: String,
    /// What the best fix does, and what the lines are then.
    pub cure: Option<(String, String)>,
}

/// Returns the examples of a kind of problem, one for each format that has its own. Empty for what no text can show.
pub fn examples(code: Code) -> &'static [Example] {
    static ALL: LazyLock<BTreeMap<String, Vec<Example>>> =
        LazyLock::new(|| serde_json::from_str(EXAMPLES).expect("the tests wrote the file"));
    ALL.get(code.as_str()).map_or(&[], Vec::as_slice)
}

impl Example {
    /// Returns the example as text.
    pub fn text(&self) -> String {
        let indented =
            |text: &str| text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
        let marked: String = indented(&self.marked);
        let mut text = format!("For example, in a file of the kind `{}`:\n\n{marked}\n{}\n", self.file, self.message);
        if let Some((title, after)) = &self.cure {
            let after: String = indented(after);
            text.push_str(&format!("\nFix: {title}\n\n{after}"));
        }
        text
    }

    /// Returns the example as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "For example (`{}`):\n\n```text\n{}\n```\n\n> {}\n",
            self.file,
            self.marked,
            self.message.replace('\n', "\\\n> ")
        );
        if let Some((title, after)) = &self.cure {
            text.push_str(&format!("\nFix: {title}\n\n```yaml\n{after}\n```\n"));
        }
        text
    }
}
