//! Faults in a text that is not valid YAML, as data, with the corrected line if the intention is clear.

use std::ops::Range;

use super::{
    layout::{Head, head_shape, is_dash, is_key, is_word, line_at, trimmed},
    pointer::Pointer,
};

/// A part of the text that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub range: Range<usize>,
    /// Advice, if the general remedy of the kind does not help.
    pub advice: Option<Advice>,
    /// The corrected text, if it is known.
    pub rewrite: Option<Box<Rewrite>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The text is longer than [`crate::MAX_BYTES`].
    FileTooLarge,
    /// A line is longer than [`crate::MAX_LINE_BYTES`].
    LineTooLong,
    /// Nested deeper than [`crate::MAX_NESTING`].
    NestedTooDeep,
    NestedTooDeepToRecover,
    /// Reading further would take too long.
    TooDamaged,
    /// The reader itself failed.
    Defect,

    /// A second document begins.
    SecondDocument,
    /// `---` below the indicator of a block scalar, whose text it ends.
    MarkerInBlockText,
    DocumentEnd,
    /// A line after the end of the document.
    BehindDocument,
    /// The markers of an unfinished merge.
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
        key: String,
        mapping: Pointer,
        /// The bytes of the first of the two.
        first: Range<usize>,
    },

    /// Something else in place of an entry.
    ExpectedEntry,
    /// Something else in place of an item.
    ExpectedItem,
    /// A value is missing.
    ExpectedValue,
    /// Two commas without an item between them.
    EmptyItem,
    /// A comma or the closing bracket is missing.
    ExpectedSeparator {
        close: char,
    },
    /// A key at a place where none is allowed.
    MisplacedKey,
    /// `? ` at a place where no key is allowed.
    MisplacedComplexKey,
    /// A dash at a place where no item is allowed.
    MisplacedItem,
    /// A dash in another column than the others of its list.
    MisalignedDash,
    /// A line that does not belong to any key.
    OutsideKeys,
    MissingKey,
    MissingColon(String),
    MissingSpaceBehindColon,
    NoBreakSpaceBehindColon,
    MissingSpaceBehindDash,
    MissingSpaceBeforeComment,
    /// A missing dash before an item that begins with these words.
    MissingDash(String),
    /// A value below a key that already has one.
    KeyHasValue(String),
    /// A quoted string that continues into another entry.
    QuotesReachInto,
    /// A bracketed value that continues into another entry.
    BracketsReachInto,

    Tab,
    /// A character that looks like a space.
    ForeignBlank {
        /// The character, if it is not the no-break space.
        other: Option<char>,
        /// The location.
        place: BlankPlace,
    },
    /// A line in a column where none may begin.
    Misindented {
        /// The column.
        indent: usize,
        /// The column of the lines that it belongs to.
        column: usize,
    },
    NotDeepEnough,

    /// A bracket or brace without its end.
    UnclosedBrackets,
    /// A bracket that closes one of another kind.
    MismatchedBracket,
    /// Quotes without their end.
    UnclosedQuotes,
    /// This closing character is missing.
    Unclosed(char),
    TextBehindQuotes,
    TextBehindQuote(char),
    /// A comma after a value in block style.
    TrailingComma,
    TextBehindBrackets {
        open: char,
    },
    /// This quote ends the string too early.
    QuoteWithinText(char),
    InvalidEscape(String),
    InvalidEscapes,
    /// An unquoted string that contains `: `.
    ColonWithoutQuotes,
    /// An unquoted string that contains ` #`.
    HashWithoutQuotes,
    /// An unquoted string that begins with a placeholder.
    TemplateWithoutQuotes,
    /// An unquoted string in brackets that contains a placeholder.
    TemplateInBrackets,
    /// An unquoted string that begins with `*`.
    AliasSign,
    /// A colon directly after an alias that is a key, whose name it is part of.
    ColonInAlias,
    /// An unquoted string that begins with `&`.
    AnchorSign,
    /// An unquoted string that begins with `? `.
    KeySign,
    BlockTextSign(char),
    /// An unquoted string that begins with a reserved character.
    ReservedSign(char),
    /// A comment between the lines of a string.
    CommentInText,
    /// `&` or `*` alone.
    MissingAnchorName,
    /// `!` without a tag.
    InvalidTag,
    DashBeforeBracket,
    /// A block scalar whose text begins next to its indicator.
    BlockTextHeader,
    /// A character that is not allowed here.
    ForbiddenCharacter,
    /// `%` without a directive.
    InvalidDirective,
    /// Anything else.
    NotYaml,
}

/// The place of a character that looks like a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankPlace {
    /// Before a line.
    Indentation,
    BehindDash,
    BehindColon,
}

/// Advice if rewriting the line does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Start the text below the indicator.
    BeginBelow,
    QuoteAllLines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultClass {
    /// The text is not YAML.
    Syntax,
    /// A placeholder needs quotes.
    Template,
    /// A limit of the reader was reached.
    Limit,
    /// A key appears twice.
    DuplicateKey,
    UnknownAlias,
    /// The bytes are not valid text.
    Encoding,
}

/// A corrected text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    pub range: Range<usize>,
    /// The replacement.
    pub text: String,
    /// Whether no other correction is possible.
    pub is_certain: bool,
    /// The kind of change.
    pub kind: RewriteKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteKind {
    Text,
    /// The text, in which a placeholder in braces was read as a mapping.
    Template,
    /// The indentation, to this many columns.
    IndentTo(usize),
    /// The blanks of the indentation, or of a gap.
    Blanks,
    /// The tabs of the indentation, to this many columns.
    Tabs(usize),
    Space,
    Comma,
    Dash,
}

impl Rewrite {
    /// Returns a replacement that is the only possible correction.
    fn certain(range: Range<usize>, text: String) -> Rewrite {
        Rewrite { range, text, is_certain: true, kind: RewriteKind::Text }
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

    pub(crate) fn with_rewrite(self, rewrite: Rewrite) -> Fault {
        Fault { rewrite: Some(Box::new(rewrite)), ..self }
    }

    pub(crate) fn with_advice(self, advice: Advice) -> Fault {
        Fault { advice: Some(advice), ..self }
    }

    /// Returns the fault of a block, at its position in the document.
    pub fn moved(mut self, distance: usize) -> Fault {
        let shift = |range: &mut Range<usize>| *range = range.start + distance..range.end + distance;
        shift(&mut self.range);
        self.rewrite.iter_mut().for_each(|rewrite| shift(&mut rewrite.range));
        self
    }

    pub fn class(&self) -> FaultClass {
        match self.kind {
            FaultKind::FileTooLarge | FaultKind::LineTooLong | FaultKind::NestedTooDeep => return FaultClass::Limit,
            FaultKind::UnknownAlias { .. } => return FaultClass::UnknownAlias,
            FaultKind::DuplicateKey { .. } => return FaultClass::DuplicateKey,
            FaultKind::Nul => return FaultClass::Encoding,
            // For all other kinds, the missing part counts.
            _ => {}
        }
        let is_template = self.rewrite.as_ref().is_some_and(|rewrite| rewrite.kind == RewriteKind::Template);
        if is_template { FaultClass::Template } else { FaultClass::Syntax }
    }

    /// Returns the fault of a line in place of an entry. `words`: the line, `at`: its start.
    pub(super) fn no_entry(words: &str, at: usize) -> Fault {
        let range = at..at + words.len();
        match words.split_once(':') {
            Some((key, value)) if is_key(key) && !value.is_empty() && !value.starts_with("//") => {
                // A no-break space looks like the missing space, and is not part of the value.
                let words = value.trim_start_matches('\u{a0}');
                let kind = match words.len() == value.len() {
                    true => FaultKind::MissingSpaceBehindColon,
                    false => FaultKind::NoBreakSpaceBehindColon,
                };
                Fault::new(range.clone(), kind).with_rewrite(Rewrite::certain(range, format!("{key}: {words}")))
            }
            _ if is_word(words) => Fault::new(range, FaultKind::MissingColon(words.to_owned())),
            Some(_) | None => Fault::new(range, FaultKind::ExpectedEntry),
        }
    }

    /// Returns the fault of tabs before a line, if there are any.
    pub(super) fn tabs(text: &str, at: usize) -> Option<Fault> {
        let line = line_at(text, at);
        let blanks = &text[line.clone()];
        let blanks = &blanks[..blanks.len() - blanks.trim_start_matches([' ', '\t']).len()];
        let range = line.start..line.start + blanks.len();
        blanks.contains('\t').then(|| Fault::tab(range))
    }

    pub(super) fn tab(range: Range<usize>) -> Fault {
        Fault::new(range, FaultKind::Tab)
    }

    pub(super) fn tab_for(text: &str, blanks: Range<usize>, column: usize) -> Fault {
        let tabs = &text[blanks.clone()];
        let first = blanks.start + tabs.find('\t').unwrap_or_default();
        let last = blanks.start + tabs.rfind('\t').map_or(tabs.len(), |at| at + 1);
        let text = " ".repeat(column);
        let rewrite = Rewrite { range: blanks, text, is_certain: true, kind: RewriteKind::Tabs(column) };
        Fault::new(first..last, FaultKind::Tab).with_rewrite(rewrite)
    }

    /// Returns the fault of a dash that touches its item. `behind`: the position of the missing space. It is not certain
    /// in front of a word, which may be an option of a command.
    pub(super) fn dash_without_space(range: Range<usize>, behind: usize, is_certain: bool) -> Fault {
        let text = " ".to_owned();
        let rewrite = Rewrite { range: behind..behind, text, is_certain, kind: RewriteKind::Space };
        Fault::new(range, FaultKind::MissingSpaceBehindDash).with_rewrite(rewrite)
    }

    /// Returns the fault of characters after a dash or a colon that look like spaces.
    pub(super) fn foreign_blank_behind(text: &str, range: Range<usize>, place: BlankPlace) -> Fault {
        let blanks = &text[range.clone()];
        let spaces = " ".repeat(blanks.chars().count());
        let rewrite = Rewrite { kind: RewriteKind::Blanks, ..Rewrite::certain(range.clone(), spaces) };
        Fault::new(range, FaultKind::foreign_blank(blanks, place)).with_rewrite(rewrite)
    }

    /// Returns the fault of characters before a line that look like spaces.
    pub fn foreign_blanks(text: &str, range: Range<usize>) -> Fault {
        Fault::foreign_blank_behind(text, range, BlankPlace::Indentation)
    }

    /// Returns the fault of a line that begins as the items of its list do, except for the dash.
    pub(super) fn without_dash(text: &str, at: usize, is_certain: bool) -> Fault {
        Fault::dash_from(text, at, at, is_certain)
    }

    /// Returns the same if two blanks take the place of the dash.
    pub(super) fn dash_in_blanks(text: &str, at: usize, is_certain: bool) -> Fault {
        Fault::dash_from(text, at - 2, at, is_certain)
    }

    /// Returns the same if the dash belongs in a column left of the words.
    pub(super) fn dash_in_column(text: &str, at: usize, column: usize, is_certain: bool) -> Fault {
        Fault::dash_from(text, line_at(text, at).start + column, at, is_certain)
    }

    /// Returns the fault of words that lack the dash before them. `dash`: its place, at the words or in the blanks before
    /// them.
    fn dash_from(text: &str, dash: usize, at: usize, is_certain: bool) -> Fault {
        let words = trimmed(text, at..line_at(text, at).end);
        let dash = dash.min(words.start);
        let blanks = " ".repeat((words.start - dash).saturating_sub(1).max(1));
        let rewritten = format!("-{blanks}{}", &text[words.clone()]);
        let rewrite = Rewrite { range: dash..words.end, text: rewritten, is_certain, kind: RewriteKind::Dash };
        // A word above a list or deeper lines may be a key that lacks its colon.
        let is_above = |line: &str| {
            let column = line.len() - line.trim_start_matches(' ').len();
            let own = words.start - line_at(text, at).start;
            column > own || column == own && is_dash(line.trim_start_matches(' '))
        };
        let below = text[words.end..].lines().skip(1).find(|line| !line.trim().is_empty());
        let may_be_key = matches!(head_shape(&text[words.clone()]), Head::Other) && below.is_some_and(is_above);
        let is_certain = is_certain && !may_be_key;
        let rewrite = Rewrite { is_certain, ..rewrite };
        let begin = match head_shape(&text[words.clone()]) {
            Head::Key { key, .. } | Head::KeyWithValue { key, .. } => &text[words.start..words.start + key],
            Head::Other => text[words.clone()].split([' ', ',']).next().unwrap_or_default(),
        };
        Fault::new(words.clone(), FaultKind::MissingDash(begin.to_owned())).with_rewrite(rewrite)
    }
}
