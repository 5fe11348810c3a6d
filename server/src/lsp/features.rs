//! Converts editor features from our types to LSP's.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use speclens_runner::files;
use speclens_schema::{
    analysis::Problems,
    suite::{ActionKind, Suite},
};
use tower_lsp_server::gen_lsp_types::*;

use super::{client::SUGGEST, commands, convert, diagnostics, edits, fix_all, ignoring, world::Snapshot};
use crate::{
    ide::{
        actions,
        completion::{self, Completion, CompletionKind},
        environment_hover::{self, RunEnvironment},
        folding::{self, Fold, FoldKind},
        hover, last_run,
        latest::Latest,
        lens::{self, Lens, LensCommand, LensContext},
        models::{self, Reach},
        runnable::{BrokenTests, Looks},
        symbols::{self, Symbol},
        values::Values,
    },
    job,
};

/// Returns the diagnostics of the text, for a client that pulls them.
pub(super) fn diagnostics(snapshot: &Snapshot, known: Option<&str>) -> DocumentDiagnosticReport {
    diagnostics::report(diagnostics::of_text(snapshot, &problems(snapshot)), known)
}

/// Returns the problems of this version under the current settings.
fn problems(snapshot: &Snapshot) -> Arc<Problems> {
    snapshot.problems(&snapshot.workspace())
}

/// Returns the models that can work on the tests of a document.
pub(super) fn choices(snapshot: &Snapshot) -> Vec<String> {
    let Snapshot { document, analyzer, place, .. } = snapshot;
    models::choices(document, place.file, *analyzer, place.files.as_ref())
}

/// Returns the lenses of a suite.
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
    let ranges = convert::Ranges::new(&snapshot.document, snapshot.abilities.encoding);
    let word = |lens: Lens| CodeLens {
        range: ranges.range(lens.range),
        command: Some(commands::of_lens(lens.title, lens.command, lens.test, &snapshot.uri)),
        data: None,
    };
    lens::lenses(&snapshot.document, context, |name| known.get(name)).into_iter().map(word).collect()
}

/// Returns the relative path from the directory of a document to another file.
fn relative_path(from: Option<&Path>, to: &Path) -> String {
    let directory = from.and_then(Path::parent);
    directory.and_then(|directory| files::relative_path(directory, to)).unwrap_or_else(|| to.display().to_string())
}

/// Returns the actions at a place: fixes of problems, and runs.
pub(super) fn actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionResponse> {
    let wanted = |kind: &str| {
        params.context.only.as_ref().is_none_or(|only| {
            only.iter().any(|only| {
                let only = serde_json::to_value(only).ok();
                only.as_ref().and_then(Value::as_str).is_some_and(|only| {
                    kind == only || kind.strip_prefix(only).is_some_and(|rest| rest.starts_with('.')) || only.is_empty()
                })
            })
        })
    };
    let mut actions = Vec::new();
    let quick = wanted("quickfix");
    let whole = wanted(fix_all::KIND) && fix_all::is_asked_for(params);
    if quick || whole {
        let problems = problems(snapshot);
        if quick {
            actions.extend(quick_fixes(snapshot, params, &problems));
        }
        if whole && fix_all::is_affordable(snapshot, params) {
            actions.extend(fix_all::of_file(snapshot, &problems));
        }
    }
    if wanted("source.speclens.run") {
        actions.extend(run_actions(snapshot, params));
    }
    actions
}

fn quick_fixes(snapshot: &Snapshot, params: &CodeActionParams, problems: &Problems) -> Vec<CodeActionResponse> {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let uri = &snapshot.uri;
    let start = convert::offset(document, encoding, params.range.start);
    let end = convert::offset(document, encoding, params.range.end).max(start);
    let ranges = convert::Ranges::new(document, encoding);
    let converter = convert::Converter { ranges, uri, directory: &snapshot.place.directory };
    let mut actions = Vec::new();
    for (problem, fixes) in actions::quick_fixes(document, problems, start..end) {
        let solved = converter.diagnostic(&problem);
        for fix in fixes {
            let Some(edit) = edits::with_new_files(snapshot, &fix.edits, &fix.creates) else { continue };
            actions.push(CodeActionResponse::CodeAction(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![solved.clone()]),
                is_preferred: fix.preferred.then_some(true),
                edit: Some(edit),
                ..CodeAction::default()
            }));
        }
    }
    if fix_all::is_affordable(snapshot, params) {
        actions.extend(fix_all::of_kinds(snapshot, problems, start..end));
    }
    actions.extend(ignoring::actions(snapshot, problems, start..end));
    actions
}

fn run_actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionResponse> {
    if !snapshot.place.has_tests() {
        return Vec::new();
    }
    let uri = &snapshot.uri;
    let offset = convert::offset(&snapshot.document, snapshot.abilities.encoding, params.range.start);
    let action = |title: String, command: LensCommand, test: Option<&str>| {
        CodeActionResponse::CodeAction(CodeAction {
            title: title.clone(),
            kind: Some(CodeActionKind::Custom("source.speclens.run".into())),
            command: Some(commands::of_lens(title, command, test.map(str::to_owned), uri)),
            ..CodeAction::default()
        })
    };
    let mut actions = Vec::new();
    if let Some(case) = lens::test_at(snapshot.place.file, &snapshot.document, offset) {
        let test = &*case.name;
        let mut offer = |title: String, command: LensCommand| actions.push(action(title, command, Some(test)));
        offer(format!("Run `{test}`"), LensCommand::Run);
        if choices(snapshot).len() > 1 {
            offer(format!("Run `{test}` with…"), LensCommand::RunWith);
        }
        match case.does {
            ActionKind::Agent => offer(format!("Dry run of `{test}`"), LensCommand::DryRun),
            ActionKind::Trigger => {
                offer(format!("Check preconditions of `{test}`"), LensCommand::Preconditions);
                offer(format!("Evaluate `{test}` without a run"), LensCommand::Judge);
            }
            ActionKind::Command | ActionKind::Prompt | ActionKind::None => {}
        }
        let latest = snapshot.latest.as_deref();
        if latest.is_some_and(|latest| latest.has_transcript(test)) {
            offer(format!("Show transcript of `{test}`"), LensCommand::ShowTranscript);
        }
        if latest.is_some_and(|latest| latest.can_ask(test)) {
            offer(format!("Ask judge about `{test}`"), LensCommand::Ask);
        }
    }
    actions.push(action("Run file".to_owned(), LensCommand::RunFile, None));
    actions
}

/// Returns the states of the tests of a file, for a client that shows them itself.
pub(super) fn status(latest: Option<&Latest>) -> Vec<Value> {
    let cases = latest.into_iter().flat_map(Latest::all);
    cases
        .map(|(case, outcome)| {
            let state = outcome.known.state.title().unwrap_or_else(|| "not run".to_owned());
            json!({ "test": case.name, "state": state })
        })
        .collect()
}

/// Returns the completions at a place, and the docs that are sent on request.
pub(super) fn completion(
    snapshot: &Snapshot,
    position: Position,
    trigger: Option<&str>,
    list: u64,
) -> (CompletionResponse, Vec<String>) {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let offset = convert::offset(document, encoding, position);
    let elsewhere = |kind: &str| snapshot.names_elsewhere(offset, kind);
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let mut found = completion::complete(document, snapshot.place.file, offset, values, &elsewhere);
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

/// Returns the list of an item and its index there, if it can be resolved.
pub(super) fn place_of(item: &CompletionItem) -> Option<(u64, usize)> {
    let data = item.data.as_ref()?;
    Some((data.get("list")?.as_u64()?, usize::try_from(data.get("index")?.as_u64()?).ok()?))
}

/// Whether the cursor is after a colon once a text is inserted, so that a value follows.
fn awaits_value(text: &str) -> bool {
    let ends = ["$0", "${0}", "$1", "${1}"];
    ends.iter().fold(text, |text, end| text.strip_suffix(end).unwrap_or(text)).ends_with(": ")
}

fn completion_item(snapshot: &Snapshot, item: Completion) -> CompletionItem {
    let snippet = item.snippet.filter(|_| snapshot.abilities.snippets);
    let (format, mode) = match snippet {
        Some(_) => (InsertTextFormat::Snippet, InsertTextMode::AdjustIndentation),
        None => (InsertTextFormat::PlainText, InsertTextMode::AsIs),
    };
    let edit = TextEdit {
        range: convert::range(&snapshot.document, snapshot.abilities.encoding, item.edit.range),
        new_text: snippet.unwrap_or(item.edit.text),
    };
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

/// Returns the hover at a place.
pub(super) fn hover(snapshot: &Snapshot, position: Position) -> Option<Hover> {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let offset = convert::offset(document, encoding, position);
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
        range: Some(convert::range(document, encoding, found.range)),
    })
}

/// Returns the outline.
pub(super) fn symbols(snapshot: &Snapshot) -> Vec<DocumentSymbol> {
    let ranges = convert::Ranges::new(&snapshot.document, snapshot.abilities.encoding);
    let found = symbols::symbols(&snapshot.document, snapshot.place.file).into_iter();
    found.map(|symbol| document_symbol(&ranges, symbol)).collect()
}

#[expect(deprecated, reason = "the type cannot be made without the field")]
fn document_symbol(ranges: &convert::Ranges<'_>, symbol: Symbol) -> DocumentSymbol {
    let children: Vec<_> = symbol.children.into_iter().map(|child| document_symbol(ranges, child)).collect();
    DocumentSymbol {
        name: symbol.name,
        detail: Some(symbol.detail).filter(|detail| !detail.is_empty()),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: ranges.range(symbol.range),
        selection_range: ranges.range(symbol.selection),
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

/// Returns the folding ranges.
pub(super) fn folding(snapshot: &Snapshot) -> Vec<FoldingRange> {
    let ranges = convert::Ranges::new(&snapshot.document, snapshot.abilities.encoding);
    let word = |fold: Fold| {
        let range = ranges.range(fold.range);
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
