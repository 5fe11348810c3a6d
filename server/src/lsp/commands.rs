//! What the client may have executed: the commands of lenses and actions, by one table.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tower_lsp_server::{
    gen_lsp_types::*,
    jsonrpc::{Error, Result},
};

use super::{
    backend::{failed, panicked},
    convert, features,
    runs::{self, Chosen, Refused, Wanted},
    session::Session,
};
use crate::ide::lens::LensAction;

/// The answer that the person gives to have a folder trusted.
const TRUST: &str = "Trust and run";

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Run,
    RunFile,
    Cancel,
    ShowTranscript,
    ShowStatus,
}

impl Name {
    const ALL: [Name; 5] = [Name::Run, Name::RunFile, Name::Cancel, Name::ShowTranscript, Name::ShowStatus];

    /// What the client calls it.
    fn as_str(self) -> &'static str {
        match self {
            Name::Run => "speclens.run",
            Name::RunFile => "speclens.runFile",
            Name::Cancel => "speclens.cancel",
            Name::ShowTranscript => "speclens.showTranscript",
            Name::ShowStatus => "speclens.showStatus",
        }
    }

    fn parse(text: &str) -> Option<Name> {
        Name::ALL.into_iter().find(|name| name.as_str() == text)
    }
}

/// The names of all commands.
pub(super) fn names() -> Vec<&'static str> {
    Name::ALL.map(Name::as_str).to_vec()
}

/// The command of a lens in a document.
pub(super) fn of_lens(title: String, action: LensAction, uri: &Uri) -> Command {
    let (name, argument) = match action {
        LensAction::Run(test) => (Name::Run, json!({ "uri": uri.0, "test": test })),
        LensAction::RunFile => (Name::RunFile, json!({ "uri": uri.0 })),
        LensAction::Transcript(test) => (Name::ShowTranscript, json!({ "uri": uri.0, "test": test })),
        LensAction::Cancel(test) => (Name::Cancel, json!({ "uri": uri.0, "test": test })),
        LensAction::CancelFile => (Name::Cancel, json!({ "uri": uri.0 })),
        LensAction::Status => (Name::ShowStatus, json!({ "uri": uri.0 })),
    };
    Command { title, tooltip: None, command: name.as_str().to_owned(), arguments: Some(vec![argument]) }
}

/// Executes a command.
pub(super) async fn execute(session: &Arc<Session>, params: ExecuteCommandParams) -> Result<Option<Value>> {
    let Some(name) = Name::parse(&params.command) else {
        return Err(Error::invalid_params(format!("there is no command `{}`", params.command)));
    };
    let argument = params.arguments.and_then(|mut arguments| (!arguments.is_empty()).then(|| arguments.remove(0)));
    let text = |key: &str| -> Option<String> {
        argument.as_ref().and_then(|argument| argument.get(key)).and_then(Value::as_str).map(str::to_owned)
    };
    let needed = |key: &str| {
        let message = || format!("`{}` needs one argument with a text `{key}`", name.as_str());
        text(key).ok_or_else(|| Error::invalid_params(message()))
    };
    match name {
        Name::Run => run(session, &needed("uri")?, Wanted::Test(needed("test")?)).await,
        Name::RunFile => run(session, &needed("uri")?, Wanted::File).await,
        Name::Cancel => {
            let run = argument.as_ref().and_then(|argument| argument.get("run")).and_then(Value::as_u64);
            let chosen = Chosen { run, uri: text("uri"), test: text("test") };
            Ok(Some(json!({ "cancelled": runs::cancel(session, &chosen) })))
        }
        Name::ShowTranscript => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            // Long outputs are read from the disk for it.
            let snapshot = session.captured_in_turn(&uri).await;
            let wording = move || {
                let latest = snapshot.ok().flatten().and_then(|snapshot| snapshot.latest);
                features::transcript(latest.as_deref(), &test)
            };
            let text = session.requests.perform(wording).await.map_err(panicked)?;
            let abilities = session.state().abilities;
            if abilities.shows_documents && !abilities.shows_transcripts {
                tokio::spawn(show_text(session.client.clone(), text.clone()));
            }
            Ok(Some(json!({ "text": text })))
        }
        Name::ShowStatus => {
            let snapshot = match text("uri") {
                Some(uri) => session.captured_in_turn(&uri).await.ok().flatten(),
                None => None,
            };
            let tests = features::status(snapshot.as_ref().and_then(|snapshot| snapshot.latest.as_deref()));
            Ok(Some(json!({ "tests": tests, "running": runs::under_way(session) })))
        }
    }
}

async fn run(session: &Arc<Session>, uri: &str, wanted: Wanted) -> Result<Option<Value>> {
    match runs::start(session, uri, wanted.clone()).await {
        Ok(number) => Ok(Some(json!({ "run": number }))),
        Err(Refused::Failed(reason)) => Err(failed(reason)),
        Err(Refused::Cancelled) => Ok(Some(json!({ "run": null, "reason": "cancelled" }))),
        Err(Refused::Told(kind, message)) => {
            session.tell(kind, &message);
            Ok(Some(json!({ "run": null, "reason": message })))
        }
        Err(Refused::Untrusted(directory)) => {
            if !session.state().trust_is_clients {
                tokio::spawn(ask_for_trust(Arc::clone(session), uri.to_owned(), wanted, directory));
            }
            Ok(Some(json!({ "run": null, "reason": "untrusted" })))
        }
    }
}

/// Asks whether a folder is to be trusted, and then runs what was wanted.
async fn ask_for_trust(session: Arc<Session>, uri: String, wanted: Wanted, directory: PathBuf) {
    let asks = session.state().abilities.asks;
    if !asks {
        tell_of_trust(&session, &directory).await;
    }
    let message =
        format!("Running executes the commands of this suite on your machine. Do you trust {}?", directory.display());
    let actions = [TRUST, "Cancel"].map(|title| MessageActionItem { title: title.to_owned(), ..Default::default() });
    let answer = session.client.show_message_request(MessageType::Info, message, Some(actions.to_vec())).await;
    if answer.is_err() {
        tell_of_trust(&session, &directory).await;
    }
    if !matches!(answer, Ok(Some(action)) if action.title == TRUST) {
        return;
    }
    if let Err(error) = crate::trust::trust(&directory) {
        session.tell(MessageType::Error, &format!("{error:#}"));
        return;
    }
    match runs::start(&session, &uri, wanted).await {
        Ok(_) | Err(Refused::Cancelled) => {}
        Err(Refused::Untrusted(directory)) => {
            session.tell(MessageType::Error, &format!("{} is not trusted", directory.display()));
        }
        Err(Refused::Told(kind, message)) => session.tell(kind, &message),
        Err(Refused::Failed(message)) => session.tell(MessageType::Error, &message),
    }
}

/// Shows a transcript to the person in a file of the program's own, always the same.
async fn show_text(client: tower_lsp_server::Client, text: String) {
    let written = tokio::task::spawn_blocking(move || {
        let path = crate::trust::state_directory()?.join("transcript.txt");
        crate::trust::write_whole(&path, &text).ok()?;
        convert::uri(&path)
    });
    let Ok(Some(uri)) = written.await else { return };
    let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
    if let Err(error) = client.send_request::<ShowDocumentRequest>(params).await {
        tracing::warn!("the client does not show the transcript: {error}");
    }
}

/// Tells once how a folder comes to be trusted, where nobody can be asked.
async fn tell_of_trust(session: &Session, directory: &Path) {
    let message = format!(
        "Nothing was run, because {} is not trusted, and running executes the commands of its suites on your machine. \
         If you trust it, enter `speclens trust '{}'` in a terminal, and run the test again.",
        directory.display(),
        directory.display()
    );
    let is_new = session.state().told.insert(message.clone());
    if is_new {
        session.client.show_message(MessageType::Warning, message).await;
    }
}
