//! An observed text, and where it has gaps: masked secrets, bytes that are not UTF-8, an end that was cut off.

use std::{borrow::Cow, ops::Range};

use crate::{
    check::{
        pattern::{EcmaMatch, EcmaPattern},
        text::{trim, trim_start, visible},
    },
    evidence::Capture,
    mask::MASK_CHARACTER,
    seen::{Found, Observed, Proof, Seen, Why},
};

pub const INCOMPLETE: &str = "the model's reply is incomplete, and the missing part could change the result";
pub const TRUNCATED: &str = "the output was cut off, and the missing part could change the result";

pub const MASKED: &str = "a secret is masked in the output, which could change the result";

/// Maximum number of units that a search for hidden text compares.
const MAX_COMPARED_UNITS: usize = 1 << 24;

/// An observed text. Its searches have three answers: found, certainly absent, and unknown, because a gap may hide it.
#[derive(Clone, Debug)]
pub struct Text<'e> {
    /// The text. A hidden unit is [`MASK_CHARACTER`], a byte that is not UTF-8 is U+FFFD: neither equals anything.
    observed: Observed<Cow<'e, str>>,
    what: &'static str,
    is_lower: bool,
}

impl<'e> Text<'e> {
    pub fn of(capture: &'e Capture) -> Text<'e> {
        Text::named(capture, "output")
    }

    pub fn of_file(capture: &'e Capture) -> Text<'e> {
        Text::named(capture, "file")
    }

    pub fn of_body(capture: &'e Capture) -> Text<'e> {
        Text::named(capture, "response")
    }

    fn named(capture: &'e Capture, what: &'static str) -> Text<'e> {
        let reason = || Why::unknown(format!("the {what} was cut off, and the missing part could change the result"));
        Text { what, ..Text::new(Observed::new(capture.hidden_text(), capture.cut.then(reason))) }
    }

    pub fn whole(text: &'e str) -> Text<'e> {
        Text::new(Observed::new(Cow::Borrowed(text), None))
    }

    pub fn beginning(capture: &'e Capture, reason: &str) -> Text<'e> {
        Text::new(Observed::new(capture.hidden_text(), Some(Why::unknown(reason))))
    }

    /// Returns a text whose hidden units are [`MASK_CHARACTER`].
    pub fn new(observed: Observed<Cow<'e, str>>) -> Text<'e> {
        Text { observed, what: "output", is_lower: false }
    }

    pub fn with_gap(self, gap: Option<Why>) -> Text<'e> {
        Text { observed: self.observed.with_gap(gap), ..self }
    }

    /// Returns it as something whose hidden units do not matter, such as its length.
    pub fn observed(&self) -> &Observed<Cow<'e, str>> {
        &self.observed
    }

    /// Returns what is known of it, for messages: it decides nothing.
    pub fn so_far(&self) -> &str {
        self.observed.so_far()
    }

    pub fn complete(&self) -> Seen<(&str, Proof)> {
        let (text, proof) = self.observed.complete()?;
        self.hidden().map_or(Ok((&**text, proof)), Err)
    }

    fn hidden(&self) -> Option<Why> {
        let text = self.so_far();
        let what = self.what;
        let is = |hidden: char| text.contains(hidden);
        if is(MASK_CHARACTER) {
            return Some(Why::unknown(format!("a secret is masked in the {what}, which could change the result")));
        }
        (is(char::REPLACEMENT_CHARACTER) || is_encoded(text))
            .then(|| Why::unknown(format!("part of the {what} is not UTF-8, which could change the result")))
    }

    /// Returns the text in lower case, for searches that ignore case.
    pub fn lowercase(&self) -> Text<'static> {
        let observed = self.observed.as_ref().map(|text| Cow::Owned(text.to_lowercase()));
        Text { observed, what: self.what, is_lower: true }
    }

    /// Searches for another text. In a text in lower case, the wanted text must be in lower case as well.
    pub fn contains(&self, wanted: &str) -> Seen<Found<Range<usize>>> {
        let text = self.so_far();
        let hidden = self.hidden();
        // What is hidden or missing decides whether a sigma next to it is final, and a hidden letter may become two.
        let is_odd = |it: char| is_hidden(it) || self.is_lower && matches!(it, 'σ' | 'ς' | '\u{307}');
        if wanted.contains(is_odd)
            && let Some(why) = hidden.clone().or_else(|| self.observed.gap().cloned())
        {
            return Err(why);
        }
        // Text of another encoding has other characters in between.
        let may_be_hidden = || is_encoded(text) || may_hide(text, wanted);
        if let Some(why) = hidden.filter(|_| !text.contains(wanted) && may_be_hidden()) {
            return Err(why);
        }
        self.observed.search(|text| {
            let start = memchr::memmem::find(text.as_bytes(), wanted.as_bytes())?;
            Some(start..start + wanted.len())
        })
    }

    /// Searches for another text that must not be there. What a reader does not see may be inside of it, such as colors.
    pub fn occurs(&self, unwanted: &str) -> Seen<Found<Range<usize>>> {
        let found = self.contains(unwanted)?;
        if !found.is_yes() && visible(self.so_far()).contains(&*visible(unwanted)) {
            let what = self.what;
            return Err(Why::unknown(format!(
                "the {what} contains it with invisible characters or with separate accents"
            )));
        }
        Ok(found)
    }

    pub fn search<R>(&self, look: impl FnOnce(&str) -> Option<R>) -> Seen<Found<R>> {
        self.observed.as_ref().map(|text| &**text).with_gap(self.hidden()).search(|text| look(text))
    }

    /// Compares the text with another one, ignoring white space at both ends.
    pub fn equals(&self, wanted: &str) -> Seen<Found<()>> {
        let wanted = trim(wanted);
        // What is known must be the beginning of the wanted text.
        let fits = match self.observed.gap() {
            Some(_) => fits(trim_start(self.so_far()), wanted, false),
            None => fits(trim(self.so_far()), wanted, true),
        };
        let (text, _) = match (fits, self.complete()) {
            (true, known) => known?,
            (false, _) => return Ok(Found::No(Proof::made())),
        };
        self.observed.search(|_| (trim(text) == wanted).then_some(()))
    }

    /// Returns those matches of a pattern that count and are certain, whatever is hidden: at most `limit`. The gap is the
    /// reason why there may be others.
    pub fn matches(
        &self,
        pattern: &EcmaPattern,
        limit: usize,
        counts: impl Fn(&str) -> bool,
    ) -> Observed<Vec<EcmaMatch>> {
        let mut found = Vec::new();
        let mut gap = self.observed.gap().cloned().or(self.hidden());
        let is_cut = self.observed.gap().is_some();
        // Whatever follows decides about the end of a match.
        let text = if is_cut {
            Cow::Owned(format!("{}{MASK_CHARACTER}", self.so_far()))
        } else {
            Cow::Borrowed(self.so_far())
        };
        for result in pattern.certain_matches(&text) {
            match result {
                Ok(it) => {
                    found.extend(Some(it).filter(|it| counts(&it.text)));
                    if found.len() >= limit {
                        break;
                    }
                }
                Err(_) => gap = gap.or_else(|| Some(Why::unknown("the pattern took too many steps"))),
            }
        }
        Observed::new(found, gap)
    }
}

/// Whether a text is in an encoding of two or four bytes a character, of which the others are NUL.
fn is_encoded(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Between two characters of UTF-16 that are ASCII is one null character, in UTF-32 there are three. Such text may
    // also be only a part of the whole.
    memchr::memchr_iter(0, bytes).any(|at| bytes.get(at + 2) == Some(&0))
}

fn is_hidden(unit: char) -> bool {
    matches!(unit, MASK_CHARACTER | char::REPLACEMENT_CHARACTER)
}

/// Whether a text with hidden units may be another text, or the beginning of it.
fn fits(hidden: &str, text: &str, is_whole: bool) -> bool {
    let mut units = text.encode_utf16();
    let mut has_room = true;
    let all = hidden.chars().all(|letter| match letter {
        _ if !has_room => false,
        // One replaced byte may have been part of a longer character.
        char::REPLACEMENT_CHARACTER => {
            has_room = units.next().is_some();
            has_room
        }
        MASK_CHARACTER => units.next().is_some_and(|unit| unit != u16::from(b'\n')),
        letter => letter.encode_utf16(&mut [0; 2]).iter().all(|unit| units.next() == Some(*unit)),
    });
    // White space at the end of what is known may be ignored.
    let is_beginning = !is_whole && units.clone().next().is_none() && hidden.ends_with(char::is_whitespace);
    (all || is_beginning) && (!is_whole || units.next().is_none())
}

/// Whether a text may occur at least partly in hidden units. True if the search takes too long.
fn may_hide(text: &str, wanted: &str) -> bool {
    let units: Vec<u16> = text.encode_utf16().collect();
    let wanted: Vec<u16> = wanted.encode_utf16().collect();
    let unit_of = |letter: char| letter.encode_utf16(&mut [0; 2])[0];
    let (masked, replaced) = (unit_of(MASK_CHARACTER), unit_of(char::REPLACEMENT_CHARACTER));
    let newline = u16::from(b'\n');
    let same =
        |(there, wanted): (&u16, &u16)| there == wanted || *there == masked && *wanted != newline || *there == replaced;
    let mut next = 0;
    let mut compared = 0;
    for (index, _) in units.iter().enumerate().filter(|(_, unit)| **unit == masked || **unit == replaced) {
        for start in (index + 1).saturating_sub(wanted.len()).max(next)..=index {
            let Some(there) = units.get(start..start + wanted.len()) else { break };
            let equal = there.iter().zip(&wanted).take_while(|pair| same(*pair)).count();
            compared += equal + 1;
            if equal == wanted.len() || compared > MAX_COMPARED_UNITS {
                return true;
            }
        }
        next = index + 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starred(text: &str) -> Text<'static> {
        Text::new(Observed::new(Cow::Owned(text.replace('*', &MASK_CHARACTER.to_string())), None))
    }

    fn cut(text: &str) -> Text<'_> {
        Text::new(Observed::new(Cow::Borrowed(text), Some(Why::unknown(TRUNCATED))))
    }

    fn answer<T>(found: Seen<Found<T>>) -> Result<bool, String> {
        found.map(|found| found.is_yes()).map_err(|why| why.reason().to_owned())
    }

    #[test]
    fn text_may_be_hidden_only_where_it_fits() {
        for (text, wanted, hides) in [
            ("key ****", "abcd", true),
            ("key ****", "y ab", true),
            ("key **** end", "ab end", true),
            ("key **** end", "ab end.", false),
            ("key ****", "abcde", false),
            ("no stars", "x", false),
            ("**", "😀", true),
            ("*", "😀", false),
            ("caf\u{fffd}", "café", true),
            ("a**b", "a\nb", false),
        ] {
            assert_eq!(may_hide(starred(text).so_far(), wanted), hides, "{text} {wanted}");
        }
    }

    #[test]
    fn a_text_in_other_characters_is_not_absent() {
        for (text, unwanted) in [
            ("un cafe\u{301}", "café"),
            ("un café", "cafe\u{301}"),
            ("a\u{200b}b", "ab"),
            ("a\0b", "ab"),
            ("\u{1b}[1ma\u{1b}[0mb", "ab"),
        ] {
            assert!(Text::whole(text).occurs(unwanted).is_err(), "{text:?} {unwanted:?}");
        }
        assert_eq!(answer(Text::whole("un cafe").occurs("café")), Ok(false));
    }

    #[test]
    fn absence_of_a_text_needs_all_of_it() {
        let (yes, no) = (Ok(true), Ok(false));
        let (masked, truncated) = (Err(MASKED.to_owned()), Err(TRUNCATED.to_owned()));
        let not_utf8 = Err("part of the output is not UTF-8, which could change the result".to_owned());
        for (text, wanted, expected) in [
            (Text::whole("abc"), "b", &yes),
            (Text::whole("abc"), "B", &no),
            (cut("abc"), "b", &yes),
            (cut("abc"), "d", &truncated),
            (starred("a *** c"), "xyz c", &masked),
            (starred("a *** c"), "a ", &yes),
            (starred("a *** c"), "wxyz", &no),
            (Text::whole("a *** c"), "***", &yes),
            (Text::whole("caf\u{fffd}"), "café", &not_utf8),
            (Text::whole("r\0m\0"), "r", &yes),
            (Text::whole("a long line before\nr\0m\0"), "rm", &not_utf8),
            (Text::whole("a long line before\n\0r\0m"), "rm", &not_utf8),
            (Text::whole("r\0\0\0m\0\0\0"), "rm", &not_utf8),
            (Text::whole("a.txt\0b.txt\0"), "rm", &no),
            (starred("KEY *** Ok").lowercase(), "ok", &yes),
            (starred("ΑΣ*").lowercase(), "ας", &masked),
        ] {
            assert_eq!(&answer(text.contains(wanted)), expected, "{text:?} {wanted}");
        }
    }

    #[test]
    fn equality_is_decided_by_a_difference_in_what_is_known() {
        let (yes, no) = (Ok(true), Ok(false));
        let (masked, truncated) = (Err(MASKED.to_owned()), Err(TRUNCATED.to_owned()));
        for (text, wanted, expected) in [
            (Text::whole(" abc\n"), "abc ", &yes),
            (Text::whole("abc"), "abcd", &no),
            (cut("abc"), "abcd", &truncated),
            (cut("abc\n"), "abc", &truncated),
            (cut("abd"), "abcd", &no),
            (starred("key ***"), "key abc", &masked),
            (starred("key ***"), "key ab", &no),
        ] {
            assert_eq!(&answer(text.equals(wanted)), expected, "{text:?} {wanted}");
        }
    }

    #[test]
    fn matches_are_certain_whatever_is_hidden() {
        let found = |pattern: &str, text: Text<'_>| {
            let pattern = EcmaPattern::compile(pattern, false).unwrap();
            answer(text.matches(&pattern, 10, |_| true).search(|found| found.first().cloned()))
        };
        let command = || starred("login --token ******** now");
        for (pattern, expected) in
            [("login.*--token", true), ("token .+", true), ("--token .* now", true), (r"\blogin\b", true)]
        {
            assert_eq!(found(pattern, command()), Ok(expected), "{pattern}");
        }
        for pattern in ["token [a-z]+", "token [^b]+ ", "sk-[a-z]+", r"\b.* now", "rm -rf", "abc"] {
            assert_eq!(found(pattern, command()), Err(MASKED.to_owned()), "{pattern}");
        }
        assert_eq!(found("b$", cut("ab")), Err(TRUNCATED.to_owned()));
        assert_eq!([found("b$", Text::whole("ab")), found("c", Text::whole("ab"))], [Ok(true), Ok(false)]);
    }
}
