//! What is wrong in a text that is not YAML, as data, and, where one line shows what was meant, with the line as it should
//! be written.

mod columns;
mod reading;
mod value;

use std::ops::Range;

use super::{
    events::{SyntaxError, parse},
    layout::{Head, head_shape, line_at, trimmed},
    tree::{Node, NodeKind},
};
use crate::{Pointer, ScalarRules};

pub(crate) use columns::{OpenColumn, indent_at, open_columns};
pub use reading::quoted;

/// Something in the text that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The problem.
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
        /// Its location.
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
        if let Some(fault) = of_lines.or_else(|| Fault::of_line(text, &range)) {
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
        let value = is_line.then(|| value::value_of(text, &line)).flatten();
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

/// Whether a word can be a key, and no drive or time of the day.
pub(super) fn is_key(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}
