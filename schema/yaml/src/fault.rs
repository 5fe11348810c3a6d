//! What is wrong in a text that is not YAML, as data, and, where one line shows what was meant, with the line as it should
//! be written.

mod reading;

use std::ops::Range;

use super::{
    events::{SyntaxError, parse},
    layout::{Head, head_shape, is_dash, line_at, trimmed},
    tree::{Node, NodeKind},
};
use crate::{Pointer, ScalarRules};

use reading::Reading;
pub use reading::quoted;

/// Maximum number of lines that are looked at to find out which columns are open.
const LINES_ABOVE: usize = 256;

/// Something in the text that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The bytes to blame.
    pub range: Range<usize>,
    /// What to do where the general remedy of the kind does not help.
    pub advice: Option<Advice>,
    /// How it should be written, if that is known.
    pub rewrite: Option<Box<Rewrite>>,
}

/// What can be wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The text is longer than [`crate::MAX_BYTES`].
    FileTooLarge,
    /// Nested deeper than [`crate::MAX_NESTING`].
    NestedTooDeep,
    /// Nested too deep to be read in pieces, as a text with other faults is.
    NestedTooDeepToRecover,
    /// Reading it further would take too long.
    TooDamaged,
    /// The reader itself failed.
    Defect,

    /// A second document begins.
    SecondDocument,
    /// `...` ends the document.
    DocumentEnd,
    /// A line below the end of the document.
    BehindDocument,
    /// The marks of a merge that was not finished.
    MergeConflict,
    /// A NUL byte.
    Nul,

    /// `*name` without an anchor before it.
    UnknownAlias {
        /// The name of the alias.
        name: String,
        /// The alias.
        at: Pointer,
    },
    /// A key that appears twice in one mapping.
    DuplicateKey {
        /// The key.
        key: String,
        /// The mapping.
        mapping: Pointer,
        /// The bytes of the first of the two.
        first: Range<usize>,
    },

    /// Something else where an entry should be.
    ExpectedEntry,
    /// Something else where an item should be.
    ExpectedItem,
    /// A value is missing.
    ExpectedValue,
    /// A comma or the closing bracket is missing.
    ExpectedSeparator {
        /// The bracket that closes.
        close: char,
    },
    /// A key where none can be.
    MisplacedKey,
    /// `? ` where no key can be.
    MisplacedComplexKey,
    /// A dash where no item can be.
    MisplacedItem,
    /// A dash in another column than the others of its list.
    MisalignedDash,
    /// A line that no key holds.
    OutsideKeys,
    /// Nothing before a colon.
    MissingKey,
    /// No colon after this word.
    MissingColon(String),
    /// No space after a colon.
    MissingSpaceBehindColon,
    /// A no-break space after a colon.
    NoBreakSpaceBehindColon,
    /// No space after a dash.
    MissingSpaceBehindDash,
    /// No space before `#`.
    MissingSpaceBeforeComment,
    /// No dash before an item.
    MissingDash,
    /// A value below a key that has one.
    KeyHasValue(String),
    /// A string in quotes that continues into another entry.
    QuotesReachInto,
    /// A value in brackets that continues into another entry.
    BracketsReachInto,

    /// A tab that indents.
    Tab,
    /// A character that looks like a space.
    ForeignBlank {
        /// Another one than the no-break space.
        other: Option<char>,
        /// Where it is.
        place: BlankPlace,
    },
    /// A line in a column where none can begin.
    Misindented {
        /// Its column.
        indent: usize,
        /// The column of its neighbours.
        column: usize,
        /// The key of the neighbour, where that is not next to it.
        neighbour: Option<String>,
    },
    /// A line that is not indented deep enough.
    NotDeepEnough,
    /// A key too far left to belong to the item above.
    TooFarLeft(String),

    /// A bracket or brace without its end.
    UnclosedBrackets,
    /// A bracket that closes another one.
    MismatchedBracket,
    /// Quotes without their end.
    UnclosedQuotes,
    /// This closing sign is missing.
    Unclosed(char),
    /// Text after closing quotes.
    TextBehindQuotes,
    /// Text after this closing quote.
    TextBehindQuote(char),
    /// Text after a value in brackets.
    TextBehindBrackets {
        /// The bracket that opens it.
        open: char,
    },
    /// A quote that ends the text that it should be part of.
    QuoteWithinText,
    /// This is not an escape.
    InvalidEscape(String),
    /// Something that is not an escape.
    InvalidEscapes,
    /// A text without quotes that holds `: `.
    ColonWithoutQuotes,
    /// A text without quotes that holds ` #`.
    HashWithoutQuotes,
    /// A text without quotes that begins with a placeholder.
    TemplateWithoutQuotes,
    /// A text without quotes, between brackets, that holds a placeholder.
    TemplateInBrackets,
    /// A text that begins with `*`.
    AliasSign,
    /// A text that begins with `&`.
    AnchorSign,
    /// A text that begins with `? `.
    KeySign,
    /// A text after `|` or `>`.
    BlockTextSign(char),
    /// A text that begins with a sign that YAML reserves.
    ReservedSign(char),
    /// A list that begins on the line of its key.
    ListOnKeyLine,
    /// A comment between the lines of a text.
    CommentInText,
    /// `&` or `*` alone.
    MissingAnchorName,
    /// `!` and no tag.
    InvalidTag,
    /// `-` and a bracket.
    DashBeforeBracket,
    /// A block text that begins beside its sign.
    BlockTextHeader,
    /// A character that cannot be here.
    ForbiddenCharacter,
    /// `%` and no directive.
    InvalidDirective,
    /// Anything else.
    NotYaml,
}

/// Where a character is that looks like a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankPlace {
    /// Before a line.
    Indentation,
    /// Behind a dash.
    BehindDash,
    /// Behind a colon.
    BehindColon,
}

/// What to do where a rewriting of the line does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Put the text below its sign.
    BeginBelow,
    /// Put all lines of the text in quotes.
    QuoteAllLines,
}

/// What a fault is a case of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultClass {
    /// The text is not YAML.
    Syntax,
    /// A placeholder needs quotes.
    Template,
    /// A limit of the reader was met.
    Limit,
    /// A key appears twice.
    DuplicateKey,
    /// An alias has no anchor.
    UnknownAlias,
    /// The bytes are not text.
    Encoding,
}

/// Text as it should be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The bytes as they are written.
    pub range: Range<usize>,
    /// The text in their place.
    pub text: String,
    /// Whether nothing else can be meant.
    pub is_certain: bool,
    /// What it changes.
    pub kind: RewriteKind,
}

/// What a rewriting changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteKind {
    /// The text.
    Text,
    /// The text, in which a placeholder in braces was taken for a mapping.
    Template,
    /// The indentation, by so many columns more.
    IndentBy(usize),
    /// The indentation, to so many columns.
    IndentTo(usize),
    /// The characters of the indentation, or of a gap.
    Blanks,
    /// The tabs of the indentation, to so many columns.
    Tabs(usize),
    /// A gap that is missing.
    Space,
}

impl Rewrite {
    /// Returns a text instead of another, beyond doubt.
    fn certain(range: Range<usize>, text: String) -> Rewrite {
        Rewrite { range, text, is_certain: true, kind: RewriteKind::Text }
    }

    /// Returns the node that is meant, where the value is.
    pub(super) fn node(&self) -> Option<Node> {
        let meant = parse(&self.text, ScalarRules::Yaml12).ok()?.root?;
        matches!(meant.kind, NodeKind::Scalar { .. }).then(|| Node { range: self.range.clone(), ..meant })
    }
}

impl FaultKind {
    fn foreign_blank(blanks: &str, place: BlankPlace) -> FaultKind {
        let other = blanks.trim_start_matches(' ').chars().next().filter(|letter| *letter != '\u{a0}');
        FaultKind::ForeignBlank { other, place }
    }
}

impl Fault {
    pub(crate) fn new(range: Range<usize>, kind: FaultKind) -> Fault {
        Fault { kind, range, advice: None, rewrite: None }
    }

    /// Returns the same with how it should be written.
    fn with_rewrite(self, rewrite: Rewrite) -> Fault {
        Fault { rewrite: Some(Box::new(rewrite)), ..self }
    }

    /// Returns the same with what to do instead.
    fn with_advice(self, advice: Advice) -> Fault {
        Fault { advice: Some(advice), ..self }
    }

    /// Returns the same, found in a block, at its place in the document.
    pub fn moved(mut self, distance: usize) -> Fault {
        let shift = |range: &mut Range<usize>| *range = range.start + distance..range.end + distance;
        shift(&mut self.range);
        self.rewrite.iter_mut().for_each(|rewrite| shift(&mut rewrite.range));
        self
    }

    /// Returns what it is a case of.
    pub fn class(&self) -> FaultClass {
        match self.kind {
            FaultKind::FileTooLarge | FaultKind::NestedTooDeep => return FaultClass::Limit,
            FaultKind::UnknownAlias { .. } => return FaultClass::UnknownAlias,
            FaultKind::DuplicateKey { .. } => return FaultClass::DuplicateKey,
            FaultKind::Nul => return FaultClass::Encoding,
            // Of everything else it is what the text lacks that counts.
            _ => {}
        }
        let is_template = self.rewrite.as_ref().is_some_and(|rewrite| rewrite.kind == RewriteKind::Template);
        if is_template { FaultClass::Template } else { FaultClass::Syntax }
    }

    /// Returns a line where an entry should be, and that is none. `words`: the line, `at`: where it begins.
    pub(super) fn no_entry(words: &str, at: usize) -> Fault {
        let range = at..at + words.len();
        match words.split_once(':') {
            Some((key, value)) if is_key(key) && !value.is_empty() && !value.starts_with("//") => {
                // A no-break space looks like the one that is missing, and belongs to neither.
                let words = value.trim_start_matches('\u{a0}');
                let kind = match words.len() == value.len() {
                    true => FaultKind::MissingSpaceBehindColon,
                    false => FaultKind::NoBreakSpaceBehindColon,
                };
                Fault::new(range.clone(), kind).with_rewrite(Rewrite::certain(range, format!("{key}: {words}")))
            }
            _ if words.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter)) => {
                Fault::new(range, FaultKind::MissingColon(words.to_owned()))
            }
            Some(_) | None => Fault::new(range, FaultKind::ExpectedEntry),
        }
    }

    /// Tabs before a line, if there are any.
    pub(super) fn tabs(text: &str, at: usize) -> Option<Fault> {
        let line = line_at(text, at);
        let blanks = &text[line.clone()];
        let blanks = &blanks[..blanks.len() - blanks.trim_start_matches([' ', '\t']).len()];
        let range = line.start..line.start + blanks.len();
        blanks.contains('\t').then(|| Fault::tab(range))
    }

    /// Tabs that indent.
    pub(super) fn tab(range: Range<usize>) -> Fault {
        Fault::new(range, FaultKind::Tab)
    }

    /// Tabs that indent, and how deep that should be.
    pub(super) fn tab_for(text: &str, blanks: Range<usize>, column: usize) -> Fault {
        let tabs = &text[blanks.clone()];
        let first = blanks.start + tabs.find('\t').unwrap_or_default();
        let last = blanks.start + tabs.rfind('\t').map_or(tabs.len(), |at| at + 1);
        let text = " ".repeat(column);
        let rewrite = Rewrite { range: blanks, text, is_certain: true, kind: RewriteKind::Tabs(column) };
        Fault::new(first..last, FaultKind::Tab).with_rewrite(rewrite)
    }

    /// Returns a dash that touches its item. `behind`: where the space should be.
    pub(super) fn dash_without_space(range: Range<usize>, behind: usize) -> Fault {
        let rewrite = Rewrite { kind: RewriteKind::Space, ..Rewrite::certain(behind..behind, " ".to_owned()) };
        Fault::new(range, FaultKind::MissingSpaceBehindDash).with_rewrite(rewrite)
    }

    /// Blanks after a dash or a colon that are none in YAML.
    pub(super) fn foreign_blank_behind(text: &str, range: Range<usize>, place: BlankPlace) -> Fault {
        let blanks = &text[range.clone()];
        let spaces = " ".repeat(blanks.chars().count());
        let rewrite = Rewrite { kind: RewriteKind::Blanks, ..Rewrite::certain(range.clone(), spaces) };
        Fault::new(range, FaultKind::foreign_blank(blanks, place)).with_rewrite(rewrite)
    }

    /// Blanks before a line that are none in YAML.
    pub fn foreign_blanks(text: &str, range: Range<usize>) -> Fault {
        let blanks = &text[range.clone()];
        let kind = FaultKind::foreign_blank(blanks, BlankPlace::Indentation);
        let spaces = " ".repeat(blanks.chars().count());
        let rewrite = Rewrite { range: range.clone(), text: spaces, is_certain: true, kind: RewriteKind::Blanks };
        Fault::new(range, kind).with_rewrite(rewrite)
    }

    /// Returns a line that begins between the columns where entries may begin.
    pub(super) fn misplaced(text: &str, offset: usize) -> Option<Fault> {
        let line = line_at(text, offset);
        let indent = indent_at(text, &line);
        let words = &text[line.start + indent..line.end];
        let is_item = is_dash(words);
        if !is_item && !matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. }) {
            return None;
        }
        let columns = open_columns(text, line.start, indent);
        // A key goes beside keys, a dash beside dashes, or below a key.
        let fitting: Vec<usize> =
            columns.iter().filter(|open| is_item || !open.is_dash).map(|open| open.column).collect();
        if columns.iter().any(|open| open.column == indent) {
            return None;
        }
        let is_bare = matches!(head_shape(words), Head::Key { .. });
        let nearest = fitting.iter().map(|column| column.abs_diff(indent)).min().filter(|distance| *distance <= 1)?;
        let (inner, outer) = (indent + nearest, indent.checked_sub(nearest));
        let column = match outer.filter(|outer| fitting.contains(outer)) {
            // Between two columns what is on the next line decides: it is below this key, or beside it.
            Some(outer) if fitting.contains(&inner) => {
                let next = next_line(text, line.end);
                let is_inner = next.is_some_and(|line| {
                    let words = line.trim_start_matches(' ');
                    let is_beside = line.len() - words.len() == inner;
                    if is_bare { !is_beside } else { is_beside || is_dash(words) }
                });
                if is_inner { inner } else { outer }
            }
            Some(outer) => outer,
            None => inner,
        };
        Some(Fault::indented(text, line, column))
    }

    /// Returns a line that is indented unlike its neighbours, which begin in a column.
    pub(super) fn indented(text: &str, line: Range<usize>, column: usize) -> Fault {
        let indent = indent_at(text, &line);
        let kind = FaultKind::Misindented { indent, column, neighbour: neighbour_in(text, &line, column) };
        let range = line.start..line.start + indent;
        let rewrite = Rewrite {
            range: range.clone(),
            text: " ".repeat(column),
            is_certain: false,
            kind: RewriteKind::IndentTo(column),
        };
        let mark = if range.is_empty() { trimmed(text, line) } else { range };
        Fault::new(mark, kind).with_rewrite(rewrite)
    }

    /// Lines that are indented deeper than their neighbours, which begin in a column.
    pub(super) fn too_deep(text: &str, lines: Range<usize>, column: usize, is_certain: bool) -> Fault {
        let first = line_at(text, lines.start);
        let surplus = indent_at(text, &first).saturating_sub(column);
        // Lines below that are already as deep as they should be stay.
        let below =
            next_line(&text[..lines.end], first.end).map(|line| line.len() - line.trim_start_matches(' ').len());
        let moved_to = if below == Some(column + 2) { first.end } else { lines.end };
        let moved = first.start..moved_to.max(lines.start);
        let dedented = text[moved.clone()].split_inclusive('\n').map(|line| {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            &line[blanks.min(surplus)..]
        });
        let rewrite =
            Rewrite { text: dedented.collect(), range: moved, is_certain, kind: RewriteKind::IndentTo(column) };
        Fault::indented(text, first, column).with_rewrite(rewrite)
    }

    /// Lines from the margin on that begin too far left to belong to the item above them: the first begins with `key`.
    pub(super) fn outdented(text: &str, lines: Range<usize>, key: Range<usize>, by: usize) -> Fault {
        let blanks = " ".repeat(by);
        let indented = text[lines.clone()].split_inclusive('\n');
        let indented =
            indented.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{blanks}{line}") });
        // With a tab in it, how deep a line is meant to be is a guess.
        let is_certain = !text[lines.clone()].lines().any(|line| line.trim_start_matches(' ').starts_with('\t'));
        let rewrite = Rewrite { text: indented.collect(), range: lines, is_certain, kind: RewriteKind::IndentBy(by) };
        let kind = FaultKind::TooFarLeft(text[key.clone()].to_owned());
        Fault::new(key, kind).with_rewrite(rewrite)
    }

    /// Returns a line that begins as the items of its list do, except for the dash.
    pub(super) fn without_dash(text: &str, at: usize) -> Fault {
        let words = trimmed(text, at..line_at(text, at).end);
        let rewrite = Rewrite::certain(words.clone(), format!("- {}", &text[words.clone()]));
        Fault::new(words, FaultKind::MissingDash).with_rewrite(rewrite)
    }

    /// Returns the same where two blanks are in the place of the dash.
    pub(super) fn dash_in_blanks(text: &str, at: usize) -> Fault {
        let words = trimmed(text, at..line_at(text, at).end);
        let range = at - 2..words.end;
        let rewrite = Rewrite::certain(range, format!("- {}", &text[words.clone()]));
        Fault::new(words, FaultKind::MissingDash).with_rewrite(rewrite)
    }

    /// Returns a mistake that the parser found; `range` is what to blame as far as the reader knows.
    pub(super) fn of_error(text: &str, range: Range<usize>, error: &SyntaxError) -> Fault {
        if error.at_line {
            let range = trimmed(text, line_at(text, error.offset));
            return Fault::new(range, error.kind.clone());
        }
        // Dashes above may have been set aside, so only the line itself shows where its text begins.
        let begin = line_at(text, range.start).start;
        let is_own = |fault: &Fault| fault.rewrite.as_ref().is_some_and(|rewrite| rewrite.range.start >= begin);
        let of_lines = Fault::of_lines(text, range.start).filter(is_own);
        if let Some(fault) = of_lines.or_else(|| of_line(text, &range)) {
            return fault;
        }
        let line = line_at(text, range.start);
        let is_line = range.end <= line.end;
        let words = trimmed(text, line.clone());
        if is_line && matches!(head_shape(&text[words.clone()]), Head::Other) {
            let no_entry = Fault::no_entry(&text[words.clone()], words.start);
            if no_entry.rewrite.is_some() || is_key(&text[words]) {
                return no_entry;
            }
        }
        // Of one line the value is to blame.
        let value = is_line.then(|| value_of(text, &line)).flatten();
        let range = value.filter(|value| value.start > range.start).unwrap_or(range);
        let blamed = text.get(range.clone()).unwrap_or_default();
        let opening = |open: char, close: char| blamed.matches(open).count() > blamed.matches(close).count();
        let in_brackets = blamed.starts_with(['[', '{']);
        let value = blamed.split_once(": ").filter(|_| !in_brackets).map_or(blamed, |(_, value)| value).trim_start();
        if let Some(fault) = Fault::tabs(text, error.offset).or_else(|| Fault::misplaced(text, error.offset)) {
            return fault;
        }
        let kind = if value.starts_with('"') && value.matches('"').count() == 1 {
            FaultKind::Unclosed('"')
        } else if value.starts_with('\'') && value.matches('\'').count() % 2 == 1 {
            FaultKind::Unclosed('\'')
        } else if (in_brackets || value.starts_with('[')) && opening('[', ']') {
            FaultKind::Unclosed(']')
        } else if (in_brackets || value.starts_with('{')) && opening('{', '}') {
            FaultKind::Unclosed('}')
        } else {
            error.kind.clone()
        };
        Fault::new(range, kind)
    }
}

impl Fault {
    /// Returns what is wrong with a value without quotes that continues over several lines, if it is what cannot be
    /// read there.
    pub(super) fn of_lines(text: &str, at: usize) -> Option<Fault> {
        let (owner, value) = plain_lines(text, at)?;
        let words = &text[value.clone()];
        let Reason { mark, kind: fault, is_certain, is_template } = Reason::of(words)?;
        let rewritten = quoted_lines(words);
        let before = &text[owner.start..value.start];
        let reads = |value: &str| parse(&format!("{before}{value}\n"), ScalarRules::Yaml12).is_ok();
        // Lines that look like entries are most likely some.
        let is_text = words.lines().skip(1).all(|line| {
            let line = line.trim();
            let key = line.split(':').next().unwrap_or_default();
            !is_dash(line) && !line.starts_with('#') && (matches!(head_shape(line), Head::Other) || !is_key(key))
        });
        if !is_text || reads(words) || !reads(&rewritten) {
            return None;
        }
        let kind = if is_template { RewriteKind::Template } else { RewriteKind::Text };
        let rewrite = Rewrite { range: value.clone(), text: rewritten, is_certain, kind };
        Some(Fault::new(value.start + mark.start..value.start + mark.end, fault).with_rewrite(rewrite))
    }
}

/// Returns a value without quotes that continues below its line, and the line where it begins. `at`: somewhere in it.
fn plain_lines(text: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let mut owner = line_at(text, at);
    let value = loop {
        let words = text[owner.clone()].trim_start_matches(' ');
        let is_begin = is_dash(words)
            || matches!(head_shape(words), Head::KeyWithValue { key, .. } if !words[..key].contains(' '));
        let value = value_of(text, &owner).filter(|_| is_begin);
        let goes_on =
            value.filter(|value| end_of_lines(text, &owner).is_some_and(|end| at <= end && value.start < end));
        if goes_on.is_some() || owner.start == 0 || at - owner.start > 4096 {
            break goes_on?;
        }
        owner = line_at(text, owner.start - 1);
    };
    let end = end_of_lines(text, &owner)?;
    let is_plain = !text[value.start..].starts_with(['"', '\'', '|', '>', '#']);
    is_plain.then_some((owner, value.start..end))
}

/// Where the lines end that are deeper than the key of a line, or its dash, if there are any.
fn end_of_lines(text: &str, line: &Range<usize>) -> Option<usize> {
    let mut words = text[line.clone()].trim_start_matches(' ');
    let mut column = line.len() - words.len();
    while is_dash(words) && !matches!(head_shape(words[1..].trim_start_matches(' ')), Head::Other) {
        let behind = words[1..].trim_start_matches(' ');
        column += words.len() - behind.len();
        words = behind;
    }
    let mut end = None;
    let mut next = line.end;
    while next < text.len() {
        let below = line_at(text, next + 1);
        let is_empty = text[below.clone()].trim().is_empty();
        if !is_empty && indent_at(text, &below) <= column {
            break;
        }
        next = below.end.max(next + 1);
        if !is_empty {
            end = Some(trimmed(text, below).end);
        }
    }
    end
}

/// Why a text of several lines needs quotes.
struct Reason {
    mark: Range<usize>,
    kind: FaultKind,
    is_certain: bool,
    is_template: bool,
}

impl Reason {
    fn of(words: &str) -> Option<Reason> {
        let first = words.lines().next().unwrap_or_default().trim_end();
        let reserved = words.starts_with(['*', '&', '!', '%', '@', '`', '{', '[', '?', '-']);
        if reserved
            && let Some(Reading { mark, kind, is_template, extent, rewritten, .. }) = Reading::of(first)
            && rewritten.starts_with(['"', '\''])
            && extent == first.len()
        {
            return Some(Reason { mark, kind, is_certain: true, is_template });
        }
        let is_end = |at: usize| words[at + 1..].chars().next().is_none_or(char::is_whitespace);
        let colon = words.match_indices(':').map(|(at, _)| at).find(|at| is_end(*at));
        let comment = words.match_indices('#').map(|(at, _)| at).find(|at| words[..*at].ends_with([' ', '\t']));
        let (at, kind, is_certain) = match (colon, comment) {
            (Some(colon), None) => (colon, FaultKind::ColonWithoutQuotes, true),
            (Some(colon), Some(_)) => (colon, FaultKind::ColonWithoutQuotes, false),
            (None, comment) => (comment?, FaultKind::HashWithoutQuotes, false),
        };
        Some(Reason { mark: at..at + 1, kind, is_certain, is_template: false })
    }
}

/// Returns a text of several lines in quotes: its lines stay as they are, and so does what they mean together.
fn quoted_lines(words: &str) -> String {
    if words.contains(['"', '\\']) { format!("'{}'", words.replace('\'', "''")) } else { format!("\"{words}\"") }
}

/// Returns the nearest line above that begins in a column, where others are between it and a line. `None` where the
/// lines next to it begin there.
fn neighbour_in(text: &str, line: &Range<usize>, column: usize) -> Option<String> {
    let is_there = |line: &Range<usize>| indent_at(text, line) == column;
    let is_line =
        |line: &Range<usize>| !matches!(text[line.clone()].trim_start().chars().next(), None | Some('#' | '\r'));
    if next_line(text, line.end).is_some_and(|below| below.len() - below.trim_start_matches(' ').len() == column) {
        return None;
    }
    let before = |line: &Range<usize>| line.start.checked_sub(1).map(|end| line_at(text, end));
    let mut above = std::iter::successors(before(line), before).take(LINES_ABOVE).filter(is_line).peekable();
    if above.peek().is_none_or(is_there) {
        return None;
    }
    let found = above.find(is_there)?;
    let words = text[found].trim();
    let key = words.split(':').next().unwrap_or(words);
    (key.len() < 40).then(|| key.to_owned())
}

/// The column in which something began that is still open.
pub(super) struct OpenColumn {
    pub column: usize,
    pub is_dash: bool,
}

/// Returns the columns of what is open above a line, from the inside out, up to the first that is left of `indent`.
pub(super) fn open_columns(text: &str, line_start: usize, indent: usize) -> Vec<OpenColumn> {
    let mut columns: Vec<OpenColumn> = Vec::new();
    let mut above = line_start;
    for _ in 0..LINES_ABOVE {
        if above == 0 {
            break;
        }
        let line = line_at(text, above - 1);
        above = line.start;
        let words = text[line.clone()].trim_start_matches(' ');
        if words.trim().is_empty() || words.starts_with('#') {
            continue;
        }
        let begin = indent_at(text, &line);
        let mut column = begin;
        let mut found = Vec::new();
        let mut rest = words;
        while is_dash(rest) {
            found.push(OpenColumn { column, is_dash: true });
            let behind = rest[1..].trim_start_matches(' ');
            column += rest.len() - behind.len();
            rest = behind;
        }
        found.push(OpenColumn { column, is_dash: false });
        for open in found.into_iter().rev() {
            match columns.last_mut() {
                // Keys of a list whose dashes are in the column of its key.
                Some(inner) if open.column == inner.column => inner.is_dash &= open.is_dash,
                Some(inner) if open.column > inner.column => {}
                Some(_) | None => columns.push(open),
            }
        }
        if begin < indent && !is_dash(words) {
            break;
        }
    }
    columns
}

/// Returns how many blanks a line begins with.
pub(super) fn indent_at(text: &str, line: &Range<usize>) -> usize {
    line.len() - text[line.clone()].trim_start_matches(' ').len()
}

/// Returns the next line with content.
fn next_line(text: &str, from: usize) -> Option<&str> {
    let has_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text[from..].split('\n').skip(1).find(has_content)
}

/// Returns what is wrong with the value of one line, if that is what makes it unreadable, and if the line can be read
/// once the value is written in another way.
fn of_line(text: &str, blamed: &Range<usize>) -> Option<Fault> {
    let line = line_at(text, blamed.start);
    if blamed.end > line.end {
        return None;
    }
    let value = value_of(text, &line)?;
    // Of a text that continues below, quotes around its first line would leave the rest after.
    let goes_on = plain_lines(text, value.start).is_some_and(|(owner, _)| owner == line);
    let Reading { mark, kind: fault, rewritten, extent, is_certain, is_template } = Reading::of(&text[value.clone()])?;

    let kind = if is_template { RewriteKind::Template } else { RewriteKind::Text };
    let value = value.start..value.start + extent;
    let before = &text[line.start..value.start];
    let behind = &text[value.end..line.end];
    // A text that seems to lack its end may find it further below.
    let ends_below = |quote: char| text[line.end..].lines().take(64).any(|line| line.contains(quote));
    let is_open =
        matches!(&text[value.clone()].chars().next(), Some(quote @ ('"' | '\'')) if !is_certain && ends_below(*quote));
    if is_open {
        return None;
    }
    let reads = |value: &str| parse(&format!("{before}{value}{behind}"), ScalarRules::Yaml12).is_ok();
    if reads(&text[value.clone()]) || !reads(&rewritten) {
        return None;
    }
    let range = value.start + mark.start..value.start + mark.end;
    // A block text whose first line is beside its mark.
    if text[value.clone()].starts_with(['|', '>']) && end_of_lines(text, &line).is_some() {
        return Some(Fault::new(range, fault).with_advice(Advice::BeginBelow));
    }
    if goes_on {
        return Some(Fault::new(range, fault).with_advice(Advice::QuoteAllLines));
    }
    // `{a: 1}tasks:` and `never tasks:` lack a line break rather than quotes.
    let written = &text[value.clone()];
    let is_whole = rewritten.starts_with(['"', '\'']) && !written.starts_with(['"', '\'']);
    let has_more = written.starts_with('{') || written.trim_end().ends_with(':');
    let is_certain = is_certain && (!is_whole || !has_more || is_template);
    Some(Fault::new(range, fault).with_rewrite(Rewrite { range: value, text: rewritten, is_certain, kind }))
}

/// Returns the value in a line: after its key, or after its dash.
fn value_of(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let mut start = line.start;
    let is_item = loop {
        let words = &text[start..line.end];
        let blanks = words.len() - words.trim_start_matches(' ').len();
        start += blanks;
        let dashes = start > line.start + blanks;
        if !is_dash(&text[start..line.end]) {
            break dashes || text[line.start..start].trim_end_matches(' ').ends_with('-');
        }
        start += 1;
    };
    let words = &text[start..line.end];
    let value = match head_shape(words) {
        // Words before a colon are text; a key is one word.
        Head::KeyWithValue { key, .. } if is_item && words[..key].contains(' ') => start,
        Head::KeyWithValue { colon, .. } => start + colon + 1,
        Head::Key { key, .. } if is_item && words[..key].contains(' ') => start,
        Head::Key { .. } => return None,
        Head::Other => start,
    };
    Some(trimmed(text, value..line.end)).filter(|range| !text[range.clone()].trim().is_empty())
}

/// Whether a word can be a key, and no drive or time of the day.
pub(super) fn is_key(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}
