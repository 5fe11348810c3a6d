//! Values that are compared, and hold a character that is hard to see: a final line break, a no-break space, a typographic
//! quote. Also tags that take the first word of a text away.

use crate::{
    document::{NodeRef, Pointer, Style, quoted},
    problem::{Code, Edit, Fix, Problem, Severity},
    shape::{Shape, Word},
    spot::Spot,
    validate::Definition,
};

/// Keys of values that are compared, where their type does not say so.
const COMPARED: [&str; 6] = ["tool", "tools", "notContains", "words", "path", "file_exists"];

/// Every text below an item of a list. Pointers are relative to it.
pub(crate) fn lint_item(item: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    if may_be_wrong(item) {
        lint(&Spot::root(item), "", item, definition, problems);
    }
}

/// Every text of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn lint_root(root: NodeRef<'_>, definition: Definition, lists: &[&str], problems: &mut Vec<Problem>) {
    for (key, section) in Spot::root(root).entries() {
        if !(lists.contains(&key.as_str()) && section.is_list()) && may_be_wrong(section.node) {
            lint(&section, &key, root, definition, problems);
        }
    }
}

fn is_block(node: NodeRef<'_>) -> bool {
    matches!(node.style(), Some(Style::Literal | Style::Folded))
}

/// Whether there may be anything to say; nearly always there is not.
fn may_be_wrong(node: NodeRef<'_>) -> bool {
    if node.alias().is_some() {
        return false;
    }
    match node.text() {
        Some(text) => is_block(node) && text.ends_with('\n') || node.tag().is_some() || foreign_letter(text).is_some(),
        None => node.items().any(may_be_wrong) || node.entries().any(|entry| may_be_wrong(entry.value)),
    }
}

/// A character that looks like another one, with its name and the one that it looks like.
fn foreign_letter(text: &str) -> Option<(char, &'static str, &'static str)> {
    text.chars().find_map(|letter| match letter {
        '\u{a0}' => Some((letter, "no-break space", "a space")),
        '“' | '”' | '„' => Some((letter, "typographic quote", "`\"`")),
        '‘' | '‚' => Some((letter, "typographic quote", "`'`")),
        _ => None,
    })
}

/// `key` is the nearest one above, `node` the one that a definition is about.
fn lint(spot: &Spot<'_>, key: &str, node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    spot.items().iter().for_each(|item| lint(item, key, node, definition, problems));
    spot.entries().iter().for_each(|(key, value)| lint(value, key, node, definition, problems));
    let Some(text) = spot.node.text().filter(|_| may_be_wrong(spot.node)) else { return };
    lint_tag(spot, problems);
    let Some(shape) = definition.shape().below(&spot.at, Some(node)).filter(|shape| is_compared(shape, key)) else {
        return;
    };
    if is_block(spot.node) && text.ends_with('\n') && !text.trim().is_empty() {
        problems.push(final_break(spot));
    }
    let is_name = matches!(shape.word(), Some(Word::File(_))) || key == "notContains" || key == "words";
    if let Some((letter, name, meant)) = foreign_letter(text)
        && (letter == '\u{a0}' || !is_name)
    {
        let help = format!("replace it with {meant}");
        let message = format!("{name} (U+{:04X}) in a value that is compared", u32::from(letter));
        let problem = Problem::new(Code::SuspiciousPattern, spot.at.clone(), spot.range(), message).with_help(&help);
        problems.push(match (letter, spaced(spot)) {
            ('\u{a0}', Some(edits)) => problem.with_fix(Fix::guess(help, edits)),
            _ => problem,
        });
    }
}

/// Whether a value must be the same as another one, or match it.
fn is_compared(shape: &Shape, key: &str) -> bool {
    let by_word = match shape.word() {
        Some(Word::Pattern(_) | Word::File(_) | Word::Refers(_) | Word::Defines(_)) => true,
        Some(Word::Template(_) | Word::Shell) | None => false,
    };
    by_word || COMPARED.contains(&key)
}

/// A block text that ends with a line break.
fn final_break(spot: &Spot<'_>) -> Problem {
    let mark = if spot.node.style() == Some(Style::Folded) { ">-" } else { "|-" };
    let help = format!("use `{mark}`");
    let name = spot.key.map_or_else(|| "the item".to_owned(), |key| format!("`{}`", key.key_text()));
    let message = format!("{name} ends with a line break");
    let problem = spot.text_problem(Code::SuspiciousPattern, message).with_help(&help);
    let problem = problem.with_note("the line break at the end of a block text is part of the value");
    match header(spot) {
        Some(edit) => problem.with_fix(Fix::guess(help, vec![edit])),
        None => problem,
    }
}

/// The edit that makes the header of a block text drop the final line break.
fn header(spot: &Spot<'_>) -> Option<Edit> {
    let range = spot.node.own_range();
    let source = spot.node.document().text().get_byte_slice(range.clone()).map(String::from)?;
    let mark = source.chars().next().filter(|mark| spot.is_own() && matches!(mark, '|' | '>'))?;
    let length = source[1..].find(|letter: char| !matches!(letter, '0'..='9' | '+' | '-')).unwrap_or(0) + 1;
    let digits: String = source[1..length].chars().filter(char::is_ascii_digit).collect();
    Some(Edit::new(range.start..range.start + length, format!("{mark}-{digits}")))
}

/// The edits that replace the no-break spaces, where they are written as such.
fn spaced(spot: &Spot<'_>) -> Option<Vec<Edit>> {
    let range = spot.node.own_range();
    let source = spot.node.document().text().get_byte_slice(range.clone()).map(String::from)?;
    let found = source.match_indices('\u{a0}').map(|(at, blank)| range.start + at..range.start + at + blank.len());
    let edits: Vec<Edit> = found.map(|range| Edit::new(range, " ")).collect();
    (spot.is_own() && !edits.is_empty()).then_some(edits)
}

/// A word that begins with `!` is a tag, and no part of the text behind it.
fn lint_tag(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let node = spot.node;
    let is_own_tag = |tag: &&str| tag.len() > 1 && tag.starts_with('!') && !tag.starts_with("!!");
    let Some(tag) = node.tag().filter(is_own_tag) else { return };
    // A tag that another rule rejects, or text that is of no type as it stands, is one problem.
    let is_reported =
        |it: &Problem| it.at == spot.at && matches!(it.code, Code::InvalidValue | Code::WrongType | Code::Syntax);
    if node.style() != Some(Style::Plain) || !spot.is_own() || problems.iter().any(is_reported) {
        return;
    }
    let document = node.document().text();
    let own = node.own_range();
    let line = document.line_to_byte(document.byte_to_line(own.start));
    let before = document.get_byte_slice(line..own.start).map(String::from).unwrap_or_default();
    let Some(start) = before.trim_end().strip_suffix(tag).map(|before| line + before.len()) else { return };
    let words = document.get_byte_slice(start..own.end).map(String::from).unwrap_or_default();
    let range = start..start + tag.len();
    let problem = Problem::new(
        Code::AmbiguousScalar,
        Pointer::clone(&spot.at),
        range,
        format!("`{tag}` is a tag and not part of the text"),
    );
    let problem = problem.with_severity(Severity::Warning);
    let cure = quoted(&words);
    let help = format!("write `{cure}`");
    problems.push(match words.contains('\n') {
        true => problem.with_help("put the text in quotes"),
        false => problem.with_help(&help).with_fix(Fix::guess(help, vec![Edit::new(start..own.end, cure)])),
    });
}
