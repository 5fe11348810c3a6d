//! The context of the cursor. Indentation decides, read line by line upwards from the cursor, so it works while a line
//! is half typed; the tree then provides the nodes around it.

use std::ops::Range;

use speclens_schema::{
    document::{self, Document, NodeRef, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    shape::{Shape, Type},
};

use super::{
    flow::{self, FlowSlot},
    line::{Line, Parts, Segment, SegmentKind},
};

/// The context of the cursor.
#[derive(Debug)]
pub(crate) struct Context<'d> {
    /// The mapping or list around the cursor, or the value that is being typed.
    pub at: Pointer,
    /// The schema there.
    pub shape: Shape,
    /// The node there, as far as it can be read.
    pub node: Option<NodeRef<'d>>,
    /// The kind of text that is being typed.
    pub slot: Slot,
    /// The bytes that would be replaced, all on one line.
    pub token: Range<usize>,
    /// The layout for new lines.
    pub layout: Layout,
}

/// The kind of text that is being typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    /// A key of the mapping.
    Key {
        /// Whether it has a colon.
        has_colon: bool,
        /// The keys before it. The tree may not have them all.
        before: Vec<String>,
        /// The quote around the cursor.
        quote: Option<char>,
    },
    /// The value.
    Value {
        /// The quote around the cursor.
        quote: Option<char>,
    },
    /// A continuation of a text that began on a line above.
    Continued,
    /// The mapping or list after its key's colon, on the same line, which is still empty.
    Below,
    /// An item of the list without its dash.
    Item,
    /// A comment.
    Comment,
}

/// The layout of new text at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Whether it is in brackets.
    pub flow: bool,
    /// The column of the neighboring keys or dashes.
    pub column: usize,
    /// The indentation of the cursor's line.
    pub indent: usize,
    /// The indentation per level.
    pub step: usize,
    /// The line break.
    pub line_break: &'static str,
    /// The text to insert before the new text: a blank after a colon or dash.
    pub gap: &'static str,
}

/// The context that the lines above the cursor define.
struct Above {
    /// From the inside out.
    parents: Vec<Segment>,
    /// Keys in the same column, of the same mapping.
    siblings: Vec<String>,
}

impl<'d> Context<'d> {
    /// Returns the context of the cursor; `None` if it is unknown.
    pub(crate) fn find(document: &'d Document, file: SpecFile, offset: usize) -> Option<Context<'d>> {
        Finder { document, file, offset }.find()
    }
}

struct Finder<'d> {
    document: &'d Document,
    file: SpecFile,
    offset: usize,
}

/// More blanks than any line begins with.
const BLANKS: &str = "                                                                ";

/// The position of new text on a blank line.
struct Blank {
    column: usize,
    /// Whether a list item follows in this column.
    is_item: bool,
    /// The following line, if it is the first child of the key above.
    first: Option<Child>,
}

fn holds_something(line: &Line<'_>) -> bool {
    !line.is_blank() && !line.text.trim_start().starts_with('#')
}

/// Whether a line belongs to the key in `column` on the line above it.
fn is_below((indent, child): (usize, Child), column: usize) -> bool {
    indent > column || (indent == column && child == Child::Item)
}

/// The start of a line below a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    Item,
    Key,
    Text,
}

/// A place in the tree during the descent.
#[derive(Clone)]
struct Step<'d> {
    at: Pointer,
    shape: Option<Shape>,
    node: Option<NodeRef<'d>>,
}

impl<'d> Finder<'d> {
    fn find(&self) -> Option<Context<'d>> {
        let text = self.document.text();
        let number = text.byte_to_line(self.offset);
        let line = Line::of(text, number);
        if self.offset < line.start || self.offset > line.end() {
            return None;
        }
        let mut layout = Layout {
            flow: false,
            column: 0,
            indent: line.indent().min(self.offset - line.start),
            step: 2,
            line_break: self.line_break(),
            gap: "",
        };
        if let Some(open) = self.flow_root() {
            layout.flow = true;
            return self.in_flow(self.root(), open, layout);
        }
        let parts = line.parts();
        let before: Vec<&Segment> = parts.segments.iter().filter(|segment| segment.at < self.offset).collect();
        let is_blank = line.is_blank();
        let column = if is_blank { self.offset - line.start } else { line.indent() };
        let first_is_dash = parts.segments.first().is_some_and(|segment| segment.kind == SegmentKind::Dash);
        let column = self.column_before_bracket(number, &line, column);
        let mut token = self.offset..self.offset;
        let mut beside = None;
        if is_blank {
            let blank = self.blank_line(number, column)?;
            if column < blank.column {
                layout.gap = BLANKS.get(..blank.column - column)?;
            }
            token.start = token.start.min(line.start + blank.column);
            layout.indent = layout.indent.min(blank.column);
            beside = Some(blank);
        }
        let column = beside.as_ref().map_or(column, |blank| blank.column);
        let is_item = beside.as_ref().is_some_and(|blank| blank.is_item);
        let above = self.above(number, column, is_item || (first_is_dash && !before.is_empty()));
        layout.column = column;
        layout.step = step_of(&above.parents, column);

        // Down to the cursor's line; a text or brackets that began above contain everything below.
        let mut here = self.root();
        for parent in above.parents.iter().rev() {
            here = self.step(&here, parent);
            if let Some(value) = value_of(parent, text)
                && let Some(held) = self.held(&here, value, &layout)
            {
                return held;
            }
        }
        if let Some(comment) = parts.comment.filter(|comment| self.offset > *comment) {
            return self.context(&self.root(), Slot::Comment, comment..line.end(), layout);
        }
        if line.indent() > self.offset - line.start && !is_blank {
            return None;
        }
        if is_blank {
            let first = beside.and_then(|blank| blank.first);
            let fits = match here.shape.as_ref()?.kind() {
                Type::Mapping => first.is_none_or(|first| first == Child::Key),
                Type::List => first.is_none_or(|first| first == Child::Item),
                Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => first.is_none(),
            };
            return fits.then(|| self.word(here, token, above.siblings, layout)).flatten();
        }
        self.on_line(here, &line, &parts, above.siblings, layout)
    }

    /// Returns the context of the cursor on a line that is not blank.
    fn on_line(
        &self,
        mut here: Step<'d>,
        line: &Line<'_>,
        parts: &Parts,
        mut siblings: Vec<String>,
        mut layout: Layout,
    ) -> Option<Context<'d>> {
        for segment in &parts.segments {
            match &segment.kind {
                SegmentKind::Dash => {
                    if self.offset <= segment.at {
                        return None;
                    }
                    here = self.step(&here, segment);
                    siblings.clear();
                    layout.column = segment.column + 2;
                    if self.offset == segment.at + 1 {
                        layout.gap = " ";
                    }
                }
                SegmentKind::Key { range, colon_end, value, .. } => {
                    layout.column = segment.column;
                    if self.offset < range.start {
                        return None;
                    }
                    if self.offset <= range.end {
                        let slot = Slot::Key { has_colon: true, before: siblings, quote: None };
                        return self.context(&here, slot, range.clone(), layout);
                    }
                    if self.offset < *colon_end {
                        return None;
                    }
                    let here = self.step(&here, segment);
                    layout.gap = if self.offset == *colon_end { " " } else { "" };
                    if value.is_empty() {
                        return self.empty_value(here, *colon_end, layout);
                    }
                    return self.written(here, line, value.clone(), layout);
                }
            }
        }
        // An anchor or a tag that is being typed.
        let behind = parts.segments.last().map_or(line.start, |last| last.at + 1);
        let word = line.slice(behind.min(self.offset)..self.offset);
        if word.trim_start().starts_with(['&', '!']) && !word.ends_with(' ') && self.offset <= parts.rest.start {
            return None;
        }
        if parts.rest.is_empty() {
            layout.column = layout.column.max(self.offset - line.start);
            return self.word(here, self.offset..self.offset, siblings, layout);
        }
        if self.offset < parts.rest.start || self.offset > parts.rest.end {
            return None;
        }
        layout.column = parts.rest.start - line.start;
        let opens = line.slice(parts.rest.clone()).starts_with(['{', '[', '"', '\'', '|', '>']);
        let is_mapping = here.shape.as_ref().is_some_and(|shape| shape.kind() == Type::Mapping);
        match opens && !(is_mapping && line.slice(parts.rest.clone()).starts_with(['"', '\''])) {
            true => self.written(here, line, parts.rest.clone(), layout),
            false => self.word(here, parts.rest.clone(), siblings, layout),
        }
    }

    /// Returns the context of a word, or of an empty position, in a mapping, a list, or at a value.
    fn word(&self, here: Step<'d>, token: Range<usize>, before: Vec<String>, layout: Layout) -> Option<Context<'d>> {
        let mut here = here;
        // A word may become a key if both a text and a mapping are possible.
        let is_address = self.document.text().byte_slice(token.clone()).to_string().contains(':');
        let is_mapping = here.node.is_some_and(|node| node.shape() == NodeShape::Mapping);
        if let Some(shape) = here.shape.as_ref().filter(|_| !is_address).map(|shape| shape.at(None))
            && shape.text_form().is_some()
            && !is_mapping
        {
            here.shape = Some(shape);
            here.node = None;
        }
        let slot = match here.shape.as_ref()?.kind() {
            Type::Mapping => Slot::Key { has_colon: false, before, quote: None },
            Type::List => Slot::Item,
            Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => Slot::Value { quote: None },
        };
        self.context(&here, slot, token, layout)
    }

    /// Returns the context after a colon. The lines below decide where more of the value belongs, and whether a value
    /// may be inserted before it.
    fn empty_value(&self, here: Step<'d>, colon_end: usize, mut layout: Layout) -> Option<Context<'d>> {
        let kind = here.shape.as_ref()?.kind();
        let below = self.first_below(layout.column);
        let (slot, token) = match (kind, below) {
            (Type::Mapping | Type::List, None) => {
                layout.column += layout.step;
                (Slot::Below, colon_end..self.offset)
            }
            (Type::Mapping, Some((column, Child::Key))) | (Type::List, Some((column, Child::Item))) => {
                layout.column = column;
                (Slot::Below, colon_end..self.offset)
            }
            (Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any, None) => {
                (Slot::Value { quote: None }, self.offset..self.offset)
            }
            (_, Some(_)) => return None,
        };
        self.context(&here, slot, token, layout)
    }

    /// Returns the column and the kind of the first line that belongs to a key in `column` on the cursor's line.
    fn first_below(&self, column: usize) -> Option<(usize, Child)> {
        let next = self.next_line(self.document.text().byte_to_line(self.offset))?;
        is_below(next, column).then_some(next)
    }

    /// Returns the column and the kind of the next line that is not blank.
    fn next_line(&self, number: usize) -> Option<(usize, Child)> {
        let text = self.document.text();
        let mut lines = (number + 1..text.len_lines()).map(|number| Line::of(text, number));
        let line = lines.find(|line| holds_something(line))?;
        let child = match line.parts().segments.first().map(|segment| &segment.kind) {
            Some(SegmentKind::Dash) => Child::Item,
            Some(SegmentKind::Key { .. }) => Child::Key,
            None => Child::Text,
        };
        Some((line.indent(), child))
    }

    /// Returns the position of new text on a blank line with the cursor in `column`; `None` if it would separate
    /// the lines below from their parent.
    fn blank_line(&self, number: usize, column: usize) -> Option<Blank> {
        let as_it_is = Blank { column, is_item: false, first: None };
        let Some(next) = self.next_line(number) else { return Some(as_it_is) };
        let text = self.document.text();
        let before = (0..number).rev().map(|number| Line::of(text, number)).find(holds_something);
        let opened = before.and_then(|line| match line.parts().segments.last() {
            Some(Segment { kind: SegmentKind::Key { value, .. }, column, .. }) if value.is_empty() => Some(*column),
            Some(_) | None => None,
        });
        if let Some(key) = opened.filter(|key| is_below(next, *key))
            && (column > key || (column == key && next == (column, Child::Item)))
        {
            return Some(Blank { column: next.0, is_item: next.1 == Child::Item, first: Some(next.1) });
        }
        let is_item = next == (column, Child::Item);
        (next.0 <= column || next.1 == Child::Text).then_some(Blank { is_item, ..as_it_is })
    }

    /// Returns the context of a value that begins on the cursor's line.
    fn written(&self, here: Step<'d>, line: &Line<'_>, value: Range<usize>, mut layout: Layout) -> Option<Context<'d>> {
        if self.offset < value.start || self.offset > value.end {
            return None;
        }
        let text = line.slice(value.clone());
        let is_text = here.shape.as_ref().is_some_and(|shape| shape.kind() == Type::Text);
        match text.chars().next()? {
            '{' | '[' if self.offset > value.start && !(is_text && text.starts_with("{{")) => {
                layout.flow = true;
                self.in_flow(here, value.start, layout)
            }
            quote @ ('"' | '\'') if self.offset > value.start => {
                let end = super::line::quote_end(text).map_or(value.end, |end| value.start + end - 1);
                (self.offset <= end)
                    .then(|| self.context(&here, Slot::Value { quote: Some(quote) }, value.start + 1..end, layout))
                    .flatten()
            }
            // Directly before brackets or quotes, a value would be a second one.
            '{' | '[' | '"' | '\'' if self.offset == value.start => None,
            _ => self.context(&here, Slot::Value { quote: None }, value, layout),
        }
    }

    /// Returns the context of a value that began on a line above and contains the cursor: brackets, or text. `None` if
    /// the value allows other nodes below it.
    fn held(&self, here: &Step<'d>, value: Range<usize>, layout: &Layout) -> Option<Option<Context<'d>>> {
        let text = self.document.text();
        let number = text.byte_to_line(value.start);
        let line = Line::of(text, number);
        let first = *line.slice(value.clone()).as_bytes().first()?;
        let is_text = here.shape.as_ref().is_some_and(|shape| shape.kind() == Type::Text);
        let layout = layout.clone();
        Some(match first {
            b'{' | b'[' if !(is_text && line.slice(value.clone()).starts_with("{{")) => {
                self.in_flow(here.clone(), value.start, Layout { flow: true, ..layout })
            }
            b'*' => None,
            _ => {
                let cursor_line = Line::of(text, text.byte_to_line(self.offset));
                let token =
                    cursor_line.start + cursor_line.indent().min(self.offset - cursor_line.start)..cursor_line.end();
                is_text.then(|| self.context(here, Slot::Continued, token, layout)).flatten()
            }
        })
    }

    fn in_flow(&self, here: Step<'d>, open: usize, layout: Layout) -> Option<Context<'d>> {
        let text = self.document.text();
        let end = text.line_to_byte((text.byte_to_line(self.offset) + 1).min(text.len_lines()));
        let held = String::from(text.byte_slice(open..end.max(self.offset)));
        let place = flow::place(&held, self.offset - open)?;
        let mut here = here;
        for step in &place.steps {
            here = self.stepped(&here, step);
        }
        let token = open + place.token.start..open + place.token.end;
        // The gap between `:` and the cursor.
        let mut layout = layout;
        layout.gap = if token.is_empty() && held[..self.offset - open].ends_with(':') { " " } else { "" };
        let slot = match place.slot {
            FlowSlot::Key(before) => {
                let behind = held[place.token.end..].trim_start_matches(['"', '\'', ' ']);
                Slot::Key { has_colon: behind.starts_with(':'), before, quote: place.quote }
            }
            FlowSlot::Value => Slot::Value { quote: place.quote },
        };
        self.context(&here, slot, token, layout)
    }

    fn context(&self, here: &Step<'d>, slot: Slot, token: Range<usize>, layout: Layout) -> Option<Context<'d>> {
        let shape = here.shape.clone()?;
        let text = self.document.text();
        let line = Line::of(text, text.byte_to_line(self.offset));
        let token = token.start.max(line.start)..token.end.min(line.end());
        Some(Context { at: here.at.clone(), shape, node: here.node, slot, token, layout })
    }

    fn root(&self) -> Step<'d> {
        Step { at: Pointer::root(), shape: Some(Shape::of(self.file)), node: self.document.root() }
    }

    fn step(&self, here: &Step<'d>, segment: &Segment) -> Step<'d> {
        match &segment.kind {
            SegmentKind::Key { name, .. } => self.stepped(here, &document::Step::Key(name.as_str().into())),
            SegmentKind::Dash => {
                let index = self.index_of(here.node, segment.at);
                let number = index.unwrap_or(here.node.map_or(0, |list| list.item_count()));
                let mut item = self.stepped(here, &document::Step::Index(number));
                item.node = index.and_then(|index| here.node?.item_at(index));
                item
            }
        }
    }

    fn stepped(&self, here: &Step<'d>, step: &document::Step<'_>) -> Step<'d> {
        let node = here.node.and_then(|node| node.find(&Pointer::root().step(step)));
        let shape = here.shape.as_ref().and_then(|shape| shape.step_to(step, here.node));
        Step { at: here.at.step(step), shape, node }
    }

    /// Returns the index of the item after a dash.
    fn index_of(&self, list: Option<NodeRef<'d>>, dash: usize) -> Option<usize> {
        let list = list?;
        let (mut low, mut high) = (0, list.item_count());
        while low < high {
            let middle = low + (high - low) / 2;
            if list.item_at(middle)?.range().start <= dash { low = middle + 1 } else { high = middle }
        }
        // The item may begin on a later line, but before the next dash in the same column.
        let item = list.item_at(low)?.range();
        let text = self.document.text();
        let (dash_line, item_line) = (text.byte_to_line(dash), text.byte_to_line(item.start));
        let is_own = (dash_line + 1..=item_line).all(|number| {
            let line = Line::of(text, number);
            line.is_blank() || line.indent() > dash - text.line_to_byte(dash_line)
        });
        is_own.then_some(low)
    }

    /// Walks upwards to the nearest line with less indentation, and so on.
    fn above(&self, number: usize, column: usize, from_dash: bool) -> Above {
        let text = self.document.text();
        let mut above = Above { parents: Vec::new(), siblings: Vec::new() };
        let (mut limit, mut from_dash) = (column, from_dash);
        let mut number = number;
        while number > 0 && (limit > 0 || from_dash) {
            number -= 1;
            let line = Line::of(text, number);
            if line.indent() > limit {
                continue;
            }
            let parts = line.parts();
            let is_parent = |segment: &Segment| {
                segment.column < limit
                    || (from_dash && segment.column == limit && matches!(segment.kind, SegmentKind::Key { .. }))
            };
            if above.parents.is_empty() && !from_dash {
                above.siblings.extend(parts.segments.iter().filter(|segment| segment.column == limit).filter_map(
                    |segment| match &segment.kind {
                        SegmentKind::Key { name, .. } => Some(name.clone()),
                        SegmentKind::Dash => None,
                    },
                ));
            }
            let Some(found) = parts.segments.iter().rposition(is_parent) else {
                number = self.line_before_items(line.start).unwrap_or(number);
                continue;
            };
            above.parents.extend(parts.segments[..=found].iter().rev().cloned());
            limit = parts.segments[0].column;
            from_dash = parts.segments[0].kind == SegmentKind::Dash;
            // Lines in the preceding items, damaged or not, are not parents of this one.
            if from_dash {
                number = self.line_before_items(line.start).unwrap_or(number);
            }
        }
        above
    }

    /// Returns the line after the last one outside of all items, if a line begins an item of a long list: the
    /// items in between need not be read.
    fn line_before_items(&self, start: usize) -> Option<usize> {
        self.document.start_of_items(start).map(|first| self.document.text().byte_to_line(first))
    }

    /// Returns the cursor's column. Before a line that begins with a closing bracket, it counts as deeper than the
    /// bracket, because authors write the bracket in the column of the key.
    fn column_before_bracket(&self, number: usize, line: &Line<'_>, column: usize) -> usize {
        let text = self.document.text();
        if line.text.trim_start().starts_with(['}', ']']) {
            return column.max(line.indent() + 1);
        }
        if !line.is_blank() && !line.parts().segments.is_empty() {
            return column;
        }
        for next in number + 1..(number + 4).min(text.len_lines()) {
            let next = Line::of(text, next);
            if !next.is_blank() {
                let closes = next.text.trim_start().starts_with(['}', ']']);
                return if closes { column.max(next.indent() + 1) } else { column };
            }
        }
        column
    }

    /// Returns the start of a document that is in brackets as a whole.
    fn flow_root(&self) -> Option<usize> {
        if !self.document.is_whole() && self.document.root().is_some() {
            return None;
        }
        let text = self.document.text();
        for number in 0..text.len_lines() {
            let line = Line::of(text, number);
            let words = line.text.trim_start();
            if words.is_empty() || words.starts_with('#') || words.starts_with("---") {
                continue;
            }
            let open = line.start + line.text.len() - words.len();
            return (words.starts_with('{') && open < self.offset).then_some(open);
        }
        None
    }

    fn line_break(&self) -> &'static str {
        let first = self.document.text().line(0);
        let is_crlf = first.len_chars() > 1 && first.char(first.len_chars() - 2) == '\r';
        if is_crlf { "\r\n" } else { "\n" }
    }
}

/// Returns the indentation per level, as used by the lines above the cursor.
fn step_of(parents: &[Segment], column: usize) -> usize {
    let mut columns = std::iter::once(column).chain(parents.iter().map(|parent| parent.column));
    let mut inner = columns.next().unwrap_or(0);
    for (segment, outer) in parents.iter().zip(columns) {
        if matches!(segment.kind, SegmentKind::Key { .. }) && (2..=8).contains(&inner.saturating_sub(outer)) {
            return inner - outer;
        }
        inner = outer;
    }
    2
}

/// Returns the range after a parent on its own line.
fn value_of(segment: &Segment, text: &ropey::Rope) -> Option<Range<usize>> {
    match &segment.kind {
        SegmentKind::Key { value, .. } => (!value.is_empty()).then(|| value.clone()),
        SegmentKind::Dash => {
            let line = Line::of(text, text.byte_to_line(segment.at));
            let parts = line.parts();
            let is_last = parts.segments.last().is_some_and(|last| last.at == segment.at);
            (is_last && !parts.rest.is_empty()).then_some(parts.rest)
        }
    }
}
