//! Reads logs of any length: only one block, and the lines about the run, are in memory.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read},
};

use regex::bytes::{Regex, RegexBuilder};
use speclens_schema::{
    evidence::LogGap,
    gateway::log::{Event, Line, Lineage, RunRelation},
};

/// Number of bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// Maximum number of bytes of a line to keep. Of a longer one, the named values are kept.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024;

/// Maximum number of passes over a log for one run: a later line may say more about an earlier one.
const MAX_PASSES: usize = 16;

const MARKS: [&str; 6] = ["run_id", "runid", "run-id", "[agent] run ", "tool", "sessionkey"];

const ANY: &str = "[^\n]";

const MAX_SEARCH_BYTES: usize = 64 << 20;

/// Text in the line by which a gateway reports that it dropped others.
const DROPPED: &str = "file log queue overflow";

#[derive(Debug)]
pub(super) struct Source {
    pub file: File,
    /// Start offset, in bytes.
    pub from: u64,
    pub is_recent: bool,
}

#[derive(Debug, Default)]
pub(super) struct ScanResult {
    pub lines: Vec<Kept>,
    pub gaps: Vec<LogGap>,
    pub is_half: bool,
    /// Sources that cannot be read, by their place, with the reason.
    pub failed: Vec<(usize, String)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub text: String,
    pub source: usize,
    /// The line in the source, from 0, counted from where reading began.
    pub number: usize,
}

/// Reads the lines about a run, with a limit on their bytes.
pub(super) fn scan(sources: &[Source], lineage: Lineage, limit: usize) -> ScanResult {
    let mut picking = LogScanPass::of(lineage, limit);
    picking.read(sources);
    for _ in 1..MAX_PASSES {
        if !picking.has_learned {
            break;
        }
        picking = LogScanPass::of(picking.lineage, limit);
        picking.read(sources);
    }
    picking.found()
}

struct Block<'b> {
    bytes: &'b [u8],
    first: usize,
    is_finished: bool,
    is_cut: bool,
}

fn blocks(source: &Source, take: &mut dyn FnMut(Block<'_>)) -> io::Result<()> {
    let mut reader = At { file: &source.file, offset: source.from };
    let mut buffer = vec![0; BLOCK];
    let (mut filled, mut first) = (0, 0);
    // Whether the buffer begins with the rest of a line that was too long.
    let mut is_rest = false;
    loop {
        let read = match reader.read(&mut buffer[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        filled += read;
        let is_end = read == 0;
        let mut start = 0;
        if is_rest {
            match memchr::memchr(b'\n', &buffer[..filled]) {
                Some(end) => (start, first, is_rest) = (end + 1, first + 1, false),
                None if is_end => return Ok(()),
                None => {
                    filled = 0;
                    continue;
                }
            }
        }
        let ready = &buffer[start..filled];
        let whole = memchr::memrchr(b'\n', ready).map_or(0, |end| end + 1);
        if whole > 0 {
            take(Block { bytes: &ready[..whole], first, is_finished: true, is_cut: false });
            first += memchr::memchr_iter(b'\n', &ready[..whole]).count();
        }
        let rest = start + whole..filled;
        if is_end || rest.len() == BLOCK {
            if !rest.is_empty() {
                // The end of a line that is too long is not waited for.
                take(Block { bytes: &buffer[rest.clone()], first, is_finished: !is_end, is_cut: !is_end });
            }
            if is_end {
                return Ok(());
            }
            (is_rest, filled) = (true, 0);
        } else {
            buffer.copy_within(rest.clone(), 0);
            filled = rest.len();
        }
    }
}

pub(super) fn lines_before(file: &File, end: u64) -> io::Result<usize> {
    let mut reader = At { file, offset: 0 }.take(end);
    let mut buffer = vec![0; BLOCK];
    let mut count = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(count),
            Ok(read) => count += memchr::memchr_iter(b'\n', &buffer[..read]).count(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A file from an offset on. Several of them can read one file at the same time.
pub(super) struct At<'f> {
    pub file: &'f File,
    pub offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.offset)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

struct LogScanPass {
    lineage: Lineage,
    search: Regex,
    has_learned: bool,
    /// Number of bytes that may still be kept.
    left: usize,
    source: usize,
    is_recent: bool,
    lines: Vec<Kept>,
    /// Facts that are known, without events and warnings: a line that only repeats one is not needed.
    known: HashSet<Line>,
    is_cut: bool,
    has_dropped: bool,
    has_long_line: bool,
    is_half: bool,
    failed: Vec<(usize, String)>,
}

impl LogScanPass {
    fn of(lineage: Lineage, limit: usize) -> LogScanPass {
        let search = search(&lineage);
        LogScanPass {
            lineage,
            search,
            has_learned: false,
            left: limit,
            source: 0,
            is_recent: false,
            lines: Vec::new(),
            known: HashSet::new(),
            is_cut: false,
            has_dropped: false,
            has_long_line: false,
            is_half: false,
            failed: Vec::new(),
        }
    }

    fn read(&mut self, sources: &[Source]) {
        for (index, source) in sources.iter().enumerate() {
            (self.source, self.is_recent) = (index, source.is_recent);
            if let Err(error) = blocks(source, &mut |block| self.take(block)) {
                self.failed.push((index, error.to_string()));
            }
        }
    }

    fn take(&mut self, block: Block<'_>) {
        let is_cut = block.is_cut;
        self.take_lines(block);
        self.has_long_line |= is_cut && self.may_be_of_the_run();
    }

    fn take_lines(&mut self, block: Block<'_>) {
        let (mut from, mut number) = (0, block.first);
        while let Some(found) = self.search.find_at(block.bytes, from) {
            let start = memchr::memrchr(b'\n', &block.bytes[from..found.start()]).map_or(from, |end| from + end + 1);
            number += memchr::memchr_iter(b'\n', &block.bytes[from..start]).count();
            let end = memchr::memchr(b'\n', &block.bytes[start..]);
            let line = &block.bytes[start..end.map_or(block.bytes.len(), |end| start + end)];
            self.line(line, number);
            self.is_half |= end.is_none() && !block.is_finished;
            let Some(end) = end else { return };
            from = start + end + 1;
            number += 1;
        }
    }

    /// Returns whether a line without a known run may be about the run: before it was first seen, only if the act had
    /// begun.
    fn may_be_of_the_run(&self) -> bool {
        self.is_recent || !self.lines.is_empty()
    }

    fn line(&mut self, bytes: &[u8], number: usize) {
        let mut text = String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(bytes));
        let all = Line::read_all(&text);
        for line in &all {
            self.has_learned |= self.lineage.learn(line);
            self.has_dropped |= line.events.contains(&Event::Dropped) && self.may_be_of_the_run();
        }
        let relation = |line: &Line| match self.lineage.relation(line) {
            Some(relation) => Some(relation),
            None if self.lineage.is_mentioned_in(line, &text) => Some(RunRelation::Own),
            // It may have been started by the run.
            None if self.lineage.is_named_by_another(line, &text) => Some(RunRelation::Started),
            None => None,
        };
        let related = all.into_iter().find_map(|line| Some((relation(&line)?, line)));
        let Some((relation, line)) = related else { return };
        if text.len() > MAX_LINE_BYTES {
            text = Line::excerpt(&text)
                .filter(|short| short.len() <= MAX_LINE_BYTES)
                .unwrap_or_else(|| {
                    self.has_long_line = true;
                    text[..text.floor_char_boundary(MAX_LINE_BYTES)].to_owned()
                })
                .into();
        }
        let is_end = relation == RunRelation::Own && line.events.iter().any(|event| matches!(event, Event::Done(_)));
        if text.len() > self.left && !is_end {
            self.left = 0;
            self.is_cut = true;
            return;
        }
        let says_more = self.known.insert(Line { is_warning: false, events: Vec::new(), ..line.clone() });
        // A sentence of another program may be about a tool that it names.
        let is_sentence = line.events.is_empty() && !line.is_of_gateway;
        if line.events.is_empty() && !is_sentence && !line.is_warning && !line.is_damaged && !says_more {
            return;
        }
        self.left = self.left.saturating_sub(text.len() + 1);
        self.lines.push(Kept { text: text.into_owned(), source: self.source, number });
    }

    fn found(self) -> ScanResult {
        let gaps =
            [(self.is_cut, LogGap::Cut), (self.has_dropped, LogGap::Dropped), (self.has_long_line, LogGap::LongLine)];
        let gaps = gaps.into_iter().filter_map(|(is_there, gap)| is_there.then_some(gap)).collect();
        ScanResult { lines: self.lines, gaps, is_half: self.is_half, failed: self.failed }
    }
}

/// Returns the search pattern: a line that does not match is about other runs.
fn search(lineage: &Lineage) -> Regex {
    let mut wanted: Option<Vec<String>> = match lineage.needles() {
        Some(names) => names.map(|name| plain(name).map(regex::escape)).collect(),
        None => Some(MARKS.iter().map(|mark| regex::escape(mark)).collect()),
    };
    wanted.iter_mut().for_each(|wanted| wanted.push(DROPPED.to_owned()));
    let compile = |wanted: &str| {
        // Keys are written in several ways, names are not.
        let every = lineage.needles().is_none();
        RegexBuilder::new(wanted).unicode(false).case_insensitive(every).size_limit(MAX_SEARCH_BYTES).build()
    };
    let named = wanted.and_then(|wanted| compile(&wanted.join("|")).ok());
    // If a name cannot be searched for, or there are too many, all lines are read.
    named.unwrap_or_else(|| compile(ANY).expect("a valid expression"))
}

/// Returns the longest part of a name that JSON does not escape; `None` if that is too short to search for.
fn plain(name: &str) -> Option<&str> {
    let is_written_otherwise = |letter: char| !letter.is_ascii_graphic() || matches!(letter, '"' | '\\' | '/');
    name.split(is_written_otherwise).max_by_key(|part| part.len()).filter(|part| part.len() >= 2)
}
