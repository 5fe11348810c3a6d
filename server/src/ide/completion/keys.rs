//! Completion of keys in mappings and of list items, with their required parts.

use std::{collections::HashSet, ops::Range};

use speclens_schema::{
    document::{NodeRef, Pointer},
    problem::Edit,
    quoting::show,
    shape::{Field, Need, Shape, Type, Word},
    suite::list_of_cases,
};

use super::{
    insert::{Writer, needed},
    list::{CompletionKind, List},
};
use crate::ide::{
    context::{Layout, Slot},
    cross_file_names, markdown, names,
    snippet::{self, Snippet},
};

impl<'c> List<'c> {
    pub(super) fn keys(&mut self) {
        let shape = &self.context.shape;
        if let Some(Word::Refers(kind)) = shape.word() {
            self.names_elsewhere(kind);
        }
        let is_bare = !self.has_colon && self.quote.is_none();
        if is_bare && self.is_new_item() {
            self.skeleton(shape, &self.context.at, self.layout());
        }
        if is_bare {
            self.new_file();
        }
        self.fields();
        if !is_bare {
            return;
        }
        let flow = self.layout().flow;
        if self.is_new_item() && !flow {
            let list = self.context.at.parent().and_then(|list| Shape::find(self.file, &list, self.document.root()));
            for snippet in list.iter().flat_map(snippet::items) {
                let detail = format!("new item of {}", self.section());
                let snippet = self.with_known(snippet);
                self.whole(&snippet, 3, 2, detail);
            }
        }
        if let Some(text) = shape.text_form().filter(|_| self.is_new_item()) {
            for example in text.examples() {
                let item = self.offer(2, show(example), CompletionKind::Value, &show(example));
                item.detail = text.type_label();
                item.docs = text.docs().unwrap_or_default().to_owned();
            }
        }
    }

    fn new_file(&mut self) {
        let shape = &self.context.shape;
        let is_empty = self.document.root().is_none_or(|root| root.entries().count() == 0);
        if self.context.at.is_root()
            && is_empty
            && !self.layout().flow
            && let Some(snippet) = snippet::file(shape)
        {
            let kind = self.file.singular();
            // In an empty file, this is the way to begin.
            let rank = if self.document.text().chars().all(char::is_whitespace) { 0 } else { 4 };
            let snippet = Snippet { label: format!("new {kind}"), ..snippet };
            self.whole(&snippet, rank, 0, format!("a minimal {kind}"));
        }
    }

    /// Returns what is written after the text that goes before every item: as plain text and as a snippet.
    fn both(&self, layout: &Layout, write: impl Fn(&mut Writer<'_>)) -> [String; 2] {
        [false, true].map(|is_snippet| {
            let guess = |at: &Pointer| self.guess(at);
            let mut writer = Writer::new(layout, &guess, is_snippet);
            writer.push(&self.lead);
            write(&mut writer);
            writer.finish()
        })
    }

    fn skeleton(&mut self, shape: &Shape, at: &Pointer, layout: &Layout) {
        let needed = needed(shape);
        if layout.flow || needed.len() < 2 {
            return;
        }
        let [text, snippet] = self.both(layout, |writer| writer.members(Some(shape), at, layout.column, 0, true));
        let names = needed.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
        let is_case = at.parent().is_some_and(|list| Some(list) == list_of_cases(self.file));
        let section = self.section();
        let word = section.strip_suffix('s').unwrap_or("test");
        let label = if is_case { format!("new {word}") } else { names.clone() };
        let item = self.add(0, label, CompletionKind::Snippet, text);
        item.filter_text = names;
        item.snippet = Some(snippet);
        item.detail = "required keys".to_owned();
        item.docs = shape.docs().unwrap_or_default().to_owned();
    }

    fn names_elsewhere(&mut self, kind: &str) {
        let own = names::defined(self.document, self.file, kind).into_iter().map(|it| it.name.key_text());
        let mut names: Vec<String> = own.filter(|name| !name.is_empty()).collect();
        if cross_file_names::crosses(kind) {
            names.extend((self.elsewhere)(kind));
        }
        let mut seen: HashSet<String> = self.other_keys().iter().cloned().collect();
        for name in names.into_iter().filter(|name| seen.insert(name.clone())) {
            let key = self.bare(&name);
            let colon = if self.has_colon || self.quote.is_some() { "" } else { ":" };
            let item = self.offer(0, name, CompletionKind::Reference, &format!("{key}{colon}"));
            item.detail = kind.trim_end_matches('s').to_owned();
        }
    }

    pub(super) fn is_new_item(&self) -> bool {
        let is_item = self.context.at.last_step().is_some_and(|step| step.index().is_some());
        let touches =
            |range: Range<usize>| range.start <= self.context.token.end && self.context.token.start <= range.end;
        let empty = |node: NodeRef<'_>| node.entries().all(|entry| touches(entry.key.range()));
        let is_key = matches!(self.context.slot, Slot::Key { .. });
        is_item && is_key && self.other_keys().is_empty() && self.context.node.is_none_or(empty)
    }

    fn other_keys(&self) -> &'c [String] {
        match &self.context.slot {
            Slot::Key { others, .. } => others,
            Slot::Value { .. } | Slot::Continued | Slot::Below | Slot::Item | Slot::Comment => &[],
        }
    }

    pub(super) fn section(&self) -> String {
        self.context.at.steps().filter_map(|step| step.key().map(str::to_owned)).last().unwrap_or_default()
    }

    fn fields(&mut self) {
        let (shape, node) = (&self.context.shape, self.context.node);
        let token = self.context.token.clone();
        let is_other = |range: Range<usize>| token.is_empty() || range.end < token.start || token.end < range.start;
        let mut present: HashSet<String> = self.other_keys().iter().cloned().collect();
        for entry in node.into_iter().flat_map(NodeRef::entries) {
            if is_other(entry.key.range()) {
                present.insert(entry.key.key_text());
            }
        }
        let fields = shape.fields(node);
        let alternatives = shape.alternatives();
        // A key may come from a merge key. Writing it again overrides that one.
        let is_merged =
            |name: &str| node.and_then(|node| node.entry(name)).is_some_and(|entry| entry.key.is_through_alias());
        let has = |name: &str| present.contains(name) || is_merged(name);
        let is_decided = alternatives.iter().any(|name| has(name));
        for field in &fields {
            if present.contains(field.name) || (is_decided && alternatives.contains(&field.name)) {
                continue;
            }
            if is_merged(field.name) {
                if !token.is_empty() {
                    self.field(field, shape, node, &present, 6);
                    if let Some(item) = self.items.last_mut() {
                        item.detail = "overrides the value from `<<`".to_owned();
                    }
                }
                continue;
            }
            let only = field.shape.only_with();
            let has_effect = only.is_none_or(has);
            if !has_effect && is_decided {
                continue;
            }
            let rank = match (&field.need, has_effect) {
                (Need::Required, _) => 0,
                (Need::OneOf(_) | Need::AnyOf(_), _) => 1,
                (Need::Optional, true) => 2,
                (Need::Optional, false) => 5,
            };
            self.field(field, shape, node, &present, rank);
            let has_room = !self.has_colon && !self.layout().flow;
            if let Some(snippet) = snippet::entry(field.name, &field.shape).filter(|_| has_room) {
                let detail = "with an example".to_owned();
                let snippet = self.with_known(snippet);
                self.whole(&snippet, 3, 0, detail);
            }
        }
        let names = |field: &Field| {
            let name = field.name.to_owned();
            field.shape.other_names().into_iter().map(move |other| (name.clone(), other))
        };
        self.by_other_names(fields.iter().flat_map(names));
        if !self.has_colon && self.quote.is_none() {
            self.fields_of_other_forms(&present);
        }
        self.free_keys(&present);
        self.arguments(&present);
    }

    pub(super) fn field(
        &mut self,
        field: &Field,
        holder: &Shape,
        node: Option<NodeRef<'_>>,
        present: &HashSet<String>,
        rank: usize,
    ) {
        let Field { name, need, shape } = field;
        let plain = format!("{}{name}", self.lead);
        let mut more = Vec::new();
        let (text, snippet) = match (self.has_colon, self.quote) {
            (true, _) => (plain, None),
            (false, Some(quote)) => {
                let closes = self.text_behind(self.context.token.end).starts_with(quote);
                (plain + &if closes { String::new() } else { format!("{quote}: ") }, None)
            }
            (false, None) => {
                let wanted = self.tag_wanted_by(name, holder, node);
                let mut before = None;
                match wanted {
                    Some((key, value, None)) if !present.contains(key) => {
                        before = holder.step(key, node).map(|shape| (key, Some(value), shape));
                    }
                    Some((_, value, Some(written))) => more.push(Edit { range: written, text: value.to_owned() }),
                    Some(_) | None => {}
                }
                let only = field.shape.only_with().filter(|only| !present.contains(*only));
                if let Some(only) = only.filter(|only| node.is_none_or(|node| node.entry(only).is_none())) {
                    before = holder.step(only, node).map(|shape| (only, None, shape));
                }
                let [text, snippet] = self.entry_text(field, before.as_ref());
                let is_same = snippet == text.replace(self.layout().line_break, "\n");
                (text, Some(snippet).filter(|_| !is_same))
            }
        };
        let item = self.add(rank, *name, CompletionKind::Field, text);
        item.snippet = snippet;
        item.more = more;
        item.detail = markdown::detail(shape, need);
        item.docs = markdown::field(name, shape, need);
    }

    /// Returns a key with its value, and perhaps a preceding key that it requires to have an effect.
    fn entry_text(&self, field: &Field, before: Option<&(&'static str, Option<&'static str>, Shape)>) -> [String; 2] {
        let at = &self.context.at;
        let column = self.layout().column;
        self.both(self.layout(), |writer| {
            match before {
                Some((name, Some(value), _)) => {
                    writer.push(&format!("{name}: {value}"));
                    writer.next(column);
                }
                // Plain text would end at the first value.
                Some((name, None, shape)) if writer.is_snippet => {
                    writer.push(name);
                    writer.value(shape, &at.key(name), column);
                    writer.next(column);
                }
                Some((_, None, _)) | None => {}
            }
            writer.push(field.name);
            writer.value(&field.shape, &at.key(field.name), column);
        })
    }

    /// Offers names for a mapping with free keys: those that are already referred to.
    fn free_keys(&mut self, present: &HashSet<String>) {
        let shape = &self.context.shape;
        let (Some(value), Some(Word::Defines(kind))) = (shape.map_value(), shape.word()) else { return };
        let is_section = self.context.at.steps().count() == 1;
        let owner = self.context.at.parent().and_then(|parent| self.document.find(&parent));
        let wanted = match owner {
            Some(owner) if !is_section => names::needed_by(self.document, owner),
            Some(_) | None => names::wanted(self.document, self.file, kind),
        };
        for name in wanted.into_iter().filter(|name| !present.contains(name)) {
            let key = speclens_schema::quoting::scalar(&name);
            let has_colon = self.has_colon;
            let [text, snippet] = self.both(self.layout(), |writer| {
                writer.push(&key);
                if !has_colon {
                    writer.value(&value, &self.context.at.key(&name), self.layout().column);
                }
            });
            let item = self.add(0, name, CompletionKind::Variable, text);
            item.snippet = Some(snippet).filter(|_| !has_colon);
            item.detail = "used but not defined".to_owned();
        }
    }

    /// Offers a multi-line snippet without its first `skipped` columns, which are before the cursor already. Its first
    /// line is at the cursor, the others are indented to the column of the neighboring keys or dashes.
    fn whole(&mut self, snippet: &Snippet, rank: usize, skipped: usize, detail: String) {
        // A required item may equal an example.
        if self.items.iter().any(|item| item.kind == CompletionKind::Snippet && item.label == snippet.label) {
            return;
        }
        let Layout { column, indent, line_break, .. } = *self.layout();
        // The lines after the first are as far to the right as those columns already.
        let shift = column.saturating_sub(skipped);
        let text = snippet::indented(&snippet.text[skipped..], shift, line_break);
        let template = snippet::indented(&snippet.template[skipped..], shift.saturating_sub(indent), "\n");
        let template = format!("{}{template}", self.lead);
        let item = self.offer(rank, snippet.label.clone(), CompletionKind::Snippet, &text);
        item.snippet = Some(template);
        item.detail = detail;
        item.docs = markdown::source(&snippet.text);
    }

    pub(super) fn items_with_dash(&mut self) {
        let shape = &self.context.shape;
        for snippet in snippet::items(shape) {
            let detail = format!("new item of {}", self.section());
            let snippet = self.with_known(snippet);
            self.whole(&snippet, 3, 0, detail);
        }
        self.lead.push_str("- ");
        let Some(item) = shape.item() else { return };
        if item.kind() == Type::Mapping {
            let layout = Layout { column: self.layout().column + 2, ..self.layout().clone() };
            let at = self.context.at.index(self.context.node.map_or(0, |list| list.item_count()));
            self.skeleton(&item, &at, &layout);
            for field in item.fields(None).iter().filter(|field| field.need != Need::Optional) {
                let [text, snippet] = self.both(&layout, |writer| {
                    writer.push(field.name);
                    writer.value(&field.shape, &at.key(field.name), layout.column);
                });
                let one = self.add(0, format!("- {}", field.name), CompletionKind::Field, text);
                one.snippet = Some(snippet);
                one.filter_text = field.name.to_owned();
                one.detail = markdown::detail(&field.shape, &field.need);
                one.docs = markdown::field(field.name, &field.shape, &field.need);
            }
            return;
        }
        self.seen(&item);
        self.scalar_values(&item, true);
    }

    /// Offers the value of a key after its colon, on the next line.
    pub(super) fn below(&mut self) {
        let Layout { column, line_break, .. } = *self.layout();
        let relative = column.saturating_sub(self.layout().indent);
        let absolute = format!("{line_break}{}", " ".repeat(column));
        self.lead.clone_from(&absolute);
        match self.context.shape.kind() {
            Type::List => self.items_with_dash(),
            Type::Mapping | Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => self.fields(),
        }
        // A client that adjusts the indentation does so for the first new line as well.
        let adjusted = format!("\n{}", " ".repeat(relative));
        for item in &mut self.items {
            if let Some(snippet) = item.snippet.take() {
                item.snippet = Some(snippet.replacen(&absolute, &adjusted, 1));
            }
        }
    }
}
