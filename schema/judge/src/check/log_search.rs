//! Searches logs for a text or a regular expression: in memory, or in a file that is too long for that.

use super::{
    pattern::{PatternError, PatternErrorKind, PythonPattern},
    text::LineFeeds,
};
use crate::evidence::{Capture, FileSearch, FoundText};

/// Number of bytes that are searched at once.
const BLOCK: usize = 1 << 20;

/// Number of bytes that are searched again with the next block: a match may span several lines.
const OVERLAP: usize = 16 << 10;

const MAX_LINE_BYTES: usize = 4 << 20;

const MAX_TEXT: usize = 16 << 10;

const IN_PARTS: &str =
    "the file is searched in parts, which is not possible with `\\A`, `\\Z` or any number of lines in the pattern";

#[derive(Clone, Debug)]
pub struct LogSearch {
    wanted: String,
    compiled: Result<PythonPattern, PatternError>,
}

impl LogSearch {
    /// Reads a text, which may also be a regular expression of Python.
    pub fn new(wanted: &str) -> LogSearch {
        LogSearch { wanted: wanted.to_owned(), compiled: PythonPattern::compile(wanted, true) }
    }

    /// Returns the byte range of the first match, or the reason why it cannot be determined. As in Python, every line
    /// end is a line feed.
    pub fn find(&self, text: &str) -> Result<Option<(usize, usize)>, String> {
        if let Some(at) = text.find(&self.wanted) {
            return Ok(Some((at, at + self.wanted.len())));
        }
        let feeds = LineFeeds::of(text);
        let found = self.find_between_line_feeds(&feeds.text)?;
        Ok(found.map(|(start, end)| (feeds.original(start), feeds.original(end))))
    }

    fn find_between_line_feeds(&self, text: &str) -> Result<Option<(usize, usize)>, String> {
        if let Some(at) = text.find(&self.wanted) {
            return Ok(Some((at, at + self.wanted.len())));
        }
        match &self.compiled {
            Ok(compiled) => {
                compiled.find(text).map_err(|_| "the search took too many steps; make the pattern simpler".to_owned())
            }
            // A text that is not a valid expression was searched for as it is.
            Err(error) if error.kind == PatternErrorKind::Invalid => Ok(None),
            Err(error) => Err(format!("the pattern cannot be searched for: {}", error.message)),
        }
    }

    fn is_about_ends(&self) -> bool {
        self.compiled.is_ok() && ["\\A", "\\Z"].iter().any(|end| self.wanted.contains(end))
    }

    /// Returns whether a match may have any number of lines.
    fn is_about_lines(&self) -> bool {
        const ANY: [&str; 6] = ["[\\s\\S]", "[\\S\\s]", "[\\w\\W]", "[\\W\\w]", "[\\d\\D]", "[\\D\\d]"];
        let flags = self.wanted.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
        let is_dot_all =
            flags.is_some_and(|(flags, _)| flags.bytes().all(|it| it.is_ascii_alphabetic()) && flags.contains('s'));
        self.compiled.is_ok() && (is_dot_all || ANY.iter().any(|set| self.wanted.contains(set)))
    }
}

/// Searches a file that arrives in pieces. Only a block and the longest line are in memory.
#[derive(Debug)]
pub struct FileScan {
    searches: Vec<(LogSearch, FileSearch)>,
    pending: Vec<u8>,
    lines: usize,
    is_stopped: bool,
}

impl FileScan {
    pub fn new(wanted: &[String]) -> FileScan {
        let search = |wanted: &String| {
            let search = LogSearch::new(wanted);
            (search, FileSearch { pattern: wanted.clone(), ..FileSearch::default() })
        };
        FileScan { searches: wanted.iter().map(search).collect(), pending: Vec::new(), lines: 0, is_stopped: false }
    }

    pub fn is_over(&self) -> bool {
        self.is_stopped || self.searches.iter().all(|(_, search)| search.found.is_some())
    }

    pub fn read(&mut self, piece: &[u8]) {
        self.pending.extend_from_slice(piece);
        if self.pending.len() < BLOCK {
            return;
        }
        for (wanted, search) in &mut self.searches {
            let is_split = search.found.is_none() && (wanted.is_about_ends() || wanted.is_about_lines());
            search.gap = search.gap.take().or_else(|| is_split.then(|| IN_PARTS.to_owned()));
        }
        if let Some(last) = memchr::memrchr(b'\n', &self.pending) {
            let end = last + 1;
            let near = end.saturating_sub(OVERLAP);
            let line = memchr::memrchr(b'\n', &self.pending[..near]).map(|newline| newline + 1);
            let next = || memchr::memchr(b'\n', &self.pending[near..]).map(|newline| near + newline + 1);
            let keep = line.or_else(|| next().filter(|_| end > MAX_LINE_BYTES)).unwrap_or(0);
            self.search(end, keep);
            self.forget(keep);
        }
        if self.pending.len() > MAX_LINE_BYTES {
            let keep = self.pending.len() - OVERLAP;
            self.search(self.pending.len(), keep);
            self.forget(keep);
            self.note(|line| format!("line {line} is too long to be searched as a whole"));
        }
    }

    pub fn stop(&mut self, reason: impl Fn(usize) -> String) {
        self.note(reason);
        self.is_stopped = true;
    }

    fn note(&mut self, reason: impl Fn(usize) -> String) {
        let line = self.lines + 1;
        for (_, search) in self.searches.iter_mut().filter(|(_, search)| search.found.is_none()) {
            search.gap.get_or_insert_with(|| reason(line));
        }
    }

    pub fn end(mut self) -> Vec<FileSearch> {
        self.search(self.pending.len(), usize::MAX);
        let is_open = self.pending.last().is_some_and(|last| *last != b'\n');
        let lines = self.lines + newlines(&self.pending) + usize::from(is_open);
        self.searches.into_iter().map(|(_, search)| FileSearch { lines, ..search }).collect()
    }

    /// Searches the bytes up to an offset. Those after `again` are searched again, together with those that follow.
    fn search(&mut self, end: usize, again: usize) {
        let text = String::from_utf8_lossy(&self.pending[..end]);
        let unreadable = text.find(['\0', char::REPLACEMENT_CHARACTER]);
        let unreadable = unreadable.map(|at| self.lines + newlines(&text.as_bytes()[..at]) + 1);
        let again = match text.len() == end || again > end {
            true => again,
            false => String::from_utf8_lossy(&self.pending[..again]).len(),
        };
        for (wanted, search) in &mut self.searches {
            if search.found.is_some() || search.gap.is_some() && wanted.is_about_ends() {
                continue;
            }
            match wanted.find(&text) {
                Ok(Some((start, _))) if start >= again => {}
                Ok(Some(found)) => {
                    // Even if a line was too long, the others count.
                    search.gap = None;
                    search.found = Some(lines_of(&text, found, self.lines));
                }
                Ok(None) => {
                    if let Some(line) = unreadable {
                        search.gap.get_or_insert_with(|| format!("line {line} is not UTF-8"));
                    }
                }
                Err(reason) => drop(search.gap.get_or_insert(reason)),
            }
        }
    }

    fn forget(&mut self, count: usize) {
        self.lines += newlines(&self.pending[..count]);
        self.pending.drain(..count);
    }
}

fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

fn lines_of(text: &str, (start, end): (usize, usize), before: usize) -> FoundText {
    let from = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let to = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
    let line = before + newlines(&text.as_bytes()[..start]);
    let (from, to) = if to - from <= MAX_TEXT { (from, to) } else { (start, end) };
    let mut kept = Capture::whole(&text[from..to]);
    kept.cut_to(MAX_TEXT);
    FoundText { line, text: kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &[u8], length: usize, wanted: &[&str]) -> Vec<FileSearch> {
        let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
        let mut scan = FileScan::new(&wanted);
        text.chunks(length).for_each(|piece| scan.read(piece));
        scan.end()
    }

    fn place(search: &FileSearch) -> Option<(usize, &str)> {
        search.found.as_ref().map(|found| (found.line, found.text.text.as_str()))
    }

    #[test]
    fn line_is_found_wherever_the_pieces_end() {
        let filler = "nothing to see here\n".repeat(120_000);
        let text = format!("{filler}status: approved by Ada\nsigned\n{filler}last");
        let wanted = ["approved", "^status: \\w+ by Ada$", "by Ada\nsigned", "refused", "^last$", "cost [5"];
        for length in [4_096, 65_537, 1 << 20, text.len()] {
            let found = scanned(text.as_bytes(), length, &wanted);
            let line = Some((120_000, "status: approved by Ada"));
            assert_eq!((place(&found[0]), place(&found[1])), (line, line), "{length}");
            assert_eq!(place(&found[2]), Some((120_000, "status: approved by Ada\nsigned")), "{length}");
            assert_eq!((&found[3].found, &found[3].gap, found[3].lines), (&None, &None, 240_003), "{length}");
            assert_eq!(place(&found[4]), Some((240_002, "last")), "{length}");
            assert_eq!((&found[5].found, &found[5].gap), (&None, &None), "{length}");
        }
    }

    #[test]
    fn line_ends_of_windows_are_line_ends() {
        let text = "start\r\nERROR\r\n\r\nlimited\r\ntime\r\ndone\r\n";
        for (wanted, found) in [
            ("^ERROR$", Some("ERROR")),
            ("^done$", Some("done")),
            ("limited\ntime", Some("limited\r\ntime")),
            ("ERROR\\n\\n", Some("ERROR\r\n\r\n")),
            ("^.$", None),
            ("done.", None),
        ] {
            let range = LogSearch::new(wanted).find(text).unwrap();
            assert_eq!(range.map(|(start, end)| &text[start..end]), found, "{wanted}");
        }
        let long = "filler\r\n".repeat(300_000) + text;
        let found = scanned(long.as_bytes(), 65_537, &["^ERROR$", "^done$", "^filler.$"]);
        assert_eq!((place(&found[0]), place(&found[2])), (Some((300_001, "ERROR\r")), None));
        assert_eq!(place(&found[1]).map(|(line, _)| line), Some(300_005));
    }

    #[test]
    fn following_text_decides_across_blocks() {
        // Wherever the first block ends, `open` is never followed by anything but `closed`.
        let text = "open\nclosed\n".repeat(400_000);
        let found = scanned(text.as_bytes(), 1_000, &["open\\n(?!closed)", "closed\\nclosed"]);
        assert_eq!((place(&found[0]), place(&found[1])), (None, None));
    }

    #[test]
    fn text_of_any_number_of_lines_may_be_longer_than_a_part() {
        let wanted = ["start[\\s\\S]*end", "(?s)start.*end", "start.*end", "\\Astart"];
        let gaps = |text: &str| {
            let found = scanned(text.as_bytes(), 65_537, &wanted);
            found.into_iter().map(|it| (it.found.is_some(), it.gap.is_some())).collect::<Vec<_>>()
        };
        let filler = "nothing to see here\n".repeat(120_000);
        let (found, open, none) = ((true, false), (false, true), (false, false));
        assert_eq!(gaps(&format!("start\n{filler}end\n")), [open, open, none, open]);
        assert_eq!(gaps(&format!("start\nend\n{filler}")), [found, found, none, open]);
        assert_eq!(gaps("start\nend\n"), [found, found, none, found]);
    }

    #[test]
    fn line_that_is_not_utf_8_may_be_the_wanted_one() {
        for odd in [&b"caf\xe9"[..], b"w\0o\0r\0d\0"] {
            let text = [b"word\n", odd, b"\nend\n"].concat();
            let found = scanned(&text, 4, &["absent", "word", "^end$"]);
            let gaps: Vec<_> = found.iter().map(|search| search.gap.as_deref()).collect();
            assert_eq!(gaps, [Some("line 2 is not UTF-8"), None, None]);
        }
    }

    #[test]
    fn pattern_unsearchable_in_parts_is_reported() {
        let mut text = b"first\n".to_vec();
        text.resize(6 << 20, b'x');
        text.extend_from_slice(b"\nlast \xff line\n");
        let found = scanned(&text, 100_000, &["absent", "last . line", "^first", "\\Afirst"]);
        assert_eq!(found[0].gap.as_deref(), Some("line 2 is too long to be searched as a whole"));
        assert_eq!((place(&found[1]), &found[1].gap), (Some((2, "last \u{fffd} line")), &None));
        assert_eq!(place(&found[2]), Some((0, "first")));
        assert!(found[3].gap.as_ref().is_some_and(|gap| gap.contains("in parts")), "{found:?}");
    }
}
