//! Messages and fixes of faults: text that cannot be parsed.

use std::ops::Range;

use crate::{
    document::{
        Advice, BlankPlace, Document, Fault, FaultClass, FaultKind, MAX_BYTES, MAX_LINE_BYTES, MAX_NESTING, Pointer,
        Rewrite, RewriteKind, quoted,
    },
    fixes,
    problem::{Code, Edit, Fix, Problem},
};

/// Maximum number of duplicate keys with fixes, which cost more than their message.
const MAX_FIXED_KEYS: usize = 64;

/// Returns a problem for each fault, in document order.
pub fn problems(document: &Document) -> Vec<Problem> {
    problems_but(document, |_| false)
}

/// Returns the same without the faults that other rules report.
pub(crate) fn problems_but(document: &Document, is_known: impl Fn(&Fault) -> bool) -> Vec<Problem> {
    let faults = document.faults();
    let mut problems: Vec<Problem> = faults.iter().filter(|fault| !is_known(fault)).map(problem).collect();
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::DuplicateKey).take(MAX_FIXED_KEYS) {
        let mapping = problem.at.parent().and_then(|at| document.find(&at));
        if let (Some(mapping), Some(first)) = (mapping, problem.related.first()) {
            problem.fixes = fixes::repeated_key(mapping, &problem.range, &first.range);
        }
    }
    problems
}

pub(crate) fn problem(fault: &Fault) -> Problem {
    let range = fault.range.clone();
    match &fault.kind {
        FaultKind::UnknownAlias { name, at } => return unknown_alias(name, at.clone(), range),
        FaultKind::DuplicateKey { key, mapping, first } => return duplicate_key(mapping, key, range, first.clone()),
        _ => {}
    }
    let problem = Problem::new(code(fault.class()), Pointer::root(), range, message(&fault.kind));
    let problem = match &fault.kind {
        FaultKind::Defect => problem.with_note("this is a bug in speclens"),
        _ => problem,
    };
    match (&fault.rewrite, fault.advice) {
        (Some(rewrite), _) => problem.with_fix(fix(rewrite)),
        (None, Some(Advice::BeginBelow)) => problem.with_help("begin the text of the block scalar on the next line"),
        (None, Some(Advice::QuoteAllLines)) => problem.with_help("put the whole string in quotes"),
        (None, None) => match help(&fault.kind) {
            Some(help) => problem.with_help(help),
            None => problem,
        },
    }
}

fn code(class: FaultClass) -> Code {
    match class {
        FaultClass::Syntax => Code::Syntax,
        FaultClass::Template => Code::UnquotedTemplate,
        FaultClass::Limit => Code::TooLarge,
        FaultClass::DuplicateKey => Code::DuplicateKey,
        FaultClass::UnknownAlias => Code::UnknownAlias,
        FaultClass::Encoding => Code::Encoding,
    }
}

pub fn message(kind: &FaultKind) -> String {
    let fixed = match kind {
        FaultKind::FileTooLarge => return format!("the file is larger than {} MiB and is not read", MAX_BYTES >> 20),
        FaultKind::LineTooLong => {
            return format!("this line is longer than {} MiB, so the file is not read", MAX_LINE_BYTES >> 20);
        }
        FaultKind::NestedTooDeep => {
            return format!("this value is nested more than {MAX_NESTING} levels deep, so it is not read");
        }
        FaultKind::UnknownAlias { name, .. } => return format!("unknown alias `*{name}`"),
        FaultKind::DuplicateKey { key, .. } => return format!("duplicate key `{key}`"),
        FaultKind::ExpectedSeparator { close } => return format!("expected `,` or `{close}`"),
        FaultKind::MissingDash(words) => return format!("missing `-` before `{words}`"),
        FaultKind::MissingColon(word) => return format!("missing colon after `{word}`"),
        FaultKind::KeyHasValue(key) => return format!("`{key}` already has a value"),
        FaultKind::ForeignBlank { other, place } => return foreign_blank(*other, *place),
        FaultKind::Misindented { indent, column } => {
            let spaces = if *indent == 1 { "space" } else { "spaces" };
            return format!("this line is indented by {indent} {spaces}, expected {column}");
        }
        FaultKind::Unclosed(close) => return format!("missing closing `{close}`"),
        FaultKind::TextBehindQuote(quote) => return format!("unexpected text after the closing `{quote}`"),
        FaultKind::QuoteWithinText(quote) => return format!("this `{quote}` ends the string"),
        FaultKind::TextBehindBrackets { open } => {
            let close = if *open == '[' { ']' } else { '}' };
            return format!("unexpected text after the closing `{close}`");
        }
        FaultKind::InvalidEscape(escape) => return format!("`{escape}` is not a valid escape in double quotes"),
        FaultKind::BlockTextSign(sign) => {
            return format!("unexpected text after `{sign}`");
        }
        FaultKind::ReservedSign('`') => "an unquoted string cannot begin with a backtick",
        FaultKind::ReservedSign(sign) => return format!("an unquoted string cannot begin with `{sign}`"),
        FaultKind::NestedTooDeepToRecover => "this part is nested too deeply to be read after a syntax error",
        FaultKind::TooDamaged => "too many syntax errors, so the rest is not read",
        FaultKind::Defect => "this part could not be read",
        FaultKind::SecondDocument => "a second document begins here and is not read",
        FaultKind::MarkerInBlockText => "`---` ends the block scalar above it",
        FaultKind::DocumentEnd => "`...` ends the document, so the lines below it are not read",
        FaultKind::BehindDocument => "the document ends above this line",
        FaultKind::MergeConflict => "unresolved merge conflict, from here to `>>>>>>>`",
        FaultKind::Nul => "NUL byte in the text",
        FaultKind::ExpectedEntry => "expected `key: value`",
        FaultKind::ExpectedItem => "expected a list item",
        FaultKind::ExpectedValue => "expected a value",
        FaultKind::EmptyItem => "empty list item",
        FaultKind::MisplacedKey => "unexpected key",
        FaultKind::MisplacedComplexKey => "a key that begins with `? ` is not allowed here",
        FaultKind::MisplacedItem => "unexpected list item",
        FaultKind::MisalignedDash => "this dash is not aligned with the other items of the list",
        FaultKind::OutsideKeys => "this line does not belong to any key",
        FaultKind::MissingKey => "missing key before the colon",
        FaultKind::MissingSpaceBehindColon => "missing space after the colon",
        FaultKind::NoBreakSpaceBehindColon => "no-break space (U+00A0) after the colon",
        FaultKind::MissingSpaceBehindDash => "missing space after the dash",
        FaultKind::MissingSpaceBeforeComment => "missing space before `#`",
        FaultKind::QuotesReachInto => "a quoted string from above is still open on this line",
        FaultKind::BracketsReachInto => "a bracket from above is still open on this line",
        FaultKind::Tab => "tab in the indentation",
        FaultKind::NotDeepEnough => "this line is not indented enough",
        FaultKind::UnclosedBrackets => "missing closing bracket or brace",
        FaultKind::MismatchedBracket => "this bracket does not match the opening one",
        FaultKind::UnclosedQuotes => "missing closing quote",
        FaultKind::TextBehindQuotes => "unexpected text after the closing quote",
        FaultKind::TrailingComma => "the comma is not needed in block style",
        FaultKind::ColonInAlias => "the colon is part of the name of the alias",
        FaultKind::InvalidEscapes => "not a valid escape in double quotes",
        FaultKind::ColonWithoutQuotes => "a string that contains `: ` needs quotes",
        FaultKind::HashWithoutQuotes => "a string that contains ` #` needs quotes",
        FaultKind::TemplateWithoutQuotes => "a string that begins with `{{` needs quotes",
        FaultKind::TemplateInBrackets => "a string that contains `{{` needs quotes inside `[…]` or `{…}`",
        FaultKind::AliasSign => "an unquoted string cannot begin with `*`",
        FaultKind::AnchorSign => "an unquoted string cannot begin with `&`",
        FaultKind::KeySign => "an unquoted string cannot begin with `? `",
        FaultKind::CommentInText => "a comment ends the string above it",
        FaultKind::MissingAnchorName => "`&` or `*` without a name",
        FaultKind::InvalidTag => "this is not a valid tag",
        FaultKind::DashBeforeBracket => "an unquoted string cannot begin with `-` and a bracket",
        FaultKind::BlockTextHeader => "unexpected text after `|` or `>`",
        FaultKind::ForbiddenCharacter => "YAML does not allow this character here",
        FaultKind::InvalidDirective => "this is not a valid directive",
        FaultKind::NotYaml => "not valid YAML",
    };
    fixed.to_owned()
}

fn foreign_blank(other: Option<char>, place: BlankPlace) -> String {
    let mark = match place {
        BlankPlace::Indentation => {
            return match other {
                None => "no-break space (U+00A0) in the indentation".to_owned(),
                Some(letter) => format!("space-like character (U+{:04X}) in the indentation", u32::from(letter)),
            };
        }
        BlankPlace::BehindDash => "dash",
        BlankPlace::BehindColon => "colon",
    };
    match other {
        None => format!("no-break space (U+00A0) after the {mark}"),
        Some(letter) => format!("space-like character (U+{:04X}) after the {mark}", u32::from(letter)),
    }
}

/// Returns the help, if there is no fix for the line. `None` if the message is sufficient.
fn help(kind: &FaultKind) -> Option<String> {
    const QUOTE: &str = "put the string in quotes";
    let fixed = match kind {
        FaultKind::MissingColon(word) => return Some(format!("write `{word}:`")),
        FaultKind::FileTooLarge => "split the file",
        FaultKind::LineTooLong => "break the line, or move the value to a file",
        FaultKind::NestedTooDeep => "flatten the value",
        FaultKind::SecondDocument => "move it to a separate file",
        FaultKind::MarkerInBlockText => "indent the text more than its key",
        FaultKind::DocumentEnd => "remove this line",
        FaultKind::BehindDocument => "indent the line like its neighbors, or remove it",
        FaultKind::MergeConflict => "keep one of the two versions, and remove the conflict markers",
        FaultKind::Nul => "save the file as UTF-8 text",
        FaultKind::DuplicateKey { .. } => "remove one of the two",
        FaultKind::EmptyItem => "add an item, or remove the comma",
        FaultKind::ExpectedItem => "begin it with `- `, or indent it",
        FaultKind::MisplacedKey => "put a string with a colon in quotes, or move the key to a new line",
        FaultKind::MisplacedItem => "begin the list on the line below its key",
        FaultKind::OutsideKeys => "indent it, or remove it",
        FaultKind::MissingKey => "write the key, or remove the colon",
        FaultKind::KeyHasValue(_) => "indent this line less, or remove the value",
        FaultKind::QuotesReachInto | FaultKind::BracketsReachInto => {
            "close it above, or indent this line more than its key"
        }
        FaultKind::Tab => "indent with spaces",
        FaultKind::NotDeepEnough => "indent it more than the key above it",
        FaultKind::TextBehindQuotes => "put the whole value in quotes",
        FaultKind::InvalidEscapes => "write `\\\\` for a backslash, or use single quotes",
        FaultKind::CommentInText => "move the comment",
        FaultKind::InvalidDirective => "remove the line",
        FaultKind::Misindented { .. } => "indent it like the other lines of its list or mapping",
        FaultKind::Defect => "report it, and attach the file",
        FaultKind::MisplacedComplexKey
        | FaultKind::MissingSpaceBeforeComment
        | FaultKind::MissingAnchorName
        | FaultKind::InvalidTag
        | FaultKind::DashBeforeBracket
        | FaultKind::ForbiddenCharacter => QUOTE,
        FaultKind::NestedTooDeepToRecover
        | FaultKind::TooDamaged
        | FaultKind::UnknownAlias { .. }
        | FaultKind::ExpectedEntry
        | FaultKind::ExpectedValue
        | FaultKind::ExpectedSeparator { .. }
        | FaultKind::MisalignedDash
        | FaultKind::MissingSpaceBehindColon
        | FaultKind::NoBreakSpaceBehindColon
        | FaultKind::MissingSpaceBehindDash
        | FaultKind::MissingDash(_)
        | FaultKind::TrailingComma
        | FaultKind::ColonInAlias
        | FaultKind::ForeignBlank { .. }
        | FaultKind::UnclosedBrackets
        | FaultKind::MismatchedBracket
        | FaultKind::UnclosedQuotes
        | FaultKind::Unclosed(_)
        | FaultKind::TextBehindQuote(_)
        | FaultKind::TextBehindBrackets { .. }
        | FaultKind::QuoteWithinText(_)
        | FaultKind::InvalidEscape(_)
        | FaultKind::ColonWithoutQuotes
        | FaultKind::HashWithoutQuotes
        | FaultKind::TemplateWithoutQuotes
        | FaultKind::TemplateInBrackets
        | FaultKind::AliasSign
        | FaultKind::AnchorSign
        | FaultKind::KeySign
        | FaultKind::BlockTextSign(_)
        | FaultKind::ReservedSign(_)
        | FaultKind::BlockTextHeader
        | FaultKind::NotYaml => return None,
    };
    Some(fixed.to_owned())
}

fn fix(rewrite: &Rewrite) -> Fix {
    let edits = vec![Edit::new(rewrite.range.clone(), rewrite.text.clone())];
    // A dash that is not a YAML dash is part of a string on any line.
    let is_certain = rewrite.is_certain && !rewrite.text.trim_start().starts_with(['–', '—', '•']);
    if is_certain { Fix::safe(title(rewrite), edits) } else { Fix::guess(title(rewrite), edits) }
}

fn title(rewrite: &Rewrite) -> String {
    match rewrite.kind {
        RewriteKind::Text | RewriteKind::Template => format!("write `{}`", rewrite.text),
        RewriteKind::Blanks => "replace it with a space".to_owned(),
        RewriteKind::Space => "insert a space".to_owned(),
        RewriteKind::Comma => "remove the comma".to_owned(),
        RewriteKind::Dash => format!("begin a new item: `- {}`", rewrite.text[1..].trim_start()),
        RewriteKind::IndentTo(0) | RewriteKind::Tabs(0) => "remove its indentation".to_owned(),
        RewriteKind::IndentTo(1) => "indent it by 1 space".to_owned(),
        RewriteKind::IndentTo(column) => format!("indent it by {column} spaces"),
        RewriteKind::Tabs(1) => "indent it with 1 space".to_owned(),
        RewriteKind::Tabs(column) => format!("indent it with {column} spaces"),
    }
}

fn unknown_alias(name: &str, at: Pointer, range: Range<usize>) -> Problem {
    let message = format!("unknown alias `*{name}`");
    // Not the name of an anchor, but a string such as `*.txt`.
    if name.contains(['.', '/', '*', '?', '(', '\\', '$', '|']) {
        let quoted = quoted(&format!("*{name}"));
        let help = format!("write `{quoted}`");
        let edits = vec![Edit::new(range.clone(), quoted)];
        let is_value = name.starts_with(['"', '\'', '[', '{']);
        let fix = if is_value { Fix::guess(&help, edits) } else { Fix::safe(&help, edits) };
        let problem = Problem::new(Code::UnknownAlias, at, range, message).with_fix(fix);
        return problem.with_note("a string that begins with `*` needs quotes").with_help(help);
    }
    Problem::new(Code::UnknownAlias, at, range, message).with_help(format!("define `&{name}` before it"))
}

fn duplicate_key(mapping: &Pointer, key: &str, range: Range<usize>, first: Range<usize>) -> Problem {
    let at = mapping.key(key);
    Problem::new(Code::DuplicateKey, at.clone(), range, format!("duplicate key `{key}`"))
        .with_help("remove one of the two")
        .with_related("first defined here", at, first)
}
