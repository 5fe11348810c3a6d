//! Words that other YAML readers take for something else than a text.

use crate::{
    document::{NodeRef, Pointer, Scalar, Style, is_ambiguous},
    edit,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem},
    shape::{Shape, Type},
    spot::Spot,
    validate::Definition,
};

/// The texts below a node of any format. `shape` says what may stand at the node.
pub(crate) fn lint_below(node: NodeRef<'_>, shape: &dyn Fn() -> Shape, problems: &mut Vec<Problem>) {
    walk(node, &mut Vec::new(), shape, problems);
}

/// The texts of one test.
pub(super) fn lint(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    walk(test.node, &mut Vec::new(), &|| Definition::Item(SpecFile::KindLm, "tests").shape(), problems);
}

/// The texts of the other sections.
pub(super) fn lint_root(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (key, section) in root.entries() {
        if key != "tests" {
            let mut path = vec![Step::Key(key)];
            walk(section.node, &mut path, &|| Shape::of(SpecFile::KindLm), problems);
        }
    }
}

enum Step {
    Key(String),
    Index(usize),
}

fn walk(node: NodeRef<'_>, path: &mut Vec<Step>, shape: &dyn Fn() -> Shape, problems: &mut Vec<Problem>) {
    if node.alias().is_some() {
        return;
    }
    if let Some(text) = node.text() {
        if may_differ(text)
            && node.style() == Some(Style::Plain)
            && node.scalar() == Some(Scalar::Text)
            && is_ambiguous(text)
        {
            report(node, text, path, shape, problems);
        }
        return;
    }
    for (index, item) in node.items().enumerate() {
        path.push(Step::Index(index));
        walk(item, path, shape, problems);
        path.pop();
    }
    for entry in node.entries() {
        path.push(Step::Key(entry.key.key_text()));
        walk(entry.value, path, shape, problems);
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

fn report(node: NodeRef<'_>, text: &str, path: &[Step], shape: &dyn Fn() -> Shape, problems: &mut Vec<Problem>) {
    let at = path.iter().fold(Pointer::root(), |at, step| match step {
        Step::Key(key) => at.key(key),
        Step::Index(index) => at.index(*index),
    });
    if shape().below(&at, None).is_none_or(|shape| shape.kind() != Type::Text) {
        return;
    }
    let message = format!("readers of YAML 1.1 do not read `{text}` as a string");
    let range = node.own_range();
    let quoted = serde_json::Value::from(text).to_string();
    let help = format!("write `{quoted}`");
    let mut problem = Problem::new(Code::AmbiguousScalar, at, range, message).with_help(&help);
    problem.fixes.extend(edit::quote(node).map(|edits| Fix::safe(help, edits)));
    problems.push(problem);
}
