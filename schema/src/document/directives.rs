//! Where the comments are that speak to speclens, and what they are about.
//!
//! Behind a value such a comment speaks for its own line, on a line of its own for the next line that is no
//! comment, and before the first entry for the whole file.

use std::ops::Range;

use super::{
    Document,
    tree::{Node, NodeKind},
};
use crate::directive::{Directive, Verb};

/// What one comment allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The words between the parentheses, with their places.
    pub codes: Vec<(String, Range<usize>)>,
    /// The bytes in which problems with these codes may begin.
    pub covers: Range<usize>,
    /// The comment, from its name to the closing parenthesis.
    pub range: Range<usize>,
}

/// Where the `#` of each such comment is in a block's text. Texts of the tree may look like one.
pub(super) fn marks(text: &str, root: Option<&Node>) -> Vec<usize> {
    let places = Directive::all_in(text).map(|(at, _)| at);
    places.filter(|&at| !root.is_some_and(|root| holds_in_text(root, at))).collect()
}

/// Whether a place is within a text of the tree.
fn holds_in_text(node: &Node, at: usize) -> bool {
    if !node.range.contains(&at) {
        return false;
    }
    match &node.kind {
        NodeKind::Scalar { .. } => node.range.start < at,
        NodeKind::Alias(_) => false,
        NodeKind::Sequence(items) => items.iter().any(|item| holds_in_text(item, at)),
        NodeKind::Mapping(entries) => {
            entries.iter().any(|entry| holds_in_text(&entry.key, at) || holds_in_text(&entry.value, at))
        }
    }
}

impl Document {
    /// Every comment that speaks to speclens, or is meant to.
    pub fn directives(&self) -> Vec<Directive> {
        let speaking = self.starts.iter().zip(self.blocks.iter()).filter(|(_, slot)| slot.has_directives);
        let places = speaking.flat_map(|(start, slot)| slot.block.directives.iter().map(move |at| start + at));
        let read = |at: usize| {
            let end = self.text.line_to_byte(self.text.byte_to_line(at) + 1);
            let comment = String::from(self.text.byte_slice(at..end));
            Directive::all_in(&comment).next().filter(|(hash, _)| *hash == 0).map(|(_, found)| found.moved(at))
        };
        places.filter_map(read).collect()
    }

    /// Every comment that allows something.
    pub fn allowances(&self) -> Vec<Allowance> {
        let obeyed = self.directives().into_iter().filter(|it| it.verb == Some(Verb::Allow) && it.slip.is_none());
        obeyed.map(|directive| self.allowance(directive)).collect()
    }

    fn allowance(&self, directive: Directive) -> Allowance {
        let number = self.text.byte_to_line(directive.range.start);
        let start = self.text.line_to_byte(number);
        let line = String::from(self.text.line(number));
        let covers = if !line.trim_start_matches(['\u{feff}', ' ', '\t']).starts_with('#') {
            start..start + line.len()
        } else if self.is_before_first_entry(start) {
            0..self.text.len_bytes() + 1
        } else {
            // Comments between may have problems, too.
            let below = (number + 1).min(self.text.len_lines());
            let next = (below..self.text.len_lines()).find(|&next| {
                let line = String::from(self.text.line(next));
                !line.trim().is_empty() && !line.trim_start().starts_with('#')
            });
            let end = next.map_or(self.text.len_lines(), |next| next + 1);
            self.text.line_to_byte(below)..self.text.line_to_byte(end.min(self.text.len_lines()))
        };
        Allowance { codes: directive.words, covers, range: directive.range }
    }

    /// Whether a place is above everything that the text holds.
    pub fn is_before_first_entry(&self, at: usize) -> bool {
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
            &[("no-claims+unused", "\n  # why\n  - c: 2\n")],
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
        for text in [
            "a: |\n  x\n  # speclens: allow(unused)\nb: 1\n",
            "a: >-\n  # speclens: allow(unused)\n",
            "- a: |+\n    # speclens: allow(unused)\n\n- b\n",
            "a: 'x # speclens: allow(unused)'\n",
            "a: \"x\n  # speclens: allow(unused)\"\n",
            "{a: [\"# speclens: allow(unused)\"]}\n",
            "\"# speclens: allow(unused)\": 1\n",
        ] {
            check(text, &[]);
            check(&text.replace('\n', "\r\n"), &[]);
        }
        // Behind such a text it is one again.
        check("a: |\n  x\n# speclens: allow(unused)\nb: 1\n", &[("unused", "b: 1\n")]);
        check("a: 1\n# speclens: allow(unused)\n", &[("unused", "")]);
    }
}
