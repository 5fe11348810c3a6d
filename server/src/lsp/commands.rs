//! Commands that the client may execute: those of lenses and actions, in one table.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use speclens_schema::{
    format::{Dialect, Starter},
    words::shell_word,
};
use tower_lsp_server::{
    gen_lsp_types::*,
    jsonrpc::{Error, Result},
};

use super::{
    client::Abilities,
    convert, features,
    runs::{Begun, Chosen, End, NOT_OPEN, Operation, Refused, Wanted},
    server::{Handle, When, failed},
    workspace_check,
    world::Snapshot,
};
use crate::ide::{
    lens::LensCommand,
    transcript::{self, Language},
};
use crate::new_suite::starters;

/// The button with which the user trusts a folder.
const TRUST: &str = "Trust and run";

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

/// Writes a new suite. It is about no document.
const NEW_SUITE: &str = "speclens.newSuite";

/// Checks all files of the workspace.
const CHECK_WORKSPACE: &str = "speclens.checkWorkspace";

pub(super) fn names() -> Vec<&'static str> {
    LensCommand::ALL.map(LensCommand::as_str).into_iter().chain([NEW_SUITE, CHECK_WORKSPACE]).collect()
}

pub(super) fn of_lens(title: String, command: LensCommand, test: Option<String>, uri: &Uri) -> Command {
    let mut argument = json!({ "uri": uri.0 });
    if let Some(test) = test {
        argument["test"] = test.into();
    }
    Command { title, tooltip: None, command: command.as_str().to_owned(), arguments: Some(vec![argument]) }
}

pub(super) async fn execute(server: &Handle, params: ExecuteCommandParams) -> Result<Option<Value>> {
    if params.command == NEW_SUITE {
        return new_suite(params.arguments.into_iter().flatten().next()).await;
    }
    if params.command == CHECK_WORKSPACE {
        return workspace_check::check(server).await;
    }
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
    let texts = |key: &str| -> Result<Vec<String>> {
        let named = argument.as_ref().and_then(|argument| argument.get(key)).filter(|named| !named.is_null());
        let named = named.map(Vec::<String>::deserialize).transpose();
        let message = || format!("`{key}` of `{}` must be a list of strings", name.as_str());
        Ok(named.map_err(|_| Error::invalid_params(message()))?.unwrap_or_default())
    };
    // Lenses name one test, views of tests several.
    let some = || -> Result<Option<Wanted>> {
        let mut names = texts("tests")?;
        names.extend(text("test"));
        Ok((!names.is_empty()).then_some(Wanted::Tests(names)))
    };
    let tests = || Ok::<_, Error>(some()?.unwrap_or(Wanted::File));
    // A client that has already chosen a model names it.
    let models = || texts("models");
    match name {
        LensCommand::Run => {
            let missing =
                || Error::invalid_params(format!("`{}` needs one argument with a string `test`", name.as_str()));
            let wanted = some()?.ok_or_else(missing)?;
            run(server, &needed("uri")?, wanted, Operation::Run { models: models()? }).await
        }
        LensCommand::RunFile => run(server, &needed("uri")?, Wanted::File, Operation::Run { models: models()? }).await,
        LensCommand::Ask => run(server, &needed("uri")?, tests()?, Operation::Ask).await,
        LensCommand::Judge => run(server, &needed("uri")?, tests()?, Operation::Judge).await,
        LensCommand::Preconditions => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            run(server, &uri, Wanted::Tests(vec![test]), Operation::Preconditions).await
        }
        LensCommand::RunWith => {
            let (uri, wanted) = (needed("uri")?, tests()?);
            let choices = about(server, &uri, features::choices).await?.unwrap_or_default();
            if choices.is_empty() {
                let message = "the tests of this file do not use models, so there is no model to choose";
                server.send(move |server| server.show_message(MessageType::Info, message));
                return Ok(None);
            }
            let offers = offers(choices);
            if server.abilities().await?.asks_for_models {
                return Ok(Some(json!({ "choices": offers })));
            }
            tokio::spawn(run_with(server.clone(), uri, wanted, offers));
            Ok(None)
        }
        LensCommand::Cancel => {
            let run = argument.as_ref().and_then(|argument| argument.get("run")).and_then(Value::as_u64);
            let chosen = Chosen { run, uri: text("uri"), test: text("test") };
            let count = server.get(move |server| server.cancel_runs(&chosen)).await?;
            Ok(Some(json!({ "cancelled": count })))
        }
        LensCommand::ShowTranscript => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            let named = test.clone();
            // Long outputs are read from the disk.
            let page = move |snapshot: &Snapshot| transcript::of_test(snapshot.latest.as_deref(), &named);
            let page = about(server, &uri, page).await?;
            let (text, language) = page.unwrap_or_else(|| transcript::of_test(None, &test));
            Ok(Some(shown(server, "transcript", text, language, |client| client.shows_transcripts).await?))
        }
        LensCommand::DryRun => {
            let (uri, test) = (needed("uri")?, needed("test")?);
            let page = about(server, &uri, move |snapshot| features::dry_run(snapshot, &test)).await?;
            let Some(text) = page else { return Err(failed(NOT_OPEN.to_owned())) };
            Ok(Some(shown(server, "dry-run", text, Language::Markdown, |client| client.shows_dry_runs).await?))
        }
        LensCommand::ShowStatus => {
            let uri = text("uri");
            let status = server.ask(move |server, reply| {
                server.in_turn(&uri.clone().unwrap_or_default(), move |server| {
                    drop(reply.send(server.status(uri.as_deref())));
                });
            });
            let (running, latest) = status.await?;
            Ok(Some(json!({ "tests": features::status(latest.as_deref()), "running": running })))
        }
    }
}

/// Writes the starter of a format into a directory, and returns its files, the suite first. Without a format: those to
/// choose from.
async fn new_suite(argument: Option<Value>) -> Result<Option<Value>> {
    #[derive(Default, Deserialize)]
    struct NewSuite {
        format: Option<String>,
        directory: Option<String>,
    }
    let wanted = argument.map(NewSuite::deserialize).transpose();
    let wanted = wanted.map_err(|error| Error::invalid_params(format!("`{NEW_SUITE}`: {error}")))?.unwrap_or_default();
    let Some(format) = wanted.format else {
        let choice = |(format, starter): (Dialect, Starter)| json!({ "format": format.as_str(), "title": format.program(), "docs": starter.docs });
        return Ok(Some(json!({ "formats": starters().map(choice).collect::<Vec<_>>() })));
    };
    let starter = starters().find(|(known, _)| known.as_str() == format);
    let (_, starter) = starter.ok_or_else(|| Error::invalid_params(format!("unknown format `{format}`")))?;
    let directory = wanted.directory.as_deref().and_then(convert::path);
    let directory =
        directory.ok_or_else(|| Error::invalid_params(format!("`{NEW_SUITE}` needs the URI `directory`")))?;
    let written = tokio::task::spawn_blocking(move || crate::new_suite::write(&directory, starter)).await;
    let written = written.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(format!("{error:#}")))?;
    let uris: Vec<Uri> = written.iter().filter_map(|path| convert::uri(path)).collect();
    Ok(Some(json!({ "files": uris })))
}

/// Answers something about the present text of a document; `None` if it is not a spec file.
async fn about<T: Send + 'static>(
    server: &Handle,
    uri: &str,
    work: impl FnOnce(&Snapshot) -> T + Send + 'static,
) -> Result<Option<T>> {
    let uri = uri.to_owned();
    server.ask(move |server, reply| server.answer(uri, When::Placed, reply, work)).await
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

async fn run_with(server: Handle, uri: String, wanted: Wanted, offers: Vec<Offer>) {
    let action = |offer: &Offer| MessageActionItem { title: offer.title.clone(), ..Default::default() };
    let actions = offers.iter().map(action).collect();
    let question = "Which model should run the task?".to_owned();
    let answer = server.client.show_message_request(MessageType::Info, question, Some(actions)).await;
    let Ok(Some(MessageActionItem { title, .. })) = answer else { return };
    let Some(Offer { models, .. }) = offers.into_iter().find(|offer| offer.title == title) else { return };
    if let Err(error) = run(&server, &uri, wanted, Operation::Run { models }).await {
        server.send(move |server| server.show_message(MessageType::Error, &error.message));
    }
}

/// Starts a run. Dropping the future before the run has begun cancels it.
async fn start(
    server: &Handle,
    uri: &str,
    wanted: Wanted,
    operation: Operation,
) -> std::result::Result<Begun, Refused> {
    let uri = uri.to_owned();
    let begun = server.ask(move |server, reply| server.request_run(uri, wanted, operation, reply)).await;
    begun.unwrap_or_else(|error| Err(Refused::Failed(error.message.into_owned())))
}

async fn run(server: &Handle, uri: &str, wanted: Wanted, operation: Operation) -> Result<Option<Value>> {
    match start(server, uri, wanted.clone(), operation.clone()).await {
        Ok(begun) => match preconditions(begun, &wanted, &operation).await {
            Ok(Some(page)) => {
                let page =
                    shown(server, "preconditions", page, Language::Markdown, |client| client.shows_preconditions);
                Ok(Some(page.await?))
            }
            Ok(None) => Ok(None),
            Err(number) => Ok(Some(json!({ "run": number }))),
        },
        Err(Refused::Failed(reason)) => Err(failed(reason)),
        Err(Refused::Cancelled) => Ok(Some(json!({ "run": null, "reason": "cancelled" }))),
        Err(Refused::Because(kind, message)) => {
            let reason = message.clone();
            server.send(move |server| server.show_message(kind, &message));
            Ok(Some(json!({ "run": null, "reason": reason })))
        }
        Err(Refused::Untrusted(directory)) => {
            let (trusted, is_clients) = server.get(|server| server.trust()).await?;
            if trusted || !is_clients {
                tokio::spawn(ask_for_trust(server.clone(), uri.to_owned(), wanted, operation, directory));
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
        (Operation::Preconditions, Wanted::Tests(tests)) => {
            let End { suite, result } = match begun.ended.await {
                Ok(end) => end,
                Err(_) => return Ok(None),
            };
            Ok(tests.first().map(|test| transcript::preconditions(test, &suite, &result)))
        }
        (Operation::Preconditions, Wanted::File) | (Operation::Run { .. } | Operation::Ask | Operation::Judge, _) => {
            Err(begun.number)
        }
    }
}

async fn ask_for_trust(server: Handle, uri: String, wanted: Wanted, operation: Operation, directory: PathBuf) {
    let asks = server.abilities().await.is_ok_and(|client| client.asks);
    if !asks {
        explain_trust(&server, &directory);
    }
    let message =
        format!("A run executes the commands of this suite on your machine. Do you trust {}?", directory.display());
    let actions = [TRUST, "Cancel"].map(|title| MessageActionItem { title: title.to_owned(), ..Default::default() });
    let answer = server.client.show_message_request(MessageType::Info, message, Some(actions.to_vec())).await;
    if answer.is_err() {
        explain_trust(&server, &directory);
    }
    if !matches!(answer, Ok(Some(action)) if action.title == TRUST) {
        return;
    }
    let show = |kind, message: String| server.send(move |server| server.show_message(kind, &message));
    if let Err(error) = crate::trust::trust(&directory) {
        return show(MessageType::Error, format!("{error:#}"));
    }
    // The recordings of the other suites in the folder are trusted from now on as well.
    server.send(|server| server.analyze_all());
    match start(&server, &uri, wanted.clone(), operation.clone()).await {
        // The command was answered before.
        Ok(begun) => {
            if let Ok(Some(page)) = preconditions(begun, &wanted, &operation).await {
                let _ = shown(&server, "preconditions", page, Language::Markdown, |_| false).await;
            }
        }
        Err(Refused::Cancelled) => {}
        Err(Refused::Untrusted(directory)) => {
            let message = format!("nothing was run, because {} is not trusted", directory.display());
            show(MessageType::Error, message);
        }
        Err(Refused::Because(kind, message)) => show(kind, message),
        Err(Refused::Failed(message)) => show(MessageType::Error, message),
    }
}

/// Returns the response with a page for the user. If the client does not show it itself, it is asked to open a
/// file with it.
async fn shown(
    server: &Handle,
    name: &'static str,
    text: String,
    language: Language,
    is_shown: impl Fn(Abilities) -> bool,
) -> Result<Value> {
    let abilities = server.abilities().await?;
    if !is_shown(abilities) && abilities.shows_documents {
        tokio::spawn(show_text(server.clone(), name, text.clone(), language));
    }
    Ok(json!({ "text": text, "language": language.as_str() }))
}

/// Shows a page to the user in a file of speclens: the same file for the same kind of page.
async fn show_text(server: Handle, name: &'static str, text: String, language: Language) {
    let written = tokio::task::spawn_blocking(move || {
        let path = crate::trust::state_directory()?.join(format!("{name}.{}", language.extension()));
        crate::trust::write_whole(&path, &text).ok()?;
        convert::uri(&path)
    });
    let Ok(Some(uri)) = written.await else { return };
    let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
    if let Err(error) = server.client.send_request::<ShowDocumentRequest>(params).await {
        tracing::warn!("the client does not show the {name}: {error}");
    }
}

/// Explains once how to trust a folder, for a client that cannot ask.
fn explain_trust(server: &Handle, directory: &Path) {
    let message = format!(
        "Nothing was run, because {} is not trusted and a run executes commands on your machine. If you trust it, \
         enter `speclens trust {}` in a terminal and run the test again.",
        directory.display(),
        shell_word(&directory.to_string_lossy())
    );
    server.send(move |server| server.show_once(message));
}
