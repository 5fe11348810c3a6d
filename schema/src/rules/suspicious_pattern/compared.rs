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
    walk::Value,
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

fn is_block(node: NodeRef<'_>) -> bool {
    matches!(node.style(), Some(Style::Literal | Style::Folded))
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

/// Looks at a value.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let node = value.node;
    let Some(text) = node.text() else { return };
    let ends_with_break = is_block(node) && text.ends_with('\n') && !text.trim().is_empty();
    let letter = foreign_letter(text);
    if node.tag().is_some() {
        tag::check(&value.spot(), report);
    }
    if !ends_with_break && letter.is_none() {
        return;
    }
    let Some(shape) = value.shape().filter(|shape| is_compared(shape, value.name)) else { return };
    if ends_with_break {
        let name = value.own_key().map(str::to_owned);
        let is_folded = node.style() == Some(Style::Folded);
        report.push(value.spot().text_finding(FinalBreak { name, is_folded }));
    }
    let is_name = matches!(shape.word(), Some(Word::File(_))) || ["notContains", "words"].contains(&value.name);
    if let Some(letter) = letter.filter(|letter| letter.written == '\u{a0}' || !is_name) {
        report.push(value.spot().finding(letter));
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
