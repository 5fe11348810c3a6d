//! `speclens.checkWorkspace`: the problems of all files of the workspace, those that are not open as well. After that,
//! they are kept up to date.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use speclens_schema::{
    problem::{Code, Severity},
    words::plural,
};
use tower_lsp_server::{
    gen_lsp_types::{Diagnostic, MessageActionItem, MessageType},
    jsonrpc::Result,
};

use super::{
    actions, diagnostics,
    edits::{self, Edited},
    server::{Handle, Server, When, WorkspaceCheck},
    world::{Snapshot, World},
};

/// The source of the published problems, where those of documents have their URI.
const SOURCE: &str = "workspace";

const FIX_ALL: &str = "Fix all";

/// The problems of a workspace.
#[derive(Debug, Default)]
struct Checked {
    files: usize,
    errors: usize,
    warnings: usize,
    /// Number of problems with a safe fix.
    fixable: usize,
    closed: Vec<(PathBuf, Vec<Diagnostic>)>,
}

impl Checked {
    fn of(world: &Arc<World>) -> Checked {
        let mut checked = Checked::default();
        for (snapshot, is_open) in documents(world) {
            checked.files += 1;
            let workspace = snapshot.workspace();
            let problems = snapshot.problems(&workspace);
            for problem in problems.iter() {
                match problem.severity {
                    Severity::Error => checked.errors += 1,
                    Severity::Warning => checked.warnings += 1,
                    Severity::Information | Severity::Hint => {}
                }
                checked.fixable += usize::from(problem.fixes.iter().any(|fix| fix.is_safe()));
            }
            if let Some(path) = snapshot.place.path.clone().filter(|_| !is_open && !problems.is_empty()) {
                checked.closed.push((path, diagnostics::of_text(&snapshot, &problems)));
            }
        }
        checked
    }

    fn sentence(&self) -> String {
        let files = plural(self.files, "file");
        let found = [(self.errors, "error"), (self.warnings, "warning")];
        let found: Vec<String> =
            found.iter().filter(|(count, _)| *count > 0).map(|(count, word)| plural(*count, word)).collect();
        let found = if found.is_empty() { "no problem".to_owned() } else { found.join(" and ") };
        match self.fixable {
            0 => format!("{found} in {files}"),
            count => format!("{found} in {files}; {count} can be fixed safely"),
        }
    }
}

/// Returns every spec file of the workspace and their settings, as they are in the editor or on the disk, and whether
/// they are open.
fn documents(world: &Arc<World>) -> Vec<(Snapshot, bool)> {
    let sources = world.sources(None).into_iter();
    let specs = sources.filter_map(|source| match (source.open, source.path) {
        (Some(open), _) => Some((open, true)),
        (None, Some(path)) => Some((world.closed(&path)?, false)),
        (None, None) => None,
    });
    let mut all: Vec<_> = specs.collect();
    let settings = all.iter().filter_map(|(snapshot, _)| Some(snapshot.workspace().file?.path.clone()));
    let settings: BTreeSet<PathBuf> = settings.filter(|path| world.open_at(path).is_none()).collect();
    all.extend(settings.iter().filter_map(|path| Some((world.closed(path)?, false))));
    all
}

/// Returns the edits that apply the safe fixes of every file.
fn fixes(world: &Arc<World>) -> Vec<Edited> {
    let fixed = documents(world).into_iter().filter_map(|(snapshot, is_open)| {
        let problems = snapshot.problems(&snapshot.workspace());
        let is_text = problems.iter().all(|problem| problem.code != Code::Encoding);
        let edits = if is_text { actions::safe_edits(&snapshot) } else { Vec::new() };
        let edited = Edited::of(&snapshot, &edits);
        let version = edited.version.filter(|_| is_open);
        (!edits.is_empty()).then_some(Edited { version, ..edited })
    });
    fixed.collect()
}

impl Server {
    /// Checks the workspace again if its problems are shown.
    pub(super) fn workspace_changed(&mut self) {
        match self.workspace_check {
            WorkspaceCheck::NeverWanted => {}
            WorkspaceCheck::UpToDate => self.check_workspace(|_, _| {}),
            WorkspaceCheck::UnderWay { .. } => {
                self.workspace_check = WorkspaceCheck::UnderWay { is_outdated: true };
            }
        }
    }

    fn check_workspace(&mut self, then: impl FnOnce(&mut Server, &Checked) + Send + 'static) {
        self.workspace_check = WorkspaceCheck::UnderWay { is_outdated: false };
        self.hold(When::Indexed, None, move |server| {
            let world = Arc::clone(&server.world);
            server.work(
                &server.background,
                move || Checked::of(&world),
                move |server, checked| {
                    let is_outdated = server.workspace_check == WorkspaceCheck::UnderWay { is_outdated: true };
                    server.workspace_check = WorkspaceCheck::UpToDate;
                    let mut checked = checked.unwrap_or_default();
                    server.publish_elsewhere(SOURCE, std::mem::take(&mut checked.closed));
                    then(server, &checked);
                    if is_outdated {
                        server.workspace_changed();
                    }
                },
            );
        });
    }
}

/// Checks the workspace, shows the problems, and offers to fix them.
pub(super) async fn check(server: &Handle) -> Result<Option<Value>> {
    let checked = server.ask(|server, reply| {
        server.check_workspace(|_, checked| {
            let Checked { files, errors, warnings, fixable, .. } = *checked;
            let counts = json!({ "files": files, "errors": errors, "warnings": warnings, "fixable": fixable });
            // The client may have withdrawn its request.
            let _ = reply.send((checked.sentence(), counts));
        });
    });
    let (sentence, counts) = checked.await?;
    let kind = if counts["errors"] == 0 { MessageType::Info } else { MessageType::Warning };
    if counts["fixable"] == 0 || !server.abilities().await?.asks {
        server.send(move |server| server.show_message(kind, &sentence));
    } else {
        tokio::spawn(offer_fixes(server.clone(), kind, sentence));
    }
    Ok(Some(counts))
}

async fn offer_fixes(server: Handle, kind: MessageType, sentence: String) {
    let actions = vec![MessageActionItem { title: FIX_ALL.to_owned(), ..Default::default() }];
    let question = format!("speclens: {sentence}");
    let answer = server.client.show_message_request(kind, question, Some(actions)).await;
    if !matches!(answer, Ok(Some(action)) if action.title == FIX_ALL) {
        return;
    }
    let edits = server.ask(|server, reply| server.answer_about_all(reply, |world| (fixes(world), world.abilities)));
    let Ok((edits, abilities)) = edits.await else { return };
    let files = plural(edits.len(), "file");
    let edit = edits::workspace_edit(edits, abilities.document_changes);
    let (kind, message) = match server.client.apply_edit(edit).await {
        Ok(applied) if applied.applied => (MessageType::Info, format!("fixed {files}")),
        Ok(applied) => {
            let reason = applied.failure_reason.unwrap_or_else(|| "the editor gave no reason".to_owned());
            (MessageType::Error, format!("the fixes were not applied: {reason}"))
        }
        Err(error) => (MessageType::Error, format!("the fixes were not applied: {error}")),
    };
    server.send(move |server| server.show_message(kind, &message));
}
