//! Combines answers about a whole document from contributions of its parts. That of a group of items is written as
//! JSON once and kept with the document; if lines were added or removed above it, its line numbers are rewritten.

use std::{fmt::Write as _, hash::Hash, sync::Arc};

use serde::Serialize;
use speclens_schema::document::{Document, Encoding};

use super::{convert::Ranges, transport::Piece};
use crate::ide::parts::{Group, Kept};

/// The values that a part of a document contributes to an answer.
pub(super) struct Fragment<T> {
    /// JSON, with a comma before each value.
    json: Arc<str>,
    /// The line on which the part began when the line numbers were written.
    line: u32,
    /// More data about the part.
    pub more: T,
}

/// Combines an answer.
pub(super) struct Answer<'d, T: Send + Sync + 'static> {
    ranges: Ranges<'d>,
    kept: Kept<Fragment<T>>,
    json: JsonPieces,
}

/// A long JSON text in pieces, because the allocator would keep the memory of a large one.
pub(super) struct JsonPieces {
    full: Vec<Piece>,
    last: String,
}

impl JsonPieces {
    /// Returns a text that begins with the given words.
    pub(super) fn new(words: &str) -> JsonPieces {
        JsonPieces { full: Vec::new(), last: words.to_owned() }
    }

    /// Returns the piece to append to. It contains the last addition, unless that is kept elsewhere.
    pub(super) fn last(&mut self) -> &mut String {
        const LONG: usize = 48 * 1024;
        if self.last.len() > LONG {
            self.close();
        }
        &mut self.last
    }

    fn close(&mut self) {
        if !self.last.is_empty() {
            self.full.push(std::mem::take(&mut self.last).into());
        }
    }

    /// Whether the next value is the first of its list or object.
    fn is_first(&self) -> bool {
        self.last.ends_with(['[', '{'])
    }

    /// Adds a comma before another value of a list or an object.
    pub(super) fn separate(&mut self) {
        if !self.is_first() {
            self.last().push(',');
        }
    }

    /// Adds values with a comma before each, which are not copied.
    pub(super) fn add_kept(&mut self, values: &Arc<str>) {
        if values.is_empty() {
            return;
        }
        let start = usize::from(self.is_first());
        self.close();
        self.full.push(Piece::kept(Arc::clone(values), start));
    }

    /// Returns all pieces.
    pub(super) fn finish(mut self, words: &str) -> Vec<Piece> {
        self.last.push_str(words);
        self.close();
        self.full
    }
}

impl<'d, T: Clone + Send + Sync> Answer<'d, T> {
    /// Begins an answer that is a list. Its kept parts depend on the circumstances.
    pub(super) fn list(document: &'d Document, encoding: Encoding, circumstances: impl Hash) -> Answer<'d, T> {
        let kept = Kept::with(document, (encoding as u8, circumstances));
        Answer { ranges: Ranges::new(document, encoding), kept, json: JsonPieces::new("[") }
    }

    /// Returns the contribution of a part. It is computed if it is not kept, and always if the part is not a group.
    pub(super) fn fragment<V: Serialize>(
        &mut self,
        group: Option<&Group<'_>>,
        more: impl Hash,
        compute: impl FnOnce(&Ranges<'d>) -> (Vec<V>, T),
    ) -> Arc<Fragment<T>> {
        self.fragment_if(group, more, |_| true, compute)
    }

    /// Returns the contribution of a part if the kept one is still valid.
    pub(super) fn fragment_if<V: Serialize>(
        &mut self,
        group: Option<&Group<'_>>,
        more: impl Hash,
        still_holds: impl FnOnce(&T) -> bool,
        compute: impl FnOnce(&Ranges<'d>) -> (Vec<V>, T),
    ) -> Arc<Fragment<T>> {
        let ranges = &self.ranges;
        let found = |line| {
            let (values, more) = compute(ranges);
            Arc::new(Fragment { json: written(&values).into(), line, more })
        };
        let Some(group) = group else { return found(0) };
        let text = ranges.document().text();
        let line = u32::try_from(text.byte_to_line(group.start())).unwrap_or(u32::MAX);
        self.kept.renewed(group, more, |known| match known.filter(|known| still_holds(&known.more)) {
            Some(known) if known.line == line => known,
            Some(known) => Arc::new(known.moved_to(line)),
            None => found(line),
        })
    }

    /// Adds values.
    pub(super) fn add(&mut self, values: &[impl Serialize]) {
        let json = written(values);
        let start = usize::from(self.json.is_first()).min(json.len());
        self.json.last().push_str(&json[start..]);
    }

    /// Adds the contribution of a part.
    pub(super) fn add_fragment(&mut self, fragment: &Fragment<T>) {
        self.json.add_kept(&fragment.json);
    }

    /// Adds a value that has a list of others as its member `name`, unless there are none.
    pub(super) fn add_around(&mut self, value: &impl Serialize, name: &str, inner: &[Arc<Fragment<T>>]) {
        self.add(std::slice::from_ref(value));
        if inner.iter().all(|fragment| fragment.json.is_empty()) {
            return;
        }
        // The end of the object comes after its last member.
        self.json.last.pop();
        let _ = write!(self.json.last, ",\"{name}\":[");
        inner.iter().for_each(|fragment| self.add_fragment(fragment));
        self.json.last().push_str("]}");
    }

    /// Returns the converter of ranges.
    pub(super) fn ranges(&self) -> &Ranges<'d> {
        &self.ranges
    }

    /// Returns the whole answer, in pieces.
    pub(super) fn finish(self) -> Vec<Piece> {
        self.json.finish("]")
    }
}

/// Returns values as JSON with a comma before each.
fn written(values: &[impl Serialize]) -> String {
    let mut json = String::new();
    // Values of LSP have only string keys.
    for words in values.iter().filter_map(|value| serde_json::to_string(value).ok()) {
        json.push(',');
        json.push_str(&words);
    }
    json
}

impl<T: Clone> Fragment<T> {
    fn moved_to(&self, line: u32) -> Fragment<T> {
        let mut json = String::with_capacity(self.json.len() + self.json.len() / 64);
        push_moved(&self.json, self.line, line, &mut json);
        Fragment { json: json.into(), line, more: self.more.clone() }
    }
}

/// The members of LSP's types that are line numbers. In a JSON text they cannot be anything else: a quote within a
/// string is escaped, so the quotes of such a member within a string would be preceded by a backslash.
const LINES: [&str; 3] = ["\"line\":", "\"startLine\":", "\"endLine\":"];

/// Adds values as JSON, with their line numbers shifted.
pub(super) fn push_moved(json: &str, from: u32, to: u32, into: &mut String) {
    if from == to {
        into.push_str(json);
        return;
    }
    let mut copied = 0;
    for at in memchr::memmem::find_iter(json.as_bytes(), "ine\":").map(|at| at + "ine\":".len()) {
        if !LINES.iter().any(|name| json[..at].ends_with(name)) {
            continue;
        }
        let digits = json[at..].bytes().take_while(u8::is_ascii_digit).count();
        let Ok(line) = json[at..at + digits].parse::<u32>() else { continue };
        into.push_str(&json[copied..at]);
        push_number(line.wrapping_sub(from).wrapping_add(to), into);
        copied = at + digits;
    }
    into.push_str(&json[copied..]);
}

/// Adds a number. Much faster than a formatter: an answer has tens of thousands of numbers.
fn push_number(mut number: u32, into: &mut String) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        if number == 0 {
            break;
        }
    }
    into.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use speclens_schema::{
        dialect::ScalarRules,
        document::{Document, Encoding},
    };

    use super::{Answer, Piece, push_moved};
    use crate::ide::parts::groups;

    #[test]
    fn only_lines_of_ranges_are_moved() {
        let names = ["\"line\":7", "line", "\\\"line\":7", "startLine\":3", "{\"endLine\":3}", "é\n\"line\":\\"];
        for name in names {
            let value = |by: u32| json!({ "name": name, "range": { "start": { "line": 12 + by, "character": 7 } }, "startLine": 100 + by, "line": 12 + by, "endLine": 4_000_000_000u32 - 7 + by });
            for by in [0, 1, 5] {
                let mut moved = String::new();
                push_moved(&value(0).to_string(), 12, 12 + by, &mut moved);
                assert_eq!(serde_json::from_str::<Value>(&moved).unwrap(), value(by), "{name}");
                let mut back = String::new();
                push_moved(&moved, 12 + by, 12, &mut back);
                assert_eq!(back, value(0).to_string());
            }
        }
    }

    fn text_of(pieces: &[Piece]) -> String {
        pieces.iter().map(|piece| str::from_utf8(piece.as_ref()).unwrap()).collect()
    }

    #[test]
    fn long_answer_in_pieces_is_the_list_of_the_values_of_its_parts() {
        const COUNT: usize = 3000;
        #[derive(Clone)]
        struct AddsNames;
        for indent in ["", "  "] {
            let items: String = (0..COUNT).map(|number| format!("{indent}- a: {number}\n")).collect();
            let mut document = Document::read(&format!("# first\nlist:\n{items}"), ScalarRules::Yaml12);
            // First unchanged, then with lines added above, then with one item changed. The sizes of groups depend on the
            // order in which threads number the blocks.
            for (edited, lines, fresh) in
                [(None, 0, COUNT), (None, 0, 0), (Some(("# first", "#\n#\n")), 2, 0), (Some(("100\n", "7")), 2, 64)]
            {
                if let Some((place, words)) = edited {
                    let at = String::from(document.text()).find(place).unwrap();
                    document.edit(at..at, words);
                    document.refresh();
                }
                let list = document.root().unwrap().get("list").unwrap();
                let mut answer = Answer::list(&document, Encoding::Utf16, ());
                let mut found = 0;
                for group in groups(list) {
                    let fragment = answer.fragment(Some(&group), (), |ranges| {
                        found += group.numbers().len();
                        let items = group.items().filter(|item| !item.get("a").unwrap().text().unwrap().ends_with('3'));
                        let value = |range| json!({ "name": "x".repeat(40), "range": ranges.range(range) });
                        (items.map(|item| value(item.range())).collect(), AddsNames)
                    });
                    answer.add_fragment(&fragment);
                }
                assert!(found <= fresh, "{found} of {fresh}");
                answer.add_around(&json!({ "line": 3 }), "children", &[]);
                let pieces = answer.finish();
                assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.as_ref().len() < 64 * 1024));
                let read: Vec<Value> = serde_json::from_str(&text_of(&pieces)).unwrap();
                let shown = (0..COUNT).filter(|number| number % 10 != 3);
                assert_eq!(read.len(), shown.clone().count() + 1);
                for (number, value) in shown.zip(&read) {
                    let start = json!({ "line": number + 2 + lines, "character": indent.len() + 2 });
                    assert_eq!(value["range"]["start"], start);
                }
                assert_eq!(read.last(), Some(&json!({ "line": 3 })));
            }
        }
    }

    #[test]
    fn values_are_separated_whatever_comes_first() {
        let document = Document::read("- a\n", ScalarRules::Yaml12);
        for adds in [[true, false, true], [false, true, false], [false; 3]] {
            let mut answer = Answer::list(&document, Encoding::Utf8, ());
            let fragments = adds.map(|adds| answer.fragment(None, (), |_| (vec![1; usize::from(adds)], ())));
            fragments.iter().for_each(|fragment| answer.add_fragment(fragment));
            answer.add(&[7]);
            answer.add_around(&json!({ "a": 1 }), "b", &fragments);
            let read: Value = serde_json::from_str(&text_of(&answer.finish())).unwrap();
            let ones: Vec<Value> = adds.iter().filter(|adds| **adds).map(|_| json!(1)).collect();
            let around = if ones.is_empty() { json!({ "a": 1 }) } else { json!({ "a": 1, "b": ones.clone() }) };
            assert_eq!(read, Value::from_iter(ones.into_iter().chain([json!(7), around])));
        }
    }
}
