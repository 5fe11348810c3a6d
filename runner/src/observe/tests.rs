//! Observers of real files, processes and addresses. Nothing here sleeps in real time.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod addresses;
mod commands;
mod files;
mod order;
mod paths;
mod scores;
mod waiting;

use std::{path::Path, sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Answer, Content, FilesAnswer, FilesNeed, Need, TraceAnswer},
    mask::Secrets,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Cancelled, View, observe};
use crate::{
    exec::process::{Background, Environment},
    model::Models,
};

const LIMIT: usize = 1024 * 1024;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn view(directory: &Path) -> View {
    View {
        directory: directory.to_owned(),
        environment: Environment::default(),
        limit: LIMIT,
        background: Arc::new(Background::default()),
        models: Arc::new(Models::new(Arc::default(), 1, |_| None)),
        output: None,
        secrets: Arc::new(Secrets::none()),
        test: String::new(),
        gateway: None,
        watch: None,
        seen: Arc::default(),
        cancel: CancellationToken::new(),
        suspended: || Duration::ZERO,
    }
}

/// Returns an empty directory, and a view of it.
fn empty() -> (TempDir, View) {
    let directory = directory();
    let view = view(directory.path());
    (directory, view)
}

async fn answer(need: &Need, view: &View) -> Answer {
    observe(need, view).await.unwrap()
}

/// Returns a question about files, without waiting.
fn files_at(pattern: &str) -> FilesNeed {
    FilesNeed { pattern: pattern.to_owned(), wildcards: true, ..FilesNeed::default() }
}

async fn files(need: FilesNeed, view: &View) -> FilesAnswer {
    match answer(&Need::Files(need), view).await {
        Answer::Files(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// Returns the text of a file, and whether it is truncated.
fn text(content: Option<&Content>) -> (&str, bool) {
    match content {
        Some(Content::Text(capture)) => (&capture.text, capture.cut),
        other => panic!("{other:?}"),
    }
}

fn paths(answer: &FilesAnswer) -> Vec<&str> {
    answer.files.iter().map(|file| file.path.as_str()).collect()
}

#[tokio::test]
async fn act_that_was_not_started_has_no_trace() {
    let (_directory, view) = empty();
    let found = answer(&Need::Trace, &view).await;
    let Answer::Trace(TraceAnswer::Missing(reason)) = found else { panic!("{found:?}") };
    assert_eq!(reason, "nothing was started, so there is no trace");
}

#[tokio::test]
async fn cancelled_run_observes_nothing_more() {
    let (directory, view) = empty();
    view.cancel.cancel();
    let waiting = Need::Files(FilesNeed { wait_ms: 600_000, ..files_at("never") });
    let path = Need::Path { path: "x".to_owned(), content: false };
    let command = Need::Command { run: "touch ran".to_owned(), timeout_ms: 1_000 };
    for need in [waiting, path, command] {
        assert_eq!(observe(&need, &view).await, Err(Cancelled), "{need:?}");
    }
    assert!(!directory.path().join("ran").exists());
}
