//! Whole claims and whole items to insert, taken from the examples in the docs: a new field has its
//! snippet as soon as its docs have an example.

use std::ops::Range;

use speclens_schema::{
    dialect::ScalarRules,
    document::{Document, NodeRef, Shape as NodeShape, Style},
    shape::{Need, Shape, Type, scalar},
};

/// Text to insert, in block style; its first line has no indentation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snippet {
    /// The keys that it holds.
    pub label: String,
    /// As plain text.
    pub text: String,
    /// In the LSP's snippet syntax: every value is a tab stop.
    pub template: String,
}

/// An entry with this key: `key:` and what stands below it.
pub(crate) fn entry(name: &str, shape: &Shape) -> Option<Snippet> {
    docs(shape).into_iter().find_map(|example| {
        let document = Document::read(&example, ScalarRules::Yaml12);
        let mut entries = document.root()?.entries();
        let first = entries.next()?;
        if first.key.key_text() != name || entries.next().is_some() {
            return None;
        }
        let value = match first.value.shape() {
            NodeShape::Sequence => first.value.item_at(0)?,
            NodeShape::Mapping | NodeShape::Scalar | NodeShape::Dangling => first.value,
        };
        Some(Snippet::of(format!("{name}: {}", keys(value)), example.trim_end().to_owned()))
    })
}

/// Items of a list, with their dash.
pub(crate) fn items(list: &Shape) -> Vec<Snippet> {
    let mut texts: Vec<(String, String)> = Vec::new();
    let item_docs = list.item().map(|item| docs(&item)).unwrap_or_default();
    for example in item_docs.into_iter().chain(docs(list)) {
        let document = Document::read(&example, ScalarRules::Yaml12);
        let Some(root) = document.root() else { continue };
        let found = match root.shape() {
            NodeShape::Sequence => Some(root),
            NodeShape::Mapping => root.entries().next().map(|entry| entry.value),
            NodeShape::Scalar | NodeShape::Dangling => None,
        };
        let Some(found) = found.filter(|found| found.shape() == NodeShape::Sequence) else { continue };
        for item in found.items().filter(|item| item.shape() == NodeShape::Mapping) {
            let label = keys(item);
            if !texts.iter().any(|(known, _)| *known == label) {
                texts.push((label, format!("- {}", dedented(&example, item.own_range(), 2))));
            }
        }
    }
    let mut snippets: Vec<Snippet> = texts.into_iter().map(|(label, text)| Snippet::of(label, text)).collect();
    snippets.extend(list.item().into_iter().flat_map(|item| forms(&item)));
    snippets
}

/// One item for each form that items may have: the example of its docs, or its tag and what it needs.
fn forms(item: &Shape) -> Vec<Snippet> {
    let snippets = item.variants().into_iter().filter_map(|variant| {
        let (key, tag) = variant.tag?;
        let own = variant.shape.all_docs().flat_map(fenced).find_map(|example| {
            let document = Document::read(&example, ScalarRules::Yaml12);
            let first = document.root()?.item_at(0)?;
            let is_own = first.get(key)?.as_str() == Some(tag);
            is_own.then(|| format!("- {}", dedented(&example, first.own_range(), 2)))
        });
        let needed = || {
            let fields = variant.shape.fields(None).into_iter();
            let needed = fields.filter(|field| field.need == Need::Required && field.name != key).map(|field| {
                let value = match field.shape.kind() {
                    Type::List => "[]".to_owned(),
                    Type::Mapping => "{}".to_owned(),
                    Type::Text | Type::Any => "\"\"".to_owned(),
                    Type::Integer | Type::Number => "1".to_owned(),
                    Type::Boolean => "true".to_owned(),
                };
                format!("\n  {}: {value}", field.name)
            });
            format!("- {key}: {}{}", scalar(tag), needed.collect::<String>())
        };
        Some(Snippet::of(tag.to_owned(), own.unwrap_or_else(needed)))
    });
    snippets.collect()
}

/// A whole file.
pub(crate) fn file(shape: &Shape) -> Option<Snippet> {
    let example = docs(shape).into_iter().next()?;
    let document = Document::read(&example, ScalarRules::Yaml12);
    Some(Snippet::of(keys(document.root()?), example.trim_end().to_owned()))
}

impl Snippet {
    fn of(label: String, text: String) -> Snippet {
        let document = Document::read(&text, ScalarRules::Yaml12);
        let mut values = Vec::new();
        if let Some(root) = document.root() {
            scalars(root, &mut values);
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

/// Escapes what has a meaning in snippets, outside of tab stops.
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

/// The YAML examples of the docs.
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

/// Some bytes of a text, its further lines moved to a column.
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

/// A node's text with its further lines moved to the left as far as the least indented one.
pub(crate) fn moved_left(text: &str) -> String {
    let least =
        text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
    let least = least.min().unwrap_or(0);
    let lines =
        text.lines().enumerate().map(|(index, line)| if index == 0 { line } else { line.get(least..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}

/// The bytes of all values that are scalars, without quotes.
fn scalars(node: NodeRef<'_>, found: &mut Vec<Range<usize>>) {
    node.items().for_each(|item| scalars(item, found));
    node.entries().for_each(|entry| scalars(entry.value, found));
    if node.shape() != NodeShape::Scalar {
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
    use speclens_schema::{document::Pointer, json_schema::SpecFile};

    use super::*;

    fn shape(pointer: &str) -> Shape {
        Shape::find(SpecFile::KindLm, &Pointer::parse(pointer), None).unwrap()
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
