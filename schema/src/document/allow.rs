//! `# speclens: allow(code, code)` comments: the author knows better.
//!
//! Behind a value the comment speaks for its own line, on a line of its own for the next line that is no
//! comment, and before the first entry for the whole file.

use std::ops::Range;

use super::Document;

const MARK: &str = "speclens: allow(";

/// What one comment allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The words between the parentheses, with where each stands.
    pub codes: Vec<(String, Range<usize>)>,
    /// The bytes in which problems with these codes may begin.
    pub covers: Range<usize>,
}

/// Where such comments stand in a block's text.
pub(super) fn marks(text: &str) -> Vec<usize> {
    text.match_indices(MARK).map(|(at, _)| at).filter(|&at| is_comment(text, at)).collect()
}

/// Whether only blanks stand between a `#` and the mark, and the `#` begins a comment.
fn is_comment(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.strip_suffix('#').is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t', '\n', '\r']))
}

impl Document {
    /// Every comment that allows something.
    pub fn allowances(&self) -> Vec<Allowance> {
        let allowing = self.starts.iter().zip(self.blocks.iter()).filter(|(_, slot)| slot.allows);
        let places = allowing.flat_map(|(start, slot)| slot.block.allows.iter().map(move |at| start + at));
        places.filter_map(|at| self.allowance(at)).collect()
    }

    fn allowance(&self, at: usize) -> Option<Allowance> {
        let number = self.text.byte_to_line(at);
        let start = self.text.line_to_byte(number);
        let line = String::from(self.text.line(number));
        let inside = at - start + MARK.len();
        let end = inside + line.get(inside..)?.find(')')?;
        let mut codes = Vec::new();
        let mut from = inside;
        for word in line[inside..end].split(',') {
            let code = word.trim();
            let begin = start + from + (word.len() - word.trim_start().len());
            if !code.is_empty() {
                codes.push((code.to_owned(), begin..begin + code.len()));
            }
            from += word.len() + 1;
        }
        let covers = if !line.trim_start().starts_with('#') {
            start..start + line.len()
        } else if self.before_first_entry(start) {
            0..self.text.len_bytes() + 1
        } else {
            let next = (number + 1..self.text.len_lines()).find(|&next| {
                let line = String::from(self.text.line(next));
                !line.trim().is_empty() && !line.trim_start().starts_with('#')
            })?;
            self.text.line_to_byte(next)..self.text.line_to_byte((next + 1).min(self.text.len_lines()))
        };
        Some(Allowance { codes, covers })
    }

    fn before_first_entry(&self, at: usize) -> bool {
        let first = self.root().and_then(|root| {
            let key = root.entries().next().map(|entry| entry.key);
            key.or_else(|| root.items().next()).map(|first| first.range().start)
        });
        first.is_none_or(|first| at < first)
    }
}

#[cfg(test)]
mod tests {
    use crate::{dialect::ScalarRules, document::Document};

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let found: Vec<_> = document
            .allowances()
            .into_iter()
            .map(|allowance| {
                let codes: Vec<_> = allowance.codes.iter().map(|(code, _)| code.as_str()).collect();
                (codes.join("+"), text[allowance.covers.start..allowance.covers.end.min(text.len())].to_owned())
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(codes, covers)| ((*codes).to_owned(), (*covers).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_comment_speaks_for_its_line_or_the_next_one() {
        check("a: 1\nb: 2 # speclens: allow(unused)\nc: 3\n", &[("unused", "b: 2 # speclens: allow(unused)\n")]);
        check(
            "a: 1\ntests:\n  - b: 1\n  # speclens: allow(no-claims, unused)\n\n  # why\n  - c: 2\n    d: 3\n",
            &[("no-claims+unused", "  - c: 2\n")],
        );
    }

    #[test]
    fn at_the_top_it_speaks_for_the_file() {
        check("# speclens: allow(unused)\na: 1\n", &[("unused", "# speclens: allow(unused)\na: 1\n")]);
    }

    #[test]
    fn below_the_first_item_of_a_list_it_speaks_for_a_line() {
        check("# speclens: allow(unused)\n- a: 1\n", &[("unused", "# speclens: allow(unused)\n- a: 1\n")]);
        check("- a: 1\n# speclens: allow(unused)\n- b: 2\n- c: 3\n", &[("unused", "- b: 2\n")]);
        check("- a: 1\n  # speclens: allow(unused)\n  b: 2\n  c: 3\n", &[("unused", "  b: 2\n")]);
    }

    #[test]
    fn text_is_no_comment() {
        check("a: \"x#speclens: allow(unused)\"\n", &[]);
    }
}
