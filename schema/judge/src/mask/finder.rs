//! Finds values in a text: as they are, escaped, percent-encoded, in Base64, colored, and broken into lines.

use std::borrow::Cow;

use aho_corasick::AhoCorasick;

const MAX_DEPTH: usize = 2;

const MIN_BROKEN_LENGTH: usize = 16;

const MIN_BASE64_LENGTH: usize = 8;

/// Minimum length of the beginning of a value that is found at the end of a text that was cut off.
const MIN_BEGUN_LENGTH: usize = 4;

/// Minimum number of bytes that are decoded at once: the positions of a long text would need too much memory.
const WINDOW: usize = 256 * 1024;

/// Maximum length of the encoded form of one byte, twice encoded: `%255Cu0041`.
const MAX_ENCODED: usize = 12;

#[derive(Clone, Debug)]
pub(super) struct Finder {
    whole: Searcher,
    joined: Searcher,
    /// Number of bytes of the longest form.
    longest: usize,
}

/// A found value: its place in the text, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: usize,
}

#[derive(Clone, Debug)]
struct Searcher {
    /// `None` if the forms are too large together.
    automaton: Option<AhoCorasick>,
    forms: Vec<Form>,
}

#[derive(Clone, Debug)]
struct Form {
    bytes: Vec<u8>,
    value: usize,
    is_base64: bool,
}

impl Finder {
    /// Returns a finder for these values. Empty ones are not found.
    pub(super) fn of<'v>(values: impl Iterator<Item = &'v str>) -> Finder {
        let (mut whole, mut joined) = (Vec::new(), Vec::new());
        for (index, value) in values.enumerate().filter(|(_, value)| !value.is_empty()) {
            let form = |bytes: &[u8], is_base64| Form { bytes: bytes.to_owned(), value: index, is_base64 };
            whole.push(form(value.as_bytes(), false));
            if value.contains(' ') {
                // As in the body of a form.
                whole.push(form(value.replace(' ', "+").as_bytes(), false));
            }
            if value.len() >= MIN_BROKEN_LENGTH || value.contains('\n') {
                joined.push(form(value.replace(['\r', '\n'], "").as_bytes(), false));
            }
            if value.len() >= MIN_BASE64_LENGTH {
                for core in base64_cores(value.as_bytes()) {
                    whole.push(form(&core, true));
                    joined.push(form(&core, true));
                }
            }
        }
        let longest = whole.iter().chain(&joined).map(|form| form.bytes.len()).max().unwrap_or_default();
        Finder { whole: Searcher::of(whole), joined: Searcher::of(joined), longest }
    }

    /// Returns all places of all values, in no order. They may overlap.
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        if self.longest == 0 {
            return found;
        }
        self.whole.search(&View::of(text.as_bytes()), &mut found);
        let overlap = self.longest.saturating_mul(MAX_ENCODED);
        let window = WINDOW.max(overlap.saturating_mul(4));
        let mut start = 0;
        loop {
            let end = text.len().min(start + window + overlap);
            let bytes = &text.as_bytes()[start..end];
            let before = found.len();
            Finder::decoded(&View::of(bytes), 0, &mut |view, is_joined| {
                self.searcher(is_joined).search(view, &mut found)
            });
            for place in &mut found[before..] {
                place.start += start;
                place.end += start;
            }
            if end == text.len() {
                break;
            }
            start += window;
            // Whether a backslash is escaped depends on those before it.
            let slashes = text.as_bytes()[..start].iter().rev().take(overlap).take_while(|byte| **byte == b'\\');
            start -= slashes.count();
        }
        for place in &mut found {
            while !text.is_char_boundary(place.start) {
                place.start -= 1;
            }
            while !text.is_char_boundary(place.end) {
                place.end += 1;
            }
        }
        found
    }

    /// Returns where the beginning of a value begins that ends with the text, possibly in half of an encoded byte.
    pub(super) fn begun(&self, text: &str) -> Option<usize> {
        let from = text.len().saturating_sub(self.longest.saturating_mul(MAX_ENCODED));
        let tail = &text.as_bytes()[from..];
        // Half of an encoded byte is not decoded.
        let is_half = |at: &usize| {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"\\%&#[;".contains(byte);
            b"\\%&\x1b".contains(&tail[*at]) && tail[at + 1..].iter().all(is_part)
        };
        let halves = (tail.len().saturating_sub(MAX_ENCODED)..tail.len()).filter(is_half);
        let mut begun: Option<usize> = None;
        for end in halves.chain([tail.len()]) {
            let mut look = |view: &View<'_>, is_joined| {
                begun = begun.into_iter().chain(self.searcher(is_joined).begun(view)).min();
            };
            let view = View::of(&tail[..end]);
            look(&view, false);
            Finder::decoded(&view, 0, &mut look);
        }
        begun.map(|start| text.floor_char_boundary(from + start))
    }

    fn searcher(&self, is_joined: bool) -> &Searcher {
        if is_joined { &self.joined } else { &self.whole }
    }

    /// Visits everything that a text may encode, and whether its lines are joined.
    fn decoded(view: &View<'_>, depth: usize, visit: &mut impl FnMut(&View<'_>, bool)) {
        if let Some(joined) = view.decoded(Encoding::LineEnds) {
            visit(&joined, true);
        }
        if depth == MAX_DEPTH {
            return;
        }
        for encoding in [Encoding::Escapes, Encoding::Percent, Encoding::Entities, Encoding::Colors] {
            if let Some(decoded) = view.decoded(encoding) {
                visit(&decoded, false);
                Finder::decoded(&decoded, depth + 1, visit);
            }
        }
    }
}

impl Searcher {
    fn of(forms: Vec<Form>) -> Searcher {
        let automaton = AhoCorasick::new(forms.iter().map(|form| form.bytes.as_slice())).ok();
        Searcher { automaton, forms }
    }

    fn search(&self, view: &View<'_>, found: &mut Vec<Found>) {
        let is_letter =
            |at: usize| view.bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte));
        for hit in self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(&*view.bytes)) {
            let form = &self.forms[hit.pattern().as_usize()];
            let (mut start, mut end) = (hit.start(), hit.end());
            if form.is_base64 {
                start -= usize::from(start > 0 && is_letter(start - 1));
                end += usize::from(is_letter(end));
            }
            found.push(Found { start: view.at(start), end: view.at(end), value: form.value });
        }
    }

    /// Returns where the beginning of a form begins that ends with the text.
    fn begun(&self, view: &View<'_>) -> Option<usize> {
        let begun = |form: &Form| {
            let mut lengths = (MIN_BEGUN_LENGTH..form.bytes.len().min(view.bytes.len() + 1)).rev();
            let length = lengths.find(|length| view.bytes.ends_with(&form.bytes[..*length]))?;
            Some(view.at(view.bytes.len() - length))
        };
        self.forms.iter().filter_map(begun).min()
    }
}

/// Returns a text without percent-encoding.
pub(super) fn percent_decoded(text: &str) -> String {
    let decoded = View::of(text.as_bytes()).decoded(Encoding::Percent);
    decoded.map_or_else(|| text.to_owned(), |decoded| String::from_utf8_lossy(&decoded.bytes).into_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// Also the null characters of text in UTF-16.
    LineEnds,
    /// As in JSON, Python and C: `\n`, `\"`, `\u0041`, `\x41`.
    Escapes,
    /// As in URLs: `%41`.
    Percent,
    /// As in XML: `&amp;`, `&#65;`.
    Entities,
    /// Commands of a terminal, as `grep --color` writes them.
    Colors,
}

#[derive(Debug)]
struct View<'t> {
    bytes: Cow<'t, [u8]>,
    /// One more than there are bytes: the last is the end. Empty if nothing was decoded.
    places: Vec<u32>,
}

impl View<'_> {
    fn of(bytes: &[u8]) -> View<'_> {
        View { bytes: Cow::Borrowed(bytes), places: Vec::new() }
    }

    fn at(&self, index: usize) -> usize {
        self.places.get(index).map_or(index, |place| *place as usize)
    }

    /// Returns the decoded bytes; `None` if they are the same.
    fn decoded(&self, encoding: Encoding) -> Option<View<'static>> {
        let mark = match encoding {
            Encoding::LineEnds => memchr::memchr3(b'\n', b'\r', 0, &self.bytes),
            Encoding::Escapes => memchr::memchr(b'\\', &self.bytes),
            Encoding::Percent => memchr::memchr(b'%', &self.bytes),
            Encoding::Entities => memchr::memchr(b'&', &self.bytes),
            Encoding::Colors => memchr::memchr(0x1B, &self.bytes),
        };
        mark?;
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut places = Vec::with_capacity(self.bytes.len() + 1);
        let mut from = 0;
        let mut buffer = [0; 4];
        while from < self.bytes.len() {
            let rest = &self.bytes[from..];
            let (piece, length) = match encoding {
                Encoding::LineEnds if matches!(rest[0], b'\n' | b'\r' | 0) => (&[][..], 1),
                Encoding::Escapes if rest[0] == b'\\' => escape(rest, &mut buffer),
                Encoding::Percent if rest[0] == b'%' => percent(rest, &mut buffer),
                Encoding::Entities if rest[0] == b'&' => entity(rest, &mut buffer),
                Encoding::Colors if rest.starts_with(b"\x1b[") => {
                    let end = rest[2..].iter().position(|byte| (b'@'..=b'~').contains(byte));
                    (&[][..], end.map_or(1, |end| end + 3))
                }
                Encoding::LineEnds | Encoding::Escapes | Encoding::Percent | Encoding::Entities | Encoding::Colors => {
                    (&rest[..1], 1)
                }
            };
            let place = u32::try_from(self.at(from)).unwrap_or(u32::MAX);
            bytes.extend_from_slice(piece);
            places.extend(piece.iter().map(|_| place));
            from += length;
        }
        let is_same = bytes.len() == self.bytes.len();
        places.push(u32::try_from(self.at(from)).unwrap_or(u32::MAX));
        (!is_same).then_some(View { bytes: Cow::Owned(bytes), places })
    }
}

fn escape<'b>(rest: &'b [u8], buffer: &'b mut [u8; 4]) -> (&'b [u8], usize) {
    let plain: &[u8] = match rest.get(1) {
        Some(b'n') => b"\n",
        Some(b'r') => b"\r",
        Some(b't') => b"\t",
        Some(b'b') => b"\x08",
        Some(b'f') => b"\x0c",
        Some(b'"' | b'\\' | b'/' | b'\'') => &rest[1..2],
        Some(b'x') => {
            let Some(code) = number(rest.get(2..4), 16) else { return (&rest[..1], 1) };
            buffer[0] = code.to_le_bytes()[0];
            return (&buffer[..1], 4);
        }
        Some(b'u') => {
            let unit = |at: usize| {
                let is_escape = rest.get(at..at + 2) == Some(br"\u");
                number(rest.get(at + 2..at + 6), 16).filter(|_| is_escape)
            };
            let (code, length) = match (unit(0), unit(6)) {
                (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                    (0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12)
                }
                (Some(code), _) => (code, 6),
                (None, _) => return (&rest[..1], 1),
            };
            return match char::from_u32(code) {
                Some(character) => (character.encode_utf8(buffer).as_bytes(), length),
                None => (&rest[..1], 1),
            };
        }
        Some(_) | None => return (&rest[..1], 1),
    };
    (plain, 2)
}

fn percent<'b>(rest: &'b [u8], buffer: &'b mut [u8; 4]) -> (&'b [u8], usize) {
    let Some(code) = number(rest.get(1..3), 16) else { return (&rest[..1], 1) };
    buffer[0] = code.to_le_bytes()[0];
    (&buffer[..1], 3)
}

fn entity<'b>(rest: &'b [u8], buffer: &'b mut [u8; 4]) -> (&'b [u8], usize) {
    /// Maximum length of an entity: `&#x10ffff;`.
    const MAX_LENGTH: usize = 10;
    let none = (&rest[..1], 1);
    let Some(end) = rest.iter().take(MAX_LENGTH).position(|byte| *byte == b';') else { return none };
    let plain: &[u8] = match &rest[1..end] {
        b"amp" => b"&",
        b"lt" => b"<",
        b"gt" => b">",
        b"quot" => b"\"",
        b"apos" => b"'",
        [b'#', b'x' | b'X', digits @ ..] => return numbered(number(Some(digits), 16), none, end, buffer),
        [b'#', digits @ ..] => return numbered(number(Some(digits), 10), none, end, buffer),
        _ => return none,
    };
    (plain, end + 1)
}

fn numbered<'b>(code: Option<u32>, none: (&'b [u8], usize), end: usize, buffer: &'b mut [u8; 4]) -> (&'b [u8], usize) {
    match code.and_then(char::from_u32) {
        Some(character) => (character.encode_utf8(buffer).as_bytes(), end + 1),
        None => none,
    }
}

fn number(digits: Option<&[u8]>, radix: u32) -> Option<u32> {
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// Returns the letters of Base64 that bytes have wherever they begin in the encoded data, in both alphabets.
fn base64_cores(bytes: &[u8]) -> Vec<Vec<u8>> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut cores = Vec::new();
    for skipped in [0, 4, 2] {
        // The first bits belong to a letter that the bytes before them decide as well.
        let bit = |at: usize| u32::from(bytes[at / 8] >> (7 - at % 8) & 1);
        let letters = (bytes.len() * 8 - skipped) / 6;
        let letter = |index: usize| {
            let first = skipped + index * 6;
            (first..first + 6).fold(0, |value, at| value << 1 | bit(at))
        };
        let core: Vec<u8> = (0..letters).map(|index| LETTERS[letter(index) as usize]).collect();
        if core.contains(&b'+') || core.contains(&b'/') {
            cores.push(
                core.iter()
                    .map(|letter| match letter {
                        b'+' => b'-',
                        b'/' => b'_',
                        other => *other,
                    })
                    .collect(),
            );
        }
        cores.push(core);
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: &str, text: &str) -> Vec<String> {
        let mut found = Finder::of([value].into_iter()).find(text);
        found.sort_by_key(|found| (found.start, found.end));
        found.dedup();
        found.iter().map(|found| text[found.start..found.end].to_owned()).collect()
    }

    #[test]
    fn value_is_found_in_every_encoding() {
        let value = "p\"ss/w%rd é😀 <k>&x\\y";
        for encoded in [
            value,
            r#"p\"ss/w%rd é😀 <k>&x\\y"#,
            r#"p\"ss\/w%rd \u00e9\uD83d\ude00 \u003ck>\u0026x\\y"#,
            r#"p\\\"ss\\/w%rd é😀 <k>&x\\\\y"#,
            r#"p\x22ss/w%rd \xc3\xa9😀 <k>&x\\y"#,
            "p%22ss%2Fw%25rd%20%C3%A9%f0%9f%98%80%20%3Ck%3E%26x%5Cy",
            "p%2522ss%252Fw%2525rd%2520%25C3%25A9%25f0%259f%2598%2580%2520%253Ck%253E%2526x%255Cy",
            "p&quot;ss/w%rd é😀 &lt;k&gt;&amp;x\\y",
            "p&#34;ss/w%rd &#xe9;😀 &#60;k&#x3E;&amp;x\\y",
            "p\"ss/w%rd+é😀+<k>&x\\y",
            "p\"ss\x1b[01;31m\x1b[K/w%rd\x1b[m é😀 <k>&x\\y",
        ] {
            assert_eq!(found(value, &format!("é {encoded} é")), [encoded]);
        }
        assert_eq!(found("abcdefgh", "%61bcdefg%6"), [""; 0]);
        for text in ["\\u00", "\\", "\\x6", "&#x110000;", "&amp", "%", "\\ud800\\u0041", "\\ud800"] {
            assert_eq!(found("abcdefgh", text), [""; 0]);
        }
    }

    #[test]
    fn long_value_is_found_across_line_ends_and_a_short_one_is_not() {
        let value = "0123456789abcdef";
        let wide: String = value.chars().flat_map(|it| [it, '\0']).collect();
        let wide = wide.trim_end_matches('\0');
        for text in ["01234567\n89abcdef", "0123\r\n456789ab\r\ncdef", r"01234567\n89abcdef", wide] {
            assert_eq!(found(value, &format!("x {text} x")), [text]);
        }
        assert_eq!(found("0123456789abcde", "01234567\n89abcde"), [""; 0]);
        assert_eq!(found("a\nb", r"a\nb ab a\r\nb"), [r"a\nb", "ab", r"a\r\nb"].map(str::to_owned).to_vec());
    }

    #[test]
    fn value_is_found_in_base64_wherever_it_begins() {
        let value = "secret-value?>~";
        for (encoded, expected) in [
            ("c2VjcmV0LXZhbHVlPz5+", "c2VjcmV0LXZhbHVlPz5+"),
            ("c2VjcmV0LXZhbHVlPz5-Cg==", "c2VjcmV0LXZhbHVlPz5-C"),
            ("dTpzZWNyZXQtdmFsdWU/Pn4=", "pzZWNyZXQtdmFsdWU/Pn4"),
            ("eHNlY3JldC12YWx1ZT8+fngK", "HNlY3JldC12YWx1ZT8+fn"),
            ("c2VjcmV0\nLXZhbHVlPz5+", "c2VjcmV0\nLXZhbHVlPz5+"),
        ] {
            assert_eq!(found(value, &format!("({encoded})")), [expected], "{encoded}");
        }
        assert_eq!(found("1234567", "MTIzNDU2Nw=="), [""; 0]);
    }

    #[test]
    fn beginning_of_a_value_is_found_in_every_encoding_at_the_end() {
        let value = "p\"ss/w%rd-secret";
        let begun = |text: &str| Finder::of([value].into_iter()).begun(text);
        for text in [
            "p\"ss/w%rd-sec", r#"p\"ss\/w%rd-sec"#, r#"p\"ss\"#, "p%22ss%2Fw%25rd%2Ds", "p%22ss%2", "p%2522ss%252",
            "p&quot;ss/w&#3", "cCJzcy93JXJkLXNl", "p\"ss/w\n%rd-",
        ] {
            assert_eq!(begun(&format!("é {text}")), Some(3), "{text}");
        }
        assert_eq!(["p\"s", "p\"ss/w%rd-secrets", "", "%"].map(begun), [None; 4]);
    }

    #[test]
    fn value_in_a_long_text_is_found_once_at_every_place() {
        let value = "0123456789abcde\"";
        for (unit, written) in
            [("x", value), ("\\", r#"0123456789abcde\""#), ("\n", "0123456789abcde%22"), ("é", value)]
        {
            for before in (WINDOW - 20..WINDOW + 2).chain([2 * WINDOW - 5]) {
                let before = unit.repeat((before / unit.len()) & !1);
                let text = format!("{before}{written}");
                assert_eq!(found(value, &text), [written], "{} {unit}", before.len());
            }
        }
    }
}
