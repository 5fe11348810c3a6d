//! Semantic tokens and inlay hints, converted from our types to LSP's.

use std::{fmt::Write as _, sync::Arc};

use serde_json::json;
use tower_lsp_server::gen_lsp_types::*;

use super::{convert, fragments::JsonPieces, session::Snapshot, transport::Piece};
use crate::ide::{
    hints,
    parts::{Kept, parts},
    tokens::{self, Token, TokenKind},
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
    let ranges = convert::Ranges::new(document, encoding);
    let found = tokens::tokens(document, snapshot.place.file, start..end);
    SemanticTokens { result_id: None, data: chained(&ranges, found, 0) }
}

/// Returns tokens in LSP's encoding, each relative to the one before; the first one to the start of a line.
fn chained(ranges: &convert::Ranges<'_>, tokens: Vec<Token>, line: u32) -> Vec<SemanticToken> {
    let mut before = Position { line, character: 0 };
    let chain = tokens.into_iter().map(|token| {
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
    chain.collect()
}

/// The tokens of a part of a document, which begin on its first line or below.
struct Chain {
    /// Number of lines from the first line of the part to the first token.
    down: u32,
    /// Number of lines from the first token to the last one.
    height: u32,
    /// LSP's numbers after the first, which depends on the token before, separated by commas.
    words: Box<str>,
}

impl Chain {
    fn of(data: &[SemanticToken]) -> Option<Chain> {
        let down = data.first()?.delta_line;
        let height = data[1..].iter().map(|token| token.delta_line).sum();
        let mut words = String::new();
        for (at, token) in data.iter().enumerate() {
            let SemanticToken { delta_line, delta_start, length, token_type, token_modifiers_bitset } = token;
            if at > 0 {
                let _ = write!(words, ",{delta_line},");
            }
            let _ = write!(words, "{delta_start},{length},{token_type},{token_modifiers_bitset}");
        }
        Some(Chain { down, height, words: words.into() })
    }
}

/// Returns the tokens of a whole document, as JSON.
pub(super) fn all_tokens(snapshot: &Snapshot) -> Vec<Piece> {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let ranges = convert::Ranges::new(document, encoding);
    let mut json = JsonPieces::new("{\"data\":[");
    let mut kept = Kept::with(document, encoding as u8);
    let mut before = 0;
    for part in parts(document, snapshot.place.file) {
        let line = u32::try_from(document.text().byte_to_line(part.start())).unwrap_or(u32::MAX);
        let compute = || Chain::of(&chained(&ranges, tokens::tokens_in(document, &part), line));
        let chain = match part.group() {
            Some(group) => kept.of(group, part.shape.id(), compute),
            None => Arc::new(compute()),
        };
        let Some(Chain { down, height, words }) = &*chain else { continue };
        json.separate();
        let first = line + down;
        let _ = write!(json.last(), "{},{words}", first - before);
        before = first + height;
    }
    json.finish("]}")
}

/// Returns the inlay hints of a part of a document.
pub(super) fn hints(snapshot: &Snapshot, uri: &Uri, range: Range) -> Vec<InlayHint> {
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
        data: hint.pattern.map(|pattern| json!({ "uri": uri.0, "pattern": pattern })),
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
