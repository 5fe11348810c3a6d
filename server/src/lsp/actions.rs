//! Code actions: fixes of one problem, of all problems of a kind or of the file, ways to ignore a kind of problem, and
//! runs. The edit of a fix of many problems is computed when one is chosen, if the client supports it: a menu must not
//! cost as much as everything it offers.

use std::{
    ops::Range as Bytes,
    path::{Path, PathBuf},
};

use ropey::Rope;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use speclens_runner::files::Buffers as _;
use speclens_schema::{
    analysis::Problems,
    document::{Document, Lines},
    problem::{Code, Edit},
    suite::ActionKind,
};
use tower_lsp_server::gen_lsp_types::*;

use super::{
    commands, convert,
    edits::{self, Edited},
    features,
    world::Snapshot,
};
use crate::{
    ide::{
        accept,
        actions::{self, QuickFix, Scope},
        ignore,
        lens::{self, LensCommand},
        write,
    },
    workspace::SETTINGS_FILE,
};

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
    let whole = wanted(FIX_ALL) && is_asked_for(params);
    if quick || whole {
        let problems = features::problems(snapshot);
        if quick {
            actions.extend(quick_fixes(snapshot, params, &problems));
        }
        if whole && is_affordable(snapshot, params) {
            actions.extend(of_file(snapshot, &problems));
        }
    }
    if wanted("refactor.rewrite") && is_asked_for(params) {
        actions.extend(writing(snapshot, params));
    }
    if wanted("source.speclens.run") {
        actions.extend(run_actions(snapshot, params));
    }
    actions
}

/// Returns the action that writes assertions for the test around a place.
fn writing(snapshot: &Snapshot, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let offset = snapshot.offset(params.range.start);
    let test = lens::test_at(snapshot.place.file, &snapshot.document, offset)?.name.to_string();
    let latest = snapshot.latest.as_deref()?;
    if !write::can_write(&snapshot.document, latest, &test) {
        return None;
    }
    let title = format!("Write assertions for `{test}` from its recorded run");
    let mut action = CodeAction { title, kind: Some(CodeActionKind::RefactorRewrite), ..CodeAction::default() };
    if snapshot.abilities.resolves_edits {
        action.data = serde_json::to_value(Data::of(snapshot, Wanted::Assertions { test })).ok();
    } else if is_affordable(snapshot, params) {
        action.edit = Some(written(snapshot, &test)?);
    } else {
        return None;
    }
    Some(CodeActionResponse::CodeAction(action))
}

fn written(snapshot: &Snapshot, test: &str) -> Option<WorkspaceEdit> {
    let workspace = snapshot.workspace();
    let latest = snapshot.latest.as_deref()?;
    let (_, case) = latest.own().map(|(case, _)| (&case.name, case)).find(|(name, _)| **name == test)?;
    let look = |document: &Document| {
        let problems = snapshot.problems_of(document, &workspace).to_vec(document);
        let suite = snapshot.analyzer.suite(document, snapshot.place.files.as_ref(), &workspace.settings, &problems);
        (suite.cases.into_iter().find(|other| other.at == case.at && other.name == case.name), problems)
    };
    let secrets = latest.suite.as_ref().map(|suite| workspace.secrets_of(suite))?;
    let edits = write::edits(&snapshot.document, latest, test, &secrets, &look)?;
    Some(edits::in_document(snapshot, &edits))
}

/// Returns the fixes at a selection; where a user asks at a place without any, those of its line.
fn quick_fixes(snapshot: &Snapshot, params: &CodeActionParams, problems: &Problems) -> Vec<CodeActionResponse> {
    let actions = quick_fixes_in(snapshot, params, problems, snapshot.bytes(params.range));
    let Range { start, end } = params.range;
    if !actions.is_empty() || start != end || !is_asked_for(params) {
        return actions;
    }
    let line = Range { start: Position { character: 0, ..start }, end: Position { character: u32::MAX, ..start } };
    quick_fixes_in(snapshot, params, problems, snapshot.bytes(line))
}

fn quick_fixes_in(
    snapshot: &Snapshot,
    params: &CodeActionParams,
    problems: &Problems,
    bytes: Bytes<usize>,
) -> Vec<CodeActionResponse> {
    let converter = snapshot.converter();
    let mut actions = Vec::new();
    for (problem, fixes) in actions::quick_fixes(&snapshot.document, problems, bytes.clone()) {
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
    if is_affordable(snapshot, params) {
        actions.extend(of_kinds(snapshot, problems, bytes.clone()));
    }
    actions.extend(accepting(snapshot, &bytes));
    actions.extend(ignoring(snapshot, problems, bytes));
    actions
}

/// Returns the changes that make the suite expect what the last run found.
fn accepting(snapshot: &Snapshot, bytes: &Bytes<usize>) -> Vec<CodeActionResponse> {
    let latest = snapshot.latest.as_deref();
    let found = latest.map(|latest| accept::fixes(&snapshot.document, snapshot.place.file, latest, bytes));
    let action = |fix: QuickFix| {
        Some(CodeActionResponse::CodeAction(CodeAction {
            edit: Some(edits::with_new_files(snapshot, &fix.edits, &fix.creates)?),
            title: fix.title,
            kind: Some(CodeActionKind::QuickFix),
            ..CodeAction::default()
        }))
    };
    found.into_iter().flatten().filter_map(action).collect()
}

fn run_actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionResponse> {
    if !snapshot.place.has_tests() {
        return Vec::new();
    }
    let uri = &snapshot.uri;
    let offset = snapshot.offset(params.range.start);
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
        if features::choices(snapshot).len() > 1 {
            offer(format!("Run `{test}` with…"), LensCommand::RunWith);
        }
        match case.does {
            ActionKind::Agent | ActionKind::Prompt => offer(format!("Dry run of `{test}`"), LensCommand::DryRun),
            ActionKind::Trigger => {
                offer(format!("Check preconditions of `{test}`"), LensCommand::Preconditions);
                offer(format!("Evaluate `{test}` without a run"), LensCommand::Judge);
            }
            ActionKind::Command | ActionKind::None => {}
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

/// The kind of the action for the whole file.
pub(super) const FIX_ALL: &str = "source.fixAll.speclens";

/// The data of an action without an edit.
#[derive(Debug, Serialize, Deserialize)]
struct Data {
    uri: String,
    version: i32,
    wanted: Wanted,
}

/// What an action without an edit changes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Wanted {
    SafeFixes,
    FixesOf { code: String },
    Assertions { test: String },
}

impl Data {
    fn of(snapshot: &Snapshot, wanted: Wanted) -> Data {
        Data { uri: snapshot.uri.0.clone(), version: snapshot.version, wanted }
    }
}

/// Whether the client requests actions for the whole file: it names them, or the user opened the menu.
fn is_asked_for(params: &CodeActionParams) -> bool {
    params.context.only.is_some() || params.context.trigger_kind != Some(CodeActionTriggerKind::Automatic)
}

const MAX_EAGER_BYTES: usize = 64 * 1024;

/// Whether the edits of such actions may be computed: later, or at once for a short text, or because the client
/// requests them by name, as when it saves the document.
fn is_affordable(snapshot: &Snapshot, params: &CodeActionParams) -> bool {
    let is_named = || {
        let only = serde_json::to_value(&params.context.only).ok();
        only.and_then(|only| Some(only.as_array()?.iter().all(|kind| kind.as_str().is_some_and(is_fix_all))))
    };
    snapshot.abilities.resolves_edits
        || snapshot.document.text().len_bytes() <= MAX_EAGER_BYTES
        || is_named().unwrap_or(false)
}

fn is_fix_all(kind: &str) -> bool {
    matches!(kind, "source.fixAll" | FIX_ALL)
}

fn of_kinds(snapshot: &Snapshot, problems: &Problems, range: Bytes<usize>) -> Vec<CodeActionResponse> {
    let workspace = snapshot.workspace();
    let look = |document: &_| snapshot.problems_of(document, &workspace);
    let kinds = actions::kinds(&snapshot.document, problems, &look, range).into_iter();
    kinds.map(|(scope, title)| fix_all(snapshot, scope, title, CodeActionKind::QuickFix)).collect()
}

fn of_file(snapshot: &Snapshot, problems: &Problems) -> Option<CodeActionResponse> {
    let (scope, title) = actions::safe(problems)?;
    Some(fix_all(snapshot, scope, title, CodeActionKind::Custom(FIX_ALL.into())))
}

fn fix_all(snapshot: &Snapshot, scope: Scope, title: String, kind: CodeActionKind) -> CodeActionResponse {
    let mut action = CodeAction { title, kind: Some(kind), ..CodeAction::default() };
    if snapshot.abilities.resolves_edits {
        let wanted = match scope {
            Scope::Kind(code) => Wanted::FixesOf { code: code.as_str().to_owned() },
            Scope::Safe => Wanted::SafeFixes,
        };
        action.data = serde_json::to_value(Data::of(snapshot, wanted)).ok();
    } else {
        action.edit = Some(edit(snapshot, scope));
    }
    CodeActionResponse::CodeAction(action)
}

fn edit(snapshot: &Snapshot, scope: Scope) -> WorkspaceEdit {
    edits::in_document(snapshot, &edits_of(snapshot, scope))
}

fn edits_of(snapshot: &Snapshot, scope: Scope) -> Vec<Edit> {
    let workspace = snapshot.workspace();
    let look = |document: &_| snapshot.problems_of(document, &workspace).to_vec(document);
    actions::fix_all(&snapshot.document, &look, scope)
}

pub(super) fn safe_edits(snapshot: &Snapshot) -> Vec<Edit> {
    edits_of(snapshot, Scope::Safe)
}

fn data_of(action: &CodeAction) -> Option<Data> {
    serde_json::from_value(action.data.clone()?).ok()
}

pub(super) fn document_of(action: &CodeAction) -> Option<Uri> {
    data_of(action).map(|data| Uri(data.uri))
}

/// Returns the action with its edit; `None` if the text has changed since the action was created.
pub(super) fn resolve(snapshot: &Snapshot, mut action: CodeAction) -> Option<CodeAction> {
    let data = data_of(&action).filter(|data| data.version == snapshot.version)?;
    action.edit = Some(match &data.wanted {
        Wanted::FixesOf { code } => edit(snapshot, Scope::Kind(Code::parse(code)?)),
        Wanted::SafeFixes => edit(snapshot, Scope::Safe),
        Wanted::Assertions { test } => written(snapshot, test)?,
    });
    Some(action)
}

fn ignoring(snapshot: &Snapshot, problems: &Problems, range: Bytes<usize>) -> Vec<CodeActionResponse> {
    if snapshot.place.file.is_settings() {
        // They have no such comments, and cannot switch off their own problems.
        return Vec::new();
    }
    let converter = snapshot.converter();
    let mut found = Vec::new();
    for (code, problem) in actions::silenceable(problems, range) {
        let word = code.as_str();
        let own = |edits: Vec<Edit>| edits::in_document(snapshot, &edits);
        let here = ignore::here(&snapshot.document, code, problem.range.start).map(own);
        let in_file = ignore::in_file(&snapshot.document, code).map(own);
        let ways = [
            (format!("Ignore `{word}` here"), here),
            (format!("Ignore `{word}` in this file"), in_file),
            (format!("Ignore `{word}` in this workspace"), in_workspace(snapshot, code)),
        ];
        let solved = vec![converter.diagnostic(problem)];
        for (title, edit) in ways.into_iter().filter_map(|(title, edit)| Some((title, edit?))) {
            found.push(CodeActionResponse::CodeAction(CodeAction {
                title,
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(solved.clone()),
                edit: Some(edit),
                ..CodeAction::default()
            }));
        }
    }
    found
}

fn in_workspace(snapshot: &Snapshot, code: Code) -> Option<WorkspaceEdit> {
    let path = snapshot.place.path.as_deref()?;
    let file = snapshot.workspace().file;
    let is_new = file.is_none();
    let file = match file {
        Some(file) => file.path.clone(),
        None => root_of(snapshot, path).join(SETTINGS_FILE),
    };
    if file.file_name().is_none_or(|name| name != SETTINGS_FILE) {
        // A file with that name is not read.
        return None;
    }
    let text = match (is_new, snapshot.world.buffers.text(&file)) {
        (_, Some(text)) => text,
        (true, None) => String::new(),
        (false, None) => std::fs::read_to_string(&file).ok()?,
    };
    if is_new && !snapshot.abilities.creates_files {
        return None;
    }
    let edit = ignore::in_settings(&text, code)?;
    let uri = convert::uri(&file)?;
    if is_new {
        return Some(edits::operations(edits::new_file(uri, &edit.text)));
    }
    let places = Lines::new(&Rope::from_str(&text), snapshot.abilities.encoding).places(edit.range);
    let range = Range { start: convert::position(places.start), end: convert::position(places.end) };
    let edits = vec![TextEdit { range, new_text: edit.text }];
    let edited = Edited { uri, version: None, edits };
    Some(edits::workspace_edit(vec![edited], snapshot.abilities.document_changes))
}

/// Returns the directory for new settings: the folder of a file; the top of its workspace if settings in the folder
/// would not be read, or if there is no folder.
fn root_of(snapshot: &Snapshot, path: &Path) -> PathBuf {
    let own = || path.parent().unwrap_or(path).to_owned();
    let Some(reach) = &snapshot.place.settings else { return own() };
    let folder = snapshot.world.scopes.folders().into_iter().find(|folder| path.starts_with(folder));
    folder.filter(|folder| folder.starts_with(reach.top())).unwrap_or_else(|| reach.top().to_owned())
}
