//! Values that are compared, and hold a character that is hard to see: a final line break, a no-break space, a typographic
//! quote.

use crate::{
    document::{NodeRef, Style},
    edit,
    finding::{Report, Rule, Site, Words},
    problem::{Code, Edit, Fix},
    rules::ambiguous_scalar::tag,
    shape::{Shape, Word},
    spot::Spot,
    validate::Definition,
};

/// A block text that ends with a line break.
#[derive(Debug)]
struct FinalBreak {
    /// The key that has the value. `None` for an item of a list.
    name: Option<String>,
    is_folded: bool,
}

/// A character that looks like another one.
#[derive(Debug)]
struct ForeignLetter {
    written: char,
    name: &'static str,
    /// The one that it looks like.
    meant: &'static str,
}

/// Keys of values that are compared, where their type does not say so.
const COMPARED: [&str; 6] = ["tool", "tools", "notContains", "words", "path", "file_exists"];

/// Every text below an item of a list. Pointers are relative to it.
pub(crate) fn check_item(item: NodeRef<'_>, definition: Definition, report: &mut Report) {
    if may_be_wrong(item) {
        check(&Spot::root(item), "", item, definition, report);
    }
}

/// Every text of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn check_root(root: NodeRef<'_>, definition: Definition, lists: &[&str], report: &mut Report) {
    for (key, section) in Spot::root(root).entries() {
        if !(lists.contains(&key.as_str()) && section.is_list()) && may_be_wrong(section.node) {
            check(&section, &key, root, definition, report);
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

fn foreign_letter(text: &str) -> Option<ForeignLetter> {
    text.chars().find_map(|written| {
        let (name, meant) = match written {
            '\u{a0}' => ("no-break space", "a space"),
            '“' | '”' | '„' => ("typographic quote", "`\"`"),
            '‘' | '‚' => ("typographic quote", "`'`"),
            _ => return None,
        };
        Some(ForeignLetter { written, name, meant })
    })
}

/// `key` is the nearest one above, `node` the one that a definition is about.
fn check(spot: &Spot<'_>, key: &str, node: NodeRef<'_>, definition: Definition, report: &mut Report) {
    if spot.node.alias().is_some() {
        return;
    }
    spot.items().iter().for_each(|item| check(item, key, node, definition, report));
    spot.entries().iter().for_each(|(key, value)| check(value, key, node, definition, report));
    let Some(text) = spot.node.text().filter(|_| may_be_wrong(spot.node)) else { return };
    tag::check(spot, report);
    let Some(shape) = definition.shape().below(&spot.at, Some(node)).filter(|shape| is_compared(shape, key)) else {
        return;
    };
    if is_block(spot.node) && text.ends_with('\n') && !text.trim().is_empty() {
        let name = spot.key.map(|key| key.key_text());
        report.push(spot.text_finding(FinalBreak { name, is_folded: spot.node.style() == Some(Style::Folded) }));
    }
    let is_name = matches!(shape.word(), Some(Word::File(_))) || key == "notContains" || key == "words";
    if let Some(letter) = foreign_letter(text)
        && (letter.written == '\u{a0}' || !is_name)
    {
        report.push(spot.finding(letter));
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

impl Rule for FinalBreak {
    const CODE: Code = Code::SuspiciousPattern;

    fn words(&self, site: &Site<'_>) -> Words {
        let name = self.name.as_ref().map_or_else(|| "the item".to_owned(), |name| format!("`{name}`"));
        let help = format!("use `{}`", if self.is_folded { ">-" } else { "|-" });
        let edits = site.spot().and_then(|spot| header(&spot));
        Words::new(format!("{name} ends with a line break"))
            .note("the final line break of a block scalar is part of the value")
            .remedy(help, Fix::guess, edits)
    }
}

impl Rule for ForeignLetter {
    const CODE: Code = Code::SuspiciousPattern;

    fn words(&self, site: &Site<'_>) -> Words {
        let ForeignLetter { written, name, meant } = self;
        let help = format!("replace it with {meant}");
        let edits = site.spot().filter(|_| *written == '\u{a0}').and_then(|spot| spaced(&spot));
        Words::new(format!("{name} (U+{:04X}) in a compared value", u32::from(*written)))
            .remedy(help, Fix::guess, edits)
    }
}

/// Returns the edits that make the header of a block text drop the final line break.
fn header(spot: &Spot<'_>) -> Option<Vec<Edit>> {
    let range = spot.node.own_range();
    let source = spot.node.document().text().get_byte_slice(range.clone()).map(String::from)?;
    let mark = source.chars().next().filter(|mark| matches!(mark, '|' | '>'))?;
    let length = source[1..].find(|letter: char| !matches!(letter, '0'..='9' | '+' | '-')).unwrap_or(0) + 1;
    let digits: String = source[1..length].chars().filter(char::is_ascii_digit).collect();
    edit::replace_part(spot.node, range.start..range.start + length, &source[..length], format!("{mark}-{digits}"))
}

/// Returns the edits that replace the no-break spaces, where they are written as such.
fn spaced(spot: &Spot<'_>) -> Option<Vec<Edit>> {
    let range = spot.node.own_range();
    let source = spot.node.document().text().get_byte_slice(range.clone()).map(String::from)?;
    let found = source.match_indices('\u{a0}').map(|(at, blank)| range.start + at..range.start + at + blank.len());
    let edits: Option<Vec<Vec<Edit>>> =
        found.map(|range| edit::replace_part(spot.node, range, "\u{a0}", " ")).collect();
    Some(edits?.concat()).filter(|edits| !edits.is_empty())
}
