//! What can be written at the cursor.

mod insert;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, ops::Range};

use speclens_schema::{
    document::{Document, NodeRef},
    files::{FileKind, Files},
    json_schema::SpecFile,
    problem::{Code, Edit},
    shape::{Field, Need, Shape, Type, Word, show},
};

use insert::{dash_shift, template_of, written};

use super::{
    card,
    context::{Context, Layout, Slot, is_template},
    names,
    snippet::{self, Snippet, escape},
    template,
};

/// Something that can be written at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// What the list shows.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Whether it is required, its type, its default; in a few words.
    pub detail: String,
    /// The whole story, as Markdown.
    pub docs: String,
    /// The change. Its lines are indented as they have to be: clients insert it as it is. The range stands
    /// on one line.
    pub edit: Edit,
    /// What comes instead of the edit's text with clients that know snippets. Its further lines are
    /// indented relative to the cursor's line: clients adjust the indentation.
    pub snippet: Option<String>,
    /// The order: compared as text.
    pub sort_key: String,
    /// What has been typed is compared with this.
    pub filter_text: String,
    /// Whether it is most likely wanted.
    pub preselect: bool,
}

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key.
    Field,
    /// A value out of a closed set, or an example of one.
    Value,
    /// The name of something that is defined elsewhere in the file.
    Reference,
    /// A variable in `{{…}}`.
    Variable,
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A whole claim, or a whole test.
    Snippet,
}

/// What can be written at `offset`.
pub fn complete(document: &Document, file: SpecFile, offset: usize, files: &dyn Files) -> Vec<Completion> {
    let Some(context) = Context::find(document, file, offset) else { return Vec::new() };
    let mut list = List { document, file, offset, files, context: &context, items: Vec::new() };
    match &context.slot {
        Slot::Key { has_colon, before, quote } => {
            list.keys(&context.shape, context.node, before, *has_colon, *quote);
        }
        Slot::Value { quote } => list.values(*quote),
        Slot::Continued => list.variables(),
        Slot::Below => list.below(),
        Slot::Item => list.items_with_dash(&format!("{}- ", context.layout.gap), context.layout.column),
        Slot::Comment => list.codes(),
    }
    list.items
}

struct List<'c> {
    document: &'c Document,
    file: SpecFile,
    offset: usize,
    files: &'c dyn Files,
    context: &'c Context<'c>,
    items: Vec<Completion>,
}

impl List<'_> {
    fn add(&mut self, rank: usize, label: impl Into<String>, kind: CompletionKind, text: String) -> &mut Completion {
        let label = label.into();
        let index = self.items.len();
        self.items.push(Completion {
            filter_text: label.clone(),
            label,
            kind,
            detail: String::new(),
            docs: String::new(),
            edit: Edit { range: self.context.token.clone(), text },
            snippet: None,
            sort_key: format!("{rank}{index:04}"),
            preselect: false,
        });
        &mut self.items[index]
    }

    fn layout(&self) -> &Layout {
        &self.context.layout
    }

    /// Keys of the mapping around the cursor.
    fn keys(
        &mut self,
        shape: &Shape,
        node: Option<NodeRef<'_>>,
        before: &[String],
        has_colon: bool,
        quote: Option<char>,
    ) {
        let lead = self.layout().gap;
        self.fields(shape, node, before, lead, has_colon, quote);
        if has_colon || quote.is_some() {
            return;
        }
        let (flow, column) = (self.layout().flow, self.layout().column);
        if self.is_new_item() && !flow {
            let list = self.context.at.parent().and_then(|list| Shape::find(self.file, &list, self.document.root()));
            for snippet in list.iter().flat_map(snippet::items) {
                let detail = format!("new item of {}", self.section());
                self.whole(&snippet, 3, &snippet.text[2..], &snippet.template[2..], column, lead, detail);
            }
        }
        let is_empty = self.document.root().is_none_or(|root| root.entries().count() == 0);
        if self.context.at.is_root()
            && is_empty
            && !flow
            && let Some(snippet) = snippet::file(shape)
        {
            let detail = format!("a whole {}", self.file.title());
            self.whole(&snippet, 4, &snippet.text, &snippet.template, column, lead, detail);
        }
    }

    /// Whether the mapping around the cursor is an item that holds nothing else yet.
    fn is_new_item(&self) -> bool {
        let is_item = self.context.at.last().is_some_and(|step| step.parse::<usize>().is_ok());
        let touches =
            |range: Range<usize>| range.start <= self.context.token.end && self.context.token.start <= range.end;
        let empty = |node: NodeRef<'_>| node.entries().all(|entry| touches(entry.key.range()));
        let Slot::Key { before, .. } = &self.context.slot else { return false };
        is_item && before.is_empty() && self.context.node.is_none_or(empty)
    }

    /// The list around the cursor, as words.
    fn section(&self) -> String {
        let list = self.context.at.steps().filter(|step| step.parse::<usize>().is_err()).last();
        list.unwrap_or_default()
    }

    fn fields(
        &mut self,
        shape: &Shape,
        node: Option<NodeRef<'_>>,
        before: &[String],
        lead: &str,
        has_colon: bool,
        quote: Option<char>,
    ) {
        let token = self.context.token.clone();
        let is_other = |range: Range<usize>| token.is_empty() || range.end < token.start || token.end < range.start;
        let mut present: HashSet<String> = before.iter().cloned().collect();
        for entry in node.into_iter().flat_map(NodeRef::entries) {
            if is_other(entry.key.range()) {
                present.insert(entry.key.key_text());
            }
        }
        let fields = shape.fields(node);
        let alternatives = shape.alternatives();
        let is_decided = alternatives.iter().any(|name| present.contains(*name));
        let column = self.layout().column;
        let lead = lead.to_owned();
        for field in &fields {
            if present.contains(field.name) || (is_decided && alternatives.contains(&field.name)) {
                continue;
            }
            let only = field.shape.only_with();
            let has_effect = only.is_none_or(|other| present.contains(other));
            if !has_effect && is_decided {
                continue;
            }
            let rank = match (&field.need, has_effect) {
                (Need::Required, _) => 0,
                (Need::OneOf(_), _) => 1,
                (Need::Optional, true) => 2,
                (Need::Optional, false) => 5,
            };
            self.field(field, rank, &lead, has_colon, quote);
            let flow = self.layout().flow;
            if let Some(snippet) = snippet::entry(field.name, &field.shape).filter(|_| !has_colon && !flow) {
                let detail = "with an example".to_owned();
                self.whole(&snippet, 3, &snippet.text, &snippet.template, column, &lead, detail);
            }
        }
        self.free_keys(shape, &present, &lead, has_colon);
    }

    fn field(&mut self, field: &Field, rank: usize, lead: &str, has_colon: bool, quote: Option<char>) {
        let layout = self.layout().clone();
        let Field { name, need, shape } = field;
        let (mut text, mut snippet) = (format!("{lead}{name}"), None);
        if let (Some(quote), false) = (quote, has_colon) {
            let closes = self.text_behind(self.context.token.end).starts_with(quote);
            text.push_str(&if closes { String::new() } else { format!("{quote}: ") });
        } else if !has_colon {
            snippet = template_of(shape, &layout, true).map(|tail| format!("{}{tail}", escape(&text)));
            text.push_str(&template_of(shape, &layout, false).unwrap_or_else(|| ": ".to_owned()));
        }
        let item = self.add(rank, *name, CompletionKind::Field, text);
        item.snippet = snippet;
        item.detail = card::detail(shape, need);
        item.docs = card::field(name, shape, need);
    }

    /// Names for a mapping whose keys the author chooses: those that something refers to already.
    fn free_keys(&mut self, shape: &Shape, present: &HashSet<String>, lead: &str, has_colon: bool) {
        let (Some(value), Some(Word::Defines(kind))) = (shape.map_value(), shape.word()) else { return };
        let is_section = self.context.at.steps().count() == 1;
        let owner = self.context.at.parent().and_then(|parent| self.document.find(&parent));
        let wanted = match owner {
            Some(owner) if !is_section => names::needed_by(self.document, owner),
            Some(_) | None => names::wanted(self.document, self.file, kind),
        };
        for name in wanted.into_iter().filter(|name| !present.contains(name)) {
            let key = speclens_schema::shape::scalar(&name);
            let tail = template_of(&value, self.layout(), false).unwrap_or_else(|| ": ".to_owned());
            let snippet = template_of(&value, self.layout(), true).map(|tail| format!("{lead}{}{tail}", escape(&key)));
            let text = if has_colon { format!("{lead}{key}") } else { format!("{lead}{key}{tail}") };
            let item = self.add(0, name, CompletionKind::Variable, text);
            item.snippet = snippet.filter(|_| !has_colon);
            item.detail = "used, and not defined yet".to_owned();
        }
    }

    /// A snippet of several lines. Its own first line stands at the cursor, the others below `column`.
    #[expect(clippy::too_many_arguments, reason = "a snippet is text, template and place")]
    fn whole(
        &mut self,
        snippet: &Snippet,
        rank: usize,
        text: &str,
        template: &str,
        column: usize,
        lead: &str,
        detail: String,
    ) {
        let Layout { indent, line_break, .. } = *self.layout();
        // The text behind a dash that is there already was written with that dash.
        let text = snippet::indented(text, dash_shift(text, &snippet.text, column), line_break);
        let template =
            snippet::indented(template, dash_shift(template, &snippet.template, column).saturating_sub(indent), "\n");
        let docs = card::source(&snippet.text);
        let item = self.add(rank, snippet.label.clone(), CompletionKind::Snippet, format!("{lead}{text}"));
        item.snippet = Some(format!("{lead}{template}"));
        item.detail = detail;
        item.docs = docs;
    }

    /// Items with their dash, where the list has none at the cursor yet.
    fn items_with_dash(&mut self, dash: &str, column: usize) {
        let shape = self.context.shape.clone();
        let lead = &dash[..dash.len() - 2];
        for snippet in snippet::items(&shape) {
            let detail = format!("new item of {}", self.section());
            self.whole(&snippet, 3, &snippet.text, &snippet.template, column, lead, detail);
        }
        let Some(item) = shape.item() else { return };
        if item.kind() == Type::Mapping {
            let (outer, layout) = (self.layout().clone(), self.layout());
            let layout = Layout { column: column + 2, ..layout.clone() };
            for field in item.fields(None).iter().filter(|field| field.need != Need::Optional) {
                let tail = template_of(&field.shape, &layout, false).unwrap_or_else(|| ": ".to_owned());
                let text = format!("{dash}{}{tail}", field.name);
                let one = self.add(0, format!("- {}", field.name), CompletionKind::Field, text);
                one.snippet = template_of(&field.shape, &Layout { indent: outer.indent, ..layout.clone() }, true)
                    .map(|tail| format!("{dash}{}{tail}", field.name));
                one.filter_text = field.name.to_owned();
                one.detail = card::detail(&field.shape, &field.need);
                one.docs = card::field(field.name, &field.shape, &field.need);
            }
            return;
        }
        let dash = dash.to_owned();
        self.scalar_values(&item, None, &dash, true);
    }

    /// What stands below a key, offered behind its colon: it goes to the next line.
    fn below(&mut self) {
        let shape = self.context.shape.clone();
        let Layout { column, line_break, .. } = *self.layout();
        let relative = column.saturating_sub(self.layout().indent);
        match shape.kind() {
            Type::List => {
                let lead = format!("{line_break}{}", " ".repeat(column));
                self.items_with_dash(&format!("{lead}- "), column);
            }
            Type::Mapping | Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => {
                let lead = format!("{line_break}{}", " ".repeat(column));
                self.fields(&shape, self.context.node, &[], &lead, false, None);
            }
        }
        // A client that adjusts the indentation does so for the first new line, too.
        let absolute = format!("{line_break}{}", " ".repeat(column));
        let adjusted = format!("\n{}", " ".repeat(relative));
        for item in &mut self.items {
            if let Some(snippet) = item.snippet.take() {
                item.snippet = Some(snippet.replacen(&absolute, &adjusted, 1));
            }
        }
    }

    /// Values at the cursor.
    fn values(&mut self, quote: Option<char>) {
        let shape = self.context.shape.clone();
        let gap = self.layout().gap;
        match shape.word() {
            Some(Word::Template(_)) => self.variables(),
            Some(Word::File(kind)) => self.paths(kind, quote),
            Some(Word::Pattern(_) | Word::Refers(_) | Word::Defines(_)) | None => {
                if shape.kind() == Type::Mapping && self.layout().flow {
                    self.mapping_in_brackets(&shape);
                }
                self.scalar_values(&shape, quote, gap, false);
            }
        }
    }

    /// `{ tool: … }` as an item in brackets.
    fn mapping_in_brackets(&mut self, shape: &Shape) {
        let fields = shape.fields(None);
        let required: Vec<&Field> = fields.iter().filter(|field| field.need == Need::Required).collect();
        let names: Vec<&str> = required.iter().map(|field| field.name).collect();
        if names.is_empty() {
            return;
        }
        let text: Vec<String> = names.iter().map(|name| format!("{name}: ")).collect();
        let stops: Vec<String> =
            names.iter().enumerate().map(|(index, name)| format!("{name}: ${{{}}}", index + 1)).collect();
        let gap = self.layout().gap;
        let item = self.add(0, names.join(", "), CompletionKind::Snippet, format!("{gap}{{ {} }}", text.join(", ")));
        item.snippet = Some(format!("{gap}{{ {} }}", stops.join(", ")));
        item.detail = "a mapping".to_owned();
    }

    fn scalar_values(&mut self, shape: &Shape, quote: Option<char>, lead: &str, is_item: bool) {
        let lead = lead.to_owned();
        if let Some(Word::Refers(kind)) = shape.word() {
            self.references(kind, shape, quote, &lead);
            return;
        }
        let default = shape.default().filter(|_| !is_item);
        let values = shape.values();
        for choice in &values {
            let text = written(choice.value, quote);
            let Some(text) = text else { continue };
            let docs = card::choice(choice);
            let is_default = default == Some(choice.value);
            let item = self.add(0, show(choice.value), CompletionKind::Value, format!("{lead}{text}"));
            item.detail = if is_default { "default".to_owned() } else { String::new() };
            item.docs = docs;
            // Who writes a switch does so to turn it.
            item.preselect = values.len() > 1 && is_default != (shape.kind() == Type::Boolean);
        }
        if !values.is_empty() || matches!(shape.kind(), Type::Mapping | Type::List) {
            return;
        }
        // Examples are there to begin with, not to replace what somebody writes.
        if !self.context.token.is_empty() || matches!(shape.word(), Some(Word::Defines(_))) {
            return;
        }
        let examples = shape.examples().into_iter().map(|value| (value, "example"));
        for (value, detail) in default.map(|value| (value, "default")).into_iter().chain(examples) {
            let Some(text) = written(value, quote) else { continue };
            if self.items.iter().any(|item| item.label == show(value)) {
                continue;
            }
            let item = self.add(1, show(value), CompletionKind::Value, format!("{lead}{text}"));
            item.detail = detail.to_owned();
        }
    }

    /// Names of what is defined, then names that could be.
    fn references(&mut self, kind: &str, shape: &Shape, quote: Option<char>, lead: &str) {
        let taken = self.named_beside();
        let mut seen = HashSet::new();
        for definition in names::defined(self.document, self.file, kind) {
            let name = definition.name.key_text();
            if name.is_empty() || taken.contains(&name) || !seen.insert(name.clone()) {
                continue;
            }
            let text = if quote.is_some() { name.clone() } else { speclens_schema::shape::scalar(&name) };
            let source = String::from(self.document.text().byte_slice(definition.node.own_range()));
            let item = self.add(0, name, CompletionKind::Reference, format!("{lead}{text}"));
            item.detail = kind.trim_end_matches('s').to_owned();
            item.docs = card::source(&snippet::moved_left(&source));
        }
        for choice in shape.values() {
            let name = choice.value.as_str().unwrap_or_default();
            if !seen.contains(name) {
                let item = self.add(1, name, CompletionKind::Value, format!("{lead}{name}"));
                item.detail = format!("not in {kind} yet");
                item.docs = card::choice(&choice);
            }
        }
    }

    /// Names that stand in the same list already.
    fn named_beside(&self) -> HashSet<String> {
        let list = self.context.at.parent().and_then(|list| self.document.find(&list));
        let touches = |range: Range<usize>| range.start <= self.offset && self.offset <= range.end;
        let others = list.into_iter().flat_map(NodeRef::items).filter(|item| !touches(item.range()));
        others.filter_map(NodeRef::text).map(str::to_owned).collect()
    }

    /// Names inside `{{`.
    fn variables(&mut self) {
        if !is_template(&self.context.shape) {
            return;
        }
        let (line, start) = self.line();
        let before = &line[..self.offset - start];
        let typed = before.len() - before.trim_end_matches(template::is_name).len();
        if !before[..before.len() - typed].ends_with("{{") {
            return;
        }
        let behind = &line[self.offset - start..];
        let rest = behind.find(|letter| !template::is_name(letter)).unwrap_or(behind.len());
        let range = self.offset - typed..self.offset + rest;
        let closing = match &behind[rest..] {
            tail if tail.starts_with("}}") => "",
            tail if tail.starts_with('}') => "}",
            _ => "}}",
        };
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |name: String, detail: String| {
            let is_new = !name.is_empty() && name.chars().all(template::is_name);
            if is_new && !found.iter().any(|(known, _)| *known == name) {
                found.push((name, detail));
            }
        };
        let own = names::variables(self.document, &self.context.at, &self.context.shape);
        for entry in own.into_iter().flat_map(NodeRef::entries) {
            add(entry.key.key_text(), card::inline(entry.value.text().unwrap_or_default()));
        }
        if own.is_none()
            && let Some(prompt) = self.prompt()
        {
            for (name, value) in names::given_to(self.document, &prompt) {
                add(name, value.map(card::inline).unwrap_or_default());
            }
        }
        // What is being typed here is no name yet.
        let typing = line[range.start - start..range.end - start].to_owned();
        for name in names::used_in_prompts(self.document).into_iter().filter(|name| *name != typing) {
            add(name, "used in a prompt".to_owned());
        }
        for (name, detail) in found {
            let item = self.add(0, name.clone(), CompletionKind::Variable, format!("{name}{closing}"));
            item.edit.range = range.clone();
            item.detail = detail;
        }
    }

    /// The prompt in which the cursor stands.
    fn prompt(&self) -> Option<String> {
        let mut steps = self.context.at.steps();
        (steps.next()? == "prompts").then(|| steps.next())?
    }

    /// Files and directories below the suite's directory.
    fn paths(&mut self, kind: &str, quote: Option<char>) {
        let (line, start) = self.line();
        let token = self.context.token.clone();
        let typed = line[token.start.min(self.offset) - start..self.offset - start].to_owned();
        let (directory, _) = typed.rsplit_once('/').map_or(("", typed.as_str()), |(directory, name)| (directory, name));
        let clean = directory.trim_start_matches("./");
        if directory.starts_with('/') || clean.split('/').any(|part| part == "..") {
            return;
        }
        let gap = self.layout().gap;
        for (name, entry) in self.files.list(clean) {
            let is_hidden = name.starts_with('.') || name == "node_modules";
            let is_wanted = kind == "any" || name.ends_with(".json");
            let (rank, is_directory) = match entry {
                FileKind::Directory => (1, true),
                FileKind::File if is_wanted => (0, false),
                FileKind::File => (2, false),
                FileKind::Other => continue,
            };
            if is_hidden || (!is_directory && self.file_is_own(clean, &name)) {
                continue;
            }
            let slash = if is_directory { "/" } else { "" };
            let path =
                if directory.is_empty() { format!("{name}{slash}") } else { format!("{directory}/{name}{slash}") };
            let text = if quote.is_some() { path.clone() } else { speclens_schema::shape::scalar(&path) };
            let kind = if is_directory { CompletionKind::Directory } else { CompletionKind::File };
            let item = self.add(rank, format!("{name}{slash}"), kind, format!("{gap}{text}"));
            item.filter_text = path;
        }
    }

    /// Suites lie in the same directory, and are never what a path in them means.
    fn file_is_own(&self, directory: &str, name: &str) -> bool {
        directory.is_empty() && matches!(name, "kindlm.yaml" | "kindlm.yml" | "speclens.yaml")
    }

    /// Codes in `# speclens: allow(`.
    fn codes(&mut self) {
        let (line, start) = self.line();
        let before = &line[self.context.token.start - start..self.offset - start];
        let Some((head, list)) = before.rsplit_once("allow(") else { return };
        if list.contains(')') || !head.trim_start_matches(['#', ' ']).starts_with("speclens:") {
            return;
        }
        let typed =
            list.len() - list.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '-').len();
        let behind = &line[self.offset - start..];
        let rest =
            behind.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(behind.len());
        let closing = if behind[rest..].contains(')') { "" } else { ")" };
        let taken: Vec<String> = list[..list.len() - typed].split(',').map(|code| code.trim().to_owned()).collect();
        let range = self.offset - typed..self.offset + rest;
        for code in Code::ALL.iter().copied().filter(|code| !taken.iter().any(|taken| taken == code.as_str())) {
            let item = self.add(0, code.as_str(), CompletionKind::Value, format!("{}{closing}", code.as_str()));
            item.edit.range = range.clone();
            item.detail = code.severity().as_str().to_owned();
            item.docs = card::code(code);
        }
    }

    /// The cursor's line, and where it begins.
    fn line(&self) -> (String, usize) {
        let text = self.document.text();
        let line = super::line::Line::of(text, text.byte_to_line(self.offset));
        (line.text.into_owned(), line.start)
    }

    fn text_behind(&self, at: usize) -> String {
        let (line, start) = self.line();
        line.get(at - start..).unwrap_or_default().to_owned()
    }
}
