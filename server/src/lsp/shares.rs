//! Puts answers about a whole document together from what its parts add to them. What a part adds is written as JSON once and
//! kept with the part; its numbers of lines count from the first line of the part. To make the answer, these texts are copied,
//! and the numbers of lines are written between them.

use std::{fmt::Write as _, sync::Arc};

use serde::Serialize;
use speclens_schema::document::{Document, Encoding};

use super::convert::Ranges;
use crate::ide::parts::Keeper;

/// The values that a part of a document adds to the answer `T`, as JSON with commas between them. `T` may say more about it.
pub(super) struct Share<T> {
    json: Box<str>,
    /// Where numbers of lines are omitted of the JSON, and how far each line is from the first one.
    lines: Box<[(u32, u32)]>,
    /// How many lines the part has.
    height: u32,
    pub more: T,
}

/// Puts an answer together.
pub(super) struct Answer<'d> {
    document: &'d Document,
    ranges: Ranges<'d>,
    json: Pieces,
    /// A byte of the text, and its line: most parts begin where the one before ends.
    place: (usize, u32),
}

/// A long text of JSON in pieces. The allocator keeps the memory of large ones.
pub(super) struct Pieces {
    full: Vec<String>,
    last: String,
}

impl Pieces {
    /// Returns a text that begins with some words.
    pub(super) fn new(words: &str) -> Pieces {
        Pieces { full: Vec::new(), last: words.to_owned() }
    }

    /// Returns the piece to which words are added. It holds what was added last.
    pub(super) fn last(&mut self) -> &mut String {
        const LONG: usize = 48 * 1024;
        if self.last.len() > LONG {
            let next = String::with_capacity(LONG + LONG / 4);
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        &mut self.last
    }

    /// Begins another value of a list or an object.
    pub(super) fn separate(&mut self) {
        if !self.last.ends_with(['[', '{']) {
            self.last().push(',');
        }
    }

    /// Returns all pieces.
    pub(super) fn finish(mut self, words: &str) -> Vec<String> {
        self.last.push_str(words);
        self.full.push(self.last);
        self.full
    }
}

/// A share, and the line from which its lines count.
pub(super) type Placed<T> = (Arc<Share<T>>, u32);

impl<'d> Answer<'d> {
    /// Begins an answer that is a list.
    pub(super) fn list(document: &'d Document, encoding: Encoding) -> Answer<'d> {
        Answer { document, ranges: Ranges::new(document, encoding), json: Pieces::new("["), place: (0, 0) }
    }

    /// Returns what a part adds. It is found out only where it is not kept yet, with lines that count from the first one of
    /// the document.
    pub(super) fn share<V: Serialize, T: Send + Sync + 'static>(
        &mut self,
        keeper: Option<Keeper<'_>>,
        find_out: impl FnOnce(&Ranges<'d>) -> (Vec<V>, T),
    ) -> Placed<T> {
        let ranges = &self.ranges;
        let Some(keeper) = keeper else {
            let (values, more) = find_out(ranges);
            return (Arc::new(Share::of(&values, 0, 0, more)), 0);
        };
        let line_of = |at: usize| u32::try_from(self.document.text().byte_to_line(at)).unwrap_or(u32::MAX);
        let first = if self.place.0 == keeper.start { self.place.1 } else { line_of(keeper.start) };
        let end = keeper.start + keeper.length;
        let share = keeper.kept(|| {
            let (values, more) = find_out(ranges);
            Share::of(&values, first, line_of(end) - first, more)
        });
        self.place = (end, first + share.height);
        (share, first)
    }

    /// Adds values.
    pub(super) fn add(&mut self, values: &[impl Serialize]) {
        self.add_share(&(Arc::new(Share::of(values, 0, 0, ())), 0));
    }

    /// Adds what a part adds.
    pub(super) fn add_share<T>(&mut self, (share, first): &Placed<T>) {
        if share.json.is_empty() {
            return;
        }
        self.json.separate();
        share.write(*first, self.json.last());
    }

    /// Adds a value that has a list of others as its member `name`, unless there are none.
    pub(super) fn add_around<T>(&mut self, value: &impl Serialize, name: &str, inner: &[Placed<T>]) {
        self.add(std::slice::from_ref(value));
        if inner.iter().all(|(share, _)| share.json.is_empty()) {
            return;
        }
        // The end of the object comes after its last member.
        self.json.last.pop();
        let _ = write!(self.json.last, ",\"{name}\":[");
        inner.iter().for_each(|placed| self.add_share(placed));
        self.json.last.push_str("]}");
    }

    /// Returns the converter of ranges.
    pub(super) fn ranges(&self) -> &Ranges<'d> {
        &self.ranges
    }

    /// Returns the whole answer, in pieces.
    pub(super) fn finish(self) -> Vec<String> {
        self.json.finish("]")
    }
}

impl<T> Share<T> {
    fn of(values: &[impl Serialize], first: u32, height: u32, more: T) -> Share<T> {
        let mut json = String::new();
        let mut lines = Vec::new();
        for value in values {
            // Values of LSP have no keys that are not text.
            let Ok(words) = serde_json::to_string(value) else { continue };
            if !json.is_empty() {
                json.push(',');
            }
            leave_lines_out(&words, first, &mut json, &mut lines);
        }
        Share { json: json.into(), lines: lines.into(), height, more }
    }

    fn write(&self, first: u32, into: &mut String) {
        into.reserve(self.json.len() + 8 * self.lines.len());
        let mut from = 0;
        for &(at, line) in &self.lines {
            into.push_str(&self.json[from..at as usize]);
            push_number(first.wrapping_add(line), into);
            from = at as usize;
        }
        into.push_str(&self.json[from..]);
    }
}

/// The members of LSP's types that are numbers of lines. In a text of JSON they can be nothing else: a quote within a text
/// is escaped, so the first one of such a member would be preceded by a backslash, and the last one as well.
const LINES: [&str; 3] = ["\"line\":", "\"startLine\":", "\"endLine\":"];

fn leave_lines_out(words: &str, first: u32, json: &mut String, lines: &mut Vec<(u32, u32)>) {
    let mut from = 0;
    for at in memchr::memmem::find_iter(words.as_bytes(), "ine\":").map(|at| at + "ine\":".len()) {
        if !LINES.iter().any(|name| words[..at].ends_with(name)) {
            continue;
        }
        let digits = words[at..].bytes().take_while(u8::is_ascii_digit).count();
        let Ok(line) = words[at..at + digits].parse::<u32>() else { continue };
        json.push_str(&words[from..at]);
        from = at + digits;
        lines.push((u32::try_from(json.len()).unwrap_or(u32::MAX), line.wrapping_sub(first)));
    }
    json.push_str(&words[from..]);
}

/// Much faster than a formatter: an answer has tens of thousands of them.
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

    use super::{Answer, Share};
    use crate::ide::parts::Keeper;

    #[test]
    fn only_lines_of_ranges_count_from_the_first_line_of_the_part() {
        let names = ["\"line\":7", "line", "\\\"line\":7", "startLine\":3", "{\"endLine\":3}", "é\n\"line\":\\"];
        for name in names {
            let value = |by: u32| json!({ "name": name, "range": { "start": { "line": 12 + by, "character": 7 } }, "startLine": 100 + by, "line": 12 + by, "endLine": 4_000_000_000u32 - 7 + by });
            let share = Share::of(&[value(0), value(0)], 12, 0, ());
            assert_eq!(share.lines.len(), 8, "{name}");
            for by in [0, 1, 5] {
                let mut words = String::new();
                share.write(12 + by, &mut words);
                let read: Value = serde_json::from_str(&format!("[{words}]")).unwrap();
                assert_eq!(read, json!([value(by), value(by)]), "{name}");
            }
        }
    }

    #[test]
    fn long_answer_in_pieces_is_the_list_of_what_the_parts_add() {
        const COUNT: usize = 3000;
        struct AddsNames;
        let text = (0..COUNT).map(|number| format!("- a: {number}\n")).collect::<String>();
        let document = Document::read(&text, ScalarRules::Yaml12);
        let items: Vec<_> = document.root().unwrap().items().collect();
        // The second time all is known.
        for is_known in [false, true] {
            let mut answer = Answer::list(&document, Encoding::Utf16);
            for (number, item) in items.iter().enumerate() {
                let share = answer.share(Keeper::of_item(*item), |ranges| {
                    assert!(!is_known);
                    let range = ranges.range(item.range());
                    let values =
                        if number % 3 == 0 { vec![] } else { vec![json!({ "name": "x".repeat(40), "range": range })] };
                    (values, AddsNames)
                });
                answer.add_share(&share);
            }
            answer.add_around(&json!({ "line": 3 }), "children", &Vec::<super::Placed<AddsNames>>::new());
            let pieces = answer.finish();
            assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.len() < 64 * 1024));
            let read: Vec<Value> = serde_json::from_str(&pieces.concat()).unwrap();
            assert_eq!(read.len(), COUNT / 3 * 2 + 1);
            for (at, value) in read[..COUNT / 3 * 2].iter().enumerate() {
                assert_eq!(value["range"]["start"], json!({ "line": at / 2 * 3 + at % 2 + 1, "character": 2 }));
            }
            assert_eq!(read[COUNT / 3 * 2], json!({ "line": 3 }));
        }
    }
}
