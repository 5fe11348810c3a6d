//! Handlers of client messages: one short function per message of the table in [`methods`].

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp_server::{
    LanguageServer,
    gen_lsp_types::*,
    jsonrpc::{Error, ErrorCode, Result},
};

use crate::{
    index::Depth,
    processes,
    threads::{Panicked, Pool},
};

use super::{
    changes::About,
    client::{Abilities, Display},
    commands, convert, features, fix_all, methods, navigation, reference,
    runs::{self, Chosen},
    session::{Session, Snapshot},
    tokens,
};

/// Maximum number of completion lists that can be resolved: clients resolve items of the last one.
const MAX_COMPLETION_LISTS: usize = 8;

/// The session as the framework's service.
#[derive(Clone)]
pub(super) struct Backend {
    session: Arc<Session>,
}

/// `speclens/trust`: the user granted or withdrew trust in the workspace.
#[derive(Debug, Deserialize)]
pub(super) struct TrustParams {
    trusted: bool,
}

impl Backend {
    pub(super) fn new(session: Arc<Session>) -> Backend {
        Backend { session }
    }

    pub(super) async fn trust(&self, params: TrustParams) {
        self.session.state().trusted = params.trusted;
        // Recordings are used in trusted workspaces only.
        self.session.analyze_all();
    }

    /// `window/workDoneProgress/cancel`: the user dismissed the progress of a run.
    pub(super) async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        runs::cancel_by_token(&self.session, &params.token);
    }

    /// Reads the client's settings and reports their problems once.
    fn configure(&self, settings: &Value) {
        let (display, wrong) = Display::read(settings);
        let (fresh, lenses, hints): (Vec<String>, bool, bool) = {
            let mut state = self.session.state();
            let before = std::mem::replace(&mut state.display, display);
            let lenses = before.code_lens != display.code_lens && state.abilities.refreshes_lenses;
            let hints = before.inlay_hints != display.inlay_hints && state.abilities.refreshes_hints;
            (wrong.into_iter().filter(|message| state.shown_messages.insert(message.clone())).collect(), lenses, hints)
        };
        let client = self.session.client.clone();
        tokio::spawn(async move {
            for message in fresh {
                client.show_message(MessageType::Warning, message).await;
            }
            if lenses {
                let _ = client.code_lens_refresh().await;
            }
            if hints {
                let _ = client.inlay_hint_refresh().await;
            }
        });
        self.session.analyze_all();
    }

    /// Requests the client's settings, without waiting for the response.
    fn ask_for_configuration(&self) {
        let session = Arc::clone(&self.session);
        tokio::spawn(async move {
            let item = ConfigurationItem { scope_uri: None, section: Some("speclens".to_owned()) };
            if let Ok(mut answers) = session.client.configuration(vec![item]).await
                && let Some(settings) = answers.pop()
            {
                Backend::new(session).configure(&settings);
            }
        });
    }

    /// Runs a function on a snapshot outside of the transport; `None` for a document that is not a spec file.
    async fn with<T: Send + 'static>(
        &self,
        uri: &Uri,
        work: impl FnOnce(Snapshot) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        self.with_on(&self.session.requests, uri, About::Document(&uri.0), work).await
    }

    /// Runs a function on a snapshot on the given threads, once earlier changes about this document are applied.
    async fn with_on<T: Send + 'static>(
        &self,
        pool: &Pool,
        uri: &Uri,
        about: About<'_>,
        work: impl FnOnce(Snapshot) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        // A later change must not shift the positions of the request, so the snapshot is taken in turn.
        let snapshot = self.session.captured_in_turn(&uri.0);
        let settled = self.session.changes.look(about, || ());
        let (Ok(Some(snapshot)), Ok(())) = (snapshot.await, settled.await) else { return Ok(None) };
        let (session, uri) = (Arc::clone(&self.session), uri.0.clone());
        Ok(Some(pool.perform(move || work(session.refreshed(&uri, snapshot))).await.map_err(panicked)?))
    }

    /// Runs a function on a snapshot that concerns other files as well, and may wait until they are read.
    async fn across<T: Send + 'static>(
        &self,
        uri: &Uri,
        work: impl FnOnce(&Session, Snapshot) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let session = Arc::clone(&self.session);
        self.with_on(&self.session.patient, uri, About::All, move |snapshot| work(&session, snapshot)).await
    }

    /// Polls for recordings of the terminal if the client does not watch files.
    fn look_for_recordings(&self) {
        /// Each time, the modification time of one directory per open suite is read.
        const EVERY: std::time::Duration = std::time::Duration::from_secs(1);

        let session = Arc::clone(&self.session);
        tokio::spawn(async move {
            while !session.state().stopping {
                tokio::time::sleep(EVERY).await;
                let looking = Arc::clone(&session);
                let _ = session.patient.perform(move || looking.look_for_recordings()).await;
            }
        });
    }
}

/// Returns the folders of the workspace.
fn folders(params: &InitializeParams) -> Vec<std::path::PathBuf> {
    // As JSON: the names are those of the specification, and omitted members are null.
    let params = serde_json::to_value(params).unwrap_or_default();
    let uris: Vec<&str> = match params["workspaceFolders"].as_array() {
        Some(folders) => folders.iter().filter_map(|folder| folder["uri"].as_str()).collect(),
        None => params["rootUri"].as_str().into_iter().collect(),
    };
    uris.into_iter().filter_map(convert::path).collect()
}

pub(super) fn panicked(panicked: Panicked) -> Error {
    failed(format!("the request failed inside the server: {panicked}"))
}

/// Returns the error for a failed request, with a message for the user.
pub(super) fn failed(message: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: message.into(), data: None }
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let abilities = Abilities::of(&params);
        self.session.requests.begin(reference::prepare);
        if let Some(client) = params.process_id.and_then(|id| u32::try_from(id).ok()) {
            let session = Arc::clone(&self.session);
            tokio::spawn(async move {
                processes::ended(client).await;
                session.client_ended.cancel();
            });
        }
        self.session.scopes.set_folders(folders(&params));
        let options = params.initialization_options.unwrap_or_default();
        {
            let mut state = self.session.state();
            state.abilities = abilities;
            state.trusted = options.get("trusted") == Some(&Value::Bool(true));
            state.trust_is_clients = options.get("trustIsClients") == Some(&Value::Bool(true));
            let limit = |name: &str| options.get("index").and_then(|index| index.get(name)).and_then(Value::as_u64);
            if let Some(files) = limit("files") {
                state.index_limits.files = usize::try_from(files).unwrap_or(usize::MAX);
            }
            if let Some(mebibytes) = limit("mebibytes") {
                state.index_limits.bytes = mebibytes.saturating_mul(1024 * 1024);
            }
        }
        if let Some(settings) = options.get("settings") {
            let (display, wrong) = Display::read(settings);
            let mut state = self.session.state();
            state.display = display;
            state.waiting_messages.extend(wrong);
        }
        Ok(InitializeResult {
            capabilities: methods::capabilities(abilities),
            server_info: Some(ServerInfo {
                name: "speclens".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        let (abilities, messages) = {
            let mut state = self.session.state();
            let messages = std::mem::take(&mut state.waiting_messages);
            state.shown_messages.extend(messages.iter().cloned());
            (state.abilities, messages)
        };
        let client = self.session.client.clone();
        tokio::spawn(async move {
            for message in messages {
                client.show_message(MessageType::Warning, message).await;
            }
            if abilities.watches_files {
                let registration = Registration {
                    id: "speclens/files".to_owned(),
                    method: "workspace/didChangeWatchedFiles".to_owned(),
                    register_options: Some(json!({ "watchers": [{ "globPattern": "**/*" }] })),
                };
                if let Err(error) = client.register_capability(vec![registration]).await {
                    tracing::warn!("the client does not watch files: {error}");
                }
            }
        });
        if !abilities.watches_files {
            self.look_for_recordings();
        }
        self.session.index.rest();
        self.session.index.look_at_all(Depth::Everything);
        if abilities.configuration {
            self.ask_for_configuration();
        }
    }

    async fn shutdown(&self) -> Result<()> {
        runs::cancel(&self.session, &Chosen::default());
        Ok(())
    }
}

/// The messages of the table in [`methods`].
impl Backend {
    pub(super) async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.session.open(&document.uri.0, document.version, &document.text);
    }

    pub(super) async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        self.session.change(&document.text_document_identifier.uri.0, document.version, params.content_changes);
    }

    pub(super) async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.session.saved(&params.text_document.uri.0);
    }

    pub(super) async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.session.close(&params.text_document.uri.0);
    }

    pub(super) async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let paths = |folders: Vec<WorkspaceFolder>| {
            folders.into_iter().filter_map(|folder| convert::path(&folder.uri.0)).collect::<Vec<_>>()
        };
        self.session.folders_changed(paths(params.event.added), paths(params.event.removed));
    }

    pub(super) async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        match params.settings.get("speclens") {
            Some(settings) => self.configure(settings),
            None if self.session.state().abilities.configuration => self.ask_for_configuration(),
            None => {}
        }
    }

    pub(super) async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.session.files_watched(params.changes);
    }

    pub(super) async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReport> {
        let uri = params.text_document.uri;
        let at = uri.clone();
        let known = params.previous_result_id;
        let work = move |snapshot: Snapshot| features::diagnostics(&snapshot, &at, known.as_deref());
        let _turn = self.session.turn("textDocument/diagnostic", &uri.0).await;
        // A client requests one document again because another one changed.
        let report = self.with_on(&self.session.requests, &uri, About::All, work).await?;
        Ok(report.unwrap_or_else(|| DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(Default::default())))
    }

    pub(super) async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let place = params.text_document_position_params;
        let list = {
            let mut state = self.session.state();
            state.next_list += 1;
            state.next_list
        };
        let uri = place.text_document.uri;
        let at = uri.clone();
        let trigger = params.context.and_then(|context| context.trigger_character);
        let work = move |session: &Session, snapshot: Snapshot| {
            features::completion(session, &snapshot, &at, place.position, trigger.as_deref(), list)
        };
        let session = Arc::clone(&self.session);
        let found = self.with(&uri, move |snapshot| work(&session, snapshot)).await?;
        let Some((response, docs)) = found else { return Ok(None) };
        if !docs.is_empty() {
            let mut state = self.session.state();
            state.offered.push_back((list, docs));
            if state.offered.len() > MAX_COMPLETION_LISTS {
                state.offered.pop_front();
            }
        }
        Ok(Some(response))
    }

    pub(super) async fn completion_resolve(&self, mut item: CompletionItem) -> Result<CompletionItem> {
        if let Some((list, index)) = features::place_of(&item) {
            let state = self.session.state();
            let offered = state.offered.iter().find(|(number, _)| *number == list);
            let docs = offered.and_then(|(_, docs)| docs.get(index)).cloned();
            item.documentation = docs.map(|docs| convert::markdown(docs).into());
        }
        Ok(item)
    }

    pub(super) async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let place = params.text_document_position_params;
        let found = self.with(&place.text_document.uri, move |snapshot| features::hover(&snapshot, place.position));
        Ok(found.await?.flatten())
    }

    pub(super) async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let found = self.with(&params.text_document.uri, |snapshot| features::symbols(&snapshot)).await?;
        Ok(found.map(DocumentSymbolResponse::DocumentSymbolList))
    }

    pub(super) async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.with(&params.text_document.uri, |snapshot| features::folding(&snapshot)).await
    }

    pub(super) async fn semantic_tokens_full(&self, params: SemanticTokensParams) -> Result<Option<SemanticTokens>> {
        self.with(&params.text_document.uri, |snapshot| tokens::all_tokens(&snapshot)).await
    }

    pub(super) async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokens>> {
        let range = params.range;
        self.with(&params.text_document.uri, move |snapshot| tokens::tokens(&snapshot, range)).await
    }

    pub(super) async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let (uri, range) = (params.text_document.uri, params.range);
        let _turn = self.session.turn("textDocument/inlayHint", &uri.0).await;
        self.with(&uri.clone(), move |snapshot| tokens::hints(&snapshot, &uri, range)).await
    }

    pub(super) async fn inlay_hint_resolve(&self, hint: InlayHint) -> Result<InlayHint> {
        let Some(uri) = tokens::document_of(&hint) else { return Ok(hint) };
        let resolved = hint.clone();
        let found = self.with(&uri, move |snapshot| tokens::resolved(&snapshot, resolved)).await?;
        Ok(found.unwrap_or(hint))
    }

    pub(super) async fn selection_range(&self, params: SelectionRangeParams) -> Result<Option<Vec<SelectionRange>>> {
        let positions = params.positions;
        self.with(&params.text_document.uri, move |snapshot| navigation::selections(&snapshot, &positions)).await
    }

    pub(super) async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        self.with(&params.text_document.uri, |snapshot| navigation::links(&snapshot)).await
    }

    pub(super) async fn goto_definition(&self, params: DefinitionParams) -> Result<Option<DefinitionResponse>> {
        let place = params.text_document_position_params;
        let uri = place.text_document.uri;
        let found = self
            .across(&uri.clone(), move |session, snapshot| {
                navigation::definition(session, &snapshot, &uri, place.position)
            })
            .await?;
        Ok(found.map(|found| DefinitionResponse::Definition(Definition::LocationList(found))))
    }

    pub(super) async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let place = params.text_document_position_params;
        let uri = place.text_document.uri;
        let definitions = params.context.include_declaration;
        self.across(&uri.clone(), move |session, snapshot| {
            navigation::references(session, &snapshot, &uri, place.position, definitions)
        })
        .await
    }

    pub(super) async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        let place = params.text_document_position_params;
        let work = move |snapshot: Snapshot| navigation::highlights(&snapshot, place.position);
        self.with(&place.text_document.uri, work).await
    }

    pub(super) async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResult>> {
        let (uri, position) = (params.text_document.uri, params.position);
        let work = move |snapshot: Snapshot| navigation::prepare_rename(&snapshot, position);
        Ok(self.with(&uri, work).await?.flatten())
    }

    pub(super) async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let place = params.text_document_position_params;
        let uri = place.text_document.uri;
        let at = uri.clone();
        let work = move |session: &Session, snapshot: Snapshot| {
            navigation::rename(session, &snapshot, &at, place.position, &params.new_name)
        };
        self.across(&uri, work).await?.transpose().map_err(failed)
    }

    pub(super) async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        let session = Arc::clone(&self.session);
        let work = move || navigation::workspace_symbols(&session, &params.query);
        // If the server stops in the meantime, the response is what is known.
        let _ = self.session.changes.look(About::All, || ()).await;
        let found = self.session.patient.perform(work).await.map_err(panicked)?;
        Ok(Some(WorkspaceSymbolResponse::SymbolInformationList(found)))
    }

    pub(super) async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let uri = params.text_document.uri;
        let _turn = self.session.turn("textDocument/codeLens", &uri.0).await;
        self.with(&uri.clone(), move |snapshot| features::lenses(&snapshot, &uri)).await
    }

    pub(super) async fn code_action(&self, params: CodeActionParams) -> Result<Option<Vec<CodeActionResponse>>> {
        let uri = params.text_document.uri.clone();
        let session = Arc::clone(&self.session);
        // Problems depend on settings and neighboring files but not on the index, so there is no need to wait for it.
        let work = move |snapshot: Snapshot| features::actions(&session, &snapshot, &params);
        self.with_on(&self.session.requests, &uri, About::All, work).await
    }

    pub(super) async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        let Some(uri) = fix_all::document_of(&action) else { return Ok(action) };
        let resolved = self.with(&uri, move |snapshot| fix_all::resolve(&snapshot, action)).await?;
        // An edit of an older text would damage the newer one.
        resolved.flatten().ok_or_else(|| Error {
            code: ErrorCode::ContentModified,
            message: "the text has changed since then; request the actions again".into(),
            data: None,
        })
    }

    pub(super) async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        commands::execute(&self.session, params).await
    }
}
