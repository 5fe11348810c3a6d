//! YAML text → tree with byte ranges and faults. Reading never fails: intact parts stay readable.
//!
//! This crate knows only YAML: formats, rules and messages belong to its callers.
//!
//! The text is cut into blocks ([`blocks`]): each top-level entry, and each item of a top-level list, or of a root that
//! is a list. Every block is parsed alone ([`events`]), or recovered ([`recover`]), and kept as long as its text stays
//! the same: a keystroke costs one block. If cutting would change the meaning, the whole text is one block. [`view`]
//! joins the pieces: consumers see one tree.

mod block;
mod block_text;
mod blocks;
mod conflict;
mod dependencies;
mod directives;
mod draft;
mod events;
mod fault;
mod item_bounds;
mod layout;
mod lines;
mod loose;
mod marks;
mod memos;
mod outline;
pub mod parallel;
mod pointer;
#[cfg(test)]
#[expect(clippy::print_stderr, reason = "the long run tells how slow the slowest reading was")]
mod properties;
mod recover;
mod repair;
mod scalar;
mod slots;
mod tree;
mod typo;
mod update;
mod value;
mod view;

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use ropey::Rope;
use rustc_hash::{FxHashMap, FxHashSet};

use block::{Duplicate, Name};
use blocks::SpanKind;
use events::{Parsed, SyntaxError};
use marks::Mark;
use outline::Index;
use slots::{Slot, Slots};
use update::Pending;

pub use block::{Block, BlockKind, is_foreign_blank};
pub use dependencies::Dependencies;
pub use directives::NAME;
pub use events::MAX_NESTING;
pub use fault::{Advice, BlankPlace, Fault, FaultClass, FaultKind, Rewrite, RewriteKind, quoted};
pub use lines::{Encoding, LineColumn, Lines};
pub use memos::Memos;
pub use outline::Definitions;
pub use pointer::{Pointer, Step, Way};
pub use scalar::{Scalar, ScalarRules, is_ambiguous};
pub use tree::{Entry, Node, NodeKind, Style};
pub use value::{Members, NAN, Plain, TooLarge, number};
pub use view::{EntryRef, ItemBlock, ItemBlocks, NodeRef, Shape};

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
    blocks: Slots,
    index: Arc<Index>,
    /// The edits since the tree was last updated.
    pending: Option<Pending>,
    /// A fault that no single block shows: found by reading the whole.
    whole_fault: Option<Fault>,
    notes: Arc<Notes>,
}

/// The blocks of one version of a document.
#[derive(Clone, Debug, Default)]
pub struct Version(Slots);

/// Values that callers attach to a document, one of each type, for all its versions.
#[derive(Default)]
struct Notes(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl fmt::Debug for Notes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Notes")
    }
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
        let skimmed = parallel::beside(|| events::skim(text, rules), || document.refresh());
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
            blocks: Slots::default(),
            index: Arc::default(),
            pending: Some(Pending { old: 0..0, new: 0..length }),
            whole_fault: None,
            notes: Arc::default(),
        }
    }

    /// Reads a text by blocks only, which takes half the time. [`Document::consult_whole`] may follow.
    pub fn read_cut(text: &str, rules: ScalarRules) -> Document {
        Document::read_rope(Rope::from_str(text), rules)
    }

    /// Returns the same for a rope.
    pub fn read_rope(text: Rope, rules: ScalarRules) -> Document {
        let mut document = Document::unread_rope(text, rules);
        document.refresh();
        document
    }

    #[cfg(test)]
    fn read_uncut(text: &str, rules: ScalarRules) -> Document {
        let mut document = Document::unread(text, rules);
        document.adopt(vec![Slot::new(Arc::new(Block::parse(text, BlockKind::Whole, rules, None)))]);
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
        if self.refresh_item(&pending) {
            self.pending = None;
            return;
        }
        match blocks::split(&self.text) {
            None => {
                let text = String::from(&self.text);
                let suspect = self.suspect_of_whole(&pending);
                self.adopt(vec![Slot::new(Arc::new(Block::parse(&text, BlockKind::Whole, self.rules, suspect)))]);
            }
            Some(spans) => {
                self.refresh_blocks(&spans, &pending);
                self.join_loose_lines();
            }
        }
        self.pending = None;
    }

    /// Reads a short text as a whole if cutting damaged it: PyYAML lets the lines of quoted or bracketed text begin
    /// anywhere, so a cut may go through them.
    fn join_loose_lines(&mut self) {
        let damaged = self.blocks.has(Mark::Fault);
        if self.rules == ScalarRules::Yaml11 && damaged && self.text.len_bytes() <= MAX_JOINED_BYTES {
            let text = String::from(&self.text);
            if let Ok(Parsed { root: Some(Node { kind: NodeKind::Mapping(_), .. }), second_document: None }) =
                events::parse(&text, self.rules)
            {
                self.adopt(vec![Slot::new(Arc::new(Block::parse(&text, BlockKind::Whole, self.rules, None)))]);
            }
        }
    }

    /// Lets the whole text decide, as on opening and saving: if it is readable although a block was not, it is kept
    /// whole; if it is not although every block was, its fault is reported.
    pub fn consult_whole(&mut self, text: &str) {
        self.forget_edits(text);
        let is_whole = self.blocks.iter().any(|block| block.kind == BlockKind::Whole);
        if is_whole || self.whole_fault.as_ref().is_some_and(|fault| fault.class() == FaultClass::Limit) {
            return;
        }
        self.apply_whole(text, events::skim(text, self.rules));
    }

    /// Applies the result of reading the whole.
    fn apply_whole(&mut self, text: &str, whole: Result<Parsed, SyntaxError>) {
        if self.is_whole() {
            return;
        }
        let damaged = self.blocks.has(Mark::Fault);
        match (whole, damaged) {
            (Ok(parsed), true) if parsed.root.as_ref().is_some_and(|root| self.may_be_root(root)) => {
                self.adopt(vec![Slot::new(Arc::new(Block::parse(text, BlockKind::Whole, self.rules, None)))]);
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

    /// Reads the damaged blocks without regard to earlier edits: from now on the result is the same as for anyone who
    /// opens the text.
    fn forget_edits(&mut self, text: &str) {
        let edited: Vec<usize> = (0..self.blocks.len()).filter(|&at| self.blocks[at].remembers_edits()).collect();
        if edited.is_empty() {
            return;
        }
        let mut blocks: Vec<Slot> = self.blocks.iter().cloned().collect();
        for at in edited {
            let range = self.extent_of(at);
            blocks[at] = Slot::new(Arc::new(blocks[at].reread(&text[range], self.rules)));
        }
        self.adopt(blocks);
    }

    fn suspect_of_whole(&self, pending: &Pending) -> Option<Range<usize>> {
        let block = self.blocks.only()?;
        let before = block.suspect.clone().unwrap_or(pending.new.clone());
        Some(before.start.min(pending.new.start)..before.end.max(pending.new.end).min(self.text.len_bytes()))
    }

    /// Replaces all blocks.
    fn adopt(&mut self, blocks: Vec<Slot>) {
        self.blocks = Slots::default();
        self.replace(0, 0, blocks);
    }

    /// Returns the text.
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

    /// Returns the rules by which plain scalars are read.
    pub fn rules(&self) -> ScalarRules {
        self.rules
    }

    /// Returns the blocks with their start positions. A block whose text did not change is the same `Arc` as before.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (usize, &Arc<Block>)> {
        self.blocks.starting_at(0).map(|(start, slot)| (start, &slot.block))
    }

    /// Returns the block of a node and its start; `None` for a node that spans blocks.
    pub fn block_of(&self, node: NodeRef<'_>) -> Option<(usize, &Arc<Block>)> {
        node.block().map(|block| (self.start_of(block), &self.blocks[block].block))
    }

    /// Returns the range of the block around a position.
    pub fn block_around(&self, at: usize) -> Range<usize> {
        self.blocks.around(at).map_or(0..0, |number| self.extent_of(number))
    }

    /// Returns the start of a block.
    fn start_of(&self, number: usize) -> usize {
        self.blocks.start(number).byte
    }

    /// Returns the range of a block.
    fn extent_of(&self, number: usize) -> Range<usize> {
        let start = self.start_of(number);
        start..start + self.blocks[number].length
    }

    /// Returns where the items begin that are before a block of an item, without anything else between; the block itself is one
    /// of them. `None` where no such block begins at the place. Lines that belong to nothing count as items.
    pub fn start_of_items(&self, at: usize) -> Option<usize> {
        let is_item = |number: &usize| match self.blocks[*number].kind {
            BlockKind::Item | BlockKind::MisplacedItem | BlockKind::Stray => true,
            BlockKind::Whole | BlockKind::Entry | BlockKind::Head => false,
        };
        let number = self.block_at(at).filter(is_item)?;
        let first = (0..number).rev().take_while(is_item).last().unwrap_or(number);
        Some(self.start_of(first))
    }

    /// Returns the number of the block that begins at a position.
    fn block_at(&self, start: usize) -> Option<usize> {
        self.blocks.around(start).filter(|number| self.start_of(*number) == start)
    }

    /// Returns the block of an item that is alone in it, and its start.
    pub fn own_block(&self, item: NodeRef<'_>) -> Option<(usize, &Arc<Block>)> {
        let number = item.block()?;
        let slot = &self.blocks[number];
        let is_alone = matches!(slot.kind, BlockKind::Item | BlockKind::MisplacedItem) && slot.children == 1;
        is_alone.then(|| (self.start_of(number), &slot.block))
    }

    /// Returns the end of an item, including stray lines after it.
    pub fn end_with_strays(&self, item: NodeRef<'_>) -> usize {
        let Some(block) = item.block().filter(|block| self.blocks[*block].item_count() == 1) else {
            return item.range().end;
        };
        let is_stray = |at: &usize| self.blocks[*at].kind == BlockKind::Stray;
        let last = (block + 1..self.blocks.len()).take_while(is_stray).last().unwrap_or(block);
        self.extent_of(last).end
    }

    /// Returns the blocks of this version.
    pub fn version(&self) -> Version {
        Version(self.blocks.clone())
    }

    /// Returns a number that is the same in two versions only if their blocks begin on the same lines.
    pub fn lines_id(&self) -> u64 {
        self.blocks.lines_id()
    }

    /// Returns the definitions of names in this version.
    pub fn definitions(&self) -> Definitions {
        self.index.definitions.clone()
    }

    /// Returns whether the text could not be cut, so it is one block.
    pub fn is_whole(&self) -> bool {
        self.blocks.only().is_some_and(|block| block.kind == BlockKind::Whole)
    }

    /// Returns the faults: syntax, repeated keys, unknown aliases. In the order of the text.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut unread: Option<FxHashSet<String>> = None;
        let marked = [Mark::Fault, Mark::RepeatedKey].into_iter().flat_map(|mark| self.blocks.marked(mark));
        let mut marked: Vec<usize> = marked.map(|(number, _)| number).collect();
        marked.extend(&*self.index.dangling);
        marked.sort_unstable();
        marked.dedup();
        for number in marked {
            let (start, block) = (self.start_of(number), &self.blocks[number]);
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
        let Some((number, _)) = self.blocks.marked(Mark::Nul).next() else { return };
        let start = self.start_of(number);
        let Some(at) = self.text.byte_slice(start..).bytes().position(|byte| byte == 0).map(|at| start + at) else {
            return;
        };
        let line = self.text.byte_to_line(at);
        faults.retain(|it| it.class() != FaultClass::Syntax || self.text.byte_to_line(it.range.start) != line);
        faults.push(Fault::new(at..at + 1, FaultKind::Nul));
    }

    /// Returns the names that damaged blocks may define in unreadable parts.
    fn anchors_in_damage(&self) -> FxHashSet<String> {
        let mut names = FxHashSet::default();
        for (number, slot) in self.blocks.marked(Mark::Fault) {
            let start = self.start_of(number);
            let text = String::from(self.text.byte_slice(start..start + slot.length));
            for (at, _) in text.match_indices('&').filter(|(at, _)| text[..*at].ends_with([' ', '\n', '[', '{', ','])) {
                let name = text[at + 1..].split([' ', '\t', '\r', '\n', ',', '[', ']', '{', '}']).next();
                names.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
        names
    }

    /// Returns whether an anchor precedes an alias.
    fn is_defined(&self, alias: &Name, block: usize) -> bool {
        self.index.definitions.anchors.get(&alias.name).is_some_and(|places| {
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
        if self.most_uses() < count {
            return found;
        }
        let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
        for (start, slot) in self.blocks.starting_at(0) {
            let mut names: Vec<(&Name, bool)> = slot.block.anchors.iter().map(|name| (name, true)).collect();
            names.extend(slot.block.aliases.iter().map(|name| (name, false)));
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

    /// Returns the number of uses of the name that is used most often.
    fn most_uses(&self) -> usize {
        *self.index.most_uses.get_or_init(|| {
            let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
            for (_, slot) in self.blocks.marked(Mark::Alias) {
                slot.aliases.iter().for_each(|alias| *uses.entry(&alias.name).or_default() += 1);
            }
            uses.into_values().max().unwrap_or_default()
        })
    }

    /// Returns whether a block uses a name that is not defined before it.
    fn has_dangling_alias(&self, number: usize) -> bool {
        self.blocks[number].aliases.iter().any(|alias| !self.is_defined(alias, number))
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

    /// Returns the pointer of a block's node, given its pointer within the block.
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

    /// Returns the state that [`Document::consult_whole`] may change: whether the text was kept whole, whether it has a
    /// fault that no block shows, and how the damaged blocks were read.
    pub fn verdict(&self) -> (bool, bool, Vec<u64>) {
        let damaged = self.blocks.marked(Mark::Fault);
        (self.is_whole(), self.whole_fault.is_some(), damaged.map(|(_, slot)| slot.id).collect())
    }

    /// Returns a value attached to the document. It is shared by all versions of the document and its copies, so it
    /// must suit all of them.
    pub fn notes<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut notes = self.notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = notes.iter().find_map(|note| Arc::clone(note).downcast::<T>().ok()) {
            return found;
        }
        let found: Arc<T> = Arc::default();
        notes.push(Arc::clone(&found) as Arc<dyn Any + Send + Sync>);
        found
    }

    /// Returns whether the text contains a tab.
    pub fn has_tab(&self) -> bool {
        self.blocks.has(Mark::Tab)
    }

    /// Returns the positions of number signs that are followed by a digit.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.blocks.marked(Mark::Number).flat_map(|(number, slot)| {
            let start = self.start_of(number);
            let text = String::from(self.text.byte_slice(start..start + slot.length));
            marks::numbers(&text).map(|at| start + at).collect::<Vec<_>>()
        })
    }

    /// Returns whether every byte was readable.
    pub fn is_intact(&self) -> bool {
        self.whole_fault.is_none() && !self.blocks.has(Mark::Fault)
    }
}

fn block_kind(kind: SpanKind) -> BlockKind {
    match kind {
        SpanKind::Preamble | SpanKind::Entry => BlockKind::Entry,
        SpanKind::Head => BlockKind::Head,
        SpanKind::Item => BlockKind::Item,
        SpanKind::MisplacedItem => BlockKind::MisplacedItem,
        SpanKind::Stray => BlockKind::Stray,
    }
}
