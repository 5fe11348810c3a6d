//! Semantic tokens inside texts: placeholders, the parts of regular expressions, the words of shell commands.
//! The schema says which texts are which.

pub(super) mod parts;

use std::ops::Range;

use speclens_schema::{
    document::{Document, NodeRef},
    json_schema::SpecFile,
    shape::{Shape, Word},
    template_syntax,
};

pub(crate) use parts::TokenKind;

use super::{walk, written::Written};

/// A part of a text with a meaning. It contains no line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub range: Range<usize>,
    pub kind: TokenKind,
}

/// Returns the tokens of the texts that touch a range, in the order of the text; none overlaps another.
pub(crate) fn tokens(document: &Document, file: SpecFile, range: Range<usize>) -> Vec<Token> {
    let mut found = Vec::new();
    walk::values(document, file, &range, &mut |node, shape, _| mark(document, node, shape, &mut found));
    found.sort_by_key(|token: &Token| token.range.start);
    found.dedup_by(|next, before| next.range.start < before.range.end);
    found
}

fn is_marked(shape: &Shape) -> bool {
    shape.template().is_some() || shape.is_shell() || matches!(shape.word(), Some(Word::Pattern(_)))
}

fn mark(document: &Document, node: NodeRef<'_>, shape: &Shape, found: &mut Vec<Token>) {
    let Some(written) = Written::of(node).filter(|_| is_marked(shape)) else { return };
    let mut kinds: Vec<Option<TokenKind>> = vec![None; written.text.len()];
    let mut paint = |range: Range<usize>, kind| kinds[range].fill(Some(kind));
    if matches!(shape.word(), Some(Word::Pattern(_))) {
        parts::of_pattern(&written.text).into_iter().for_each(|(range, kind)| paint(range, kind));
    }
    if shape.is_shell() {
        parts::of_command(&written.text).into_iter().for_each(|(range, kind)| paint(range, kind));
    }
    if let Some(kind) = shape.template() {
        for placeholder in template_syntax::placeholders_of(kind, &written.text) {
            paint(placeholder.range(), TokenKind::Placeholder);
        }
    }
    let mut at = 0;
    while at < kinds.len() {
        let end = kinds[at..].iter().position(|kind| *kind != kinds[at]).map_or(kinds.len(), |length| at + length);
        if let Some(kind) = kinds[at] {
            let pieces = written.pieces(at..end, document.text());
            found.extend(pieces.into_iter().map(|range| Token { range, kind }));
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::tokens;
    use crate::ide::tests::fixture::Fixture;

    /// Checks each token on a line, with each kind of line break, and preceding emoji.
    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let show = |text: &str| {
            let fixture = Fixture::parse(text);
            let text = fixture.text();
            let range = if fixture.selection.is_empty() { 0..text.len() } else { fixture.selection.clone() };
            let found = tokens(&fixture.document, fixture.file, range);
            let mut last = 0;
            let lines = found.into_iter().map(|token| {
                assert!(last <= token.range.start && !token.range.is_empty(), "{token:?}");
                last = token.range.end;
                let words = &text[token.range];
                assert!(!words.contains(['\n', '\r']), "{words:?}");
                format!("{:?} {words}\n", token.kind)
            });
            lines.collect::<String>()
        };
        let shown = show(fixture);
        expected.assert_eq(&shown);
        let (head, body) =
            fixture.split_once("\n").filter(|(head, _)| head.starts_with("//-")).unwrap_or(("", fixture));
        let head = if head.is_empty() { String::new() } else { format!("{head}\n") };
        for line_break in ["\r\n", "\r"] {
            assert_eq!(show(&format!("{head}# 😀 ä{line_break}{}", body.replace('\n', line_break))), shown);
        }
    }

    #[test]
    fn commands_have_words_and_placeholders() {
        check(
            "tests:\n  - command: echo '{{a}}' \"$B\" | cat # why\n    vars: { a: x }\n",
            expect![[r#"
                Command echo
                String '
                Placeholder {{a}}
                String '
                String "
                Variable $B
                String "
                Operator |
                Command cat
            "#]],
        );
        check(
            "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: a\n    then:\n      - type: artifact_exists\n        path: 'a/{{ today }}.md'\n",
            expect![[r#"
                Placeholder {{ today }}
            "#]],
        );
        check(
            "tests:\n  - command: |\n      # first\n      cat <<END\n      x {{a}}\n      END\n    expect: {}\n",
            expect![[r#"
                Comment # first
                Command cat
                Operator <<
                String x 
                Placeholder {{a}}
                String END
            "#]],
        );
        check(
            "tests:\n  - command: echo\n      '{{a}}'\n",
            expect![[r#"
                Command echo
                String '
                Placeholder {{a}}
                String '
            "#]],
        );
        check(
            "tests:\n  - {command: \"echo \\\"😀 {{a}}\\\" \\\n    ; ls\"}\n",
            expect![[r#"
            Command echo
            String \"😀 
            Placeholder {{a}}
            String \"
            Operator ;
            Command ls
        "#]],
        );
    }
}
