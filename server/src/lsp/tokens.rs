//! Semantic tokens and inlay hints, converted from our types to LSP's.

use std::ops::Range as Bytes;

use serde_json::json;
use tower_lsp_server::gen_lsp_types::*;

use super::{convert, world::Snapshot};
use crate::ide::{
    hints,
    tokens::{self, TokenKind},
    values::Values,
};

/// Returns LSP's names of the token kinds, in the order of [`TokenKind::ALL`].
pub(super) fn legend() -> Vec<&'static str> {
    TokenKind::ALL.iter().map(|kind| name(*kind)).collect()
}

/// Returns the closest standard name: themes know no others.
fn name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Placeholder => "parameter",
        TokenKind::Pattern => "regexp",
        TokenKind::Class => "type",
        TokenKind::Group => "decorator",
        TokenKind::Quantifier => "number",
        TokenKind::Anchor => "modifier",
        TokenKind::Comment => "comment",
        TokenKind::String => "string",
        TokenKind::Variable => "variable",
        TokenKind::Operator => "operator",
        TokenKind::Keyword => "keyword",
        TokenKind::Command => "function",
    }
}

/// Returns the tokens of a range of a document.
pub(super) fn tokens(snapshot: &Snapshot, range: Range) -> SemanticTokens {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let start = convert::offset(document, encoding, range.start);
    let end = convert::offset(document, encoding, range.end).max(start);
    chained(snapshot, start..end)
}

/// Returns the tokens of a whole document.
pub(super) fn all_tokens(snapshot: &Snapshot) -> SemanticTokens {
    chained(snapshot, 0..snapshot.document.text().len_bytes())
}

/// Returns tokens in LSP's encoding, each relative to the one before.
fn chained(snapshot: &Snapshot, bytes: Bytes<usize>) -> SemanticTokens {
    let ranges = convert::Ranges::new(&snapshot.document, snapshot.abilities.encoding);
    let mut before = Position::default();
    let chain = tokens::tokens(&snapshot.document, snapshot.place.file, bytes).into_iter().map(|token| {
        let Range { start, end } = ranges.range(token.range);
        let delta_line = start.line - before.line;
        let kind = TokenKind::ALL.iter().position(|kind| *kind == token.kind).unwrap_or(0);
        let delta_start = if delta_line == 0 { start.character - before.character } else { start.character };
        before = start;
        SemanticToken {
            delta_line,
            delta_start,
            length: end.character - start.character,
            token_type: u32::try_from(kind).unwrap_or(0),
            token_modifiers_bitset: 0,
        }
    });
    SemanticTokens { result_id: None, data: chain.collect() }
}

/// Returns the inlay hints of a part of a document.
pub(super) fn hints(snapshot: &Snapshot, range: Range) -> Vec<InlayHint> {
    if !snapshot.display.inlay_hints {
        return Vec::new();
    }
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let start = convert::offset(document, encoding, range.start);
    let end = convert::offset(document, encoding, range.end).max(start);
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let found = hints::hints(document, snapshot.place.file, start..end, values).into_iter();
    let shown = found.map(|hint| InlayHint {
        position: convert::range(document, encoding, hint.at..hint.at).start,
        label: Label::String(hint.label),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: hint.pattern.map(|pattern| json!({ "uri": snapshot.uri.0, "pattern": pattern })),
    });
    shown.collect()
}

/// Returns the document of a hint that can be resolved.
pub(super) fn document_of(hint: &InlayHint) -> Option<Uri> {
    Some(Uri(hint.data.as_ref()?.get("uri")?.as_str()?.to_owned()))
}

/// Returns a hint with its tooltip.
pub(super) fn resolved(snapshot: &Snapshot, mut hint: InlayHint) -> InlayHint {
    let pattern = hint.data.as_ref().and_then(|data| data.get("pattern")?.as_str());
    if let Some(pattern) = pattern {
        let now = snapshot.clock.now();
        let values = Values { files: snapshot.place.files.as_ref(), now: &now };
        hint.tooltip = Some(convert::markdown(hints::matches(pattern, values)).into());
    }
    hint
}
