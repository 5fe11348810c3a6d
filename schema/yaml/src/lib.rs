//! YAML text → tree with byte ranges and faults. Reading never fails: intact parts stay readable.
//!
//! This crate knows only YAML: formats, rules and messages belong to its callers.
//!
//! The text is cut into blocks ([`blocks`]): each top-level entry, and each item of a top-level list, or of a root that
//! is a list. Every block is parsed alone ([`events`]), or recovered ([`recover`]), and kept as long as its text stays
//! the same: a keystroke costs one block. If cutting would change the meaning, the whole text is one block. [`view`]
//! joins the pieces: consumers see one tree.

mod blame;
mod block;
mod block_text;
mod blocks;
mod columns;
mod conflict;
mod dependencies;
mod directives;
mod draft;
mod events;
mod fault;
mod index;
mod item_bounds;
mod layout;
mod lines;
mod loose;
mod memos;
pub mod parallel;
mod pointer;
mod recover;
mod repair;
mod scalar;
#[cfg(test)]
mod tests;
mod tree;
mod typo;
mod update;
mod value;
mod view;

use std::{borrow::Cow, ops::Range, sync::Arc};

use ropey::Rope;
use rustc_hash::{FxHashMap, FxHashSet};

use block::{Duplicate, Name};
use events::{Parsed, SyntaxError};
use index::Index;
use update::{Pending, block_kind};

pub use blame::quoted;
pub use block::{Block, BlockKind};
pub use directives::NAME;
pub use events::MAX_NESTING;
pub use fault::{Advice, BlankPlace, Fault, FaultClass, FaultKind, Rewrite, RewriteKind};
pub use layout::is_foreign_blank;
pub use lines::{Encoding, LineColumn, Lines};
pub use pointer::{Pointer, Step, Way};
pub use scalar::{Scalar, ScalarRules, is_ambiguous};
pub use tree::{Entry, Node, NodeKind, Style};
pub use value::{Members, NAN, Plain, TooLarge, number};
pub use view::{EntryRef, NodeRef, Shape};

/// Maximum length of a text that is read, in bytes.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Maximum length of a line in bytes: columns are counted from its beginning, for every place in it.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Maximum length of a text that is read as a whole at every edit if cutting would damage it.
const MAX_JOINED_BYTES: usize = 64 * 1024;

/// A YAML text and its tree.
#[derive(Clone, Debug)]
pub struct Document {
    text: Rope,
    rules: ScalarRules,
    /// The blocks, in the order of the text.
    blocks: Arc<Vec<Arc<Block>>>,
    /// Where each of them begins.
    starts: Arc<Vec<usize>>,
    index: Arc<Index>,
    /// The edits since the tree was last updated.
    pending: Option<Pending>,
    /// A fault that no single block shows: found by reading the whole.
    whole_fault: Option<Fault>,
}

/// Returns the fault of a text that is not read, because it or one of its lines is too long.
fn too_large(text: &Rope) -> Option<Fault> {
    if text.len_bytes() > MAX_BYTES {
        return Some(Fault::new(0..0, FaultKind::FileTooLarge));
    }
    let (mut start, mut at) = (0, 0);
    if text.len_bytes() > MAX_LINE_BYTES {
        for chunk in text.chunks() {
            for end in memchr::memchr_iter(b'\n', chunk.as_bytes()).map(|end| at + end) {
                if end - start > MAX_LINE_BYTES {
                    return Some(Fault::new(start..start, FaultKind::LineTooLong));
                }
                start = end + 1;
            }
            at += chunk.len();
        }
    }
    (at - start > MAX_LINE_BYTES).then(|| Fault::new(start..start, FaultKind::LineTooLong))
}

impl Document {
    /// Reads a text, both as a whole and by blocks: the whole decides about the meaning.
    pub fn read(text: &str, rules: ScalarRules) -> Document {
        /// Below this, a thread costs more than it saves.
        const SHORT: usize = 64 * 1024;
        let mut document = Document::unread(text, rules);
        if text.len() < SHORT || too_large(&document.text).is_some() {
            document.refresh();
            document.consult_whole(text);
            return document;
        }
        let skimmed = parallel::beside(|| loose::skim(text, rules), || document.refresh());
        document.apply_whole(text, skimmed);
        document
    }

    /// Returns an unread text; [`Document::refresh`] reads it.
    pub fn unread(text: &str, rules: ScalarRules) -> Document {
        Document::unread_rope(Rope::from_str(text), rules)
    }

    fn unread_rope(text: Rope, rules: ScalarRules) -> Document {
        let length = text.len_bytes();
        Document {
            text,
            rules,
            blocks: Arc::default(),
            starts: Arc::default(),
            index: Arc::default(),
            pending: Some(Pending { old: 0..0, new: 0..length }),
            whole_fault: None,
        }
    }

    /// Reads a text by blocks only, which takes half the time. [`Document::consult_whole`] may follow.
    pub fn read_cut(text: &str, rules: ScalarRules) -> Document {
        Document::read_rope(Rope::from_str(text), rules)
    }

    pub fn read_rope(text: Rope, rules: ScalarRules) -> Document {
        let mut document = Document::unread_rope(text, rules);
        document.refresh();
        document
    }

    #[cfg(test)]
    fn read_uncut(text: &str, rules: ScalarRules) -> Document {
        let mut document = Document::unread(text, rules);
        document.adopt(vec![Arc::new(Block::parse(text, BlockKind::Whole, rules))]);
        document
    }

    /// Replaces bytes of the text. [`Document::refresh`] updates the tree.
    pub fn edit(&mut self, range: Range<usize>, text: &str) {
        let start = self.text.byte_to_char(range.start);
        let end = self.text.byte_to_char(range.end);
        self.text.remove(start..end);
        self.text.insert(start, text);
        let new = range.start..range.start + text.len();
        self.pending = Some(match self.pending.take() {
            None => Pending { old: range, new },
            Some(pending) => pending.followed_by(range, new),
        });
    }

    /// Returns whether the tree is up to date.
    pub fn is_current(&self) -> bool {
        self.pending.is_none()
    }

    /// Updates the tree, at the cost of the edited blocks.
    pub fn refresh(&mut self) {
        // Kept until the blocks exist: if reading panics, the next edit finds the old state.
        let Some(pending) = self.pending.clone() else { return };
        self.whole_fault = None;
        if let Some(fault) = too_large(&self.text) {
            self.whole_fault = Some(fault);
            self.adopt(Vec::new());
            self.pending = None;
            return;
        }
        match blocks::split(&self.text) {
            None => {
                let text = String::from(&self.text);
                self.adopt(vec![Arc::new(Block::parse(&text, BlockKind::Whole, self.rules))]);
            }
            Some(spans) => {
                let old: Vec<(usize, &Arc<Block>)> = self.blocks().collect();
                let (head, tail) = update::untouched(&old, &spans, &pending);
                let new = parallel::map(&spans[head..spans.len() - tail], |span| {
                    let text = self.source(span.range.clone()).expect("pieces are cut at characters");
                    Arc::new(Block::parse(&text, block_kind(span.kind), self.rules))
                });
                let blocks = &self.blocks;
                self.adopt([&blocks[..head], new.as_slice(), &blocks[blocks.len() - tail..]].concat());
                self.join_loose_lines();
            }
        }
        self.pending = None;
    }

    /// Reads a short text as a whole if cutting damaged it: PyYAML lets the lines of quoted or bracketed text begin
    /// anywhere, so a cut may go through them.
    fn join_loose_lines(&mut self) {
        let damaged = self.index.is_damaged;
        if self.rules == ScalarRules::Yaml11 && damaged && self.text.len_bytes() <= MAX_JOINED_BYTES {
            let text = String::from(&self.text);
            if let Ok(Parsed { root: Some(Node { kind: NodeKind::Mapping(_), .. }), second_document: None }) =
                loose::parse(&text, self.rules)
            {
                self.adopt(vec![Arc::new(Block::parse(&text, BlockKind::Whole, self.rules))]);
            }
        }
    }

    /// Lets the whole text decide, as on opening and saving: if it is readable although a block was not, it is kept
    /// whole; if it is not although every block was, its fault is reported.
    pub fn consult_whole(&mut self, text: &str) {
        if self.is_whole() || self.whole_fault.as_ref().is_some_and(|fault| fault.class() == FaultClass::Limit) {
            return;
        }
        self.apply_whole(text, loose::skim(text, self.rules));
    }

    /// Returns whether another version has the same text, read in the same way.
    pub fn is_same(&self, other: &Document) -> bool {
        self.text.is_instance(&other.text)
            && Arc::ptr_eq(&self.blocks, &other.blocks)
            && self.whole_fault == other.whole_fault
    }

    fn apply_whole(&mut self, text: &str, whole: Result<Parsed, SyntaxError>) {
        if self.is_whole() {
            return;
        }
        let damaged = self.index.is_damaged;
        match (whole, damaged) {
            (Ok(parsed), true) if parsed.root.as_ref().is_some_and(|root| self.may_be_root(root)) => {
                self.adopt(vec![Arc::new(Block::parse(text, BlockKind::Whole, self.rules))]);
            }
            (Err(error), false) => {
                let line = self.text.byte_to_line(error.offset);
                let start = self.text.line_to_byte(line);
                let words = String::from(self.text.line(line));
                let range = start..start + words.trim_end().len();
                self.whole_fault = Some(Fault::new(range, error.kind));
            }
            (Ok(Parsed { second_document: Some(second), .. }), false) => {
                self.whole_fault = Some(block::second_document(text, second));
            }
            (Ok(_) | Err(_), _) => {}
        }
    }

    /// Returns whether the whole, read at once, can consist of its pieces: a text that is cut has entries or items.
    fn may_be_root(&self, root: &Node) -> bool {
        match root.kind {
            NodeKind::Mapping(_) => true,
            NodeKind::Sequence(_) => self.index.items.is_some(),
            NodeKind::Scalar { .. } | NodeKind::Alias(_) => false,
        }
    }

    fn adopt(&mut self, blocks: Vec<Arc<Block>>) {
        let starts = blocks.iter().scan(0, |end, block| Some(std::mem::replace(end, *end + block.length)));
        self.starts = Arc::new(starts.collect());
        self.index = Arc::new(Index::of(&blocks, self.rules));
        self.blocks = Arc::new(blocks);
    }

    pub fn text(&self) -> &Rope {
        &self.text
    }

    /// Returns a part of the text, usually without a copy. `None` if the range is not one of characters in the text.
    pub fn source(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        if range.end <= self.text.len_bytes() {
            let (chunk, start, ..) = self.text.chunk_at_byte(range.start.min(range.end));
            if range.end <= start + chunk.len() {
                return chunk.get(range.start.checked_sub(start)?..range.end - start).map(Cow::Borrowed);
            }
        }
        self.text.get_byte_slice(range).map(|part| String::from(part).into())
    }

    pub fn rules(&self) -> ScalarRules {
        self.rules
    }

    /// Returns the blocks with their start positions. A block whose text did not change is the same `Arc` as before.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (usize, &Arc<Block>)> + DoubleEndedIterator {
        self.starts.iter().copied().zip(&*self.blocks)
    }

    /// Returns the block of a node and its start; `None` for a node that spans blocks.
    pub fn block_of(&self, node: NodeRef<'_>) -> Option<(usize, &Arc<Block>)> {
        node.block().map(|block| (self.start_of(block), &self.blocks[block]))
    }

    pub fn block_around(&self, at: usize) -> Range<usize> {
        self.around(at).map_or(0..0, |number| self.extent_of(number))
    }

    fn start_of(&self, number: usize) -> usize {
        self.starts[number]
    }

    /// Returns the number of the block around a position; `None` without blocks.
    fn around(&self, at: usize) -> Option<usize> {
        self.starts.partition_point(|start| *start <= at).checked_sub(1)
    }

    fn extent_of(&self, number: usize) -> Range<usize> {
        let start = self.start_of(number);
        start..start + self.blocks[number].length
    }

    pub fn own_block(&self, item: NodeRef<'_>) -> Option<(usize, &Arc<Block>)> {
        let number = item.block()?;
        let block = &self.blocks[number];
        (block.item_count() == 1).then(|| (self.start_of(number), block))
    }

    pub fn end_with_strays(&self, item: NodeRef<'_>) -> usize {
        let Some(block) = item.block().filter(|block| self.blocks[*block].item_count() == 1) else {
            return item.range().end;
        };
        let is_stray = |at: &usize| self.blocks[*at].kind == BlockKind::Stray;
        let last = (block + 1..self.blocks.len()).take_while(is_stray).last().unwrap_or(block);
        self.extent_of(last).end
    }

    /// Returns whether the text could not be cut, so it is one block.
    pub fn is_whole(&self) -> bool {
        self.blocks.first().is_some_and(|block| block.kind == BlockKind::Whole)
    }

    /// Returns the faults: syntax, repeated keys, unknown aliases. In the order of the text.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut unread: Option<FxHashSet<String>> = None;
        for (number, (start, block)) in self.blocks().enumerate() {
            faults.extend(block.faults.iter().cloned().map(|fault| fault.moved(start)));
            for name in block.aliases.iter().filter(|name| !self.is_defined(name, number)) {
                if unread.get_or_insert_with(|| self.anchors_in_damage()).contains(&*name.name) {
                    continue;
                }
                let range = start + name.at..start + name.end;
                let kind = FaultKind::UnknownAlias { name: name.name.to_string(), at: self.pointer_at(range.start) };
                faults.push(Fault::new(range, kind));
            }
            // Several `<<` are legal where they merge.
            let is_repeated = |twice: &&Duplicate| !(twice.key == "<<" && self.rules.merges());
            for twice in block.duplicates.iter().filter(is_repeated) {
                let mapping = self.base_of(number, &twice.mapping);
                let range = twice.range.start + start..twice.range.end + start;
                let first = twice.first.start + start..twice.first.end + start;
                faults.push(Fault::new(range, FaultKind::DuplicateKey { key: twice.key.clone(), mapping, first }));
            }
        }
        faults.extend(self.whole_fault.clone());
        self.duplicate_entries(&mut faults);
        conflict::merge(&self.text, &mut faults);
        block_text::markers(&self.text, &mut faults);
        self.find_nul(&mut faults);
        faults.sort_by_key(|fault| fault.range.start);
        faults
    }

    /// Finds NUL bytes, which are not allowed in any text.
    fn find_nul(&self, faults: &mut Vec<Fault>) {
        let mut start = 0;
        let nul = self.text.chunks().find_map(|chunk| {
            let found = memchr::memchr(0, chunk.as_bytes()).map(|at| start + at);
            start += chunk.len();
            found
        });
        let Some(at) = nul else { return };
        let line = self.text.byte_to_line(at);
        faults.retain(|it| it.class() != FaultClass::Syntax || self.text.byte_to_line(it.range.start) != line);
        faults.push(Fault::new(at..at + 1, FaultKind::Nul));
    }

    /// Returns the names that damaged blocks may define in unreadable parts.
    fn anchors_in_damage(&self) -> FxHashSet<String> {
        let mut names = FxHashSet::default();
        for (start, block) in self.blocks().filter(|(_, block)| !block.is_intact()) {
            let text = String::from(self.text.byte_slice(start..start + block.length));
            for (at, _) in text.match_indices('&').filter(|(at, _)| text[..*at].ends_with([' ', '\n', '[', '{', ','])) {
                let name = text[at + 1..].split([' ', '\t', '\r', '\n', ',', '[', ']', '{', '}']).next();
                names.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
        names
    }

    fn is_defined(&self, alias: &Name, block: usize) -> bool {
        self.index.anchors.get(&alias.name).is_some_and(|places| {
            places.iter().take_while(|&&place| place <= block).any(|&place| {
                // A node that contains its own alias has no end.
                let before = |anchor: &Name| place < block || (anchor.at < alias.at && anchor.end <= alias.at);
                self.blocks[place].first_anchor(&alias.name).is_some_and(before)
            })
        })
    }

    /// Returns the anchors with at least this many uses, with the use that reaches the count.
    pub fn aliases_beyond(&self, count: usize) -> Vec<(&str, Range<usize>)> {
        let mut found = Vec::new();
        let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
        for alias in self.blocks.iter().flat_map(|block| &block.aliases) {
            *uses.entry(&alias.name).or_default() += 1;
        }
        // Nearly no text has so many.
        if uses.values().all(|used| *used < count) {
            return found;
        }
        uses.clear();
        for (start, block) in self.blocks() {
            let mut names: Vec<(&Name, bool)> = block.anchors.iter().map(|name| (name, true)).collect();
            names.extend(block.aliases.iter().map(|name| (name, false)));
            names.sort_by_key(|(name, _)| name.at);
            for (name, defines) in names {
                let used = uses.entry(&name.name).or_default();
                *used = if defines { 0 } else { *used + 1 };
                if *used == count {
                    found.push((&*name.name, start + name.at..start + name.end));
                }
            }
        }
        found
    }

    /// Finds the root's entries that occur twice, in different blocks.
    fn duplicate_entries(&self, faults: &mut Vec<Fault>) {
        let Some(root) = self.root().filter(|_| !self.is_whole()) else { return };
        let mut seen: FxHashMap<String, (Range<usize>, usize)> = FxHashMap::default();
        for (entry, place) in root.entries().zip(&self.index.entries).filter(|(entry, _)| !entry.is_merge()) {
            let key = entry.key.key_text();
            match seen.get(&key) {
                Some((first, block)) if *block != place.block => {
                    let kind = FaultKind::DuplicateKey { key, mapping: Pointer::root(), first: first.clone() };
                    faults.push(Fault::new(entry.key.range(), kind));
                }
                Some(_) => {}
                None => drop(seen.insert(key, (entry.key.range(), place.block))),
            }
        }
    }

    fn base_of(&self, block: usize, relative: &Pointer) -> Pointer {
        if !matches!(self.blocks[block].kind, BlockKind::Item | BlockKind::MisplacedItem) {
            return relative.clone();
        }
        let list = self.index.lists.iter().rev().find(|list| list.first_block <= block);
        let (base, items) = match (list, &self.index.items) {
            (Some(list), _) => (Pointer::root().key(&list.key), self.index.entries[list.entry].items.as_deref()),
            (None, Some(items)) => (Pointer::root(), Some(items.as_slice())),
            (None, None) => return relative.clone(),
        };
        let mut steps = relative.steps();
        let item = steps.next().and_then(|step| step.index()).unwrap_or(0);
        let index = items.unwrap_or_default().partition_point(|&(place, _)| place < block) + item;
        steps.fold(base.index(index), |pointer, step| pointer.step(&step))
    }

    pub fn has_tab(&self) -> bool {
        self.index.has_tab
    }

    /// Returns each comment that may be addressed to speclens, with the position of its `#`.
    pub fn directives(&self) -> impl Iterator<Item = (usize, String)> {
        let places = self.blocks().flat_map(|(start, block)| block.directives.iter().map(move |at| start + at));
        places.map(|at| {
            let end = self.text.line_to_byte(self.text.byte_to_line(at) + 1);
            (at, String::from(self.text.byte_slice(at..end)))
        })
    }

    /// Returns whether a position is before all content of the text.
    pub fn is_before_first_entry(&self, at: usize) -> bool {
        let first = self.root().and_then(|root| {
            let key = root.entries().next().map(|entry| entry.key);
            key.or_else(|| root.items().next()).map(|first| first.range().start)
        });
        first.is_none_or(|first| at < first)
    }

    /// Returns the positions of number signs that are followed by a digit.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        let mut start = 0;
        let signs = self.text.chunks().flat_map(move |chunk| {
            let first = start;
            start += chunk.len();
            memchr::memchr_iter(b'#', chunk.as_bytes()).map(move |at| first + at)
        });
        signs.filter(|at| self.text.get_byte(at + 1).is_some_and(|next| next.is_ascii_digit()))
    }

    /// Returns whether every byte was readable.
    pub fn is_intact(&self) -> bool {
        self.whole_fault.is_none() && !self.index.is_damaged
    }
}
