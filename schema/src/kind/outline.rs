//! Keys of the first two levels of a text, according to indentation and brackets. Damaged text also has an
//! outline.

/// Keys of the first two levels.
#[derive(Debug, Default)]
pub(crate) struct Outline<'t> {
    pub(crate) keys: Vec<Entry<'t>>,
    /// Keys of the second level.
    pub(crate) below: Vec<Below<'t>>,
    /// Keys of each of the first items, if the root is a list.
    pub(crate) items: Vec<Vec<&'t str>>,
    /// Items of the lists at keys of the root that are scalars, with the index of the key.
    plain: Vec<(usize, &'t str)>,
    /// The last word at the left edge, which may become a key.
    pub(crate) typed: Option<&'t str>,
    /// Whether there is other content.
    pub(crate) other: bool,
}

/// A key, and the value on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'t> {
    pub(crate) key: &'t str,
    /// Value next to the key; empty if there is none, or only a comment.
    pub(crate) value: &'t str,
}

/// A key of the second level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Below<'t> {
    /// Index of its parent key.
    parent: usize,
    /// Whether it is in an item of a list instead of a mapping.
    is_in_item: bool,
    entry: Entry<'t>,
}

impl Entry<'_> {
    /// Returns the value without quotes and without a trailing comment.
    pub(crate) fn text(&self) -> &str {
        let value = self.value.split(" #").next().unwrap_or_default().trim();
        value.trim_matches(['"', '\''])
    }
}

/// Columns of the content directly below a key of the root.
#[derive(Clone, Copy, Debug)]
enum Inner {
    /// Nothing was read yet.
    Unseen,
    Mapping {
        keys: usize,
    },
    List {
        dash: usize,
        keys: usize,
    },
}

impl<'t> Outline<'t> {
    pub(crate) fn of(text: &'t str) -> Outline<'t> {
        /// Maximum number of items and of keys to read. The kind of a suite is apparent early.
        const LIMIT: usize = 256;
        let mut outline = Outline::default();
        if outline.read_flow(text, LIMIT) {
            return outline;
        }
        let mut inner = Inner::Unseen;
        // Column of the keys if the root is a list.
        let mut item_keys = 0;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let words = line.trim_start_matches(' ');
            let indent = line.len() - words.len();
            if words.trim().is_empty() || words.starts_with('#') || (indent == 0 && words.trim_end() == "---") {
                continue;
            }
            if outline.keys.len() + outline.below.len() + outline.items.len() > LIMIT {
                break;
            }
            let dash = words.strip_prefix("- ").or((words == "-").then_some(""));
            if outline.keys.is_empty() {
                match dash {
                    Some(rest) if indent == 0 => {
                        let first = key_of(rest).map(|entry| entry.key);
                        outline.items.push(first.into_iter().chain(in_braces(rest).map(|entry| entry.key)).collect());
                        item_keys = indent_behind(0, rest);
                        continue;
                    }
                    Some(_) | None if !outline.items.is_empty() => {
                        let item = outline.items.last_mut().filter(|item| indent == item_keys && item.len() < LIMIT);
                        if let Some((item, entry)) = item.zip(key_of(words)) {
                            item.push(entry.key);
                        }
                        continue;
                    }
                    Some(_) | None => {}
                }
            }
            let Some(parent) = outline.keys.len().checked_sub(1).filter(|_| indent > 0 || dash.is_some()) else {
                match key_of(words).filter(|_| indent == 0) {
                    Some(entry) => {
                        let at = outline.keys.len();
                        outline.below.extend(in_braces(entry.value).map(|entry| Below::new(at, false, entry)));
                        outline.below.extend(in_brackets(entry.value).map(|entry| Below::new(at, true, entry)));
                        let first = entry.value.strip_prefix('[').and_then(|rest| rest.split([',', ']']).next());
                        outline.plain.extend(first.and_then(scalar).map(|first| (at, first)));
                        outline.keys.push(entry);
                        inner = Inner::Unseen;
                    }
                    None if indent == 0 => {
                        outline.typed = Some(words.trim_end());
                        outline.other = true;
                    }
                    None => {}
                }
                continue;
            };
            match (inner, dash) {
                (Inner::Unseen, Some(rest)) => {
                    inner = Inner::List { dash: indent, keys: indent_behind(indent, rest) };
                    outline.read_item(parent, rest);
                }
                (Inner::Unseen, None) => {
                    inner = Inner::Mapping { keys: indent };
                    outline.below.extend(key_of(words).map(|entry| Below::new(parent, false, entry)));
                }
                (Inner::List { dash, .. }, Some(rest)) if dash == indent => {
                    inner = Inner::List { dash, keys: indent_behind(indent, rest) };
                    outline.read_item(parent, rest);
                }
                (Inner::List { keys, .. }, None) if keys == indent => {
                    outline.below.extend(key_of(words).map(|entry| Below::new(parent, true, entry)));
                }
                (Inner::Mapping { keys }, None) if keys == indent => {
                    outline.below.extend(key_of(words).map(|entry| Below::new(parent, false, entry)));
                }
                (Inner::Mapping { .. } | Inner::List { .. }, Some(_) | None) => {}
            }
        }
        outline
    }

    fn read_item(&mut self, parent: usize, rest: &'t str) {
        let rest = rest.trim_start();
        let entries = key_of(rest).into_iter().chain(in_braces(rest));
        let before = self.below.len();
        self.below.extend(entries.map(|entry| Below::new(parent, true, entry)));
        if self.below.len() == before {
            self.plain.extend(scalar(rest).map(|text| (parent, text)));
        }
    }

    /// Reads a file that is one flow mapping or list, such as JSON; returns false if it is not.
    fn read_flow(&mut self, text: &'t str, limit: usize) -> bool {
        let mut at = 0;
        let start = text.trim_start_matches('\u{feff}').lines().find_map(|line| {
            at = line.as_ptr() as usize - text.as_ptr() as usize;
            let words = line.trim();
            (!words.is_empty() && !words.starts_with('#') && words != "---").then_some(words)
        });
        if !start.is_some_and(|line| line.starts_with(['{', '['])) {
            return false;
        }
        let mut open: Vec<char> = Vec::new();
        // Start of a key or value that has not ended yet.
        let mut begin = None;
        let mut letters = text[at..].char_indices().peekable();
        while let Some((offset, letter)) = letters.next() {
            if self.keys.len() + self.below.len() + self.items.len() > limit {
                break;
            }
            let here = at + offset;
            match letter {
                '{' | '[' => {
                    if letter == '{' && open == ['['] {
                        self.items.push(Vec::new());
                    }
                    open.push(letter);
                    begin = None;
                }
                '}' | ']' => {
                    open.pop();
                    begin = None;
                }
                ',' => begin = None,
                '"' | '\'' if begin.is_none() => {
                    let mut escaped = false;
                    for (_, inner) in letters.by_ref() {
                        if inner == letter && !escaped {
                            break;
                        }
                        escaped = inner == '\\' && letter == '"' && !escaped;
                    }
                    begin = Some(here);
                }
                '#' if begin.is_none() => while letters.next_if(|(_, letter)| *letter != '\n').is_some() {},
                ':' => {
                    let Some(key) = begin.take() else { continue };
                    let key = text[key..here].trim().trim_matches(['"', '\'']);
                    let rest = text[here + 1..].trim_start();
                    let entry = Entry { key, value: rest.split([',', '}', '\n']).next().unwrap_or_default().trim() };
                    let below = |is_in_item| Below::new(self.keys.len() - 1, is_in_item, entry);
                    match open.as_slice() {
                        ['{'] => self.keys.push(entry),
                        ['{', '{'] if !self.keys.is_empty() => self.below.push(below(false)),
                        ['{', '[', '{'] if !self.keys.is_empty() => self.below.push(below(true)),
                        ['[', '{'] => self.items.last_mut().into_iter().for_each(|item| item.push(key)),
                        _ => {}
                    }
                    // A value follows, up to the next comma.
                    begin = None;
                }
                _ if letter.is_whitespace() => {}
                _ => begin = begin.or(Some(here)),
            }
        }
        true
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        self.keys.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    pub(crate) fn members(&self, key: &str) -> impl Iterator<Item = &Entry<'t>> {
        self.of_parent(key, false)
    }

    pub(crate) fn of_items(&self, key: &str) -> impl Iterator<Item = &Entry<'t>> {
        self.of_parent(key, true)
    }

    /// Returns the items of the list at a key of the root that are scalars: in brackets, only the first.
    pub(crate) fn plain_items(&self, key: &str) -> impl Iterator<Item = &'t str> {
        let found = self.plain.iter().filter(move |(parent, _)| self.keys.get(*parent).is_some_and(|it| it.key == key));
        found.map(|(_, text)| *text)
    }

    fn of_parent(&self, key: &str, is_in_item: bool) -> impl Iterator<Item = &Entry<'t>> {
        let found = self.below.iter().filter(move |below| {
            below.is_in_item == is_in_item && self.keys.get(below.parent).is_some_and(|parent| parent.key == key)
        });
        found.map(|below| &below.entry)
    }
}

impl<'t> Below<'t> {
    fn new(parent: usize, is_in_item: bool, entry: Entry<'t>) -> Below<'t> {
        Below { parent, is_in_item, entry }
    }
}

fn scalar(value: &str) -> Option<&str> {
    let text = value.trim();
    (!text.is_empty() && !text.starts_with(|first| "{[]&*!#|>?".contains(first))).then_some(text)
}

fn indent_behind(dash: usize, rest: &str) -> usize {
    dash + 2 + rest.len() - rest.trim_start_matches(' ').len()
}

fn key_of(line: &str) -> Option<Entry<'_>> {
    let line = line.trim_start_matches(' ');
    let (key, rest) = match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].split_once(quote).map(|(key, rest)| (key, rest.trim_start()))?,
        first if first.is_alphanumeric() || first == '_' => {
            let at = line.find(':')?;
            (&line[..at], &line[at..])
        }
        _ => return None,
    };
    let rest = rest.strip_prefix(':').filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))?;
    let value = rest.trim();
    Some(Entry { key: key.trim_end(), value: if value.starts_with('#') { "" } else { value } })
}

/// Returns the entries of the first mapping of a flow list, as far as they are on one line.
fn in_brackets(value: &str) -> impl Iterator<Item = Entry<'_>> {
    let first = value.trim_start().strip_prefix('[').map(str::trim_start).filter(|rest| rest.starts_with('{'));
    let first = first.unwrap_or_default();
    in_braces(first.find('}').map_or(first, |end| &first[..=end]))
}

/// Returns the entries of a flow mapping, as far as they are on one line.
fn in_braces(value: &str) -> impl Iterator<Item = Entry<'_>> {
    let inner = value.trim_start().strip_prefix('{').unwrap_or_default();
    let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
    let mut depth = 0_usize;
    let parts = inner.split(move |letter| {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.filter_map(key_of)
}
