//! What is known about the place under the pointer.

#[cfg(test)]
mod tests;

use std::ops::Range;

use speclens_schema::{
    document::{Document, NodeRef, Pointer},
    files::FileKind,
    json_schema::SpecFile,
    problem::Code,
    shape::{Need, Shape, Type, Word, show},
    suite::{Action, CommandAction, Suite},
};

use super::{
    card, hints,
    line::Line,
    names, pattern_words, template,
    values::{self, Values},
    written::Written,
};

/// The section whose entries count where nothing else is set.
const DEFAULTS: &str = "defaults";

/// What is shown, and for which bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The key, the value or the placeholder.
    pub range: Range<usize>,
    /// Markdown.
    pub markdown: String,
}

/// What is known about the place at `offset`; nothing about plain text. `suite` is what the document was
/// lowered to, as far as it is known: it says which command would run.
pub fn hover(
    document: &Document,
    file: SpecFile,
    offset: usize,
    suite: Option<&Suite>,
    values: Values<'_>,
) -> Option<Hover> {
    let place = Place::find(document, file, offset)?;
    match place.part {
        Part::Key(key) => place.key(key, suite),
        Part::Value(value) => place.value(value, suite, values),
        Part::Nothing => place.code(),
    }
}

struct Place<'d> {
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
    /// Blanks, punctuation, comments.
    Nothing,
}

impl<'d> Place<'d> {
    fn find(document: &'d Document, file: SpecFile, offset: usize) -> Option<Place<'d>> {
        let at = document.pointer_at(offset);
        let touches = |range: Range<usize>| range.start <= offset && offset <= range.end;
        let parent = at.parent().and_then(|parent| document.find(&parent));
        let entry = parent.and_then(|parent| parent.entry(&at.last()?));
        let part = match (entry, document.find(&at)) {
            (Some(entry), _) if touches(entry.key.range()) => Part::Key(entry.key),
            (_, Some(node)) if node.text().is_some() && touches(node.range()) => Part::Value(node),
            (_, Some(_) | None) => Part::Nothing,
        };
        Some(Place { document, file, offset, at, part })
    }

    fn shape(&self) -> Option<Shape> {
        Shape::find(self.file, &self.at, self.document.root())
    }

    fn key(&self, key: NodeRef<'d>, suite: Option<&Suite>) -> Option<Hover> {
        let name = key.key_text();
        let parent = self.at.parent()?;
        let holder = Shape::find(self.file, &parent, self.document.root())?;
        let fields = holder.fields(self.document.find(&parent));
        let mut markdown = match fields.into_iter().find(|field| field.name == name) {
            Some(field) => card::field(&name, &field.shape, &field.need),
            // A name of the author's own choice.
            None => match (holder.word(), holder.map_value()?) {
                (Some(Word::Defines("vars")), _) => format!("**{name}** · what `{{{{{name}}}}}` stands for"),
                (_, value) => card::field(&name, &value, &Need::Optional),
            },
        };
        if let Some(words) = self.in_force(&name) {
            markdown.push_str("\n\n");
            markdown.push_str(&words);
        }
        if let Some(command) = self.command(suite) {
            markdown.push_str("\n\n");
            markdown.push_str(&resolved(command));
        }
        Some(Hover { range: key.range(), markdown })
    }

    /// What the section of defaults says about a key that may be set elsewhere, too.
    fn in_force(&self, name: &str) -> Option<String> {
        if self.at.steps().next().as_deref() == Some(DEFAULTS) {
            return None;
        }
        let value = self.document.root()?.get(DEFAULTS)?.get(name)?.text()?;
        Some(format!("Where it is not set, {} of `{DEFAULTS}` in this file counts.", card::inline(value)))
    }

    fn value(&self, value: NodeRef<'d>, suite: Option<&Suite>, values: Values<'_>) -> Option<Hover> {
        let shape = self.shape()?;
        let range = value.range();
        if shape.template().is_some()
            && let Some(found) = self.placeholder(&shape, value, values)
        {
            return Some(found);
        }
        match shape.word() {
            Some(Word::Template(_)) => {
                let markdown = resolved(self.command(suite)?);
                return Some(Hover { range, markdown });
            }
            Some(Word::Refers(kind)) => {
                let markdown = self.definition(kind, value.text()?).or_else(|| choice(&shape, value))?;
                return Some(Hover { range, markdown });
            }
            Some(Word::File(kind)) => {
                return Some(Hover { range, markdown: path(value.text()?, kind, &shape, values)? });
            }
            Some(Word::Pattern(_)) => {
                return Some(Hover { range, markdown: pattern_words::words(value.text()?)? });
            }
            Some(Word::Defines(_) | Word::Shell) | None => {}
        }
        if let Some(markdown) = choice(&shape, value) {
            return Some(Hover { range, markdown });
        }
        match shape.kind() {
            Type::Boolean | Type::Integer | Type::Number => {
                let markdown = card::field(&self.at.last()?, &shape, &Need::Optional);
                Some(Hover { range, markdown })
            }
            Type::Text | Type::List | Type::Mapping | Type::Any => None,
        }
    }

    /// The command that a test would run, when the cursor stands at it.
    fn command<'s>(&self, suite: Option<&'s Suite>) -> Option<&'s CommandAction> {
        suite?.cases.iter().find_map(|case| match &case.action {
            Action::Command(command) if command.at == self.at => Some(command),
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => None,
        })
    }

    /// `{{name}}` under the cursor.
    fn placeholder(&self, shape: &Shape, value: NodeRef<'d>, values: Values<'_>) -> Option<Hover> {
        let kind = shape.template()?;
        let written = Written::of(value)?;
        let at = written.offset(self.offset)?;
        let found = template::placeholders_of(kind, &written.text);
        let found = found.into_iter().find(|found| found.range.start <= at && at <= found.range.end)?;
        let (name, place) = (found.name, written.range(found.range));
        let head = format!("**{{{{{name}}}}}**");
        let say = |text: String| Some(Hover { range: place.clone(), markdown: format!("{head} · {text}") });
        let built_in = values::built_in(kind, self.file);
        if let Some(known) = built_in.iter().find(|known| known.name == name) {
            return say(match values.of(name) {
                Some(value) => format!("{} Now {}.", known.docs, card::inline(&value)),
                None => format!("{} Known when it runs.", known.docs),
            });
        }
        if !built_in.is_empty() {
            let names: Vec<String> = built_in.iter().map(|known| format!("`{}`", known.name)).collect();
            return say(format!("has no value here; what has one: {}", names.join(", ")));
        }
        if !template::is_variable(name) {
            return say("stays as it is: names that begin with `env.` are not replaced".to_owned());
        }
        let own = names::variables(self.document, &self.at, shape);
        if let Some(found) = own.and_then(|vars| vars.get(name)) {
            return say(card::inline(found.text().unwrap_or_default()));
        }
        let mut steps = self.at.steps();
        let (Some(section), Some(prompt)) = (steps.next(), steps.next()) else { return None };
        if section == "prompts" {
            let given = names::given_to(self.document, &prompt);
            return match given.into_iter().find(|(known, _)| known == name) {
                Some((_, value)) => {
                    say(format!("given by the tests, such as {}", card::inline(value.unwrap_or_default())))
                }
                None => say("no test that uses this prompt gives it a value".to_owned()),
            };
        }
        say("has no value in `vars`: the run would break".to_owned())
    }

    /// What a name refers to.
    fn definition(&self, kind: &str, name: &str) -> Option<String> {
        let found = names::defined(self.document, self.file, kind);
        let found = found.into_iter().find(|definition| definition.name.key_text() == name)?;
        let range = found.node.own_range();
        let line = self.document.text().byte_to_line(range.start) + 1;
        let source = String::from(self.document.text().byte_slice(range));
        let word = kind.trim_end_matches('s');
        Some(format!("**{name}** · {word}, line {line}\n\n{}", card::source(&super::snippet::moved_left(&source))))
    }

    /// A code in `# speclens: allow(…)`.
    fn code(&self) -> Option<Hover> {
        let text = self.document.text();
        let line = Line::of(text, text.byte_to_line(self.offset));
        let comment = line.parts().comment.filter(|comment| *comment <= self.offset)?;
        let words = line.slice(comment..line.end());
        if !words.trim_start_matches(['#', ' ']).starts_with("speclens:") {
            return None;
        }
        let at = self.offset - comment;
        let is_code = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let start = words[..at].rfind(|letter| !is_code(letter)).map_or(0, |before| before + 1);
        let end = words[at..].find(|letter| !is_code(letter)).map_or(words.len(), |end| at + end);
        let code = Code::parse(&words[start..end])?;
        Some(Hover { range: comment + start..comment + end, markdown: card::code(code) })
    }
}

/// The command with its values, or the names that have none.
fn resolved(command: &CommandAction) -> String {
    match &command.expanded {
        Ok(text) => format!("Runs\n\n{}", card::verbatim(text, "sh")),
        Err(missing) => {
            let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            format!(
                "Cannot run: no value in `vars` for {}\n\n{}",
                names.join(", "),
                card::verbatim(&command.template, "sh")
            )
        }
    }
}

/// The docs of one value out of a closed set.
fn choice(shape: &Shape, value: NodeRef<'_>) -> Option<String> {
    let text = value.text()?;
    let found = shape.values().into_iter().find(|choice| match choice.value.as_str() {
        Some(name) => name == text,
        None => show(choice.value) == text,
    })?;
    found.docs.is_some().then(|| card::choice(&found))
}

/// Where a path leads to, and what is there.
fn path(text: &str, kind: &str, shape: &Shape, values: Values<'_>) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    if let Some(pattern) = values.pattern(shape, text) {
        return Some(format!("{}\n\n{}", card::inline(&pattern), hints::matches(&pattern, values)));
    }
    let head = card::inline(text);
    let Some(path) = values.path(shape, text) else {
        let unknown = values.expand(shape, text).is_none();
        let what = if unknown { "known when it runs" } else { "outside of the suite's directory" };
        return Some(format!("{head} · {what}"));
    };
    let what = match values.files.kind(&path) {
        Some(FileKind::File) => match values.files.read(&path) {
            Ok(content) => format!("file below the suite's directory, {}", size(content.len())),
            Err(reason) => format!("file below the suite's directory: {reason}"),
        },
        Some(FileKind::Directory) if kind == "directory" => {
            let entries = values.files.list(&path).len();
            format!("directory with {entries} {}", if entries == 1 { "entry" } else { "entries" })
        }
        Some(FileKind::Directory) => "a directory, not a file".to_owned(),
        Some(FileKind::Other) => "not a regular file".to_owned(),
        None if kind == "directory" => "no such directory below the suite's directory".to_owned(),
        None => "no such file below the suite's directory".to_owned(),
    };
    let now = if text.contains("{{") { format!(": now {}", card::inline(&path)) } else { String::new() };
    Some(format!("{head}{now} · {what}"))
}

/// A number of bytes, as people say it.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}
