//! Hover: the documentation of the place under the pointer.

#[cfg(test)]
mod tests;

use std::ops::Range;

use speclens_schema::{
    directive,
    document::{Document, NodeRef, Pointer, Shape as NodeShape, Step},
    files::{FileKind, Inputs},
    json_schema::SpecFile,
    problem::Code,
    quoting::show,
    script,
    shape::{Need, Shape, Type, Word},
    suite::{Action, CommandAction, PromptAction, PromptTexts, Suite},
    template, template_syntax,
    words::{listed, plural},
};

use super::{agents, hints, links, markdown, models::Reach, names, pattern_words, values::Values, written::Written};

/// The section of a KindLM suite that configures the providers of models.
const PROVIDERS: &str = "providers";

/// Maximum number of tests whose values of a variable are listed.
const MAX_GIVEN: usize = 5;

/// A hover and the bytes it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hover {
    /// The key, the value or the placeholder.
    pub range: Range<usize>,
    pub markdown: String,
    /// The place in the reference with more details.
    pub page: Option<Page>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The mapping, with `[]` for items of lists: `tests[].expect`.
    pub path: String,
    /// The key and the value that select the form of the mapping.
    pub tag: Option<(&'static str, &'static str)>,
    /// The key; `None` for the mapping as a whole.
    pub key: Option<String>,
}

/// Returns the hover at `offset`; `None` for plain text. `suite` is the lowered document, if it is known: it says which
/// command would run.
pub(crate) fn hover(
    document: &Document,
    file: SpecFile,
    offset: usize,
    suite: Option<&Suite>,
    values: Values<'_>,
    reach: Reach<'_>,
) -> Option<Hover> {
    let place = HoverTarget::find(document, file, offset)?;
    match place.part {
        Part::Key(key) => place.key(key, suite, values, reach),
        Part::Value(value) => place.value(value, suite, values, reach),
        Part::Alias(alias) => place.alias(alias),
        Part::Nothing => place.code(),
    }
}

struct HoverTarget<'d> {
    document: &'d Document,
    file: SpecFile,
    offset: usize,
    at: Pointer,
    part: Part<'d>,
}

#[derive(Clone, Copy)]
enum Part<'d> {
    Key(NodeRef<'d>),
    Value(NodeRef<'d>),
    Alias(NodeRef<'d>),
    /// Blanks, punctuation, comments.
    Nothing,
}

impl<'d> HoverTarget<'d> {
    fn find(document: &'d Document, file: SpecFile, offset: usize) -> Option<HoverTarget<'d>> {
        let at = document.pointer_at(offset);
        let touches = |range: Range<usize>| range.start <= offset && offset <= range.end;
        let parent = at.parent().and_then(|parent| document.find(&parent));
        let entry = parent.and_then(|parent| parent.entry(&at.last()?));
        let part = match (entry, document.find(&at)) {
            (Some(entry), _) if touches(entry.key.range()) => Part::Key(entry.key),
            (_, Some(node)) if node.alias().is_some() && touches(node.range()) => Part::Alias(node),
            (_, Some(node)) if node.text().is_some() && touches(node.range()) => Part::Value(node),
            (_, Some(_) | None) => Part::Nothing,
        };
        Some(HoverTarget { document, file, offset, at, part })
    }

    fn shape(&self) -> Option<Shape> {
        Shape::find(self.file, &self.at, self.document.root())
    }

    fn key(&self, key: NodeRef<'d>, suite: Option<&Suite>, values: Values<'_>, reach: Reach<'_>) -> Option<Hover> {
        let name = key.key_text();
        let parent = self.at.parent()?;
        let holder = Shape::find(self.file, &parent, self.document.root())?;
        let fields = holder.fields(self.document.find(&parent));
        let mut markdown = match fields.into_iter().find(|field| field.name == name) {
            Some(field) => {
                let card = markdown::field(&name, &field.shape, &field.need);
                match markdown::signature(&field.shape) {
                    Some(signature) => card.replacen("\n\n", &format!("\n\n{signature}\n\n"), 1),
                    None => card,
                }
            }
            // A name chosen by the author, or one that the format does not have.
            None => match (holder.word(), holder.map_value()) {
                (Some(Word::Defines("vars")), _) => {
                    format!("{} · the value of {}", markdown::bold(&name), markdown::inline(&format!("{{{{{name}}}}}")))
                }
                (_, Some(value)) => markdown::field(&name, &value, &Need::Optional),
                (_, None) => {
                    let known = holder.fields(self.document.find(&parent));
                    if known.is_empty() || name == "<<" {
                        return None;
                    }
                    let known = listed(known.iter().map(|field| field.name));
                    let markdown = format!("{} · unknown key here: expected {known}", markdown::bold(&name));
                    return Some(Hover { range: key.range(), markdown, page: Some(self.page(None)) });
                }
            },
        };
        let command = self.command(suite).map(|(command, declared)| resolved(command, declared));
        for words in [self.in_force(&name, values), self.provider(&name, reach), command].into_iter().flatten() {
            markdown.push_str("\n\n");
            markdown.push_str(&words);
        }
        Some(Hover { range: key.range(), markdown, page: Some(self.page(Some(&name))) })
    }

    fn provider(&self, name: &str, reach: Reach<'_>) -> Option<String> {
        let providers = Shape::find(self.file, &self.at.parent()?, self.document.root())?;
        let is_entry = providers.word() == Some(Word::Defines(PROVIDERS));
        reach.of_provider(name, self.document.find(&self.at).filter(|_| is_entry)?)
    }

    fn alias(&self, alias: NodeRef<'d>) -> Option<Hover> {
        let name = alias.alias()?;
        let own = alias.resolved().own_range();
        let text = self.document.text();
        let line = text.byte_to_line(own.start) + 1;
        let source = String::from(text.get_byte_slice(own)?);
        let head = || markdown::bold(&format!("*{name}"));
        let markdown = match alias.resolved().shape() {
            NodeShape::Dangling => {
                format!("{} · {} is not defined before it", head(), markdown::inline(&format!("&{name}")))
            }
            NodeShape::Scalar | NodeShape::Sequence | NodeShape::Mapping => {
                let source = markdown::source(&super::snippet::moved_left(&source));
                format!("{} · alias of line {line}\n\n{source}", head())
            }
        };
        Some(Hover { range: alias.range(), markdown, page: None })
    }

    /// Returns the value in force if a key is not set: from another section, another file, or the default.
    fn in_force(&self, name: &str, values: Values<'_>) -> Option<String> {
        let found = self.file.dialect()?.in_force(self.file, self.document, &self.at, name, values.files)?;
        let source = found.source.map(|source| format!(" from {source}")).unwrap_or_default();
        Some(format!("Defaults to {}{source}.", markdown::inline(&found.value)))
    }

    fn page(&self, key: Option<&str>) -> Page {
        let parent = self.at.parent().unwrap_or_default();
        let node = self.document.find(&parent);
        let variants = Shape::find(self.file, &parent, self.document.root()).map(|shape| shape.variants());
        let tag = variants.into_iter().flatten().filter_map(|variant| variant.tag);
        let tag = tag.into_iter().find(|(name, value)| {
            node.and_then(|node| node.get(name)).and_then(NodeRef::text) == Some(value) && key != Some(name)
        });
        let path = parent.steps().fold(String::new(), |path, step| match step {
            Step::Index(_) => format!("{path}[]"),
            Step::Key(key) if path.is_empty() => key.into_owned(),
            Step::Key(key) => format!("{path}.{key}"),
        });
        Page { path, tag, key: key.map(str::to_owned) }
    }

    fn form(&self, value: NodeRef<'d>) -> Option<Hover> {
        let (parent, name) = (self.at.parent()?, self.at.last()?);
        let holder = Shape::find(self.file, &parent, self.document.root())?;
        let text = value.text()?;
        let variant = holder
            .variants()
            .into_iter()
            .find(|variant| variant.tag.is_some_and(|tag| tag == (name.as_str(), text)))?;
        let signature = markdown::signature_of_form(&variant)?;
        let own = holder
            .step(&name, self.document.find(&parent))
            .and_then(|shape| shape.values().into_iter().find(|choice| choice.value.as_str() == Some(text))?.docs);
        // The docs of the form, if it has its own: they begin like those of the value.
        let whole = variant.shape.type_docs().unwrap_or_default();
        let docs = own.filter(|own| !whole.starts_with(own)).unwrap_or(whole);
        let markdown = format!("{} · {signature}\n\n{}", markdown::bold(text), docs.trim());
        Some(Hover { range: value.range(), markdown, page: Some(self.page(None)) })
    }

    fn value(&self, value: NodeRef<'d>, suite: Option<&Suite>, values: Values<'_>, reach: Reach<'_>) -> Option<Hover> {
        if let Some(found) = self.form(value) {
            return Some(found);
        }
        let shape = self.shape()?;
        if shape.template().is_some()
            && let Some(found) = self.placeholder(&shape, value, values)
        {
            return Some(found);
        }
        let markdown = self.meaning(&shape, value, suite, values, reach)?;
        Some(Hover { range: value.range(), markdown, page: None })
    }

    fn meaning(
        &self,
        shape: &Shape,
        value: NodeRef<'d>,
        suite: Option<&Suite>,
        values: Values<'_>,
        reach: Reach<'_>,
    ) -> Option<String> {
        if shape.shares() == Some(agents::KIND) {
            return agents::hover(value.text()?, self.file, values.files);
        }
        match shape.word() {
            Some(Word::Template(_)) => self.command(suite).map(|(command, declared)| resolved(command, declared)),
            Some(Word::Refers(kind)) => {
                let sent = self.prompt(suite).map(|prompt| sent(&prompt.texts));
                let definition = self.definition(kind, value.text()?).or_else(|| choice(shape, value));
                sent.or(definition)
            }
            Some(Word::File(kind)) => path(value.text()?, kind, shape, values),
            Some(Word::Pattern(_)) => pattern_words::words(value.text()?),
            Some(Word::Defines(_)) if shape.is_model_id() => {
                let id = value.text()?;
                let (provider, model) = id.split_once('/')?;
                if let Some(path) = links::script_of(shape, value) {
                    return Some(scripted(model, &path, values));
                }
                let reached = reach.of_model(id);
                let (model, provider) = (markdown::bold(model), markdown::inline(provider));
                Some(format!("{model} · model of the provider {provider}\n\n{reached}"))
            }
            Some(Word::Defines(_) | Word::Shell) | None => choice(shape, value).or_else(|| match shape.kind() {
                Type::Boolean | Type::Integer | Type::Number => {
                    Some(markdown::field(&self.at.last()?, shape, &Need::Optional))
                }
                Type::Text | Type::List | Type::Mapping | Type::Any => None,
            }),
        }
    }

    fn command<'s>(&self, suite: Option<&'s Suite>) -> Option<(&'s CommandAction, &'s Inputs)> {
        let suite = suite?;
        suite.cases.iter().find_map(|case| match &case.action {
            Action::Command(command) if command.at == self.at => Some((command, &suite.inputs)),
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => None,
        })
    }

    /// Returns the conversation of the test, if the place is the name of its prompt.
    fn prompt<'s>(&self, suite: Option<&'s Suite>) -> Option<&'s PromptAction> {
        suite?.cases.iter().find_map(|case| match &case.action {
            Action::Prompt(prompt) if prompt.at == self.at && prompt.missing.is_empty() => Some(&**prompt),
            Action::Prompt(_) | Action::Command(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => None,
        })
    }

    fn placeholder(&self, shape: &Shape, value: NodeRef<'d>, values: Values<'_>) -> Option<Hover> {
        let kind = shape.template()?;
        let written = Written::of(value)?;
        let at = written.offset(self.offset)?;
        let found = template_syntax::placeholders_of(kind, &written.text);
        let found = found.into_iter().find(|found| found.range().start <= at && at <= found.range().end)?;
        let (name, place) = (found.name, written.range(found.range()));
        let head = markdown::bold(&format!("{{{{{name}}}}}"));
        let say =
            |text: String| Some(Hover { range: place.clone(), markdown: format!("{head} · {text}"), page: None });
        let built_in = template_syntax::variables(kind, self.file);
        if let Some(known) = built_in.iter().find(|known| known.name == name) {
            return say(match values.of(name) {
                Some(value) => format!("{} Now {}.", known.docs, markdown::inline(&value)),
                None => format!("{} Its value is known only when the test runs.", known.docs),
            });
        }
        if !built_in.is_empty() {
            let names: Vec<String> = built_in.iter().map(|known| format!("`{}`", known.name)).collect();
            return say(format!("has no value here; available: {}", names.join(", ")));
        }
        if template::is_reserved(name) {
            return say("not expanded: names that begin with `env.` are left unchanged".to_owned());
        }
        let own = names::variables(self.document, &self.at, shape);
        if let Some(found) = own.and_then(|vars| vars.get(name)) {
            return say(markdown::inline(found.text().unwrap_or_default()));
        }
        let mut steps = self.at.steps();
        let (Some(section), Some(prompt)) = (steps.next(), steps.next()) else { return None };
        if section == "prompts" {
            let given = names::given_to(self.document, &prompt.text());
            let values = given.into_iter().filter(|given| given.name == name);
            let lines: Vec<String> = values
                .take(MAX_GIVEN)
                .map(|given| {
                    let value = markdown::inline(given.value.unwrap_or_default());
                    match given.test {
                        "" => format!("- {value}"),
                        test => format!("- {}: {value}", markdown::text(test)),
                    }
                })
                .collect();
            return match lines.is_empty() {
                true => say("no test that uses this prompt sets it".to_owned()),
                false => say(format!("set by tests:\n\n{}", lines.join("\n"))),
            };
        }
        say("no value in `vars`, so the run would end with an error".to_owned())
    }

    fn definition(&self, kind: &str, name: &str) -> Option<String> {
        let found = names::defined_around(self.document, self.file, kind, &self.at);
        let found = found.into_iter().find(|definition| definition.name.key_text() == name)?;
        let range = found.node.own_range();
        let line = self.document.text().byte_to_line(range.start) + 1;
        let source = String::from(self.document.text().byte_slice(range));
        let word = kind.trim_end_matches('s');
        let source = markdown::source(&super::snippet::moved_left(&source));
        Some(format!("{} · {word}, line {line}\n\n{source}", markdown::bold(name)))
    }

    /// Returns a code in `# speclens: allow(…)`.
    fn code(&self) -> Option<Hover> {
        let words = directive::directives(self.document).into_iter().flat_map(|directive| directive.words);
        let (word, range) = { words }.find(|(_, range)| range.start <= self.offset && self.offset <= range.end)?;
        Some(Hover { range, markdown: markdown::code(Code::parse(&word)?), page: None })
    }
}

/// Returns the texts that a test sends.
fn sent(texts: &PromptTexts) -> String {
    let PromptTexts { system, user, assistant, follow_ups } = texts;
    let texts = [("System", system.as_ref()), ("User", Some(user)), ("Assistant", assistant.as_ref())];
    let texts = texts.into_iter().filter_map(|(role, text)| Some((role, text?)));
    let texts = texts.chain(follow_ups.iter().map(|text| ("User", text)));
    let parts = texts.map(|(role, text)| format!("{role}\n\n{}", markdown::verbatim(text, "text")));
    format!("Sends\n\n{}", parts.collect::<Vec<_>>().join("\n\n"))
}

fn resolved(command: &CommandAction, declared: &Inputs) -> String {
    match &command.expanded {
        Ok(text) => format!("Runs\n\n{}\n\n{}", markdown::verbatim(text, "sh"), inputs(&command.inputs, declared)),
        Err(missing) => {
            let names: Vec<String> = missing.iter().map(|name| markdown::inline(name)).collect();
            format!(
                "This command cannot run: no value in `vars` for {}\n\n{}",
                names.join(", "),
                markdown::verbatim(&command.template, "sh")
            )
        }
    }
}

/// Returns the files that make a recording of a command stale, and those that do not.
fn inputs(named: &Inputs, declared: &Inputs) -> String {
    const MAX_NAMES: usize = 8;
    let mut parts: Vec<String> = named.keys().take(MAX_NAMES).map(|path| markdown::inline(path)).collect();
    if named.len() > MAX_NAMES {
        parts.push(format!("{} that it names", plural(named.len() - MAX_NAMES, "more file")));
    }
    match declared.keys().filter(|path| !named.contains_key(*path)).count() {
        0 => {}
        count => parts.push(format!("{} under `inputs` in `speclens.yaml`", plural(count, "file"))),
    }
    match parts.is_empty() {
        true => "Inputs: none, because the command does not name a file of the workspace. List the files that it reads under \
            `inputs` in `speclens.yaml`, so that changes to them make the recording stale."
            .to_owned(),
        false => format!(
            "Inputs: {}. Changes to them make the recording stale; changes to other files that the command reads do not.",
            parts.join(", ")
        ),
    }
}

fn choice(shape: &Shape, value: NodeRef<'_>) -> Option<String> {
    let text = value.text()?;
    let found = shape.values().into_iter().find(|choice| match choice.value.as_str() {
        Some(name) => name == text,
        None => show(choice.value) == text,
    })?;
    found.docs.is_some().then(|| markdown::choice(&found))
}

fn scripted(name: &str, path: &str, values: Values<'_>) -> String {
    let head = format!("{} · scripted model {}", markdown::bold(name), markdown::inline(path));
    let Ok(bytes) = values.files.read(path) else { return format!("{head}, which does not exist") };
    let script = match std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned()).and_then(script::read) {
        Ok(script) => script,
        Err(reason) => return format!("{head}\n\nIt cannot be used: {reason}."),
    };
    let mut parts: Vec<String> = script.tasks.keys().map(|id| markdown::inline(id)).collect();
    if script.default.is_some() {
        parts.push("all other tasks".to_owned());
    }
    let turns = if parts.is_empty() { String::new() } else { format!("\n\nIt has turns for {}.", parts.join(", ")) };
    let answers = match script.answers.len() {
        0 => String::new(),
        count => format!("\n\nIt answers {}.", plural(count, "question")),
    };
    format!("{head}{turns}{answers}")
}

fn path(text: &str, kind: &str, shape: &Shape, values: Values<'_>) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    if let Some(pattern) = values.pattern(shape, text) {
        return Some(format!("{}\n\n{}", markdown::inline(&pattern), hints::matches(&pattern, values)));
    }
    let head = markdown::inline(text);
    let Some(path) = values.path(shape, text) else {
        let unknown = values.expand(shape, text).is_none();
        let what = if unknown { "path known only when the test runs" } else { "outside the suite's directory" };
        return Some(format!("{head} · {what}"));
    };
    let what = match values.files.kind(&path) {
        Some(FileKind::File) => match values.files.read(&path) {
            Ok(content) => {
                let changed = values.files.changed(&path).map(|changed| format!(", changed {changed}"));
                format!("file in the suite's directory, {}{}", size(content.len()), changed.unwrap_or_default())
            }
            Err(reason) => format!("file in the suite's directory: {reason}"),
        },
        Some(FileKind::Directory) if kind == "directory" => {
            let entries = values.files.list(&path).len();
            format!("directory with {entries} {}", if entries == 1 { "entry" } else { "entries" })
        }
        Some(FileKind::Directory) => "a directory, not a file".to_owned(),
        Some(FileKind::Other) => "not a regular file".to_owned(),
        None if kind == "directory" => "no such directory in the suite's directory".to_owned(),
        None => "no such file in the suite's directory".to_owned(),
    };
    let now = if text.contains("{{") { format!(": now {}", markdown::inline(&path)) } else { String::new() };
    Some(format!("{head}{now} · {what}"))
}

/// Returns a number of bytes with a readable unit.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
