//! Handlers of client messages: one short function per message of the table in [`methods`]. They only pass the message
//! on to the main loop.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::{
    LanguageServer,
    gen_lsp_types::*,
    jsonrpc::{Error, ErrorCode, Result},
};

use super::{
    actions,
    client::Abilities,
    commands, convert, features, methods, navigation,
    runs::Chosen,
    server::{Handle, When, failed},
    test_items::{Tests, TestsParams},
    world::Snapshot,
};
use crate::processes;

pub(super) struct Backend {
    server: Handle,
    client_ended: CancellationToken,
    /// Locks of requests, by method and document, held until the response is on its way: see [`Backend::turn`].
    turns: Mutex<HashMap<(&'static str, String), Turn>>,
    /// The number of the last completion list.
    last_list: AtomicU64,
}

/// The lock of one method and document. It is fair: requests get it in the order in which they came.
type Turn = Arc<tokio::sync::Mutex<()>>;

/// `speclens/trust`: the user granted or withdrew trust in the workspace.
#[derive(Debug, Deserialize)]
pub(super) struct TrustParams {
    trusted: bool,
}

impl Backend {
    pub(super) fn new(server: Handle, client_ended: CancellationToken) -> Backend {
        Backend { server, client_ended, turns: Mutex::default(), last_list: AtomicU64::default() }
    }

    pub(super) async fn trust(&self, params: TrustParams) {
        self.server.send(move |server| server.set_trust(params.trusted));
    }

    /// `speclens/tests`: a view of tests is filled.
    pub(super) async fn tests(&self, params: TestsParams) -> Result<Tests> {
        let Some(uri) = params.uri else {
            return self.server.ask(|server, reply| server.answer_about_all(reply, Tests::of_workspace)).await;
        };
        let _turn = self.turn("speclens/tests", &uri).await;
        let at = uri.clone();
        let runs = self.server.get(move |server| server.runs_of(&at.0)).await?;
        let tests = self.when(When::Judged, &uri, move |snapshot| Tests::of_document(snapshot, runs)).await?;
        Ok(tests.unwrap_or_else(Tests::none))
    }

    /// `window/workDoneProgress/cancel`: the user dismissed the progress of a run.
    pub(super) async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        self.server.send(move |server| server.cancel_by_token(&params.token));
    }

    /// Answers a request about a document on a worker; `None` for a document that is not a spec file.
    async fn when<T: Send + 'static>(
        &self,
        when: When,
        uri: &Uri,
        work: impl FnOnce(&Snapshot) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let uri = uri.0.clone();
        self.server.ask(move |server, reply| server.answer(uri, when, reply, work)).await
    }

    async fn with<T: Send + 'static>(
        &self,
        uri: &Uri,
        work: impl FnOnce(&Snapshot) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        self.when(When::Placed, uri, work).await
    }

    /// Waits until earlier requests of a method about a document are answered. A client that is asked to refresh what it
    /// shows keeps the last response, so an earlier one must not arrive after it.
    async fn turn(&self, method: &'static str, uri: &Uri) -> OwnedMutexGuard<()> {
        let lock = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry((method, uri.0.clone())).or_default())
        };
        lock.lock_owned().await
    }
}

fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    // As JSON: the names are those of the specification, and omitted members are null.
    let params = serde_json::to_value(params).unwrap_or_default();
    let uris: Vec<&str> = match params["workspaceFolders"].as_array() {
        Some(folders) => folders.iter().filter_map(|folder| folder["uri"].as_str()).collect(),
        None => params["rootUri"].as_str().into_iter().collect(),
    };
    uris.into_iter().filter_map(convert::path).collect()
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let abilities = Abilities::of(&params);
        if let Some(client) = params.process_id.and_then(|id| u32::try_from(id).ok()) {
            let client_ended = self.client_ended.clone();
            tokio::spawn(async move {
                processes::ended(client).await;
                client_ended.cancel();
            });
        }
        let folders = folders(&params);
        let options = params.initialization_options.unwrap_or_default();
        self.server.send(move |server| server.initialize(abilities, folders, &options));
        Ok(InitializeResult {
            capabilities: methods::capabilities(abilities),
            server_info: Some(ServerInfo {
                name: "speclens".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        self.server.send(|server| server.initialized());
    }

    async fn shutdown(&self) -> Result<()> {
        self.server.get(|server| server.cancel_runs(&Chosen::default())).await.map(drop)
    }
}

impl Backend {
    pub(super) async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.server.send(move |server| server.open(document.uri.0, document.version, &document.text));
    }

    pub(super) async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        let uri = document.text_document_identifier.uri.0;
        self.server.send(move |server| server.change(uri, document.version, params.content_changes));
    }

    pub(super) async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.server.send(move |server| server.saved(params.text_document.uri.0));
    }

    pub(super) async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri.0;
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, other), _| *other != uri);
        self.server.send(move |server| server.close(uri));
    }

    pub(super) async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let paths = |folders: Vec<WorkspaceFolder>| {
            folders.into_iter().filter_map(|folder| convert::path(&folder.uri.0)).collect::<Vec<_>>()
        };
        let (added, removed) = (paths(params.event.added), paths(params.event.removed));
        self.server.send(move |server| server.folders_changed(added, &removed));
    }

    pub(super) async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.server.send(move |server| server.configuration_changed(params.settings.get("speclens")));
    }

    pub(super) async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.server.send(move |server| server.files_watched(&params.changes));
    }

    pub(super) async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReport> {
        let (uri, known) = (params.text_document.uri, params.previous_result_id);
        let work = move |snapshot: &Snapshot| features::diagnostics(snapshot, known.as_deref());
        let _turn = self.turn("textDocument/diagnostic", &uri).await;
        // A client requests one document again because another one changed.
        let report = self.when(When::AllPlaced, &uri, work).await?;
        Ok(report.unwrap_or_else(|| DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(Default::default())))
    }

    pub(super) async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let place = params.text_document_position_params;
        let list = self.last_list.fetch_add(1, Ordering::Relaxed) + 1;
        let trigger = params.context.and_then(|context| context.trigger_character);
        let work = move |snapshot: &Snapshot| features::completion(snapshot, place.position, trigger.as_deref(), list);
        let Some((response, docs)) = self.with(&place.text_document.uri, work).await? else { return Ok(None) };
        if !docs.is_empty() {
            self.server.send(move |server| server.offer(list, docs));
        }
        Ok(Some(response))
    }

    pub(super) async fn completion_resolve(&self, mut item: CompletionItem) -> Result<CompletionItem> {
        if let Some((list, index)) = features::place_of(&item) {
            let docs = self.server.get(move |server| server.offered(list, index)).await?;
            item.documentation = docs.map(|docs| convert::markdown(docs).into());
        }
        Ok(item)
    }

    pub(super) async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let place = params.text_document_position_params;
        let found = self.with(&place.text_document.uri, move |snapshot| features::hover(snapshot, place.position));
        Ok(found.await?.flatten())
    }

    pub(super) async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let found = self.with(&params.text_document.uri, features::symbols).await?;
        Ok(found.map(DocumentSymbolResponse::DocumentSymbolList))
    }

    pub(super) async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.with(&params.text_document.uri, features::folding).await
    }

    pub(super) async fn semantic_tokens_full(&self, params: SemanticTokensParams) -> Result<Option<SemanticTokens>> {
        self.with(&params.text_document.uri, features::all_tokens).await
    }

    pub(super) async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokens>> {
        let range = params.range;
        self.with(&params.text_document.uri, move |snapshot| features::tokens(snapshot, range)).await
    }

    pub(super) async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let (uri, range) = (params.text_document.uri, params.range);
        let _turn = self.turn("textDocument/inlayHint", &uri).await;
        self.when(When::Judged, &uri, move |snapshot| features::hints(snapshot, range)).await
    }

    pub(super) async fn inlay_hint_resolve(&self, hint: InlayHint) -> Result<InlayHint> {
        let Some(uri) = features::document_of(&hint) else { return Ok(hint) };
        let resolved = hint.clone();
        let found = self.with(&uri, move |snapshot| features::resolved(snapshot, resolved)).await?;
        Ok(found.unwrap_or(hint))
    }

    pub(super) async fn selection_range(&self, params: SelectionRangeParams) -> Result<Option<Vec<SelectionRange>>> {
        let positions = params.positions;
        self.with(&params.text_document.uri, move |snapshot| navigation::selections(snapshot, &positions)).await
    }

    pub(super) async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        self.with(&params.text_document.uri, navigation::links).await
    }

    pub(super) async fn goto_definition(&self, params: DefinitionParams) -> Result<Option<DefinitionResponse>> {
        let place = params.text_document_position_params;
        let work = move |snapshot: &Snapshot| navigation::definition(snapshot, place.position);
        let found = self.when(When::Indexed, &place.text_document.uri, work).await?;
        Ok(found.map(|found| DefinitionResponse::Definition(Definition::LocationList(found))))
    }

    pub(super) async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let place = params.text_document_position_params;
        let definitions = params.context.include_declaration;
        let work = move |snapshot: &Snapshot| navigation::references(snapshot, place.position, definitions);
        self.when(When::Indexed, &place.text_document.uri, work).await
    }

    pub(super) async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        let place = params.text_document_position_params;
        let (at, uri) = (place.position, place.text_document.uri.0.clone());
        self.server.send(move |server| server.selected(uri, Range { start: at, end: at }));
        let work = move |snapshot: &Snapshot| navigation::highlights(snapshot, at);
        self.with(&place.text_document.uri, work).await
    }

    pub(super) async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResult>> {
        let (uri, position) = (params.text_document.uri, params.position);
        let work = move |snapshot: &Snapshot| navigation::prepare_rename(snapshot, position);
        Ok(self.with(&uri, work).await?.flatten())
    }

    pub(super) async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let place = params.text_document_position_params;
        let work = move |snapshot: &Snapshot| navigation::rename(snapshot, place.position, &params.new_name);
        self.when(When::Indexed, &place.text_document.uri, work).await?.transpose().map_err(failed)
    }

    pub(super) async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        let work = move |world: &_| navigation::workspace_symbols(world, &params.query);
        let found = self.server.ask(move |server, reply| server.answer_about_all(reply, work)).await?;
        Ok(Some(WorkspaceSymbolResponse::SymbolInformationList(found)))
    }

    pub(super) async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let uri = params.text_document.uri;
        let _turn = self.turn("textDocument/codeLens", &uri).await;
        self.with(&uri, features::lenses).await
    }

    pub(super) async fn code_action(&self, params: CodeActionParams) -> Result<Option<Vec<CodeActionResponse>>> {
        let uri = params.text_document.uri.clone();
        let (at, selection) = (uri.0.clone(), params.range);
        self.server.send(move |server| server.selected(at, selection));
        // Problems depend on settings and neighboring files, and results on the text as it is now.
        self.when(When::Judged, &uri, move |snapshot| actions::actions(snapshot, &params)).await
    }

    pub(super) async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        let Some(uri) = actions::document_of(&action) else { return Ok(action) };
        let resolved = self.with(&uri, move |snapshot| actions::resolve(snapshot, action)).await?;
        // An edit of an older text would damage the newer one.
        resolved.flatten().ok_or_else(|| Error {
            code: ErrorCode::ContentModified,
            message: "the text has changed since then; request the actions again".into(),
            data: None,
        })
    }

    pub(super) async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        commands::execute(&self.server, params).await
    }
}
