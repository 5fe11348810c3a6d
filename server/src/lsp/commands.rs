//! Commands that the client may execute: those of lenses and actions, in one table.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use speclens_schema::words::shell_word;
use tower_lsp_server::{
    gen_lsp_types::*,
    jsonrpc::{Error, Result},
};

use super::{
    backend::{failed, panicked},
    convert, dry, features,
    runs::{self, Begun, Chosen, End, Operation, Refused, Wanted},
    session::{Captured, Session},
};
use crate::ide::{
    lens::LensCommand,
    transcript::{self, Language},
};

/// The button with which the user trusts a folder.
const TRUST: &str = "Trust and run";

/// The error for a document without results.
const NOT_OPEN: &str = "this file is not open or is not a suite; open a suite first";

/// The choice of all models of the suite.
const WHOLE_SUITE: &str = "the models of the suite";

impl LensCommand {
    const ALL: [LensCommand; 10] = [
        LensCommand::Run,
        LensCommand::RunFile,
        LensCommand::RunWith,
        LensCommand::Ask,
        LensCommand::DryRun,
        LensCommand::Preconditions,
        LensCommand::Judge,
        LensCommand::Cancel,
        LensCommand::ShowTranscript,
        LensCommand::ShowStatus,
    ];

    /// Returns its name in LSP.
    fn as_str(self) -> &'static str {
        match self {
            LensCommand::Run => "speclens.run",
            LensCommand::RunFile => "speclens.runFile",
            LensCommand::RunWith => "speclens.runWith",
            LensCommand::Ask => "speclens.ask",
            LensCommand::DryRun => "speclens.dryRun",
            LensCommand::Preconditions => "speclens.preconditions",
            LensCommand::Judge => "speclens.judge",
            LensCommand::Cancel => "speclens.cancel",
            LensCommand::ShowTranscript => "speclens.showTranscript",
            LensCommand::ShowStatus => "speclens.showStatus",
        }
    }

    fn parse(text: &str) -> Option<LensCommand> {
        LensCommand::ALL.into_iter().find(|name| name.as_str() == text)
    }
}

/// Returns the names of all commands.
pub(super) fn names() -> Vec<&'static str> {
    LensCommand::ALL.map(LensCommand::as_str).to_vec()
}

/// Returns the command of a lens in a document.
pub(super) fn of_lens(title: String, command: LensCommand, test: Option<String>, uri: &Uri) -> Command {
    let mut argument = json!({ "uri": uri.0 });
    if let Some(test) = test {
        argument["test"] = test.into();
    }
    Command { title, tooltip: None, command: command.as_str().to_owned(), arguments: Some(vec![argument]) }
}

/// Executes a command.
pub(super) async fn execute(session: &Arc<Session>, params: ExecuteCommandParams) -> Result<Option<Value>> {
    let Some(name) = LensCommand::parse(&params.command) else {
        return Err(Error::invalid_params(format!("unknown command `{}`", params.command)));
    };
    let argument = params.arguments.and_then(|mut arguments| (!arguments.is_empty()).then(|| arguments.remove(0)));
    let text = |key: &str| -> Option<String> {
        argument.as_ref().and_then(|argument| argument.get(key)).and_then(Value::as_str).map(str::to_owned)
    };
    let needed = |key: &str| {
        let message = || format!("`{}` needs one argument with a string `{key}`", name.as_str());
        text(key).ok_or_else(|| Error::invalid_params(message()))
    };
    let tests = || text("test").map_or(Wanted::File, Wanted::Test);
    // A client that has already chosen a model names it.
    let models = || -> Result<Vec<String>> {
        let named = argument.as_ref().and_then(|argument| argument.get("models")).filter(|named| !named.is_null());
        let named = named.map(Vec::<String>::deserialize).transpose();
        let message = || format!("`models` of `{}` must be a list of strings", name.as_str());
        Ok(named.map_err(|_| Error::invalid_params(message()))?.unwrap_or_default())
    };
    match name {
        LensCommand::Run => {
            let wanted = Wanted::Test(needed("test")?);
            run(session, &needed("uri")?, wanted, Operation::Run { models: models()? }).await
        }
        LensCommand::RunFile => run(session, &needed("uri")?, Wanted::File, Operation::Run { models: models()? }).await,
        LensCommand::Ask => run(session, &needed("uri")?, tests(), Operation::Ask).await,
        LensCommand::Judge => run(session, &needed("uri")?, tests(), Operation::Judge).await,
        LensCommand::Preconditions => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            run(session, &uri, Wanted::Test(test), Operation::Preconditions).await
        }
        LensCommand::RunWith => {
            let (uri, wanted) = (needed("uri")?, tests());
            let snapshot = session.captured_in_turn(&uri).await.ok().flatten();
            let (looking, at) = (Arc::clone(session), uri.clone());
            let listing = move || {
                let snapshot = snapshot.map(|snapshot| looking.refreshed(&at, snapshot));
                snapshot.map(|snapshot| features::choices(&snapshot)).unwrap_or_default()
            };
            let choices = session.requests.perform(listing).await.map_err(panicked)?;
            if choices.is_empty() {
                session.show_message(
                    MessageType::Info,
                    "the tests of this file do not use models, so there is no model to choose",
                );
                return Ok(None);
            }
            let offers = offers(choices);
            if session.state().abilities.asks_for_models {
                return Ok(Some(json!({ "choices": offers })));
            }
            tokio::spawn(run_with(Arc::clone(session), uri, wanted, offers));
            Ok(None)
        }
        LensCommand::Cancel => {
            let run = argument.as_ref().and_then(|argument| argument.get("run")).and_then(Value::as_u64);
            let chosen = Chosen { run, uri: text("uri"), test: text("test") };
            Ok(Some(json!({ "cancelled": runs::cancel(session, &chosen) })))
        }
        LensCommand::ShowTranscript => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            // Long outputs are read from the disk.
            let snapshot = session.captured_in_turn(&uri).await;
            let wording = move || {
                let snapshot = snapshot.ok().flatten();
                transcript::of_test(snapshot.as_ref().and_then(Captured::latest).map(Arc::as_ref), &test)
            };
            let (text, language) = session.requests.perform(wording).await.map_err(panicked)?;
            let is_shown = session.state().abilities.shows_transcripts;
            Ok(Some(shown(session, "transcript", text, language, is_shown)))
        }
        LensCommand::DryRun => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            let snapshot = session.captured_in_turn(&uri).await.ok().flatten();
            let Some(snapshot) = snapshot else { return Err(failed(NOT_OPEN.to_owned())) };
            let looking = Arc::clone(session);
            let plan = move || dry::page(&looking, snapshot, &uri, &test);
            let text = session.requests.perform(plan).await.map_err(panicked)?;
            let is_shown = session.state().abilities.shows_dry_runs;
            Ok(Some(shown(session, "dry-run", text, Language::Markdown, is_shown)))
        }
        LensCommand::ShowStatus => {
            let snapshot = match text("uri") {
                Some(uri) => session.captured_in_turn(&uri).await.ok().flatten(),
                None => None,
            };
            let tests = features::status(snapshot.as_ref().and_then(Captured::latest).map(Arc::as_ref));
            Ok(Some(json!({ "tests": tests, "running": runs::under_way(session) })))
        }
    }
}

/// A choice of models.
#[derive(Debug, Serialize)]
struct Offer {
    /// The text for the user.
    title: String,
    /// The model ids for the command that runs the tests; empty for those of the suite.
    models: Vec<String>,
}

fn offers(models: Vec<String>) -> Vec<Offer> {
    let whole = (models.len() > 1).then(|| Offer { title: WHOLE_SUITE.to_owned(), models: Vec::new() });
    models.into_iter().map(|model| Offer { title: model.clone(), models: vec![model] }).chain(whole).collect()
}

/// Asks the user which model is to work on tests, and runs them.
async fn run_with(session: Arc<Session>, uri: String, wanted: Wanted, offers: Vec<Offer>) {
    let action = |offer: &Offer| MessageActionItem { title: offer.title.clone(), ..Default::default() };
    let actions = offers.iter().map(action).collect();
    let question = "Which model should run the task?".to_owned();
    let answer = session.client.show_message_request(MessageType::Info, question, Some(actions)).await;
    let Ok(Some(MessageActionItem { title, .. })) = answer else { return };
    let Some(Offer { models, .. }) = offers.into_iter().find(|offer| offer.title == title) else { return };
    if let Err(error) = run(&session, &uri, wanted, Operation::Run { models }).await {
        session.show_message(MessageType::Error, &error.message);
    }
}

async fn run(session: &Arc<Session>, uri: &str, wanted: Wanted, operation: Operation) -> Result<Option<Value>> {
    match runs::start(session, uri, wanted.clone(), operation.clone()).await {
        Ok(begun) => match preconditions(begun, &wanted, &operation).await {
            Ok(page) => {
                let is_shown = session.state().abilities.shows_preconditions;
                Ok(page.map(|page| shown(session, "preconditions", page, Language::Markdown, is_shown)))
            }
            Err(number) => Ok(Some(json!({ "run": number }))),
        },
        Err(Refused::Failed(reason)) => Err(failed(reason)),
        Err(Refused::Cancelled) => Ok(Some(json!({ "run": null, "reason": "cancelled" }))),
        Err(Refused::Because(kind, message)) => {
            session.show_message(kind, &message);
            Ok(Some(json!({ "run": null, "reason": message })))
        }
        Err(Refused::Untrusted(directory)) => {
            let (trusted, is_clients) = {
                let state = session.state();
                (state.trusted, state.trust_is_clients)
            };
            if trusted || !is_clients {
                tokio::spawn(ask_for_trust(Arc::clone(session), uri.to_owned(), (wanted, operation), directory));
            }
            // A client that trusts its folders cannot answer for a directory outside of them.
            Ok(Some(json!({ "run": null, "reason": if trusted { "outside" } else { "untrusted" } })))
        }
    }
}

/// Waits for the preconditions of a test and returns them as a page; `None` after an error. For a run: its number.
async fn preconditions(
    begun: Begun,
    wanted: &Wanted,
    operation: &Operation,
) -> std::result::Result<Option<String>, u32> {
    match (operation, wanted) {
        (Operation::Preconditions, Wanted::Test(test)) => {
            let End { suite, result } = match begun.ended.await {
                Ok(end) => end,
                Err(_) => return Ok(None),
            };
            Ok(Some(transcript::preconditions(test, &suite, &result)))
        }
        (Operation::Preconditions, Wanted::File) | (Operation::Run { .. } | Operation::Ask | Operation::Judge, _) => {
            Err(begun.number)
        }
    }
}

/// Asks the user whether to trust a folder, and then does what was requested.
async fn ask_for_trust(
    session: Arc<Session>,
    uri: String,
    (wanted, operation): (Wanted, Operation),
    directory: PathBuf,
) {
    let asks = session.state().abilities.asks;
    if !asks {
        explain_trust(&session, &directory).await;
    }
    let message =
        format!("A run executes the commands of this suite on your machine. Do you trust {}?", directory.display());
    let actions = [TRUST, "Cancel"].map(|title| MessageActionItem { title: title.to_owned(), ..Default::default() });
    let answer = session.client.show_message_request(MessageType::Info, message, Some(actions.to_vec())).await;
    if answer.is_err() {
        explain_trust(&session, &directory).await;
    }
    if !matches!(answer, Ok(Some(action)) if action.title == TRUST) {
        return;
    }
    if let Err(error) = crate::trust::trust(&directory) {
        session.show_message(MessageType::Error, &format!("{error:#}"));
        return;
    }
    // The recordings of the other suites in the folder are trusted from now on as well.
    session.analyze_all();
    match runs::start(&session, &uri, wanted.clone(), operation.clone()).await {
        // The command was answered before.
        Ok(begun) => {
            if let Ok(Some(page)) = preconditions(begun, &wanted, &operation).await {
                shown(&session, "preconditions", page, Language::Markdown, false);
            }
        }
        Err(Refused::Cancelled) => {}
        Err(Refused::Untrusted(directory)) => {
            session.show_message(
                MessageType::Error,
                &format!("nothing was run, because {} is not trusted", directory.display()),
            );
        }
        Err(Refused::Because(kind, message)) => session.show_message(kind, &message),
        Err(Refused::Failed(message)) => session.show_message(MessageType::Error, &message),
    }
}

/// Returns the response with a page for the user. If the client does not show it itself, it is asked to open a
/// file with it.
fn shown(session: &Arc<Session>, name: &'static str, text: String, language: Language, is_shown: bool) -> Value {
    if !is_shown && session.state().abilities.shows_documents {
        tokio::spawn(show_text(Arc::clone(session), name, text.clone(), language));
    }
    json!({ "text": text, "language": language.as_str() })
}

/// Shows a page to the user in a file of speclens: the same file for the same kind of page.
async fn show_text(session: Arc<Session>, name: &'static str, text: String, language: Language) {
    let written = session.patient.perform(move || {
        let path = crate::trust::state_directory()?.join(format!("{name}.{}", language.extension()));
        crate::trust::write_whole(&path, &text).ok()?;
        convert::uri(&path)
    });
    let Ok(Some(uri)) = written.await else { return };
    let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
    if let Err(error) = session.client.send_request::<ShowDocumentRequest>(params).await {
        tracing::warn!("the client does not show the {name}: {error}");
    }
}

/// Explains once how to trust a folder, for a client that cannot ask.
async fn explain_trust(session: &Session, directory: &Path) {
    let message = format!(
        "Nothing was run, because {} is not trusted and a run executes commands on your machine. If you trust it, \
         enter `speclens trust {}` in a terminal and run the test again.",
        directory.display(),
        shell_word(&directory.to_string_lossy())
    );
    let is_new = session.state().shown_messages.insert(message.clone());
    if is_new {
        session.client.show_message(MessageType::Warning, message).await;
    }
}
