//! A node with its location, as rules use it.

use std::{collections::HashMap, ops::Range};

use crate::{
    document::{EntryRef, NodeRef, Pointer, Scalar, Shape, Style},
    edit,
    finding::{Finding, Location, MessageParts, Relation},
    problem::{Code, Edit},
};

/// A node with its key and its pointer.
#[derive(Clone, Debug)]
pub(crate) struct LintNode<'d> {
    pub(crate) node: NodeRef<'d>,
    pub(crate) key: Option<NodeRef<'d>>,
    /// Location, relative to the root of the rule.
    pub(crate) at: Pointer,
}

impl<'d> LintNode<'d> {
    pub(crate) fn root(node: NodeRef<'d>) -> LintNode<'d> {
        LintNode { node, key: None, at: Pointer::root() }
    }

    pub(crate) fn get(&self, key: &str) -> Option<LintNode<'d>> {
        let entry = self.node.entry(key)?;
        Some(LintNode { node: entry.value, key: Some(entry.key), at: self.at.key(key) })
    }

    /// Returns the value of a key, if it is a string.
    pub(crate) fn text_at(&self, key: &str) -> Option<&'d str> {
        self.node.get(key)?.as_str()
    }

    pub(crate) fn at(&self, place: &Pointer) -> Option<LintNode<'d>> {
        let node = self.node.find(place)?;
        let owner = place.parent().zip(place.last()).and_then(|(parent, last)| self.node.find(&parent)?.entry(&last));
        let key = owner.map(|entry| entry.key);
        Some(LintNode { node, key, at: self.at.join(place) })
    }

    /// Returns the node at a location below this one. If a mapping has a duplicate key, it is the entry at an offset.
    pub(crate) fn around(&self, place: &Pointer, byte: usize) -> Option<LintNode<'d>> {
        let lint_node = self.at(place);
        // The entry at the offset may be an alias, and cannot be found by its bytes.
        if lint_node.as_ref().is_none_or(|lint_node| lint_node.holds(byte) || !lint_node.is_own()) {
            return lint_node;
        }
        let mut found = self.clone();
        for step in place.steps() {
            let twins =
                found.entries().into_iter().filter(|(key, _)| step.key() == Some(key)).map(|(_, member)| member);
            found = twins
                .into_iter()
                .find(|member| member.holds(byte))
                .or_else(|| found.at(&Pointer::root().step(&step)))?;
        }
        Some(found)
    }

    /// Whether an offset is in its key or value.
    fn holds(&self, byte: usize) -> bool {
        let start = self.key.map_or(self.node.own_range().start, |key| key.own_range().start);
        (start..=self.node.own_range().end).contains(&byte)
    }

    pub(crate) fn find(&self, keys: &[&str]) -> Option<LintNode<'d>> {
        let (last, holders) = keys.split_last()?;
        let holder = holders.iter().try_fold(self.node, |node, key| node.get(key))?;
        let entry = holder.entry(last)?;
        let at = keys.iter().fold(self.at.clone(), |at, key| at.key(key));
        Some(LintNode { node: entry.value, key: Some(entry.key), at })
    }

    pub(crate) fn entries(&self) -> Vec<(String, LintNode<'d>)> {
        self.node
            .entries()
            .map(|entry| {
                let key = entry.key.key_text();
                let at = self.at.key(&key);
                (key, LintNode { node: entry.value, key: Some(entry.key), at })
            })
            .collect()
    }

    pub(crate) fn items(&self) -> Vec<LintNode<'d>> {
        let item = |(index, node)| LintNode { node, key: None, at: self.at.index(index) };
        self.node.items().enumerate().map(item).collect()
    }

    pub(crate) fn texts(&self) -> Vec<(&'d str, LintNode<'d>)> {
        self.items().into_iter().filter_map(|item| Some((item.node.as_str()?, item))).collect()
    }

    pub(crate) fn text(&self) -> Option<&'d str> {
        self.node.as_str()
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self.node.scalar() {
            Some(Scalar::Bool(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self.node.scalar() {
            Some(Scalar::Int(value)) => Some(value as f64),
            Some(Scalar::Float(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        self.node.shape() == Shape::Sequence
    }

    pub(crate) fn is_mapping(&self) -> bool {
        self.node.shape() == Shape::Mapping
    }

    /// Whether it is an empty list or mapping.
    pub(crate) fn is_empty(&self) -> bool {
        (self.is_list() && self.node.items().next().is_none())
            || (self.is_mapping() && self.node.entries().next().is_none())
    }

    /// Returns its bytes, or its head if it takes several lines.
    pub(crate) fn range(&self) -> Range<usize> {
        let range = self.node.range();
        if range.is_empty() || !self.node.is_on_one_line() {
            self.only_line().unwrap_or_else(|| self.head())
        } else {
            range
        }
    }

    /// Returns the content of a block scalar of one line.
    fn only_line(&self) -> Option<Range<usize>> {
        if !self.is_own() || !matches!(self.node.style(), Some(Style::Literal | Style::Folded)) {
            return None;
        }
        let content = self.node.text()?.trim_end_matches('\n');
        // A text of several lines is not searched for.
        if content.is_empty() || content.contains('\n') {
            return None;
        }
        Some(self.part(content, 0)).filter(|range| range.len() == content.len())
    }

    /// Returns the bytes of a string; for a block scalar of several lines, those of the first line.
    pub(crate) fn text_range(&self) -> Range<usize> {
        let is_block = self.is_own() && matches!(self.node.style(), Some(Style::Literal | Style::Folded));
        let first = self.node.text().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        match first.filter(|_| is_block) {
            Some(line) => self.part(line.trim(), 0),
            None => self.range(),
        }
    }

    pub(crate) fn problem(&self, code: Code, words: MessageParts) -> Finding {
        Finding::stated(code, words, self.at.clone(), self.range())
    }

    /// Creates a finding at the key, or at the first line of an item, with this text.
    pub(crate) fn head_problem(&self, code: Code, words: MessageParts) -> Finding {
        Finding::stated(code, words, self.at.clone(), self.head())
    }

    pub(crate) fn absence(&self, code: Code, words: MessageParts) -> Finding {
        Finding::absent(code, words, self.at.clone(), self.range())
    }

    /// Creates a finding at the key, with this text, that something is missing.
    pub(crate) fn head_absence(&self, code: Code, words: MessageParts) -> Finding {
        Finding::absent(code, words, self.at.clone(), self.head())
    }

    /// Creates a finding at a string, with this text; for a block scalar of several lines, at the first line.
    pub(crate) fn text_problem(&self, code: Code, words: MessageParts) -> Finding {
        Finding::stated(code, words, self.at.clone(), self.text_range())
    }

    /// Creates a finding at the first occurrence of a part of a string, with this text.
    pub(crate) fn part_problem(&self, part: &str, code: Code, words: MessageParts) -> Finding {
        Finding::stated(code, words, self.at.clone(), self.part(part, 0))
    }

    /// Returns the bytes of the key, or of the first line of an item.
    pub(crate) fn head(&self) -> Range<usize> {
        match self.key {
            Some(key) => key.range(),
            None => head(self.node, &Pointer::root()),
        }
    }

    /// Returns the bytes of a part of a string that is written without escapes; otherwise, all its bytes.
    pub(crate) fn part(&self, part: &str, nth: usize) -> Range<usize> {
        if self.node.resolved().is_through_alias() {
            return self.range();
        }
        let range = self.node.own_range();
        let source = self.node.document().source(range.clone()).unwrap_or_default();
        let found = source.match_indices(part).nth(nth);
        found.map_or_else(|| self.head_or_line(), |(at, _)| range.start + at..range.start + at + part.len())
    }

    /// Returns the first range of each placeholder that is written without escapes, by its text: everything that
    /// [`LintNode::part`] finds, in one pass.
    pub(crate) fn placeholder_places(&self) -> HashMap<String, Range<usize>> {
        let mut found = HashMap::new();
        if !self.is_own() {
            return found;
        }
        let range = self.node.own_range();
        let source = self.node.document().source(range.clone()).unwrap_or_default();
        let begins = memchr::memchr_iter(b'{', source.as_bytes()).filter(|at| source[*at..].starts_with("{{"));
        for at in begins {
            let name = source[at + 2..].split('{').next().unwrap_or_default();
            let Some(length) = name.find("}}") else { continue };
            let end = at + 2 + length + 2;
            found.entry(source[at..end].to_owned()).or_insert(range.start + at..range.start + end);
        }
        found
    }

    /// Returns all its bytes, or its head if it takes several lines.
    pub(crate) fn head_or_line(&self) -> Range<usize> {
        let range = self.node.range();
        if range.is_empty() || !self.node.is_on_one_line() { self.head() } else { range }
    }

    /// Whether its bytes can be edited here: they are its own, not those of an anchor elsewhere.
    pub(crate) fn is_own(&self) -> bool {
        !self.node.resolved().is_through_alias()
    }

    /// Returns the key and the value.
    pub(crate) fn entry(&self) -> Option<EntryRef<'d>> {
        Some(EntryRef { key: self.key?, value: self.node })
    }

    pub(crate) fn renamed(&self, name: &str) -> Option<Vec<Edit>> {
        edit::rename_key(self.key?, name)
    }

    pub(crate) fn replaced(&self, words: impl Into<String>) -> Option<Vec<Edit>> {
        edit::replace(self.node, words)
    }

    /// Returns the edits that replace a part of its text, found by [`LintNode::part`].
    pub(crate) fn with_part(&self, range: &Range<usize>, part: &str, words: impl Into<String>) -> Option<Vec<Edit>> {
        edit::replace_part(self.node, range.clone(), part, words)
    }

    pub(crate) fn without(&self, member: &LintNode<'_>) -> Option<Vec<Edit>> {
        edit::remove_entry(self.node, member.entry()?)
    }

    pub(crate) fn with_behind(&self, key: &str, members: &[(&str, String)]) -> Option<Vec<Edit>> {
        let lines: Vec<String> = members.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        edit::entries_behind(self.node, self.node.entry(key)?, &lines)
    }
}

/// Returns the bytes to underline for a node: the node if it is on one line, otherwise its head.
pub(crate) fn place(root: NodeRef<'_>, at: &Pointer) -> Range<usize> {
    let range = root.find(at).map_or(0..0, NodeRef::range);
    let text = root.document().text();
    let one_line = range.end <= text.len_bytes() && text.byte_to_line(range.start) == text.byte_to_line(range.end);
    if range.is_empty() || !one_line { head(root, at) } else { range }
}

/// Returns the key of a node, or the first line of an item without a key.
pub(crate) fn head(root: NodeRef<'_>, at: &Pointer) -> Range<usize> {
    let key = at.parent().zip(at.last()).and_then(|(parent, last)| root.find(&parent)?.entry(&last));
    if let Some(entry) = key {
        return entry.key.range();
    }
    let Some(node) = root.find(at) else { return root.range() };
    let mut range = node.range();
    if at.is_root()
        && let Some(first) = node.entries().next()
    {
        range.start = first.key.range().start;
    }
    let text = root.document().text();
    let start = range.start.min(text.len_bytes());
    let line = text.byte_to_line(start);
    let words = text.get_byte_slice(start..text.line_to_byte(line + 1)).map(String::from).unwrap_or_default();
    start..range.end.min(start + words.trim_end().len()).max(start)
}
impl<'d> Location<'d> {
    /// Returns the value with its location; for duplicate keys, the underlined one. `None` if
    /// a node is missing.
    pub(crate) fn lint_node(&self) -> Option<LintNode<'d>> {
        LintNode::root(self.root).around(self.at, self.range.start)
    }

    /// Returns the node. `None` if it is missing.
    pub(crate) fn node(&self) -> Option<NodeRef<'d>> {
        Some(self.lint_node()?.node)
    }

    pub(crate) fn parent(&self) -> Option<NodeRef<'d>> {
        Some(self.holder()?.node)
    }

    pub(crate) fn holder(&self) -> Option<LintNode<'d>> {
        LintNode::root(self.root).around(&self.at.parent()?, self.range.start)
    }
}

impl Finding {
    /// Adds a value as a related location, or the first line of a list or mapping.
    pub(crate) fn with(self, label: &'static str, lint_node: &LintNode<'_>) -> Finding {
        self.related(Relation::Labelled(label), lint_node.at.clone(), lint_node.range())
    }
}
