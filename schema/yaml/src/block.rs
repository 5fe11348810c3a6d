//! A piece of the text, parsed alone.

use std::{
    any::Any,
    collections::hash_map::Entry as Slot,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{
    Pointer, Way, directives,
    fault::{Fault, FaultKind},
    item_bounds,
    layout::{is_foreign_blank, line_at},
    loose,
    memos::Memos,
    repair::{self, Root},
    tree::{Entry, Node, NodeKind, Style},
};
use crate::ScalarRules;

/// A parsed piece of the text. It does not know its surroundings: all ranges count from its first byte.
#[derive(Debug)]
pub struct Block {
    id: u64,
    pub(super) length: usize,
    pub(super) kind: BlockKind,
    pub(super) root: Option<Node>,
    pub(super) faults: Vec<Fault>,
    pub(super) anchors: Vec<Name>,
    /// The anchors by name, created on the first request if there are many.
    anchor_table: OnceLock<FxHashMap<SmolStr, Vec<usize>>>,
    pub(super) aliases: Vec<Name>,
    pub(super) duplicates: Vec<Duplicate>,
    /// The positions of comments that may be addressed to speclens.
    pub(super) directives: Vec<usize>,
    /// Whether its text contains two less-than signs, which a key that merges consists of.
    pub(super) has_merge: bool,
    pub(super) has_tab: bool,
    memos: Memos,
}

/// The role of a block in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// The text was not cut.
    Whole,
    /// Entries of the root mapping.
    Entry,
    /// The key of a list whose items are blocks.
    Head,
    /// Items of the preceding list.
    Item,
    /// An item whose dash is not aligned with the list's other dashes.
    MisplacedItem,
    /// A line that does not belong to anything.
    Stray,
}

impl BlockKind {
    fn root(self) -> Root {
        match self {
            BlockKind::Whole | BlockKind::Stray => Root::Any,
            BlockKind::Entry | BlockKind::Head => Root::Mapping,
            BlockKind::Item | BlockKind::MisplacedItem => Root::Sequence,
        }
    }
}

/// The name of an anchor or an alias.
#[derive(Debug)]
pub(super) struct Name {
    pub name: SmolStr,
    /// Start of the anchor's node, or of the alias.
    pub at: usize,
    /// End of the anchor's node, or of the alias.
    pub end: usize,
}

/// A key that occurs twice in one mapping.
#[derive(Debug)]
pub(super) struct Duplicate {
    /// The mapping, relative to the block's root.
    pub mapping: Pointer,
    pub key: String,
    pub range: Range<usize>,
    pub first: Range<usize>,
}

impl Block {
    pub(super) fn parse(text: &str, kind: BlockKind, rules: ScalarRules) -> Block {
        let mut block = Block {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            length: text.len(),
            kind,
            root: None,
            faults: Vec::new(),
            anchors: Vec::new(),
            anchor_table: OnceLock::new(),
            aliases: Vec::new(),
            duplicates: Vec::new(),
            directives: Vec::new(),
            has_merge: memchr::memmem::find(text.as_bytes(), b"<<").is_some(),
            has_tab: memchr::memchr(b'\t', text.as_bytes()).is_some(),
            memos: Memos::default(),
        };
        match survived(|| loose::parse(text, rules)) {
            None => block.faults.push(unreadable(text)),
            Some(Ok(parsed)) => {
                // A line of `---` alone is not an empty string; nor does a file that says `~` mean more than an empty
                // one.
                let is_nothing = |root: &Node| match &root.kind {
                    NodeKind::Scalar { value, style: Style::Plain } => {
                        let is_null = matches!(&**value, "~" | "null" | "Null" | "NULL") && kind == BlockKind::Whole;
                        (root.range().is_empty() || is_null) && root.anchor().is_none() && root.tag().is_none()
                    }
                    NodeKind::Scalar { .. } | NodeKind::Sequence(_) | NodeKind::Mapping(_) | NodeKind::Alias(_) => {
                        false
                    }
                };
                block.root = parsed.root.filter(|root| !is_nothing(root));
                block.faults.extend(parsed.second_document.map(|second| second_document(text, second)));
                block.expect_shape(text, rules);
            }
            Some(Err(error)) => match survived(|| repair::read(text, kind.root(), rules, &error)) {
                Some(recovered) => {
                    block.root = recovered.root;
                    block.faults = recovered.faults;
                }
                None => block.faults.push(unreadable(text)),
            },
        }
        block.expect_items(text);
        block.expect_margin(text);
        block.expect_spaces(text);
        block.directives = directives::marks(text, block.root.as_ref());
        block.drop_foreign_root();
        if let Some(root) = &block.root {
            let mut survey =
                Survey { anchors: &mut block.anchors, aliases: &mut block.aliases, duplicates: &mut block.duplicates };
            survey.node(root, &Way::Root);
        }
        block
    }

    /// Checks that a valid piece is allowed at its place.
    fn expect_shape(&mut self, text: &str, rules: ScalarRules) {
        if self.kind == BlockKind::Stray && text.starts_with("---") {
            self.faults.push(second_document(text, 0));
            return;
        }
        let Some(root) = &self.root else {
            if self.kind == BlockKind::Stray && text.starts_with("...") {
                self.faults.push(Fault::new(0..3, FaultKind::DocumentEnd));
            }
            return;
        };
        let (fits, kind) = match self.kind {
            BlockKind::Whole => return,
            BlockKind::Entry | BlockKind::Head => {
                // A mapping in braces is a value, not an entry.
                let braces = text[root.range().start..].starts_with('{');
                (matches!(root.kind, NodeKind::Mapping(_)) && !braces, FaultKind::ExpectedEntry)
            }
            BlockKind::Item => (matches!(root.kind, NodeKind::Sequence(_)), FaultKind::ExpectedItem),
            BlockKind::MisplacedItem => (false, FaultKind::MisalignedDash),
            BlockKind::Stray => (false, FaultKind::OutsideKeys),
        };
        if fits {
            return;
        }
        let range = root.range();
        if let Some(Some(reread)) = survived(|| repair::reread(text, self.kind.root(), rules, range.start)) {
            self.root = reread.root;
            self.faults.extend(reread.faults);
            return;
        }
        let words = text.get(range.clone()).unwrap_or_default().lines().next().unwrap_or_default().trim_end();
        self.faults.push(match Fault::tabs(text, range.start) {
            Some(fault) => fault,
            None if matches!(self.kind, BlockKind::Entry | BlockKind::Head) => Fault::no_entry(words, range.start),
            None => Fault::new(range.start..range.start + words.len(), kind),
        });
        // A key without its colon keeps the items below it reachable.
        self.root = (self.kind == BlockKind::Head).then(|| {
            let kind = NodeKind::Scalar { value: words.into(), style: Style::Plain };
            let key = Node::new(range.start..range.start + words.len(), kind);
            let value = Node::empty(key.range().end);
            Node::new(key.range(), NodeKind::Mapping(vec![Entry { key, value }]))
        });
    }

    /// Separates items that lack their dash, or are indented too deep, from those above them.
    fn expect_items(&mut self, text: &str) {
        if let Some(root) = &mut self.root {
            self.faults.extend(item_bounds::separate(root, text));
        }
    }

    /// Checks that the entries of the root begin at the margin.
    fn expect_margin(&mut self, text: &str) {
        if !matches!(self.kind, BlockKind::Entry | BlockKind::Head) {
            return;
        }
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let words = line.trim_start_matches(' ');
            if !words.trim().is_empty() && !words.starts_with(['#', '\t']) {
                if words.len() < line.len() {
                    self.faults.push(Fault::indented(text, line_at(text, start), 0));
                }
                return;
            }
            start += line.len();
        }
    }

    /// Checks whether a no-break space in its indentation damaged a line.
    fn expect_spaces(&mut self, text: &str) {
        if self.faults.is_empty() || !text.contains(is_foreign_blank) {
            return;
        }
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let words = line.trim_start_matches(|letter| letter == ' ' || is_foreign_blank(letter));
            let blanks = &line[..line.len() - words.len()];
            let range = start..start + blanks.len();
            let of_line = start..start + line.len();
            start += line.len();
            let is_damaged = |fault: &Fault| of_line.contains(&fault.range.start);
            if blanks.contains(is_foreign_blank) && !words.trim().is_empty() && self.faults.iter().any(is_damaged) {
                self.faults.retain(|fault| !is_damaged(fault));
                self.faults.push(Fault::foreign_blanks(text, range));
            }
        }
    }

    fn drop_foreign_root(&mut self) {
        let fits = match (&self.root, self.kind) {
            (None, _) | (_, BlockKind::Whole) => true,
            (Some(root), BlockKind::Entry | BlockKind::Head) => matches!(root.kind, NodeKind::Mapping(_)),
            (Some(root), BlockKind::Item | BlockKind::MisplacedItem) => matches!(root.kind, NodeKind::Sequence(_)),
            (Some(_), BlockKind::Stray) => false,
        };
        if !fits {
            self.root = None;
        }
    }

    /// Returns its id, unique in this process.
    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn item_count(&self) -> usize {
        match (self.kind, self.root.as_ref().map(|root| &root.kind)) {
            (BlockKind::Item | BlockKind::MisplacedItem, Some(NodeKind::Sequence(items))) => items.len(),
            _ => 0,
        }
    }

    pub(super) fn key_of(&self, entry: usize) -> String {
        match self.root.as_ref().map(|root| &root.kind) {
            Some(NodeKind::Mapping(entries)) => {
                entries.get(entry).and_then(|entry| key_text(&entry.key)).unwrap_or_default().to_owned()
            }
            Some(NodeKind::Sequence(_) | NodeKind::Scalar { .. } | NodeKind::Alias(_)) | None => String::new(),
        }
    }

    /// Returns the first anchor with this name.
    pub(super) fn first_anchor(&self, name: &str) -> Option<&Name> {
        match self.anchors_in_table(name) {
            Some(places) => places.first().map(|&place| &self.anchors[place]),
            None => self.anchors.iter().find(|anchor| *anchor.name == *name),
        }
    }

    /// Returns the last anchor with this name whose node begins before a place.
    pub(super) fn last_anchor(&self, name: &str, before: usize) -> Option<&Name> {
        match self.anchors_in_table(name) {
            Some(places) => {
                let count = places.partition_point(|&place| self.anchors[place].at < before);
                Some(&self.anchors[places[count.checked_sub(1)?]])
            }
            None => self.anchors.iter().rfind(|anchor| *anchor.name == *name && anchor.at < before),
        }
    }

    fn anchors_in_table(&self, name: &str) -> Option<&[usize]> {
        /// Below this, a linear search is faster than a table.
        const MAX_LINEAR_SEARCH_ITEMS: usize = 16;
        (self.anchors.len() > MAX_LINEAR_SEARCH_ITEMS).then(|| {
            let table = self.anchor_table.get_or_init(|| {
                let mut table: FxHashMap<SmolStr, Vec<usize>> = FxHashMap::default();
                for (place, anchor) in self.anchors.iter().enumerate() {
                    table.entry(anchor.name.clone()).or_default().push(place);
                }
                table
            });
            table.get(name).map(Vec::as_slice).unwrap_or_default()
        })
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns its role in the document.
    pub fn kind(&self) -> BlockKind {
        self.kind
    }

    /// Returns whether all of it was readable.
    pub fn is_intact(&self) -> bool {
        self.faults.is_empty()
    }

    /// Returns whether it refers to names that may be defined elsewhere.
    pub fn has_aliases(&self) -> bool {
        !self.aliases.is_empty()
    }

    /// Returns the cached value for `key`, or computes it. The block itself never changes, so it is the place for the
    /// cache: one value of each type.
    pub fn memo<T: Any + Send + Sync>(&self, key: u64, compute: impl FnOnce() -> T) -> Arc<T> {
        self.memos.memo(key, compute)
    }
}

/// Returns the fault of a text in which a second document begins.
pub(super) fn second_document(text: &str, second: usize) -> Fault {
    let end = text[second..].char_indices().nth(3).map_or(text.len(), |(at, _)| second + at);
    Fault::new(second..end, FaultKind::SecondDocument)
}

/// Returns the result, unless the reader panicked: a defect in one block must not affect the rest of the document.
fn survived<T>(read: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).ok()
}

/// Returns the fault of a block that could not be read because of a defect.
fn unreadable(text: &str) -> Fault {
    let start = text.len() - text.trim_start().len();
    let end = text[start..].find(['\n', '\r']).map_or(text.len(), |end| start + end);
    Fault::new(start..end, FaultKind::Defect)
}

/// Blocks are identified by number, because an address may be reused.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Collects facts about more than one node.
struct Survey<'b> {
    anchors: &'b mut Vec<Name>,
    aliases: &'b mut Vec<Name>,
    duplicates: &'b mut Vec<Duplicate>,
}

impl Survey<'_> {
    fn node(&mut self, node: &Node, way: &Way<'_>) {
        if let Some(name) = node.anchor() {
            self.anchors.push(Name { name: name.into(), at: node.range().start, end: node.range().end });
        }
        match &node.kind {
            NodeKind::Scalar { .. } => {}
            NodeKind::Alias(name) => {
                self.aliases.push(Name { name: name.clone(), at: node.range().start, end: node.range().end });
            }
            NodeKind::Sequence(items) => {
                items.iter().enumerate().for_each(|(index, item)| self.node(item, &Way::Item(way, index)));
            }
            NodeKind::Mapping(entries) => {
                // A few keys are compared with each other; many use a table.
                let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
                for (index, Entry { key, value }) in entries.iter().enumerate() {
                    let text = key_text(key);
                    let first = if entries.len() <= 16 {
                        entries[..index].iter().position(|entry| text.is_some() && key_text(&entry.key) == text)
                    } else {
                        text.and_then(|text| match seen.entry(text) {
                            Slot::Occupied(first) => Some(*first.get()),
                            Slot::Vacant(slot) => {
                                slot.insert(index);
                                None
                            }
                        })
                    };
                    if let (Some(first), Some(text)) = (first, text) {
                        self.duplicates.push(Duplicate {
                            mapping: way.pointer(),
                            key: text.to_owned(),
                            range: key.range(),
                            first: entries[first].key.range(),
                        });
                    }
                    self.node(key, way);
                    self.node(value, &Way::Entry(way, text.unwrap_or_default()));
                }
            }
        }
    }
}

fn key_text(key: &Node) -> Option<&str> {
    match &key.kind {
        NodeKind::Scalar { value, .. } => Some(value),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) | NodeKind::Alias(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{FaultKind, survived, unreadable};
    use crate::{Document, ScalarRules};

    #[test]
    fn memo_may_ask_for_another_memo_of_its_block() {
        let document = Document::read("a: b\n", ScalarRules::Yaml12);
        let (_, block) = document.blocks().next().expect("a block");
        let outer: Arc<usize> = block.memo(1, || block.memo(1, || "inner".to_owned()).len());
        assert_eq!(*outer, 5);
        let kept: Arc<usize> = block.memo(1, || 0);
        assert_eq!(*kept, 5);
        let other: Arc<usize> = block.memo(2, || 0);
        assert_eq!(*other, 0);
    }

    #[test]
    fn panic_of_the_reader_is_a_fault_of_its_block() {
        assert_eq!(survived(|| 1), Some(1));
        assert_eq!(survived(|| "ä".split_at(1)), None);
        let fault = unreadable("\u{a0}\n  key: value\nb: c");
        assert_eq!(fault.range, 5..15);
        assert_eq!(fault.kind, FaultKind::Defect);
    }
}
