//! Strings that YAML truncates at a ` #` that is most likely part of them: `- order #5`.

use std::ops::Range;

use crate::{
    document::{Document, Scalar, Style},
    edit,
    finding::{Finding, MessageParts, Report},
    problem::{Code, Fix, Severity},
};

/// Maximum number of places to check per file.
const MAX_PLACES: usize = 256;

/// Reports strings without quotes that a number sign truncates.
pub(crate) fn check(document: &Document, report: &mut Report) {
    let text = document.text();
    for at in number_signs(document).take(MAX_PLACES) {
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
        let quoted = edit::quote_with(node, &(start..rest));
        let words =
            MessageParts::new(format!("`{}` is a comment, not part of the string", text.byte_slice(at + 1..rest)))
                .fix(quoted.map(|(quoted, edits)| Fix::guess(format!("write `{quoted}`"), edits)));
        let finding = Finding::stated(Code::AmbiguousScalar, words, pointer, at + 1..rest);
        report.push(finding.with_severity(Severity::Warning));
    }
}

/// Returns the offsets of single spaces between a word and `#` with a number: `order #5`.
fn number_signs(document: &Document) -> impl Iterator<Item = usize> {
    let text = document.text();
    let byte = |at: usize| (at < text.len_bytes()).then(|| text.byte(at));
    document
        .numbers()
        .filter(move |sign| {
            let is_digit = |at: usize| byte(at).is_some_and(|it| it.is_ascii_digit());
            let behind = (sign + 1..).find(|at| !is_digit(*at)).unwrap_or(sign + 1);
            let ends = byte(behind).is_none_or(|it| it.is_ascii_whitespace() || b".,;:!?)".contains(&it));
            let follows_word = *sign >= 2
                && byte(sign - 1) == Some(b' ')
                && byte(sign - 2).is_some_and(|it| it.is_ascii_alphanumeric() || it >= 0x80);
            ends && follows_word
        })
        .map(|sign| sign - 1)
}
