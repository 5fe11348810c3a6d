//! The messages that the client may send, in one table: the method, its handler, and the server capability
//! that announces it. The framework handles the start and the end of a connection.

use serde_json::{Value, json};
use tower_lsp_server::{
    LspServiceBuilder,
    gen_lsp_types::ServerCapabilities,
    jsonrpc::{FromParams, IntoResponse, Method},
};

use super::{actions, backend::Backend, client::Abilities, commands, features};

struct Table {
    service: Option<LspServiceBuilder<Backend>>,
    /// The methods, each with its part of the capabilities; objects are merged.
    offers: Vec<(&'static str, Value)>,
}

impl Table {
    fn method<P, R, F>(mut self, name: &'static str, handler: F, offer: Value) -> Table
    where
        P: FromParams,
        R: IntoResponse,
        F: for<'a> Method<&'a Backend, P, R> + Clone + Send + Sync + 'static,
    {
        self.service = self.service.map(|service| service.custom_method(name, handler));
        self.offers.push((name, offer));
        self
    }
}

fn read(service: Option<LspServiceBuilder<Backend>>, abilities: Abilities) -> Table {
    let table = files(Table { service, offers: Vec::new() });
    let table = diagnostics(table, abilities);
    let table = typing(table);
    let table = shown(table);
    actions(names(table))
}

pub(super) fn register(service: LspServiceBuilder<Backend>) -> LspServiceBuilder<Backend> {
    read(Some(service), Abilities::default()).service.expect("the table keeps the service")
}

/// Methods that are registered later, or sent by every client, need no capability.
const NOTHING: Value = Value::Null;

fn files(table: Table) -> Table {
    let sync = |part: Value| json!({ "textDocumentSync": part });
    let folders = json!({ "workspaceFolders": { "supported": true, "changeNotifications": true } });
    table
        .method("textDocument/didOpen", Backend::did_open, sync(json!({ "openClose": true })))
        .method("textDocument/didChange", Backend::did_change, sync(json!({ "change": 2 })))
        .method("textDocument/didSave", Backend::did_save, sync(json!({ "save": { "includeText": false } })))
        .method("textDocument/didClose", Backend::did_close, NOTHING)
        .method(
            "workspace/didChangeWorkspaceFolders",
            Backend::did_change_workspace_folders,
            json!({ "workspace": folders }),
        )
        .method("workspace/didChangeConfiguration", Backend::did_change_configuration, NOTHING)
        .method("workspace/didChangeWatchedFiles", Backend::did_change_watched_files, NOTHING)
        .method("speclens/trust", Backend::trust, NOTHING)
        .method("speclens/tests", Backend::tests, NOTHING)
        .method("window/workDoneProgress/cancel", Backend::cancel_progress, NOTHING)
}

fn diagnostics(table: Table, abilities: Abilities) -> Table {
    let offer = json!({ "identifier": "speclens", "interFileDependencies": true, "workspaceDiagnostics": false });
    let offer = if abilities.pulls_diagnostics { json!({ "diagnosticProvider": offer }) } else { NOTHING };
    table.method("textDocument/diagnostic", Backend::diagnostic, offer)
}

fn typing(table: Table) -> Table {
    let completion = |part: Value| json!({ "completionProvider": part });
    let triggers = json!({ "triggerCharacters": [":", " ", "-", "{", "/", "\"", "*", "("] });
    table
        .method("textDocument/completion", Backend::completion, completion(triggers))
        .method("completionItem/resolve", Backend::completion_resolve, completion(json!({ "resolveProvider": true })))
        .method("textDocument/hover", Backend::hover, json!({ "hoverProvider": true }))
        .method("textDocument/selectionRange", Backend::selection_range, json!({ "selectionRangeProvider": true }))
}

fn shown(table: Table) -> Table {
    let tokens = |part: Value| json!({ "semanticTokensProvider": part });
    let legend = json!({ "legend": { "tokenTypes": features::legend(), "tokenModifiers": [] }, "full": true });
    let hints = |part: Value| json!({ "inlayHintProvider": part });
    let without_resolving = json!({ "resolveProvider": false });
    table
        .method("textDocument/documentSymbol", Backend::document_symbol, json!({ "documentSymbolProvider": true }))
        .method("textDocument/foldingRange", Backend::folding_range, json!({ "foldingRangeProvider": true }))
        .method("textDocument/semanticTokens/full", Backend::semantic_tokens_full, tokens(legend))
        .method("textDocument/semanticTokens/range", Backend::semantic_tokens_range, tokens(json!({ "range": true })))
        .method("textDocument/inlayHint", Backend::inlay_hint, hints(json!({})))
        .method("inlayHint/resolve", Backend::inlay_hint_resolve, hints(json!({ "resolveProvider": true })))
        .method(
            "textDocument/documentLink",
            Backend::document_link,
            json!({ "documentLinkProvider": without_resolving }),
        )
        .method("textDocument/codeLens", Backend::code_lens, json!({ "codeLensProvider": without_resolving }))
}

fn names(table: Table) -> Table {
    let rename = |part: Value| json!({ "renameProvider": part });
    let highlight = json!({ "documentHighlightProvider": true });
    table
        .method("textDocument/definition", Backend::goto_definition, json!({ "definitionProvider": true }))
        .method("textDocument/references", Backend::references, json!({ "referencesProvider": true }))
        .method("textDocument/documentHighlight", Backend::document_highlight, highlight)
        .method("textDocument/prepareRename", Backend::prepare_rename, rename(json!({ "prepareProvider": true })))
        .method("textDocument/rename", Backend::rename, rename(json!({})))
        .method("workspace/symbol", Backend::symbol, json!({ "workspaceSymbolProvider": true }))
}

fn actions(table: Table) -> Table {
    let provider = |part: Value| json!({ "codeActionProvider": part });
    let kinds = json!({ "codeActionKinds": ["quickfix", actions::FIX_ALL, "source.speclens.run"] });
    let commands = json!({ "executeCommandProvider": { "commands": commands::names() } });
    table
        .method("textDocument/codeAction", Backend::code_action, provider(kinds))
        .method("codeAction/resolve", Backend::code_action_resolve, provider(json!({ "resolveProvider": true })))
        .method("workspace/executeCommand", Backend::execute_command, commands)
}

fn merge(whole: &mut Value, part: Value) {
    match (whole, part) {
        (_, Value::Null) => {}
        (Value::Object(whole), Value::Object(part)) => {
            part.into_iter().for_each(|(key, part)| merge(whole.entry(key).or_insert(Value::Null), part));
        }
        (whole, part) => *whole = part,
    }
}

pub(super) fn capabilities(abilities: Abilities) -> ServerCapabilities {
    let encoding = match abilities.encoding {
        speclens_schema::document::Encoding::Utf8 => "utf-8",
        speclens_schema::document::Encoding::Utf16 => "utf-16",
        speclens_schema::document::Encoding::Utf32 => "utf-32",
    };
    let mut capabilities = json!({ "positionEncoding": encoding });
    read(None, abilities).offers.into_iter().for_each(|(_, offer)| merge(&mut capabilities, offer));
    serde_json::from_value(capabilities).expect("the capabilities have the specified form")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_one_line_and_no_part_of_the_capabilities_hides_another() {
        let mut lines = read(None, Abilities { pulls_diagnostics: true, ..Abilities::default() }).offers;
        let mut merged = Value::Null;
        lines.iter().for_each(|(_, offer)| merge(&mut merged, offer.clone()));
        let count = lines.len();
        for (method, offer) in &lines {
            let mut again = merged.clone();
            merge(&mut again, offer.clone());
            assert_eq!(again, merged, "{method}");
        }
        lines.sort_by_key(|(method, _)| *method);
        lines.dedup_by_key(|(method, _)| *method);
        assert_eq!(lines.len(), count);
    }
}
