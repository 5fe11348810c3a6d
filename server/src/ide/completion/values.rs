//! Completion of values: closed sets, examples, names of definitions.

use std::{collections::HashSet, ops::Range};

use speclens_schema::{
    check::headings::headings,
    document::{NodeRef, Pointer, Step},
    files::FileKind,
    json_schema::SpecFile,
    quoting::{scalar, show},
    script,
    shape::{Need, Shape, Type, Variant, Word},
    template_syntax,
};

use crate::ide::{
    agents,
    completion::{
        forms::Tagged,
        insert,
        list::{CompletionKind, List},
    },
    cross_file_names, markdown, names, snippet, values, walk,
};

/// The schema's name for tools.
const TOOLS: &str = "tools";

impl List<'_> {
    pub(super) fn values(&mut self) {
        let shape = &self.context.shape;
        if self.variables() {
            return;
        }
        self.seen(shape);
        match shape.word() {
            Some(Word::Template(_)) => self.scalar_values(shape, false),
            Some(Word::File(kind)) => {
                if kind == "log"
                    && let Some(log) = self.log_path().map(str::to_owned)
                {
                    self.found(0, &log, "the gateway log");
                }
                self.likely();
                self.paths(kind);
                // A result of a run need not exist yet, and several claims may be about it.
                if shape.template().is_some() {
                    self.used_nearby(shape);
                }
                // For other paths, an example is useful only if there is no other item.
                if self.items.is_empty() {
                    self.scalar_values(shape, false);
                } else {
                    self.shared(shape);
                }
            }
            Some(Word::Pattern(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell) | None => {
                if shape.kind() == Type::Mapping && self.layout().flow {
                    self.mapping_in_brackets(shape);
                }
                self.scalar_values(shape, false);
            }
        }
    }

    /// Offers `{ tool: … }` as an item in brackets: one for each form of the item, or for each key of which it has one.
    pub(super) fn mapping_in_brackets(&mut self, shape: &Shape) {
        let required = |shape: &Shape| -> Vec<&'static str> {
            let fields = shape.fields(None).into_iter();
            fields.filter(|field| field.need == Need::Required).map(|field| field.name).collect()
        };
        let forms = shape.variants();
        let tagged: Vec<(&Variant, &str, &str)> = forms
            .iter()
            .filter(|form| !form.shape.is_open())
            .filter_map(|form| form.tag.map(|(tag, value)| (form, tag, value)))
            .collect();
        for (form, tag, value) in &tagged {
            let names: Vec<&str> = required(&form.shape).into_iter().filter(|name| name != tag).collect();
            let docs = form.shape.type_docs().unwrap_or_default();
            self.in_brackets(value, &format!("{tag}: {}", scalar(value)), &names, docs);
        }
        if !tagged.is_empty() {
            return;
        }
        let needed = required(shape);
        if !needed.is_empty() {
            return self.in_brackets(&needed.join(", "), "", &needed, "");
        }
        for field in shape.fields(None) {
            self.in_brackets(field.name, "", &[field.name], field.shape.docs().unwrap_or_default());
        }
    }

    fn in_brackets(&mut self, label: &str, beginning: &str, names: &[&str], docs: &str) {
        let written = |stop: &dyn Fn(usize) -> String| {
            let keys = names.iter().enumerate().map(|(index, name)| format!("{name}: {}", stop(index + 1)));
            let begun = Some(beginning.to_owned()).filter(|text| !text.is_empty());
            begun.into_iter().chain(keys).collect::<Vec<_>>().join(", ")
        };
        let snippet = format!("{}{{ {} }}", self.lead, written(&|stop| format!("${{{stop}}}")));
        let text = format!("{{ {} }}", written(&|_| String::new()));
        let docs = docs.to_owned();
        let item = self.offer(0, label, CompletionKind::Snippet, &text);
        item.snippet = Some(snippet);
        item.detail = "a mapping".to_owned();
        item.docs = docs;
    }

    pub(super) fn scalar_values(&mut self, shape: &Shape, is_item: bool) {
        if let Some(Word::Refers(kind)) = shape.word() {
            self.references(kind, shape);
            // The tools of a command are not defined anywhere: the names used elsewhere are the only source.
            if kind != TOOLS || !self.items.is_empty() {
                return;
            }
        }
        let is_model = self.models(shape);
        let default = shape.default().filter(|_| !is_item);
        let values = shape.values();
        let variants = self.variants_by_tag();
        if !is_item && self.quote.is_none() {
            self.likely();
        }
        for choice in &values {
            let Some(text) = insert::written(choice.value, self.quote) else { continue };
            if self.items.iter().any(|item| item.label == show(choice.value)) {
                continue;
            }
            let docs = markdown::choice(choice);
            let is_default = default == Some(choice.value);
            let tag = choice.value.as_str();
            let variant = variants.iter().find(|variant| variant.tag.map(|(_, value)| value) == tag);
            // An open mapping has no claims to complete.
            if variant.is_some_and(|variant| variant.shape.is_open()) {
                continue;
            }
            let brings = variant.filter(|_| self.quote.is_none()).map(|variant| self.tagged(variant));
            let Tagged { fits, plain, snippet } = brings.unwrap_or_else(|| Tagged { fits: true, ..Tagged::default() });
            let rank = usize::from(!fits);
            let snippet = snippet.map(|rest| format!("{}{}{rest}", self.lead, snippet::escape(&text)));
            let item = self.offer(rank, show(choice.value), CompletionKind::Value, &format!("{text}{plain}"));
            item.snippet = snippet;
            item.detail = if is_default { "default".to_owned() } else { String::new() };
            item.docs = docs;
            // A boolean is usually written to change its default.
            item.preselect = values.len() > 1 && is_default != (shape.kind() == Type::Boolean);
        }
        self.by_other_names(shape.values_by_other_names().map(|(value, other)| (show(&value.into()), other)));
        if !values.is_empty() || matches!(shape.kind(), Type::Mapping | Type::List) {
            return;
        }
        self.headings();
        self.values_beside(shape);
        self.used_nearby(shape);
        self.shared(shape);
        // Ids of models are defined by providers, not by the author.
        let is_name = match shape.word() {
            Some(Word::Defines(_)) => !shape.is_model_id(),
            Some(Word::File(_) | Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Shell) | None => false,
        };
        if shape.examples().is_empty() || is_name {
            self.examples_of_list();
        }
        if is_name {
            return;
        }
        // The example is a model of one provider.
        if is_model {
            return;
        }
        if let Some(free) = self.free_position(shape) {
            self.found(0, &free, "the next free value");
            return;
        }
        let examples = shape.examples().into_iter().map(|value| (value, "example"));
        for (value, detail) in default.map(|value| (value, "default")).into_iter().chain(examples) {
            let Some(text) = insert::written(value, self.quote) else { continue };
            if self.items.iter().any(|item| item.label == show(value)) || !self.goes_on(value.as_str()) {
                continue;
            }
            let item = self.offer(1, show(value), CompletionKind::Value, &text);
            item.detail = detail.to_owned();
        }
    }

    fn offer_text(&mut self, rank: usize, text: String, kind: CompletionKind, detail: &str) {
        let written = match self.quote {
            None => scalar(&text),
            Some(quote) => insert::quoted(&text, quote),
        };
        self.offer(rank, text, kind, &written).detail = detail.to_owned();
    }

    /// Offers a provider's names of its models. Returns whether such a name is expected.
    fn models(&mut self, shape: &Shape) -> bool {
        if shape.is_model_id() {
            for id in script::known(self.values.files) {
                self.found(0, &id, "scripted model");
            }
            return false;
        }
        let Some(key) = shape.model_of() else { return false };
        let holder = self.context.at.parent();
        let provider = holder.and_then(|model| self.document.find(&model)?.get(key)?.text());
        let models = self.file.dialect().map(|format| format.known_models()).unwrap_or_default();
        for (served_by, names) in models.iter().filter(|(name, _)| provider.is_none_or(|provider| provider == *name)) {
            for name in *names {
                self.found(1, name, &format!("model of {served_by}"));
            }
        }
        true
    }

    /// Returns the first position that no other claim about the order of calls uses.
    fn free_position(&self, shape: &Shape) -> Option<String> {
        let at = &self.context.at;
        let (key, list) = (at.last().filter(|_| shape.is_position())?, at.parent()?.parent()?);
        let own = at.parent()?.last_step()?.index()?;
        let calls = self.document.find(&list)?.items().enumerate().filter(|(index, _)| *index != own);
        let taken: Vec<String> = calls.filter_map(|(_, call)| call.get(&key)?.text().map(str::to_owned)).collect();
        (0..=taken.len()).map(|position| position.to_string()).find(|position| !taken.contains(position))
    }

    /// Whether a text begins with the typed one. Examples do not replace existing text.
    fn goes_on(&self, text: Option<&str>) -> bool {
        let token = self.context.token.clone();
        let written = String::from(self.document.text().byte_slice(token));
        let written = written.trim_start_matches(['"', '\'']);
        written.is_empty() || text.is_some_and(|text| text.starts_with(written) && text != written)
    }

    fn shared(&mut self, shape: &Shape) {
        let kind = match (shape.shares(), shape.word()) {
            (Some(kind), _) => kind,
            (None, Some(Word::File("log"))) => cross_file_names::LOGS,
            (None, Some(Word::Defines(kind))) if shape.is_model_id() => kind,
            (None, Some(_) | None) => return,
        };
        let mut seen = self.named_beside();
        seen.extend(self.items.iter().map(|item| item.filter_text.clone()));
        if let Some(directories) = agents::of(self.file).filter(|_| kind == agents::KIND) {
            let as_paths = shape.examples().iter().any(|example| example.as_str().is_some_and(|it| it.contains('/')));
            for (name, what) in agents::offered(directories, as_paths, self.values.files) {
                if seen.insert(name.clone()) {
                    let rank = usize::from(what != agents::AGENT);
                    self.offer_text(rank, name, CompletionKind::Reference, what);
                }
            }
        }
        for name in logged(kind, self.file, self.values) {
            if seen.insert(name.clone()) {
                self.found(1, &name, "in the gateway's log");
            }
        }
        for name in (self.elsewhere)(kind) {
            if seen.insert(name.clone()) {
                self.offer_text(1, name, CompletionKind::Value, "used in other files");
            }
        }
    }

    pub(super) fn bare(&self, name: &str) -> String {
        self.quote.map_or_else(|| scalar(name), |quote| insert::quoted(name, quote))
    }

    pub(super) fn references(&mut self, kind: &str, shape: &Shape) {
        let taken = self.named_beside();
        let mut seen = HashSet::new();
        for definition in names::defined_around(self.document, self.file, kind, &self.context.at) {
            let name = definition.name.key_text();
            if name.is_empty() || taken.contains(&name) || !seen.insert(name.clone()) {
                continue;
            }
            let text = self.bare(&name);
            let source = String::from(self.document.text().byte_slice(definition.node.own_range()));
            let item = self.offer(0, name, CompletionKind::Reference, &text);
            item.detail = kind.trim_end_matches('s').to_owned();
            item.docs = markdown::source(&snippet::moved_left(&source));
        }
        for name in if cross_file_names::crosses(kind) { (self.elsewhere)(kind) } else { Vec::new() } {
            if taken.contains(&name) || !seen.insert(name.clone()) {
                continue;
            }
            let text = self.bare(&name);
            let item = self.offer(0, name, CompletionKind::Reference, &text);
            item.detail = kind.trim_end_matches('s').to_owned();
        }
        for choice in shape.values() {
            let name = choice.value.as_str().unwrap_or_default();
            if !seen.contains(name) {
                let more = self.define(kind, name);
                let item = self.offer(1, name, CompletionKind::Value, name);
                item.detail = format!("not in {kind} yet");
                item.docs = markdown::choice(&choice);
                item.more = more;
            }
        }
    }

    /// Returns the possible forms of the mapping around a value, if the value is the tag that distinguishes them.
    fn variants_by_tag(&self) -> Vec<Variant> {
        let (Some(parent), Some(key)) = (self.context.at.parent(), self.context.at.last()) else { return Vec::new() };
        let holder = Shape::find(self.file, &parent, self.document.root());
        let variants = holder.map(|holder| holder.variants()).unwrap_or_default().into_iter();
        variants.filter(|variant| variant.tag.is_some_and(|(tag, _)| tag == key)).collect()
    }

    fn examples_of_list(&mut self) {
        let taken = self.named_beside();
        let list = self.list_around();
        for text in list.as_ref().map(snippet::item_values).unwrap_or_default() {
            if !taken.contains(&text) && self.goes_on(Some(&text)) {
                self.found(1, &text, "example");
            }
        }
    }

    fn list_around(&self) -> Option<Shape> {
        let at = match self.context.at.last_step()? {
            Step::Index(_) => self.context.at.parent()?,
            Step::Key(_) => self.context.at.clone(),
        };
        Shape::find(self.file, &at, self.document.root()).filter(|shape| shape.kind() == Type::List)
    }

    fn likely(&mut self) {
        let likely = self.likely_at(&self.context.at);
        for (index, text) in likely.iter().enumerate() {
            self.found(0, text, "in this workspace");
            if let Some(item) = self.items.last_mut().filter(|_| index == 0) {
                item.preselect = true;
            }
        }
    }

    fn headings(&mut self) {
        let steps: Vec<_> = self.context.at.steps().collect();
        let Some(field) = steps.iter().rposition(|step| step.key().is_some()) else { return };
        if !matches!(steps[field].key(), Some("section" | "sections")) {
            return;
        }
        let at = steps[..field].iter().fold(Pointer::root(), |at, step| at.step(step));
        let (Some(claim), Some(shape)) = (self.document.find(&at), Shape::find(self.file, &at, self.document.root()))
        else {
            return;
        };
        let taken = self.named_beside();
        for heading in headings_of(claim, &shape, self.values) {
            if !taken.contains(&heading) {
                self.found(0, &heading, "heading of the file");
            }
        }
    }

    fn used_nearby(&mut self, shape: &Shape) {
        const MAX_NEARBY_BYTES: usize = 32 * 1024;
        const MAX_WORD_BYTES: usize = 80;
        const MAX_VALUES: usize = 20;
        let is_name = match shape.word() {
            None | Some(Word::File(_)) => true,
            Some(Word::Refers(kind)) => kind == TOOLS,
            // Variables that a run defines are names, those of an author are texts.
            Some(Word::Template(word)) => template_syntax::syntax(word).is_some_and(|it| !it.known_values.is_empty()),
            Some(Word::Pattern(_) | Word::Defines(_) | Word::Shell) => false,
        };
        let field = |at: &Pointer| at.steps().filter_map(|step| step.key().map(str::to_owned)).last();
        let Some(own) = field(&self.context.at).filter(|_| is_name && shape.kind() == Type::Text) else { return };
        // Names of one kind are under several keys, and some of these keys have other values as well.
        let shared = shape.shares().map(|kind| (kind, walk::keys_with(self.file, "x-shares", kind)));
        let is_alike = |at: &Pointer, key: &str| match &shared {
            Some((kind, keys)) => {
                let means = |at: &Pointer| Shape::find(self.file, at, self.document.root())?.shares();
                keys.contains(key) && means(at) == Some(*kind)
            }
            None => key == own,
        };
        let taken = self.named_beside();
        let start = self.context.token.start.min(self.offset);
        let typed = String::from(self.document.text().byte_slice(start..self.offset));
        let range = self.offset.saturating_sub(MAX_NEARBY_BYTES)..self.offset + MAX_NEARBY_BYTES;
        let mut found: Vec<String> = Vec::new();
        walk::scalars_in(self.document, &range, &mut |node, place| {
            let text = node.as_str().unwrap_or_default();
            let is_word = !text.is_empty() && text.len() <= MAX_WORD_BYTES && !text.contains(char::is_whitespace);
            let is_here = node.range().start <= self.offset && self.offset <= node.range().end;
            if place.is_key()
                || is_here
                || !is_word
                || !text.starts_with(typed.trim_start())
                || taken.contains(text)
                || found.len() >= MAX_VALUES
            {
                return;
            }
            let at = place.pointer();
            if !found.iter().any(|known| known == text) && field(&at).is_some_and(|key| is_alike(&at, &key)) {
                found.push(text.to_owned());
            }
        });
        for text in found {
            self.found(0, &text, "used in this file");
        }
    }

    /// Offers values that other cases have in the same list, such as tags. Lists at a deeper level are specific to one
    /// case.
    fn values_beside(&mut self, shape: &Shape) {
        let steps: Vec<_> = self.context.at.steps().collect();
        let [section @ .., case, field, last] = steps.as_slice() else { return };
        let is_list_of_case = section.len() <= 1 && case.index().is_some() && last.index().is_some();
        if !is_list_of_case || shape.kind() != Type::Text || shape.word().is_some() {
            return;
        }
        let cases = match section.first() {
            Some(section) => self.document.root().and_then(|root| root.get(&section.text())),
            None => self.document.root(),
        };
        let field = field.text();
        let touches = |range: Range<usize>| range.start <= self.offset && self.offset <= range.end;
        let mut seen = self.named_beside();
        let mut found: Vec<String> = Vec::new();
        let lists = cases.into_iter().flat_map(NodeRef::items).filter_map(|case| case.get(&field));
        for item in lists.flat_map(NodeRef::items) {
            let value = item.text().filter(|value| !value.is_empty() && !seen.contains(*value));
            // The value that is being typed does not count.
            if let Some(value) = value.filter(|_| !touches(item.range())) {
                seen.insert(value.to_owned());
                found.push(value.to_owned());
            }
        }
        for value in found {
            self.offer_text(0, value, CompletionKind::Value, "used in this file");
        }
    }

    pub(super) fn named_beside(&self) -> HashSet<String> {
        let list = self.context.at.parent().and_then(|list| self.document.find(&list));
        let touches = |range: Range<usize>| range.start <= self.offset && self.offset <= range.end;
        let others = list.into_iter().flat_map(NodeRef::items).filter(|item| !touches(item.range()));
        others.filter_map(NodeRef::text).map(str::to_owned).collect()
    }
}

const MAX_FILE_BYTES: usize = 1 << 20;

/// Returns the names of a kind in the configured log of runs, if it is in the workspace: other logs are not read while
/// the author types.
pub(super) fn logged(kind: &str, file: SpecFile, values: values::Values<'_>) -> Vec<String> {
    let found = file.serves().and_then(|format| {
        let syntax = template_syntax::syntaxes().find(|syntax| !syntax.known_values.is_empty());
        let path = values.path_with(syntax.map(|syntax| syntax.word), &format.log(values.files)?)?;
        let bytes = values.files.read(&values.files.glob(&path).paths.pop()?).ok()?;
        let text = (bytes.len() <= MAX_FILE_BYTES).then(|| String::from_utf8_lossy(&bytes))?;
        Some(format.names_in_log(kind, &text))
    });
    names::distinct(found.into_iter().flatten())
}

/// Returns the headings of the file that the claim around a place is about; if there is no file of today yet,
/// those of the latest file of another day.
pub(super) fn headings_of(claim: NodeRef<'_>, shape: &Shape, values: values::Values<'_>) -> Vec<String> {
    let text = ["path", "output_path"].into_iter().find_map(|key| Some((key, claim.get(key)?.text()?)));
    let Some((key, path)) = text else { return Vec::new() };
    let Some(shape) = shape.step(key, Some(claim)) else { return Vec::new() };
    let content = artifact(path, &shape, values);
    let found = content.as_deref().map(headings).unwrap_or_default();
    names::distinct(found.into_iter().map(|heading| heading.text).filter(|text| !text.is_empty()))
}

fn artifact(path: &str, shape: &Shape, values: values::Values<'_>) -> Option<String> {
    let read = |path: &str| {
        let bytes = values.files.read(path).ok().filter(|bytes| bytes.len() <= MAX_FILE_BYTES)?;
        String::from_utf8(bytes.to_vec()).ok()
    };
    let newest = |pattern: &str| {
        let files = values.files.glob(pattern).paths.into_iter().rev();
        files.into_iter().filter(|path| values.files.kind(path) == Some(FileKind::File)).find_map(|path| read(&path))
    };
    let now = values.path(shape, path).and_then(|path| read(&path).or_else(|| newest(&path)));
    now.or_else(|| {
        let mut pattern = path.to_owned();
        let placeholders =
            shape.template().map(|kind| template_syntax::placeholders_of(kind, path)).unwrap_or_default();
        for found in placeholders.iter().rev() {
            pattern.replace_range(found.range(), if found.name == "repo_root" { "." } else { "*" });
        }
        newest(pattern.trim_start_matches("./"))
    })
}
