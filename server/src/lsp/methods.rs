//! What the client may send, in one table: the method, who handles it, and what the server says of it among its
//! capabilities. What begins and ends a connection is the framework's.

use serde_json::{Value, json};
use tower_lsp_server::{
    LspServiceBuilder,
    gen_lsp_types::ServerCapabilities,
    jsonrpc::{FromParams, IntoResponse, Method},
};

use super::{backend::Backend, client::Abilities, commands, fix_all, tokens};

/// Who reads the table.
pub(super) trait Reader: Sized {
    /// Reads a line of it. `offer` is the part of the capabilities that the method brings about; objects are merged.
    fn method<P, R, F>(self, name: &'static str, handler: F, offer: Value) -> Self
    where
        P: FromParams,
        R: IntoResponse,
        F: for<'a> Method<&'a Backend, P, R> + Clone + Send + Sync + 'static;
}

/// Reads the table, as it is for a client with these abilities.
pub(super) fn read<T: Reader>(reader: T, abilities: Abilities) -> T {
    let triggers = [":", " ", "-", "{", "/", "\"", "*", "("];
    let kinds = ["quickfix", fix_all::KIND, "source.speclens.run"];
    let legend = json!({ "tokenTypes": tokens::legend(), "tokenModifiers": [] });
    let diagnostics = json!({ "identifier": "speclens", "interFileDependencies": true, "workspaceDiagnostics": false });
    let pulled = if abilities.pulls_diagnostics { json!({ "diagnosticProvider": diagnostics }) } else { Value::Null };
    let folders = json!({ "supported": true, "changeNotifications": true });
    // Asked for while the connection lasts, or sent by every client.
    let nothing = Value::Null;
    reader
        .method("textDocument/didOpen", Backend::did_open, json!({ "textDocumentSync": { "openClose": true } }))
        .method("textDocument/didChange", Backend::did_change, json!({ "textDocumentSync": { "change": 2 } }))
        .method(
            "textDocument/didSave",
            Backend::did_save,
            json!({ "textDocumentSync": { "save": { "includeText": false } } }),
        )
        .method("textDocument/didClose", Backend::did_close, nothing.clone())
        .method(
            "workspace/didChangeWorkspaceFolders",
            Backend::did_change_workspace_folders,
            json!({ "workspace": { "workspaceFolders": folders } }),
        )
        .method("workspace/didChangeConfiguration", Backend::did_change_configuration, nothing.clone())
        .method("workspace/didChangeWatchedFiles", Backend::did_change_watched_files, nothing.clone())
        .method("speclens/trust", Backend::trust, nothing.clone())
        .method("window/workDoneProgress/cancel", Backend::cancel_progress, nothing)
        .method("textDocument/diagnostic", Backend::diagnostic, pulled)
        .method(
            "textDocument/completion",
            Backend::completion,
            json!({ "completionProvider": { "triggerCharacters": triggers } }),
        )
        .method(
            "completionItem/resolve",
            Backend::completion_resolve,
            json!({ "completionProvider": { "resolveProvider": true } }),
        )
        .method("textDocument/hover", Backend::hover, json!({ "hoverProvider": true }))
        .method("textDocument/documentSymbol", Backend::document_symbol, json!({ "documentSymbolProvider": true }))
        .method("textDocument/foldingRange", Backend::folding_range, json!({ "foldingRangeProvider": true }))
        .method("textDocument/selectionRange", Backend::selection_range, json!({ "selectionRangeProvider": true }))
        .method(
            "textDocument/semanticTokens/full",
            Backend::semantic_tokens_full,
            json!({ "semanticTokensProvider": { "legend": legend, "full": true } }),
        )
        .method(
            "textDocument/semanticTokens/range",
            Backend::semantic_tokens_range,
            json!({ "semanticTokensProvider": { "range": true } }),
        )
        .method("textDocument/inlayHint", Backend::inlay_hint, json!({ "inlayHintProvider": {} }))
        .method(
            "inlayHint/resolve",
            Backend::inlay_hint_resolve,
            json!({ "inlayHintProvider": { "resolveProvider": true } }),
        )
        .method(
            "textDocument/documentLink",
            Backend::document_link,
            json!({ "documentLinkProvider": { "resolveProvider": false } }),
        )
        .method("textDocument/definition", Backend::goto_definition, json!({ "definitionProvider": true }))
        .method("textDocument/references", Backend::references, json!({ "referencesProvider": true }))
        .method(
            "textDocument/documentHighlight",
            Backend::document_highlight,
            json!({ "documentHighlightProvider": true }),
        )
        .method(
            "textDocument/prepareRename",
            Backend::prepare_rename,
            json!({ "renameProvider": { "prepareProvider": true } }),
        )
        .method("textDocument/rename", Backend::rename, json!({ "renameProvider": {} }))
        .method("workspace/symbol", Backend::symbol, json!({ "workspaceSymbolProvider": true }))
        .method(
            "textDocument/codeLens",
            Backend::code_lens,
            json!({ "codeLensProvider": { "resolveProvider": false } }),
        )
        .method(
            "textDocument/codeAction",
            Backend::code_action,
            json!({ "codeActionProvider": { "codeActionKinds": kinds } }),
        )
        .method(
            "codeAction/resolve",
            Backend::code_action_resolve,
            json!({ "codeActionProvider": { "resolveProvider": true } }),
        )
        .method(
            "workspace/executeCommand",
            Backend::execute_command,
            json!({ "executeCommandProvider": { "commands": commands::names() } }),
        )
}

impl Reader for LspServiceBuilder<Backend> {
    fn method<P, R, F>(self, name: &'static str, handler: F, _: Value) -> Self
    where
        P: FromParams,
        R: IntoResponse,
        F: for<'a> Method<&'a Backend, P, R> + Clone + Send + Sync + 'static,
    {
        self.custom_method(name, handler)
    }
}

/// The capabilities, as far as they were read.
struct Offers(Value);

impl Reader for Offers {
    fn method<P, R, F>(mut self, _: &'static str, _: F, offer: Value) -> Self
    where
        P: FromParams,
        R: IntoResponse,
        F: for<'a> Method<&'a Backend, P, R> + Clone + Send + Sync + 'static,
    {
        merge(&mut self.0, offer);
        self
    }
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

/// Returns what the server can do for a client.
pub(super) fn capabilities(abilities: Abilities) -> ServerCapabilities {
    let encoding = match abilities.encoding {
        speclens_schema::document::Encoding::Utf8 => "utf-8",
        speclens_schema::document::Encoding::Utf16 => "utf-16",
        speclens_schema::document::Encoding::Utf32 => "utf-32",
    };
    let Offers(capabilities) = read(Offers(json!({ "positionEncoding": encoding })), abilities);
    serde_json::from_value(capabilities).expect("the capabilities have the specified form")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The methods, each with its part of the capabilities.
    struct Lines(Vec<(&'static str, Value)>);

    impl Reader for Lines {
        fn method<P, R, F>(mut self, name: &'static str, _: F, offer: Value) -> Self
        where
            P: FromParams,
            R: IntoResponse,
            F: for<'a> Method<&'a Backend, P, R> + Clone + Send + Sync + 'static,
        {
            self.0.push((name, offer));
            self
        }
    }

    #[test]
    fn every_method_has_one_line_and_no_part_of_the_capabilities_hides_another() {
        let Lines(mut lines) = read(Lines(Vec::new()), Abilities { pulls_diagnostics: true, ..Abilities::default() });
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

    #[test]
    fn diagnostics_are_offered_to_clients_that_ask_for_them() {
        for pulls_diagnostics in [false, true] {
            let offered = capabilities(Abilities { pulls_diagnostics, ..Abilities::default() });
            assert_eq!(offered.diagnostic_provider.is_some(), pulls_diagnostics);
        }
    }
}
