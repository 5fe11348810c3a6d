//! Completion in `# speclens:` comments.

use std::ops::Range;

use speclens_schema::{
    directive::{self, Verb},
    json_schema::SpecFile,
    problem::Code,
};

use super::list::{CompletionKind, List};
use crate::ide::markdown;

impl List<'_> {
    /// Completes a comment for speclens: directives, codes in `allow(`, kinds of files after `dialect=`.
    pub(super) fn directives(&mut self) {
        let (line, start) = self.line();
        let before = &line[self.context.token.start - start..self.offset - start];
        let said = before.rsplit('#').next().unwrap_or_default().trim_start();
        let Some(behind) = said.strip_prefix(directive::NAME).and_then(|behind| behind.strip_prefix(':')) else {
            if !said.is_empty() && directive::NAME.starts_with(said) || said == directive::NAME {
                self.verbs(said, &format!("{}: ", directive::NAME));
            }
            return;
        };
        let asked = behind.trim_start();
        let argument = |verb: Verb, sign: char| asked.strip_prefix(verb.as_str())?.trim_start().strip_prefix(sign);
        if let Some(list) = argument(Verb::Allow, '(') {
            self.codes(list);
        } else if let Some(word) = argument(Verb::Dialect, '=') {
            self.kinds(word.trim_start());
        } else if asked.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            self.verbs(asked, if behind.is_empty() { " " } else { "" });
        }
    }

    /// Completes the codes that a comment can allow: `list` is the text in its parentheses before the cursor.
    fn codes(&mut self, list: &str) {
        if list.contains(')') {
            return;
        }
        let (range, behind) = self.word(list);
        let closing = if behind.contains(')') { "" } else { ")" };
        let taken: Vec<String> =
            list[..list.len() - (self.offset - range.start)].split(',').map(|code| code.trim().to_owned()).collect();
        let codes = Code::ALL.iter().copied().filter(|code| !code.is_always_an_error());
        for code in codes.filter(|code| !taken.iter().any(|taken| taken == code.as_str())) {
            let item = self.add(0, code.as_str(), CompletionKind::Value, format!("{}{closing}", code.as_str()));
            item.edit.range = range.clone();
            item.detail = code.severity().as_str().to_owned();
            item.docs = markdown::code(code);
        }
    }

    fn kinds(&mut self, typed: &str) {
        if typed.contains([' ', '\t']) || !self.is_in_head() {
            return;
        }
        let (range, _) = self.word(typed);
        for file in SpecFile::ALL.iter().filter(|file| !file.is_settings()) {
            let item = self.add(0, file.as_str(), CompletionKind::Value, file.as_str().to_owned());
            item.edit.range = range.clone();
            item.detail = file.title().to_owned();
        }
    }

    /// Completes directives; `lead` is inserted before them, in place of the typed text.
    fn verbs(&mut self, typed: &str, lead: &str) {
        let range = self.offset - typed.len()..self.offset;
        let is_in_head = self.is_in_head();
        for verb in Verb::ALL {
            let (text, snippet, detail) = match verb {
                Verb::Allow => (
                    "allow(",
                    "allow($0)".to_owned(),
                    "silences a kind of problem: on this line, on the next line, or, above the first entry, in the whole file",
                ),
                Verb::Dialect if is_in_head => {
                    let kinds = SpecFile::ALL.iter().filter(|file| !file.is_settings());
                    let kinds: Vec<&str> = kinds.map(|file| file.as_str()).collect();
                    let snippet = format!("dialect=${{1|{}|}}", kinds.join(","));
                    ("dialect=", snippet, "sets the kind of this file; write it before the first entry")
                }
                Verb::Dialect => continue,
            };
            let item = self.add(0, verb.as_str(), CompletionKind::Field, format!("{lead}{text}"));
            item.edit.range = range.clone();
            item.snippet = Some(format!("{lead}{snippet}"));
            item.detail = detail.to_owned();
            if lead.starts_with(directive::NAME) {
                item.label = format!("{lead}{}", verb.as_str());
                item.filter_text = item.label.clone();
            }
        }
    }

    fn is_in_head(&self) -> bool {
        self.document.is_before_first_entry(self.offset)
    }

    /// Returns the word at the cursor, and the text after it in the line. `typed` ends at the cursor.
    fn word(&self, typed: &str) -> (Range<usize>, String) {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let (line, start) = self.line();
        let behind = &line[self.offset - start..];
        let rest = behind.find(|letter| !is_of_word(letter)).unwrap_or(behind.len());
        let begun = typed.len() - typed.trim_end_matches(is_of_word).len();
        (self.offset - begun..self.offset + rest, behind[rest..].to_owned())
    }
}
