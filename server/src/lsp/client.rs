//! The capabilities of the client, and its display settings.

use serde_json::Value;
use speclens_schema::{document::Encoding, problem::Severity};
use tower_lsp_server::gen_lsp_types::{InitializeParams, PositionEncodingKind};

use crate::ide::verdict_hints::ShownVerdicts;

/// The client's capabilities.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Abilities {
    pub encoding: Encoding,
    /// It pulls diagnostics, so they are not pushed. One that does not pull them again on request would keep those that
    /// another file made obsolete.
    pub pulls_diagnostics: bool,
    pub refreshes_lenses: bool,
    pub refreshes_hints: bool,
    pub resolves_edits: bool,
    pub creates_files: bool,
    pub snippets: bool,
    /// It resolves the docs of a completion when they are to be shown.
    pub resolves_docs: bool,
    /// It supports defaults that apply to all items of a completion list.
    pub shares_completions: bool,
    /// It opens the completion list again when an inserted item asks for it.
    pub suggests_again: bool,
    /// It shows progress that the server begins.
    pub progress: bool,
    pub watches_files: bool,
    pub configuration: bool,
    pub document_changes: bool,
    /// It shows questions to the user.
    pub asks: bool,
    /// It shows lenses, including the results of runs.
    pub shows_lenses: bool,
    /// It shows transcripts itself. Declared like [`SUGGEST`].
    pub shows_transcripts: bool,
    /// It shows dry runs itself. Declared like [`SUGGEST`].
    pub shows_dry_runs: bool,
    /// It shows the preconditions of a test itself. Declared like [`SUGGEST`].
    pub shows_preconditions: bool,
    /// It asks the user for a model, and runs the tests with that model. Declared like [`SUGGEST`].
    pub asks_for_models: bool,
    /// It opens a document when asked to.
    pub shows_documents: bool,
    /// It shows a view of the tests. A client that does declares it in its experimental capabilities:
    /// `{"testItems": true}`.
    pub views_tests: bool,
}

/// The client command that opens the completion list. A client that has it declares it in its experimental
/// capabilities: `{"commands": {"commands": ["editor.action.triggerSuggest"]}}`.
pub(super) const SUGGEST: &str = "editor.action.triggerSuggest";

/// The item properties that a completion list may define once.
const SHARED: [&str; 3] = ["editRange", "insertTextFormat", "insertTextMode"];

impl Abilities {
    pub(super) fn of(params: &InitializeParams) -> Abilities {
        // As JSON: the names are those of the specification, and omitted members are null.
        let capabilities = serde_json::to_value(&params.capabilities).unwrap_or_default();
        let is = |path: &str| capabilities.pointer(path) == Some(&Value::Bool(true));
        let lists = |path: &str, name: &str| {
            let names = capabilities.pointer(path).and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|known| known == name))
        };
        let knows = |command: &str| lists("/experimental/commands/commands", command);
        let shares = |name: &&str| lists("/textDocument/completion/completionList/itemDefaults", name);
        Abilities {
            encoding: encoding(params),
            pulls_diagnostics: capabilities.pointer("/textDocument/diagnostic").is_some_and(Value::is_object)
                && is("/workspace/diagnostics/refreshSupport"),
            // Emacs asks, but does not declare it.
            asks: capabilities.pointer("/window/showMessage").is_some_and(Value::is_object)
                || params.client_info.as_ref().is_some_and(|client| client.name == "Eglot"),
            shows_lenses: ["/textDocument/codeLens", "/workspace/codeLens"]
                .iter()
                .any(|path| capabilities.pointer(path).is_some_and(Value::is_object)),
            shows_transcripts: knows("speclens.showTranscript"),
            shows_dry_runs: knows("speclens.dryRun"),
            shows_preconditions: knows("speclens.preconditions"),
            asks_for_models: knows("speclens.runWith"),
            shows_documents: is("/window/showDocument/support"),
            views_tests: is("/experimental/testItems"),
            refreshes_hints: is("/workspace/inlayHint/refreshSupport"),
            refreshes_lenses: is("/workspace/codeLens/refreshSupport"),
            resolves_edits: lists("/textDocument/codeAction/resolveSupport/properties", "edit")
                && is("/textDocument/codeAction/dataSupport"),
            // Neovim declares operations, but not `documentChanges`, which contain them.
            creates_files: lists("/workspace/workspaceEdit/resourceOperations", "create"),
            snippets: is("/textDocument/completion/completionItem/snippetSupport"),
            resolves_docs: lists("/textDocument/completion/completionItem/resolveSupport/properties", "documentation"),
            shares_completions: SHARED.iter().all(shares),
            suggests_again: knows(SUGGEST),
            progress: is("/window/workDoneProgress"),
            watches_files: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: is("/workspace/configuration"),
            document_changes: is("/workspace/workspaceEdit/documentChanges"),
        }
    }
}

/// Returns UTF-8 if the client supports it, because it needs no conversion; else UTF-16, which every client supports
/// unless it offers UTF-32 alone.
fn encoding(params: &InitializeParams) -> Encoding {
    let offered = params.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    match offered {
        Some(offered) if offered.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        Some(offered)
            if !offered.contains(&PositionEncodingKind::UTF16) && offered.contains(&PositionEncodingKind::UTF32) =>
        {
            Encoding::Utf32
        }
        Some(_) | None => Encoding::Utf16,
    }
}

/// The display settings of the user. None of them changes which problems there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Display {
    /// The severity of failing claims of the last run; `None` if they are not shown.
    pub run_severity: Option<Severity>,
    pub code_lens: bool,
    pub inlay_hints: bool,
    /// The results that inlay hints show.
    pub verdicts: ShownVerdicts,
}

impl Default for Display {
    fn default() -> Display {
        Display {
            run_severity: Some(Severity::Error),
            code_lens: true,
            inlay_hints: true,
            verdicts: ShownVerdicts::All,
        }
    }
}

impl Display {
    /// Reads the client's settings. Also returns their problems.
    pub(super) fn read(settings: &Value) -> (Display, Vec<String>) {
        let mut display = Display::default();
        let mut wrong = Vec::new();
        let Some(settings) = settings.as_object() else {
            if !settings.is_null() {
                wrong.push("the settings of speclens are not an object".to_owned());
            }
            return (display, wrong);
        };
        for (section, value) in settings {
            let fields =
                value.as_object().into_iter().flatten().map(|(key, value)| (format!("{section}.{key}"), value));
            let dotted = (!value.is_object()).then(|| (section.clone(), value));
            for (name, value) in fields.chain(dotted) {
                match (name.as_str(), value) {
                    (_, Value::Null) | ("server.path" | "trace.server", _) => {}
                    ("run.severity", Value::String(word)) => match word.as_str() {
                        "error" => display.run_severity = Some(Severity::Error),
                        "warning" => display.run_severity = Some(Severity::Warning),
                        "information" => display.run_severity = Some(Severity::Information),
                        "hint" => display.run_severity = Some(Severity::Hint),
                        "off" => display.run_severity = None,
                        other => wrong.push(format!(
                            "expected `error`, `warning`, `information`, `hint` or `off` for `speclens.run.severity`, found \
                             `{other}`"
                        )),
                    },
                    ("codeLens.enable", Value::Bool(on)) => display.code_lens = *on,
                    ("inlayHints.enable", Value::Bool(on)) => display.inlay_hints = *on,
                    ("inlayHints.enable", _) => {
                        wrong.push("expected `true` or `false` for `speclens.inlayHints.enable`".to_owned());
                    }
                    ("inlayHints.verdicts", value) => match value.as_str() {
                        Some("off") => display.verdicts = ShownVerdicts::Off,
                        Some("failures") => display.verdicts = ShownVerdicts::Failures,
                        Some("all") => display.verdicts = ShownVerdicts::All,
                        Some(_) | None => wrong.push(
                            "expected `off`, `failures` or `all` for `speclens.inlayHints.verdicts`".to_owned(),
                        ),
                    },
                    ("run.severity", _) => wrong.push("expected a string for `speclens.run.severity`".to_owned()),
                    ("codeLens.enable", _) => wrong.push("expected `true` or `false` for `speclens.codeLens.enable`".to_owned()),
                    (other, _) => wrong.push(format!(
                        "unknown setting `speclens.{other}`: the settings are `speclens.run.severity`, `speclens.codeLens.enable`, `speclens.inlayHints.enable` and `speclens.inlayHints.verdicts`; `speclens.yaml` sets the severity of problems"
                    )),
                }
            }
        }
        (display, wrong)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use speclens_schema::problem::Severity;

    use super::{Display, ShownVerdicts};

    #[test]
    fn settings_are_read_nested_and_dotted() {
        let settings = json!({"run": {"severity": "hint"}, "codeLens.enable": false, "inlayHints": {"enable": false, "verdicts": "failures"}});
        let (display, wrong) = Display::read(&settings);
        let expected = Display {
            run_severity: Some(Severity::Hint),
            code_lens: false,
            inlay_hints: false,
            verdicts: ShownVerdicts::Failures,
        };
        assert_eq!(display, expected);
        assert!(wrong.is_empty());
        assert_eq!(Display::read(&json!({"run": {"severity": "off"}})).0.run_severity, None);
    }

    #[test]
    fn wrong_settings_are_named() {
        let (display, wrong) =
            Display::read(&json!({"run": {"severity": "loud", "color": 1}, "codeLens": {"enable": 3}}));
        assert_eq!(display, Display::default());
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong.iter().any(|message| message.contains("`speclens.run.color`")));
    }
}
