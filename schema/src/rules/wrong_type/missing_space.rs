//! Keys without a space after the colon: YAML reads `tool:lookup` as a string, not as a key.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer, Style},
    edit,
    finding::{Finding, MessageParts, Report, Scope},
    problem::{Code, Edit, Fix, Severity, Subject},
    shape::{Shape, Type},
    walk::Value,
};

/// A space that YAML reads as a letter.
const NO_BREAK_SPACE: char = '\u{a0}';

/// Reports a plain string that begins with a known key.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let is_like_key = |node: NodeRef<'_>| {
        node.text().is_some_and(|text| key_of(text).is_some()) && node.style() == Some(Style::Plain)
    };
    // In a flow mapping, a key may have no value.
    let (node, around) = match value.lone_key().filter(|(key, _)| is_like_key(*key)) {
        Some((key, mapping)) => (key, mapping),
        None if is_like_key(value.node) => (value.node, value),
        None => return,
    };
    let Some(shape) = around.shape() else { return };
    report.extend(missing_space(&around.lint_node().at, value.lint_node().at, node, shape));
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
    let (what, note, help) = match is_no_break {
        true => (
            "no-break",
            "YAML treats a no-break space as an ordinary character, so",
            "replace the no-break space with a space",
        ),
        false => ("missing", "without a space after it,", "put a space after the colon"),
    };
    let fix = if is_text { Fix::guess } else { Fix::safe };
    let words = MessageParts::new(format!("{what} space after the colon"))
        .subject(Subject::GluedKey)
        .note(format!("{note} the colon is part of the string"))
        .fix(separated(node, &|key| keys.contains(&key)).map(|edits| fix(help.to_owned(), edits)))
        .help(help);
    let finding = Finding::stated(Code::WrongType, words, at.clone(), range);
    // It may be meant as a string.
    let finding = if is_text { finding.with_severity(Severity::Warning) } else { finding };
    Some(finding.instead_of(Scope::At(at)).instead_of(missing))
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
