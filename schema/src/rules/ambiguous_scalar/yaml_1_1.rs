//! Words without quotes that readers of YAML 1.1 take for something else than a text.

use crate::{
    document::{NodeRef, Pointer, Scalar, Style, is_ambiguous},
    edit,
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Fix},
    shape::{Shape, Type},
    spot::Spot,
    validate::Definition,
};

/// A text such as `yes`.
#[derive(Debug)]
struct Ambiguous {
    text: String,
}

/// The texts of an item of a list.
pub(crate) fn check_item(item: NodeRef<'_>, definition: Definition, report: &mut Report) {
    check(item, &mut Vec::new(), &|| definition.shape(), report);
}

/// The texts of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn check_root(root: &Spot<'_>, definition: Definition, lists: &[&str], report: &mut Report) {
    for (key, section) in root.entries().into_iter().filter(|(key, _)| !lists.contains(&key.as_str())) {
        check(section.node, &mut vec![Step::Key(key)], &|| definition.shape(), report);
    }
}

enum Step {
    Key(String),
    Index(usize),
}

/// `shape` says what may be at the node from which the path leads here. It is asked only where there is something to say.
fn check(node: NodeRef<'_>, path: &mut Vec<Step>, shape: &dyn Fn() -> Shape, report: &mut Report) {
    if node.alias().is_some() {
        return;
    }
    if let Some(text) = node.text() {
        if may_differ(text)
            && node.style() == Some(Style::Plain)
            && node.scalar() == Some(Scalar::Text)
            && is_ambiguous(text)
        {
            let at = place(path);
            if shape().below(&at, None).is_some_and(|shape| shape.kind() == Type::Text) {
                report.push(Finding::new(Ambiguous { text: text.to_owned() }, at, node.own_range()));
            }
        }
        return;
    }
    for (index, item) in node.items().enumerate() {
        path.push(Step::Index(index));
        check(item, path, shape, report);
        path.pop();
    }
    for entry in node.entries() {
        path.push(Step::Key(entry.key.key_text()));
        check(entry.value, path, shape, report);
        path.pop();
    }
}

/// Whether it is worth asking: most texts begin with a letter that no number or boolean begins with.
fn may_differ(text: &str) -> bool {
    text.len() <= 32
        && text.bytes().next().is_some_and(|first| {
            first.is_ascii_digit()
                || matches!(first, b'+' | b'-' | b'.' | b'=' | b'<' | b'y' | b'Y' | b'n' | b'N' | b'o' | b'O')
        })
}

fn place(path: &[Step]) -> Pointer {
    path.iter().fold(Pointer::root(), |at, step| match step {
        Step::Key(key) => at.key(key),
        Step::Index(index) => at.index(*index),
    })
}

impl Rule for Ambiguous {
    const CODE: Code = Code::AmbiguousScalar;

    fn words(&self, site: &Site<'_>) -> Words {
        let text = &self.text;
        let quoted = serde_json::Value::from(text.as_str()).to_string();
        Words::new(format!("YAML 1.1 does not read `{text}` as a string"))
            .remedy(format!("write `{quoted}`"), Fix::safe, site.node().and_then(edit::quote))
    }
}
