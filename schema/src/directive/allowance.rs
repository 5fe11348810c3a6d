//! Finds directive comments, and the text that they apply to.
//!
//! After a value, a directive applies to its own line; on a separate line, to the next line that is not a
//! comment; before the first entry, to the whole file.

use std::ops::Range;

use super::{Directive, Verb};
use crate::document::Document;

/// Codes that one comment allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Words between the parentheses, with their ranges.
    pub codes: Vec<(String, Range<usize>)>,
    /// Range in which problems with these codes may begin.
    pub covers: Range<usize>,
    /// Range of the comment, from its name to the closing parenthesis.
    pub range: Range<usize>,
}

/// Returns every directive, including misspelled ones.
pub fn directives(document: &Document) -> Vec<Directive> {
    let read = |(at, comment): (usize, String)| {
        Directive::all_in(&comment).next().filter(|(hash, _)| *hash == 0).map(|(_, found)| found.moved(at))
    };
    document.directives().filter_map(read).collect()
}

pub fn allowances(document: &Document) -> Vec<Allowance> {
    let obeyed = directives(document).into_iter().filter(|it| it.verb == Some(Verb::Allow) && it.mistake.is_none());
    obeyed.map(|directive| allowance(document, directive)).collect()
}

fn allowance(document: &Document, directive: Directive) -> Allowance {
    let text = document.text();
    let number = text.byte_to_line(directive.range.start);
    let start = text.line_to_byte(number);
    let line = String::from(text.line(number));
    let covers = if !line.trim_start_matches(['\u{feff}', ' ', '\t']).starts_with('#') {
        start..start + line.len()
    } else if document.is_before_first_entry(start) {
        0..text.len_bytes() + 1
    } else {
        // Comments in between may have problems too.
        let below = (number + 1).min(text.len_lines());
        let next = (below..text.len_lines()).find(|&next| {
            let line = String::from(text.line(next));
            !line.trim().is_empty() && !line.trim_start().starts_with('#')
        });
        let end = next.map_or(text.len_lines(), |next| next + 1);
        text.line_to_byte(below)..text.line_to_byte(end.min(text.len_lines()))
    };
    Allowance { codes: directive.words, covers, range: directive.range }
}

#[cfg(test)]
mod tests {
    use super::allowances;
    use crate::document::{Document, ScalarRules};

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let found: Vec<_> = allowances(&document)
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
        // After such a text, it is a comment again.
        check("a: |\n  x\n# speclens: allow(unused)\nb: 1\n", &[("unused", "b: 1\n")]);
        check("a: 1\n# speclens: allow(unused)\n", &[("unused", "")]);
    }
}
