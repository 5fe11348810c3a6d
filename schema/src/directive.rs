//! Comments for speclens: `# speclens: allow(CODE)` and `# speclens: dialect=KIND`.
//!
//! Misspelled directives are recognized too: they have no effect, and the mistake is the reason.

use std::ops::Range;

use crate::{document::Document, json_schema::SpecFile, problem::Code, words::nearest};

pub use crate::document::NAME;

/// Action of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Allows problems with these codes.
    Allow,
    /// Declares the kind of the file.
    Dialect,
}

/// A directive comment. Its ranges are relative to the start of the text that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Action of the directive. `None` if its verb is not similar to any.
    pub verb: Option<Verb>,
    /// Range of the directive; text after it are excluded.
    pub range: Range<usize>,
    /// Codes, or the kind.
    pub words: Vec<(String, Range<usize>)>,
    pub mistake: Option<(DirectiveMistake, Range<usize>)>,
}

/// Reason why a directive has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveMistake {
    /// The name `speclens` is misspelled.
    Name,
    Colon,
    Verb,
    /// The codes are not in parentheses, or the kind is not after a `=`.
    Form,
    /// The code or kind is missing.
    Empty,
}

impl Verb {
    pub const ALL: [Verb; 2] = [Verb::Allow, Verb::Dialect];

    /// Returns the word of the verb.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Allow => "allow",
            Verb::Dialect => "dialect",
        }
    }

    /// Returns equivalent words of other tools.
    fn synonyms(self) -> &'static [&'static str] {
        match self {
            Verb::Allow => &["ignore", "disable", "suppress", "silence", "skip", "off", "noqa", "nolint"],
            Verb::Dialect => &["kind", "format", "type", "schema", "file"],
        }
    }

    fn meant_by(word: &str) -> Option<Verb> {
        let word = word.to_ascii_lowercase();
        // `disable-next-line`, `ignore_file`
        let first = word.split(['-', '_']).next().unwrap_or_default();
        let is_synonym = |verb: &Verb| [first, &word].iter().any(|word| verb.synonyms().contains(word));
        let near = || nearest(&word, Verb::ALL.map(Verb::as_str));
        let is_near = |near: &str| Verb::ALL.into_iter().find(|verb| verb.as_str() == near);
        Verb::ALL.into_iter().find(is_synonym).or_else(|| is_near(near()?))
    }

    /// Whether a word is a valid argument of the verb, or similar to one.
    fn takes(self, word: &str) -> bool {
        match self {
            Verb::Allow => nearest(word, Code::ALL.iter().map(|code| code.as_str())).is_some(),
            Verb::Dialect => nearest(word, SpecFile::ALL.iter().map(|file| file.as_str())).is_some(),
        }
    }
}

impl Directive {
    /// Finds every `#` in a text that starts a directive. Whether a comment begins there can only be decided with the
    /// tree.
    pub fn all_in(text: &str) -> impl Iterator<Item = (usize, Directive)> {
        let begins = |at: usize| at == 0 || text[..at].ends_with([' ', '\t', '\n', '\r', '\u{feff}']);
        let hashes = text.match_indices('#').map(|(at, _)| at).filter(move |&at| begins(at));
        hashes.filter_map(|at| {
            let comment = text[at + 1..].lines().next().unwrap_or_default();
            Some((at, Directive::read(comment, at + 1)?))
        })
    }

    /// Parses a comment: the text after its `#`, which is at an offset of the text. `None` if it is not a directive.
    fn read(comment: &str, at: usize) -> Option<Directive> {
        let mut reader = Reader { text: comment, at: 0 };
        reader.skip_blanks();
        let name = reader.word();
        let written = &comment[name.clone()];
        let is_name = written == NAME;
        if !is_name && nearest(written, [NAME]).is_none() {
            return None;
        }
        let has_colon = reader.next_is(':');
        reader.skip_blanks();
        let verb = reader.word();
        let verb_end = verb.end;
        let verb_word = &comment[verb.clone()];
        let exact = Verb::ALL.into_iter().find(|verb| verb.as_str() == verb_word);
        let meant = exact.or_else(|| Verb::meant_by(verb_word));
        reader.skip_blanks();
        let sign = reader.sign();
        let words = match sign {
            Some('(') => reader.until_closed(),
            Some(_) | None => reader.listed(meant == Some(Verb::Dialect)),
        };
        let is_closed = sign == Some('(') && reader.next_is(')');
        let takes_first = || words.first().is_some_and(|(word, _)| meant.is_some_and(|verb| verb.takes(word)));
        let is_meant = match (is_name, has_colon) {
            _ if verb_word.is_empty() => false,
            (true, true) => sign.is_some() || exact.is_some() || meant.is_some() && (words.is_empty() || takes_first()),
            (true, false) => meant.is_some() && (sign.is_some() || exact.is_some() && takes_first()),
            (false, _) => meant.is_some() && sign.is_some(),
        };
        if !is_meant {
            return None;
        }
        let is_formed = match exact {
            Some(Verb::Allow) => is_closed,
            Some(Verb::Dialect) => sign == Some('=') && words.iter().all(|(word, at)| word.len() == at.len()),
            None => true,
        };
        // Without a sign after the verb, the following words may be a sentence.
        let words = if sign.is_some() || takes_first() { words } else { Vec::new() };
        let end = match words.last() {
            _ if sign.is_some() => reader.at.max(verb_end),
            Some((_, last)) => last.end,
            None => verb_end,
        };
        let end = comment[..end].trim_end().len();
        let mistake = if !is_name {
            Some((DirectiveMistake::Name, name.clone()))
        } else if !has_colon {
            Some((DirectiveMistake::Colon, name.clone()))
        } else if exact.is_none() {
            Some((DirectiveMistake::Verb, verb))
        } else if words.is_empty() {
            Some((DirectiveMistake::Empty, verb.start..end))
        } else if !is_formed {
            Some((DirectiveMistake::Form, verb.start..end))
        } else {
            None
        };
        let directive = Directive { verb: meant, range: name.start..end, words, mistake };
        Some(directive.moved(at))
    }

    /// Returns the directive in its valid form. `None` if the action is not clear.
    pub fn written(&self) -> Option<String> {
        let words: Vec<&str> = self.words.iter().map(|(word, _)| word.as_str()).collect();
        let first = words.first()?;
        Some(match self.verb? {
            Verb::Allow => format!("{NAME}: allow({})", words.join(", ")),
            Verb::Dialect => format!("{NAME}: dialect={first}"),
        })
    }

    pub(crate) fn moved(mut self, distance: usize) -> Directive {
        let shift = |range: &mut Range<usize>| *range = range.start + distance..range.end + distance;
        shift(&mut self.range);
        self.words.iter_mut().for_each(|(_, range)| shift(range));
        self.mistake.iter_mut().for_each(|(_, range)| shift(range));
        self
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn next_is(&mut self, sign: char) -> bool {
        let is_next = self.rest().trim_start_matches([' ', '\t']).starts_with(sign);
        if is_next {
            self.skip_blanks();
            self.at += sign.len_utf8();
        }
        is_next
    }

    fn word(&mut self) -> Range<usize> {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let length = self.rest().find(|letter| !is_of_word(letter)).unwrap_or(self.rest().len());
        self.at += length;
        self.at - length..self.at
    }

    fn sign(&mut self) -> Option<char> {
        ['(', '=', ':'].into_iter().find(|sign| self.next_is(*sign))
    }

    /// Returns the words up to the closing parenthesis. If it is missing, the words of a list.
    fn until_closed(&mut self) -> Vec<(String, Range<usize>)> {
        let Some(end) = self.rest().find(')') else { return self.listed(false) };
        let (start, end) = (self.at, self.at + end);
        self.at = end;
        let parts = self.text[start..end].split(',');
        let places = parts.map(|part| {
            let word = part.trim();
            let at = word.as_ptr() as usize - self.text.as_ptr() as usize;
            (word.to_owned(), at..at + word.len())
        });
        places.filter(|(word, _)| !word.is_empty()).collect()
    }

    /// Returns the words of a list without parentheses: all but the last are followed by a comma.
    fn listed(&mut self, is_one: bool) -> Vec<(String, Range<usize>)> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            let length = self.rest().find([' ', '\t', ',']).unwrap_or(self.rest().len());
            let whole = self.at..self.at + length;
            let word = self.text[whole.clone()].trim_matches(['"', '\'', '.', ';', '(', ')', '[', ']', '`']);
            if word.is_empty() {
                return words;
            }
            words.push((word.to_owned(), whole.clone()));
            self.at = whole.end;
            if is_one || !self.next_is(',') {
                return words;
            }
        }
    }
}

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
    use super::Directive;

    /// Checks the range, the problem and the valid form of a comment.
    #[track_caller]
    fn check(comment: &str, expected: Option<(&str, &str, Option<&str>)>) {
        let found = Directive::read(comment, 0);
        let found = found.as_ref().map(|found| {
            let wrong = found.mistake.as_ref().map_or("", |(_, range)| &comment[range.clone()]);
            (&comment[found.range.clone()], wrong, found.written())
        });
        let expected = expected.map(|(range, wrong, written)| (range, wrong, written.map(str::to_owned)));
        assert_eq!(found, expected, "{comment}");
    }

    #[test]
    fn comment_as_it_is_documented_is_obeyed() {
        for (comment, range) in [
            (" speclens: allow(unused)", "speclens: allow(unused)"),
            ("speclens:allow( unused,no-claims ) for now", "speclens:allow( unused,no-claims )"),
            (" speclens: dialect=kindlm", "speclens: dialect=kindlm"),
            (" speclens: dialect = clawspec-handoff from here", "speclens: dialect = clawspec-handoff"),
        ] {
            let found = Directive::read(comment, 0).unwrap();
            assert_eq!((&comment[found.range.clone()], found.mistake), (range, None), "{comment}");
        }
    }

    #[test]
    fn comment_with_a_slip_is_recognized() {
        let unused = Some("speclens: allow(unused)");
        check(" speclens: alow(unused)", Some(("speclens: alow(unused)", "alow", unused)));
        check(" speclens allow(unused) why", Some(("speclens allow(unused)", "speclens", unused)));
        check(" speclens allow unused", Some(("speclens allow unused", "speclens", unused)));
        check(" spec-lens: allow(unused)", Some(("spec-lens: allow(unused)", "spec-lens", unused)));
        check(" speclens: ignore unused", Some(("speclens: ignore unused", "ignore", unused)));
        check(" speclens: disable-next-line", Some(("speclens: disable-next-line", "disable-next-line", None)));
        check(" speclens: allow unused", Some(("speclens: allow unused", "allow unused", unused)));
        check(" speclens: allow(unused", Some(("speclens: allow(unused", "allow(unused", unused)));
        let both = Some("speclens: allow(unused, no-claims)");
        check(" speclens: allow=unused, no-claims x", {
            Some(("speclens: allow=unused, no-claims", "allow=unused, no-claims", both))
        });
        check(" speclens: allow()", Some(("speclens: allow()", "allow()", None)));
        check(" speclens: frobnicate(x)", Some(("speclens: frobnicate(x)", "frobnicate", None)));
        let kindlm = Some("speclens: dialect=kindlm");
        check(" speclens: dialekt=kindlm", Some(("speclens: dialekt=kindlm", "dialekt", kindlm)));
        check(" speclens: dialect: kindlm", Some(("speclens: dialect: kindlm", "dialect: kindlm", kindlm)));
        check(" speclens: dialect=\"kindlm\"", Some(("speclens: dialect=\"kindlm\"", "dialect=\"kindlm\"", kindlm)));
        check(" speclens: dialect=", Some(("speclens: dialect=", "dialect=", None)));
    }

    #[test]
    fn sentence_about_speclens_is_for_people() {
        for comment in [
            " speclens checks this file",
            " speclens allows comments here",
            " speclens: see the README",
            " speclens:",
            " speclens: types are checked in CI",
            " specs: all(x)",
            " spectacles: allow it",
            "",
        ] {
            check(comment, None);
        }
    }
}

#[cfg(test)]
mod allowance_tests {
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
