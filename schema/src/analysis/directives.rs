//! Directive comments that have no effect, and allowances that match no problem.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::{
    directive::{self, Allowance, Directive, DirectiveMistake, Verb},
    document::{Document, Pointer},
    json_schema::SpecFile,
    kind,
    problem::{Code, Edit, Fix, Problem},
    words::nearest,
};

/// Note of problems that make a comment ineffective.
const NO_EFFECT: &str = "the comment has no effect";

/// Reports directive comments that have no effect.
pub(super) fn lint(document: &Document, file: SpecFile, allowances: &[Allowance], problems: &mut Vec<Problem>) {
    let directives = directive::directives(document);
    for directive in &directives {
        match (&directive.mistake, directive.verb) {
            (Some((mistake, range)), _) => problems.push(mistake_in(document, file, directive, *mistake, range)),
            (None, Some(Verb::Dialect)) => problems.extend(kind_of(document, file, directive)),
            (None, Some(Verb::Allow) | None) => {}
        }
    }
    for allowance in allowances {
        for (code, range) in &allowance.codes {
            problems.extend(code_of(document, allowance, code, range));
        }
    }
}

/// Reports allowed codes that match no problem. `begun` holds the start of each problem, and new reports are added to
/// it.
pub(super) fn lint_unused(
    document: &Document,
    allowances: &[Allowance],
    begun: &mut FxHashSet<(Code, usize)>,
    problems: &mut Vec<Problem>,
) {
    // Whether an allowance of `unused` is unused depends on the other allowances.
    for is_about_unused in [false, true] {
        for allowance in allowances {
            for (word, range) in &allowance.codes {
                let known = Code::parse(word).filter(|code| !code.is_always_an_error());
                let Some(code) = known.filter(|code| (*code == Code::Unused) == is_about_unused) else { continue };
                if begun.iter().any(|(it, at)| *it == code && allowance.covers.contains(at)) {
                    continue;
                }
                let message = format!("`allow({word})` does not silence any problem");
                let problem =
                    Problem::new(Code::Unused, Pointer::root(), range.clone(), message).with_help("remove it");
                let edit = without_code(document, allowance, range);
                begun.insert((Code::Unused, range.start));
                problems.push(problem.with_fix(Fix::guess(format!("remove `{word}`"), vec![edit])));
            }
        }
    }
}

fn mistake_in(
    document: &Document,
    file: SpecFile,
    directive: &Directive,
    mistake: DirectiveMistake,
    range: &Range<usize>,
) -> Problem {
    let written = || String::from(document.text().byte_slice(range.clone()));
    let message = match (mistake, directive.verb) {
        (DirectiveMistake::Name, _) => format!("unknown comment prefix `{}`", written()),
        (DirectiveMistake::Colon, _) => format!("missing `:` after `{}`", written()),
        (DirectiveMistake::Verb, _) => format!("unknown directive `{}`", written()),
        (DirectiveMistake::Form, Some(Verb::Dialect)) => "missing `=` after `dialect`".to_owned(),
        (DirectiveMistake::Form, Some(Verb::Allow) | None) => {
            "missing parentheses around the codes of `allow`".to_owned()
        }
        (DirectiveMistake::Empty, Some(Verb::Dialect)) => "missing kind of file after `dialect=`".to_owned(),
        (DirectiveMistake::Empty, Some(Verb::Allow) | None) => "missing code in `allow(…)`".to_owned(),
    };
    let note = match directive.verb {
        Some(Verb::Dialect) => read_as(file),
        Some(Verb::Allow) | None => NO_EFFECT.to_owned(),
    };
    let problem = Problem::new(Code::InvalidSetting, Pointer::root(), range.clone(), message).with_note(note);
    let right = directive.written().or_else(|| {
        let is_dialect = directive.verb == Some(Verb::Dialect);
        is_dialect.then(|| format!("speclens: dialect={}", file.as_str()))
    });
    match (right, directive.verb) {
        (Some(right), _) => {
            let edit = Edit::new(directive.range.clone(), right.as_str());
            problem.with_help(format!("write `{right}`")).with_fix(Fix::guess(format!("write `{right}`"), vec![edit]))
        }
        (None, Some(_)) => {
            let edit = without(document, directive.range.clone());
            let fix = Fix::suggestion("remove the comment", vec![edit]);
            problem.with_help("write `allow(CODE)`, or remove the comment").with_fix(fix)
        }
        (None, None) => problem.with_help("write `allow(CODE)` or `dialect=KIND`"),
    }
}

/// Returns the problem of a comment that declares the kind of the file and has valid syntax.
fn kind_of(document: &Document, file: SpecFile, directive: &Directive) -> Option<Problem> {
    let (word, range) = directive.words.first()?;
    let problem = |message: String| {
        Problem::new(Code::InvalidSetting, Pointer::root(), range.clone(), message).with_note(read_as(file))
    };
    let Some(kind) = SpecFile::parse(word) else {
        let right = nearest(word, SpecFile::ALL.iter().map(|file| file.as_str())).unwrap_or(file.as_str());
        let fix = Fix::guess(format!("write `{right}`"), vec![Edit::new(range.clone(), right)]);
        let problem = problem(format!("unknown kind of file `{word}`"));
        return Some(problem.with_help(format!("write `{right}`")).with_fix(fix));
    };
    let is_obeyed = kind == file || kind.dialect() == file.dialect() && kind::is_dialect_word(kind);
    if is_obeyed {
        return None;
    }
    let removal = without(document, directive.range.clone());
    if document.is_before_first_entry(directive.range.start) {
        let fix = Fix::suggestion("remove the comment", vec![removal]);
        let problem = problem("only the first `dialect` comment has an effect".to_owned());
        return Some(problem.with_help("remove one of the two").with_fix(fix));
    }
    let text = String::from(document.text());
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let top = text.len() - text.trim_start_matches('\u{feff}').len();
    let comment = format!("# speclens: dialect={word}{line_break}");
    let fix = Fix::suggestion("move the comment to the top of the file", vec![Edit::new(top..top, comment), removal]);
    let problem = problem("a `dialect` comment has an effect only before the first entry".to_owned());
    Some(problem.with_help("move the comment to the top of the file").with_fix(fix))
}

fn code_of(document: &Document, allowance: &Allowance, word: &str, range: &Range<usize>) -> Option<Problem> {
    let problem = |message: String| Problem::new(Code::InvalidSetting, Pointer::root(), range.clone(), message);
    match Code::parse(word) {
        Some(code) if code.is_always_an_error() => {
            let fix = Fix::guess(format!("remove `{word}`"), vec![without_code(document, allowance, range)]);
            let problem = problem(format!("`{word}` cannot be silenced"));
            let note = "speclens cannot check text that it cannot read";
            Some(problem.with_note(note).with_help("remove it").with_fix(fix))
        }
        Some(_) => None,
        None => {
            let problem = problem(format!("unknown code `{word}`")).with_note("it does not silence any problem");
            Some(match nearest(word, Code::ALL.iter().map(|code| code.as_str())) {
                Some(near) => {
                    let fix = Fix::guess(format!("change it to `{near}`"), vec![Edit::new(range.clone(), near)]);
                    problem.with_help(format!("change it to `{near}`")).with_fix(fix)
                }
                None => problem.with_help("use one of the codes that `speclens explain` lists"),
            })
        }
    }
}

fn read_as(file: SpecFile) -> String {
    format!("the file is read as `{}`", file.as_str())
}

/// Removes a code from its comment, or the comment if it has no other code.
fn without_code(document: &Document, allowance: &Allowance, code: &Range<usize>) -> Edit {
    let index = allowance.codes.iter().position(|(_, range)| range == code).unwrap_or_default();
    let (before, behind) = (index.checked_sub(1).map(|at| &allowance.codes[at]), allowance.codes.get(index + 1));
    match (before, behind) {
        (_, Some((_, next))) => Edit::new(code.start..next.start, ""),
        (Some((_, last)), None) => Edit::new(last.end..code.end, ""),
        (None, None) => without(document, allowance.range.clone()),
    }
}

/// Removes a comment. The rest of its line stays, including text after it.
fn without(document: &Document, directive: Range<usize>) -> Edit {
    let text = document.text();
    let number = text.byte_to_line(directive.start);
    let (start, next) = (text.line_to_byte(number), text.line_to_byte(number + 1));
    let before = String::from(text.byte_slice(start..directive.start));
    let behind = String::from(text.byte_slice(directive.end..next));
    let rest = behind.trim_start_matches(|letter: char| letter.is_whitespace() || ":;,.-–—".contains(letter));
    if !rest.is_empty() {
        return Edit::new(directive.start..directive.end + (behind.len() - rest.len()), "");
    }
    let before = before.trim_end().trim_end_matches('#').trim_end();
    match before.trim_start_matches('\u{feff}') {
        "" => Edit::new(start + before.len()..next, ""),
        _ => Edit::new(start + before.len()..directive.end, ""),
    }
}
