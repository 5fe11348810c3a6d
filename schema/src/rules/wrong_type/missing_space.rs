//! Keys without a space after the colon: YAML reads `tool:lookup` as a string, not as a key.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer, Shape as NodeShape, Style, Way},
    edit,
    finding::{Finding, Location, MessageParts, Rule, Scope},
    problem::{Code, Edit, Fix, Severity, Subject},
    shape::{Shape, Type},
    validate::Definition,
};

/// A space that YAML reads as a letter.
const NO_BREAK_SPACE: char = '\u{a0}';

/// A key without a space after the colon. It explains the wrong type of the value, and the missing key.
#[derive(Debug)]
struct MissingSpace {
    /// Whether a no-break space follows the colon.
    is_no_break: bool,
    /// Whether a string is allowed too, so that it may be meant as one.
    is_text: bool,
    /// Allowed keys.
    keys: Vec<&'static str>,
}

/// Returns findings for strings of a part that begin with a known key.
pub(crate) fn find(node: NodeRef<'_>, definition: Definition) -> Vec<Finding> {
    // The items of these lists are checked separately.
    let apart = match definition {
        Definition::Root(file) => Definition::lists(file),
        Definition::Item(..) => &[],
    };
    let mut found = Vec::new();
    walk(node, &Way::Root, apart, &mut |mapping, at, text| {
        let mapping = mapping.pointer();
        let shape = definition.shape().below(&mapping, Some(node));
        found.extend(shape.and_then(|shape| missing_space(&mapping, at.pointer(), text, &shape)));
    });
    found
}

/// Visits plain strings that begin like a key, in document order.
fn walk<'d>(node: NodeRef<'d>, at: &Way<'_>, apart: &[&str], visit: &mut impl FnMut(&Way<'_>, &Way<'_>, NodeRef<'d>)) {
    if node.alias().is_some() {
        return;
    }
    match node.shape() {
        NodeShape::Scalar => {
            let is_key = node.text().is_some_and(|text| key_of(text).is_some());
            if is_key && node.style() == Some(Style::Plain) && node.as_str().is_some() {
                visit(at, at, node);
            }
        }
        NodeShape::Sequence if is_one_of(at, apart) => {}
        NodeShape::Sequence => {
            node.items().enumerate().for_each(|(index, item)| walk(item, &Way::Item(at, index), apart, visit));
        }
        NodeShape::Mapping => {
            for entry in node.entries().filter(|entry| !entry.is_merge()) {
                let key = entry.key.key_name();
                let below = Way::Entry(at, &key);
                // In a flow mapping, a key may have no value.
                if entry.value.is_null() && entry.value.own_range().is_empty() && key_of(&key).is_some() {
                    visit(at, &below, entry.key);
                } else {
                    walk(entry.value, &below, apart, visit);
                }
            }
        }
        NodeShape::Dangling => {}
    }
}

/// Whether a node is one of the lists with these keys in the root; an empty key is the root itself.
fn is_one_of(at: &Way<'_>, lists: &[&str]) -> bool {
    match at {
        Way::Root => lists.contains(&""),
        Way::Entry(Way::Root, key) => lists.contains(key),
        Way::Entry(..) | Way::Item(..) => false,
    }
}

/// Returns the word before the first colon of a line, and the text after the colon.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let is_key = key.starts_with(|letter: char| letter.is_ascii_alphabetic()) && key.chars().all(is_word);
    (is_key && !rest.is_empty() && !rest.starts_with([' ', ':'])).then_some((key, rest))
}

fn missing_space(mapping: &Pointer, at: Pointer, node: NodeRef<'_>, shape: &Shape) -> Option<Finding> {
    let fields = match shape.kind() {
        Type::List => shape.item()?.all_fields(),
        Type::Mapping | Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => shape.all_fields(),
    };
    let keys: Vec<&'static str> = fields.iter().map(|field| field.name).collect();
    let (key, rest) = key_of(node.as_str()?).filter(|(key, _)| keys.contains(key))?;
    let is_no_break = rest.starts_with(NO_BREAK_SPACE);
    let start = node.own_range().start;
    let blank = if is_no_break { NO_BREAK_SPACE.len_utf8() } else { 0 };
    let range = start..start + key.len() + 1 + blank;
    let missing = Scope::CodeAt(Code::MissingField, mapping.key(key));
    let is_text = shape.kind() == Type::Text || shape.text_form().is_some();
    let finding = Finding::new(MissingSpace { is_no_break, is_text, keys }, at.clone(), range);
    Some(finding.instead_of(Scope::At(at)).instead_of(missing))
}

impl Rule for MissingSpace {
    const CODE: Code = Code::WrongType;

    fn severity(&self) -> Severity {
        if self.is_text { Severity::Warning } else { Code::WrongType.severity() }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let (what, note, help) = if self.is_no_break {
            (
                "no-break",
                "YAML treats a no-break space as an ordinary character, so",
                "replace the no-break space with a space",
            )
        } else {
            ("missing", "without a space after it,", "put a space after the colon")
        };
        let is_known = |key: &str| self.keys.contains(&key);
        // In a flow mapping it is a key, elsewhere a value.
        let key = || location.parent()?.entry(&location.at.last()?).map(|entry| entry.key);
        let is_key = |node: &NodeRef<'_>| node.own_range().start == location.range.start;
        let node = location.node().filter(is_key).or_else(|| key().filter(is_key));
        let edits = node.and_then(|node| separated(node, &is_known));
        let fix = if self.is_text { Fix::guess } else { Fix::safe };
        MessageParts::new(format!("{what} space after the colon"))
            .subject(Subject::GluedKey)
            .note(format!("{note} the colon is part of the string"))
            .fix(edits.map(|edits| fix(help.to_owned(), edits)))
            .help(help)
    }
}

/// Returns the edits that insert a space after the key of each line. `None` if a line does not begin with a known key.
fn separated(node: NodeRef<'_>, is_known: &dyn Fn(&str) -> bool) -> Option<Vec<Edit>> {
    let (text, Range { start, end }) = (node.document().text(), node.own_range());
    let source = String::from(text.get_byte_slice(start..end)?);
    let mut line_start = start;
    let mut edits = Vec::new();
    for line in source.split_inclusive('\n') {
        let words = line.trim_start_matches(' ');
        let (key, rest) = key_of(words.trim_end()).filter(|(key, _)| is_known(key))?;
        let behind = line_start + line.len() - words.len() + key.len() + 1;
        let value = rest.trim_start_matches([NO_BREAK_SPACE, ' ']);
        let blanks = &rest[..rest.len() - value.len()];
        edits.extend(edit::replace_part(node, behind - 1..behind + blanks.len(), &format!(":{blanks}"), ": ")?);
        line_start += line.len();
    }
    Some(edits)
}
