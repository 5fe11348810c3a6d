//! Whole claims and whole items to insert, taken from the examples in the docs: a new field has its
//! snippet as soon as its docs have an example.

use std::ops::Range;

use speclens_schema::{
    document::{Document, NodeRef, Pointer, ScalarRules, Shape as NodeShape, Style},
    quoting::{scalar, show},
    shape::{Need, Shape, Type, Variant},
};

/// Text to insert, in block style; its first line has no indentation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snippet {
    pub label: String,
    pub text: String,
    /// In the LSP's snippet syntax: every value is a tab stop.
    pub template: String,
}

/// Returns an entry with this key: `key:` and its value.
pub(crate) fn entry(name: &str, shape: &Shape) -> Option<Snippet> {
    docs(shape).into_iter().find_map(|example| {
        let document = Document::read_cut(&example, ScalarRules::Yaml12);
        let mut entries = document.root()?.entries();
        let first = entries.next()?;
        if first.key.key_text() != name || entries.next().is_some() {
            return None;
        }
        let value = match first.value.shape() {
            NodeShape::Sequence => first.value.item_at(0)?,
            NodeShape::Mapping | NodeShape::Scalar | NodeShape::Dangling => first.value,
        };
        let held = match keys(value) {
            held if !held.is_empty() => held,
            _ => value.text().and_then(|text| text.lines().next()).unwrap_or_default().to_owned(),
        };
        let below = |at: &Pointer| {
            let below = at.steps().skip(1).fold(Pointer::root(), |at, step| at.step(&step));
            shape.below(&below, Some(first.value))
        };
        Some(Snippet::of(format!("{name}: {held}"), example.trim_end().to_owned(), &below))
    })
}

pub(crate) fn items(list: &Shape) -> Vec<Snippet> {
    let mut texts: Vec<(String, String)> = Vec::new();
    let item_docs = list.item().map(|item| docs(&item)).unwrap_or_default();
    for example in item_docs.into_iter().chain(docs(list)) {
        let document = Document::read_cut(&example, ScalarRules::Yaml12);
        let Some(root) = document.root() else { continue };
        let found = match root.shape() {
            NodeShape::Sequence => Some(root),
            NodeShape::Mapping => root.entries().next().map(|entry| entry.value),
            NodeShape::Scalar | NodeShape::Dangling => None,
        };
        let Some(found) = found.filter(|found| found.shape() == NodeShape::Sequence) else { continue };
        for item in found.items().filter(|item| item.shape() == NodeShape::Mapping) {
            let label = label_of(item);
            if !texts.iter().any(|(known, _)| *known == label) {
                texts.push((label, format!("- {}", dedented(&example, item.own_range(), 2))));
            }
        }
    }
    let Some(item) = list.item() else { return Vec::new() };
    let forms = forms(&item);
    if !forms.is_empty() {
        return forms;
    }
    let below = |at: &Pointer| item.below(&below_item(at), None);
    texts.into_iter().map(|(label, text)| Snippet::of(label, text, &below)).collect()
}

fn below_item(at: &Pointer) -> Pointer {
    at.steps().skip(1).fold(Pointer::root(), |at, step| at.step(&step))
}

/// Returns the label of an item: its keys, or its only key with the value.
fn label_of(item: NodeRef<'_>) -> String {
    let mut entries = item.entries();
    match (entries.next(), entries.next()) {
        (Some(only), None) if only.value.shape() == NodeShape::Scalar => {
            format!("{}: {}", only.key.key_text(), only.value.text().unwrap_or_default())
        }
        _ => keys(item),
    }
}

pub(crate) fn item_values(list: &Shape) -> Vec<String> {
    let examples = list.examples().into_iter().filter_map(|example| example.as_array()).flatten();
    let mut texts: Vec<String> = examples.filter_map(|value| value.as_str()).map(str::to_owned).collect();
    for example in docs(list) {
        let document = Document::read_cut(&example, ScalarRules::Yaml12);
        let Some(root) = document.root() else { continue };
        let found = root.entries().next().map_or(root, |entry| entry.value);
        texts.extend(found.items().filter_map(NodeRef::as_str).map(str::to_owned));
    }
    texts
}

/// Returns one item per form: the example of its docs, or its tag and its required keys. Forms that allow any key
/// have no snippet.
fn forms(item: &Shape) -> Vec<Snippet> {
    let variants = item.variants().into_iter().filter(|variant| !variant.shape.is_open());
    variants.filter_map(|variant| form(&variant)).collect()
}

/// Returns the entries that a tag requires besides the existing keys, without indentation.
pub(crate) fn rest_of_form(variant: &Variant, is_present: &dyn Fn(&str) -> bool) -> Option<Snippet> {
    let (_, whole) = form_text(variant)?;
    let document = Document::read_cut(&whole, ScalarRules::Yaml12);
    let item = document.root()?.item_at(0)?;
    let tag = variant.tag.map(|(key, _)| key);
    let rest = item.entries().filter(|entry| {
        let name = entry.key.key_text();
        tag != Some(name.as_str()) && !is_present(&name)
    });
    let texts: Vec<String> =
        rest.map(|entry| dedented(&whole, entry.key.own_range().start..entry.value.own_range().end, 0)).collect();
    let label = variant.tag.map(|(_, value)| value.to_owned()).unwrap_or_default();
    (!texts.is_empty()).then(|| Snippet::of(label, texts.join("\n"), &|at| variant.shape.below(at, None)))
}

fn form(variant: &Variant) -> Option<Snippet> {
    let (key, text) = form_text(variant)?;
    let below = |at: &Pointer| variant.shape.below(&below_item(at), None).filter(|_| at.last().as_deref() != Some(key));
    let tag = variant.tag.map(|(_, value)| value.to_owned())?;
    Some(Snippet::with_fixed(tag, text, &|at| at.last().as_deref() == Some(key) || is_fixed(&below, at)))
}

fn form_text(variant: &Variant) -> Option<(&'static str, String)> {
    let (key, tag) = variant.tag?;
    let own = variant.shape.all_docs().flat_map(fenced).find_map(|example| {
        let document = Document::read_cut(&example, ScalarRules::Yaml12);
        let first = document.root()?.item_at(0)?;
        let is_own = first.get(key)?.as_str() == Some(tag);
        is_own.then(|| format!("- {}", dedented(&example, first.own_range(), 2)))
    });
    let needed = || {
        let fields = variant.shape.fields(None).into_iter();
        let needed = fields.filter(|field| field.need == Need::Required && field.name != key).map(|field| {
            let example = field.shape.examples().first().map(|value| show(value));
            let value = example.unwrap_or_else(|| match field.shape.kind() {
                Type::List => "[]".to_owned(),
                Type::Mapping => "{}".to_owned(),
                Type::Text | Type::Any => "\"\"".to_owned(),
                Type::Integer | Type::Number => "1".to_owned(),
                Type::Boolean => "true".to_owned(),
            });
            format!("\n  {}: {value}", field.name)
        });
        format!("- {key}: {}{}", scalar(tag), needed.collect::<String>())
    };
    Some((key, own.unwrap_or_else(needed)))
}

fn is_fixed(shape_at: &dyn Fn(&Pointer) -> Option<Shape>, at: &Pointer) -> bool {
    shape_at(at).is_some_and(|shape| shape.values().len() == 1)
}

pub(crate) fn file(shape: &Shape) -> Option<Snippet> {
    let example = docs(shape).into_iter().next()?;
    let document = Document::read_cut(&example, ScalarRules::Yaml12);
    let below = |at: &Pointer| shape.below(at, document.root());
    Some(Snippet::of(keys(document.root()?), example.trim_end().to_owned(), &below))
}

impl Snippet {
    /// Returns the same with another text instead of one of its values.
    pub(crate) fn replaced(mut self, old: &str, new: &str) -> Snippet {
        self.text = self.text.replace(old, new);
        let inner = |text: &str| escape(text).replace('}', "\\}");
        self.template = self.template.replace(&inner(old), &inner(new));
        self
    }

    /// Returns a snippet with a tab stop at every value that the author chooses. `shape_at` returns the schema at a
    /// place of the text.
    fn of(label: String, text: String, shape_at: &dyn Fn(&Pointer) -> Option<Shape>) -> Snippet {
        Snippet::with_fixed(label, text, &|at| is_fixed(shape_at, at))
    }

    fn with_fixed(label: String, text: String, is_fixed: &dyn Fn(&Pointer) -> bool) -> Snippet {
        let document = Document::read_cut(&text, ScalarRules::Yaml12);
        let mut values = Vec::new();
        if let Some(root) = document.root() {
            scalars(root, &Pointer::root(), is_fixed, &mut values);
        }
        values.sort_by_key(|range| range.start);
        let mut template = String::new();
        let mut at = 0;
        for (index, range) in values.into_iter().enumerate() {
            template.push_str(&escape(&text[at..range.start]));
            let value = escape(&text[range.clone()]).replace('}', "\\}");
            template.push_str(&format!("${{{}:{value}}}", index + 1));
            at = range.end;
        }
        template.push_str(&escape(&text[at..]));
        Snippet { label, text, template }
    }
}

pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '$' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Indents all lines but the first.
pub(crate) fn indented(text: &str, columns: usize, line_break: &str) -> String {
    let blanks = " ".repeat(columns);
    text.lines()
        .enumerate()
        .map(|(index, line)| if index == 0 || line.is_empty() { line.to_owned() } else { format!("{blanks}{line}") })
        .collect::<Vec<_>>()
        .join(line_break)
}

fn docs(shape: &Shape) -> Vec<String> {
    [shape.docs(), shape.type_docs()].into_iter().flatten().flat_map(fenced).collect()
}

fn fenced(docs: &str) -> Vec<String> {
    let mut examples = Vec::new();
    let mut rest = docs;
    while let Some(start) = rest.find("```yaml\n") {
        let body = &rest[start + 8..];
        let Some(end) = body.find("```") else { break };
        examples.push(body[..end].to_owned());
        rest = &body[end + 3..];
    }
    examples
}

fn keys(node: NodeRef<'_>) -> String {
    node.entries().map(|entry| entry.key.key_text()).collect::<Vec<_>>().join(", ")
}

/// Returns a range of a text with all lines but the first moved to a column.
fn dedented(text: &str, range: Range<usize>, column: usize) -> String {
    let start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
    let own = range.start - start;
    let lines = text[range].trim_end().lines().enumerate().map(|(index, line)| {
        let blanks = line.len() - line.trim_start().len();
        match index {
            0 => line.to_owned(),
            _ => format!("{}{}", " ".repeat(column + blanks.saturating_sub(own)), line.trim_start()),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a text with all lines but the first moved left, as far as the least indented one allows.
pub(crate) fn moved_left(text: &str) -> String {
    let least =
        text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
    let least = least.min().unwrap_or(0);
    let lines =
        text.lines().enumerate().map(|(index, line)| if index == 0 { line } else { line.get(least..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the text between the brackets of a list of plain words, which is a single tab stop.
fn short_list(node: NodeRef<'_>) -> Option<Range<usize>> {
    let range = node.own_range();
    let is_plain = |item: NodeRef<'_>| item.style() == Some(Style::Plain);
    let is_short = node.item_count() > 1 && node.items().all(is_plain);
    let text = node.document().text();
    let is_flow = range.len() > 2 && text.byte(range.start) == b'[' && text.byte(range.end - 1) == b']';
    (is_short && is_flow).then(|| range.start + 1..range.end - 1)
}

fn scalars(node: NodeRef<'_>, at: &Pointer, is_fixed: &dyn Fn(&Pointer) -> bool, found: &mut Vec<Range<usize>>) {
    if let Some(inner) = short_list(node) {
        found.push(inner);
        return;
    }
    node.items().enumerate().for_each(|(index, item)| scalars(item, &at.index(index), is_fixed, found));
    node.entries().for_each(|entry| scalars(entry.value, &at.key(&entry.key.key_text()), is_fixed, found));
    if node.shape() != NodeShape::Scalar || is_fixed(at) {
        return;
    }
    let range = node.own_range();
    match node.style() {
        Some(Style::Plain) => found.push(range),
        Some(Style::SingleQuoted | Style::DoubleQuoted) => found.push(range.start + 1..range.end - 1),
        Some(Style::Literal | Style::Folded) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use speclens_schema::json_schema::SpecFile;

    use super::*;

    fn shape(pointer: &str) -> Shape {
        Shape::find(SpecFile::KINDLM, &Pointer::parse(pointer), None).unwrap()
    }

    #[test]
    fn an_entry_comes_from_the_docs() {
        let snippet = entry("output", &shape("/tests/0/expect/output")).unwrap();
        expect![[r#"
            output: contains, maxLength
            output:
              contains: [${1:shipped}]
              maxLength: ${2:400}"#]]
        .assert_eq(&format!("{}\n{}", snippet.label, snippet.template));
    }

    #[test]
    fn items_come_from_the_docs() {
        let show = |pointer| {
            let snippets = items(&shape(pointer));
            let texts: Vec<String> =
                snippets.iter().map(|snippet| format!("{}\n{}", snippet.label, snippet.template)).collect();
            texts.join("\n\n")
        };
        expect![[r#"
            name, command, vars, expect
            - name: ${1:answers-about-refunds}
              command: ${2:python agent.py --input '{{question\}\}'}
              vars: { question: ${3:What is the refund policy?} }
              expect:
                output: { contains: [${4:refund}] }"#]]
        .assert_eq(&show("/tests"));
        expect![[r#"
            tool, argsMatch
            - tool: ${1:lookup_order}
              argsMatch: { order_id: "${2:12345}" }

            tool, shouldNotCall
            - tool: ${1:delete_order}
              shouldNotCall: ${2:true}"#]]
        .assert_eq(&show("/tests/0/expect/toolCalls"));
    }
}
