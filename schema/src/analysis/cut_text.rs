//! Texts that YAML ends at a ` #` which their author most likely meant: `- order #5`.

use std::ops::Range;

use crate::{
    document::{Document, Scalar, Style, quoted},
    problem::{Code, Edit, Fix, Problem, Severity},
};

/// As many places of a file are looked at.
const MOST: usize = 256;

/// Finds the texts without quotes that a number sign cuts off.
pub(super) fn lint(document: &Document) -> Vec<Problem> {
    let text = document.text();
    let mut problems = Vec::new();
    for at in number_signs(document).take(MOST) {
        let pointer = document.pointer_at(at);
        let Some(node) = document.find(&pointer) else { continue };
        let Range { start, end } = node.own_range();
        let is_cut = end == at
            && node.alias().is_none()
            && node.style() == Some(Style::Plain)
            && node.scalar() == Some(Scalar::Text)
            && !node.is_through_alias();
        if !is_cut {
            continue;
        }
        let line = String::from(text.line(text.byte_to_line(at)));
        let line_start = text.line_to_byte(text.byte_to_line(at));
        let rest = line_start + line.trim_end().len();
        if start < line_start {
            continue;
        }
        let whole = String::from(text.byte_slice(start..rest));
        let behind = String::from(text.byte_slice(at + 1..rest));
        let message = format!("`{behind}` is a comment and not part of the text");
        let cure = quoted(&whole);
        let fix = Fix::guess(format!("write `{cure}`"), vec![Edit::new(start..rest, cure)]);
        let problem = Problem::new(Code::AmbiguousScalar, pointer, at + 1..rest, message);
        problems.push(problem.with_severity(Severity::Warning).with_fix(fix));
    }
    problems
}

/// Where a single blank is between a word and `#` with a number: `order #5`.
fn number_signs(document: &Document) -> impl Iterator<Item = usize> {
    let text = document.text();
    let byte = |at: usize| (at < text.len_bytes()).then(|| text.byte(at));
    let mut start = 0;
    let signs = text.chunks().flat_map(move |chunk| {
        let begin = start;
        start += chunk.len();
        memchr::memchr_iter(b'#', chunk.as_bytes()).map(move |at| begin + at)
    });
    signs
        .filter(move |sign| {
            let is_digit = |at: usize| byte(at).is_some_and(|it| it.is_ascii_digit());
            let behind = (sign + 1..).find(|at| !is_digit(*at)).unwrap_or(sign + 1);
            let ends = byte(behind).is_none_or(|it| it.is_ascii_whitespace() || b".,;:!?)".contains(&it));
            let follows_word = *sign >= 2
                && byte(sign - 1) == Some(b' ')
                && byte(sign - 2).is_some_and(|it| it.is_ascii_alphanumeric() || it >= 0x80);
            is_digit(sign + 1) && ends && follows_word
        })
        .map(|sign| sign - 1)
}
