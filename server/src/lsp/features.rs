//! Converts editor features from our types to LSP's.

use std::{collections::BTreeSet, ops::Range as Bytes, path::Path, sync::Arc};

use serde_json::{Value, json};
use speclens_runner::files;
use speclens_schema::{analysis::Problems, suite::Suite};
use tower_lsp_server::gen_lsp_types::*;

use crate::{
    dry::{Plan, Totals},
    ide::{
        completion::{self, Completion, CompletionKind},
        environment_hover::{self, RunEnvironment},
        folding::{self, Fold, FoldKind},
        hints, hover, last_run,
        latest::Latest,
        lens::{self, Lens, LensContext},
        markdown,
        models::{self, Reach},
        runnable::{BrokenTests, Looks},
        symbols::{self, Symbol},
        tokens::{self, TokenKind},
        values::Values,
        verdict_hints::verdict_hints,
    },
    job::{self, Refusal},
    lsp::{client::SUGGEST, commands, convert, diagnostics, world::Snapshot},
};

pub(super) fn diagnostics(snapshot: &Snapshot, known: Option<&str>) -> DocumentDiagnosticReport {
    diagnostics::report(diagnostics::of_text(snapshot, &problems(snapshot)), known)
}

pub(super) fn problems(snapshot: &Snapshot) -> Arc<Problems> {
    snapshot.problems(&snapshot.workspace())
}

pub(super) fn choices(snapshot: &Snapshot) -> Vec<String> {
    let Snapshot { document, analyzer, place, .. } = snapshot;
    models::choices(document, place.file, *analyzer, place.files.as_ref())
}

pub(super) fn lenses(snapshot: &Snapshot) -> Vec<CodeLens> {
    let place = &snapshot.place;
    if !snapshot.display.code_lens || !place.has_tests() {
        return Vec::new();
    }
    let latest = snapshot.latest.as_deref();
    let known = latest.map(Latest::known).unwrap_or_default();
    let none = BrokenTests::none();
    let looks = Looks {
        file: place.file,
        has_suite: place.has_suite(),
        is_refused: latest.is_some_and(|latest| latest.is_refused),
        broken: latest.map_or(&none, |latest| &latest.broken),
    };
    let main = place.main().map(|main| relative_path(place.path.as_deref(), &place.directory.join(main)));
    let elsewhere = latest.map(Latest::elsewhere).unwrap_or_default();
    let has_choice = choices(snapshot).len() > 1;
    let context = LensContext { looks, main: main.as_deref(), elsewhere: &elsewhere, has_choice };
    let word = |lens: Lens| CodeLens {
        range: snapshot.range(lens.range),
        command: Some(commands::of_lens(lens.title, lens.command, lens.test, &snapshot.uri)),
        data: None,
    };
    let audits = latest.map(Latest::audits).unwrap_or_default();
    let found = lens::lenses(&snapshot.document, context, |name| known.get(name), |name| audits.get(name));
    found.into_iter().map(word).collect()
}

fn relative_path(from: Option<&Path>, to: &Path) -> String {
    let directory = from.and_then(Path::parent);
    directory.and_then(|directory| files::relative_path(directory, to)).unwrap_or_else(|| to.display().to_string())
}

pub(super) fn status(latest: Option<&Latest>) -> Vec<Value> {
    let cases = latest.into_iter().flat_map(Latest::all);
    cases
        .map(|(case, outcome)| {
            let state = outcome.known.state.title().unwrap_or_else(|| "not run".to_owned());
            json!({ "test": case.name, "state": state })
        })
        .collect()
}

pub(super) fn completion(
    snapshot: &Snapshot,
    position: Position,
    trigger: Option<&str>,
    list: u64,
) -> (CompletionResponse, Vec<String>) {
    let document = &snapshot.document;
    let offset = snapshot.offset(position);
    let elsewhere = |kind: &str| snapshot.names_elsewhere(offset, kind);
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let mut found =
        completion::complete(document, snapshot.place.file, offset, values, &elsewhere, snapshot.latest.as_deref());
    // Unless it begins an alias, a star is a character of a pattern, and no list is wanted.
    if trigger == Some("*") {
        found.retain(|item| item.label.starts_with('*'));
    }
    let is_incomplete = found.iter().any(|item| item.kind == CompletionKind::Field && item.edit.range.is_empty());
    let mut docs = Vec::new();
    let items = found.into_iter().enumerate().map(|(index, mut item)| {
        if snapshot.abilities.resolves_docs {
            docs.push(std::mem::take(&mut item.docs));
        }
        let data = docs.last().is_some_and(|docs| !docs.is_empty());
        let mut item = completion_item(snapshot, item);
        item.data = data.then(|| json!({ "list": list, "index": index }));
        item
    });
    // The matching items change with the first character: some keys are offered only once they are begun.
    let mut list = CompletionList { is_incomplete, items: items.collect(), ..CompletionList::default() };
    if snapshot.abilities.shares_completions {
        fragment(&mut list);
    }
    (CompletionResponse::CompletionList(list), docs)
}

/// Moves common properties of the items to the list: they are a third of a long list.
fn fragment(list: &mut CompletionList) {
    let edit = |item: &CompletionItem| match &item.text_edit {
        Some(CompletionItemTextEdit::TextEdit(edit)) => Some(edit.clone()),
        Some(CompletionItemTextEdit::InsertReplaceEdit(_)) | None => None,
    };
    let Some(range) = list.items.first().and_then(edit).map(|edit| edit.range) else { return };
    for item in &mut list.items {
        if let Some(edit) = edit(item).filter(|edit| edit.range == range) {
            item.text_edit = None;
            item.text_edit_text = Some(edit.new_text);
        }
        if item.insert_text_format == Some(InsertTextFormat::PlainText) {
            (item.insert_text_format, item.insert_text_mode) = (None, None);
        }
    }
    list.item_defaults = Some(CompletionItemDefaults {
        edit_range: Some(EditRange::Range(range)),
        insert_text_format: Some(InsertTextFormat::PlainText),
        insert_text_mode: Some(InsertTextMode::AsIs),
        ..CompletionItemDefaults::default()
    });
}

pub(super) fn place_of(item: &CompletionItem) -> Option<(u64, usize)> {
    let data = item.data.as_ref()?;
    Some((data.get("list")?.as_u64()?, usize::try_from(data.get("index")?.as_u64()?).ok()?))
}

/// Whether the cursor is after a colon, or on a new line below one, once a text is inserted, so that a value follows.
fn awaits_value(text: &str) -> bool {
    let ends = ["$0", "${0}", "$1", "${1}"];
    let text = ends.iter().fold(text, |text, end| text.strip_suffix(end).unwrap_or(text));
    let new_line = text.trim_end_matches(' ').trim_end_matches("- ");
    text.ends_with(": ") || (new_line.ends_with('\n') && new_line.trim_end().ends_with(':'))
}

fn completion_item(snapshot: &Snapshot, item: Completion) -> CompletionItem {
    let snippet = item.snippet.filter(|_| snapshot.abilities.snippets);
    let (format, mode) = match snippet {
        Some(_) => (InsertTextFormat::Snippet, InsertTextMode::AdjustIndentation),
        None => (InsertTextFormat::PlainText, InsertTextMode::AsIs),
    };
    let edit = TextEdit { range: snapshot.range(item.edit.range), new_text: snippet.unwrap_or(item.edit.text) };
    // Unlike a typed space, an inserted one triggers nothing by itself.
    let again = snapshot.abilities.suggests_again && awaits_value(&edit.new_text);
    let command =
        again.then(|| Command { title: "Suggest".to_owned(), command: SUGGEST.to_owned(), ..Command::default() });
    let filter_text = (item.filter_text != item.label).then_some(item.filter_text);
    let more = item.more.iter().map(|edit| convert::text_edit(&snapshot.document, snapshot.abilities.encoding, edit));
    let more: Vec<TextEdit> = more.collect();
    // There are no commit characters because each of them may be a part of the text.
    CompletionItem {
        label: item.label,
        kind: Some(match item.kind {
            CompletionKind::Field => CompletionItemKind::Field,
            CompletionKind::Value => CompletionItemKind::Value,
            CompletionKind::Reference => CompletionItemKind::Reference,
            CompletionKind::Variable => CompletionItemKind::Variable,
            CompletionKind::File => CompletionItemKind::File,
            CompletionKind::Directory => CompletionItemKind::Folder,
            CompletionKind::Snippet => CompletionItemKind::Snippet,
        }),
        detail: Some(item.detail).filter(|detail| !detail.is_empty()),
        documentation: (!item.docs.is_empty()).then(|| convert::markdown(item.docs).into()),
        preselect: item.preselect.then_some(true),
        sort_text: Some(item.sort_key),
        filter_text,
        additional_text_edits: (!more.is_empty()).then_some(more),
        insert_text_format: Some(format),
        insert_text_mode: Some(mode),
        text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
        command,
        ..CompletionItem::default()
    }
}

pub(super) fn hover(snapshot: &Snapshot, position: Position) -> Option<Hover> {
    let document = &snapshot.document;
    let offset = snapshot.offset(position);
    let files = snapshot.place.files.as_ref();
    let suite = snapshot.place.dialect().map(|_| snapshot.analyzer.suite_at(document, offset, files));
    let now = snapshot.clock.now();
    let (values, workspace) = (Values { files, now: &now }, snapshot.workspace());
    let reach = Reach { settings: &workspace.settings, environment: &job::variable };
    let found = hover::hover(document, snapshot.place.file, offset, suite.as_ref(), values, reach);
    let gateway = suite.as_ref().and_then(Suite::gateway).map(|config| job::gateway(config, &workspace.settings, None));
    let around = RunEnvironment { environment: &job::variable, gateway: gateway.as_ref(), values };
    let seen = suite
        .as_ref()
        .and_then(|suite| environment_hover::hover(document, offset, suite, snapshot.latest.as_deref(), around));
    let of_run =
        snapshot.latest.as_deref().map(|latest| last_run::hovers(document, snapshot.place.file, latest, offset));
    let parts = found.into_iter().chain(seen).chain(of_run.into_iter().flatten());
    let found = parts.reduce(|found, more| hover::Hover {
        markdown: format!("{}\n\n---\n\n{}", found.markdown, more.markdown),
        ..found
    })?;
    let mut markdown = found.markdown;
    if let Some(address) = found.page.and_then(|page| super::reference::address(snapshot.place.file, &page)) {
        markdown.push_str(&format!("\n\n[Reference]({address})"));
    }
    Some(Hover {
        contents: Contents::MarkupContent(convert::markdown(markdown)),
        range: Some(snapshot.range(found.range)),
    })
}

pub(super) fn symbols(snapshot: &Snapshot) -> Vec<DocumentSymbol> {
    let found = symbols::symbols(&snapshot.document, snapshot.place.file).into_iter();
    found.map(|symbol| document_symbol(snapshot, symbol)).collect()
}

#[expect(deprecated, reason = "the type cannot be made without the field")]
fn document_symbol(snapshot: &Snapshot, symbol: Symbol) -> DocumentSymbol {
    let children: Vec<_> = symbol.children.into_iter().map(|child| document_symbol(snapshot, child)).collect();
    DocumentSymbol {
        name: symbol.name,
        detail: Some(symbol.detail).filter(|detail| !detail.is_empty()),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: snapshot.range(symbol.range),
        selection_range: snapshot.range(symbol.selection),
        children: (!children.is_empty()).then_some(children),
    }
}

pub(super) fn symbol_kind(kind: symbols::SymbolKind) -> SymbolKind {
    match kind {
        symbols::SymbolKind::Section => SymbolKind::Namespace,
        symbols::SymbolKind::Test => SymbolKind::Method,
        symbols::SymbolKind::Claim => SymbolKind::Event,
        symbols::SymbolKind::Entry => SymbolKind::Field,
    }
}

pub(super) fn folding(snapshot: &Snapshot) -> Vec<FoldingRange> {
    let word = |fold: Fold| {
        let range = snapshot.range(fold.range);
        FoldingRange {
            start_line: range.start.line,
            end_line: range.end.line,
            kind: match fold.kind {
                FoldKind::Node => Some(FoldingRangeKind::Region),
                FoldKind::Comment => Some(FoldingRangeKind::Comment),
            },
            ..FoldingRange::default()
        }
    };
    folding::folds(&snapshot.document).into_iter().map(word).collect()
}

/// The page in Markdown that shows what a run of a test would do. It runs nothing, so the directory need not be trusted.
pub(super) fn dry_run(snapshot: &Snapshot, test: &str) -> String {
    let title = format!("# {}: dry run\n\n", markdown::escaped(&markdown::without_breaks(test)));
    let workspace = snapshot.workspace();
    let suite = Arc::new(snapshot.whole_suite(&workspace));
    let place = snapshot.cases_in(&suite).into_iter().find(|index| suite.cases[*index].name == test);
    let Some(index) = place else { return format!("{title}This file does not have this test.\n") };
    let prepared = match snapshot.prepare(&workspace, &suite, None) {
        Ok(prepared) => prepared,
        Err(Refusal::Settings(file)) => return format!("{title}Refused: {}\n", job::settings_sentence(&file)),
        Err(Refusal::Suite | Refusal::Untrusted(_)) => return format!("{title}Refused: the suite has errors.\n"),
    };
    let mut sum = Totals::default();
    let plan = Plan {
        suite: &suite,
        cases: &BTreeSet::from([index]),
        prepared: &prepared,
        checked: None,
        secrets: &workspace.secrets_of(&suite),
        chosen: &[],
        help_modes: &[],
    };
    let text = plan.describe(&mut sum) + &sum.sentences();
    format!("{title}Nothing was run. This is what *Run* would do:\n\n{}\n", markdown::verbatim(text.trim_end(), "text"))
}

/// Returns LSP's names of the token kinds, in the order of [`TokenKind::ALL`].
pub(super) fn legend() -> Vec<&'static str> {
    TokenKind::ALL.iter().map(|kind| token_name(*kind)).collect()
}

/// Returns the closest standard name: themes know no others.
fn token_name(kind: TokenKind) -> &'static str {
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

pub(super) fn tokens(snapshot: &Snapshot, range: Range) -> SemanticTokens {
    chained(snapshot, snapshot.bytes(range))
}

pub(super) fn all_tokens(snapshot: &Snapshot) -> SemanticTokens {
    chained(snapshot, 0..snapshot.document.text().len_bytes())
}

fn chained(snapshot: &Snapshot, bytes: Bytes<usize>) -> SemanticTokens {
    let mut before = Position::default();
    let chain = tokens::tokens(&snapshot.document, snapshot.place.file, bytes).into_iter().map(|token| {
        let Range { start, end } = snapshot.range(token.range);
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

pub(super) fn hints(snapshot: &Snapshot, range: Range) -> Vec<InlayHint> {
    if !snapshot.display.inlay_hints {
        return Vec::new();
    }
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let (document, file, bytes) = (&snapshot.document, snapshot.place.file, snapshot.bytes(range));
    let latest = snapshot.latest.as_deref();
    let verdicts = latest.map(|latest| verdict_hints(document, file, latest, &bytes, snapshot.display.verdicts));
    let found = hints::hints(document, file, bytes, values).into_iter().chain(verdicts.into_iter().flatten());
    let shown = found.map(|hint| InlayHint {
        position: snapshot.range(hint.at..hint.at).start,
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

pub(super) fn document_of(hint: &InlayHint) -> Option<Uri> {
    Some(Uri(hint.data.as_ref()?.get("uri")?.as_str()?.to_owned()))
}

pub(super) fn resolved(snapshot: &Snapshot, mut hint: InlayHint) -> InlayHint {
    let pattern = hint.data.as_ref().and_then(|data| data.get("pattern")?.as_str());
    if let Some(pattern) = pattern {
        let now = snapshot.clock.now();
        let values = Values { files: snapshot.place.files.as_ref(), now: &now };
        hint.tooltip = Some(convert::markdown(hints::matches(pattern, values)).into());
    }
    hint
}
