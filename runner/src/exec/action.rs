//! The surroundings and the result of an action.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use speclens_schema::{
    evidence::{Context, Evidence, RunError, RunErrorKind},
    suite::{Case, Subject},
};
use tokio_util::sync::CancellationToken;

use super::{Inputs, agent, process};
use crate::{event::Events, job::Job, watch::Watch};

#[derive(Clone, Copy)]
pub(crate) struct ActionContext<'a> {
    pub(crate) job: &'a Job,
    pub(crate) background: &'a process::Background,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) test: &'a Arc<Case>,
    pub(crate) case: usize,
    pub(crate) subject: &'a Subject,
    pub(crate) repeat: u32,
    /// The backend of a task; `None` for other actions.
    pub(crate) backend: Option<agent::AgentBackend<'a>>,
    /// Environment variables that commands of an agent do not see unless the suite sets them.
    pub(crate) hidden: &'a BTreeSet<String>,
    pub(crate) keep: bool,
    pub(crate) version: &'a agent::Version,
    pub(crate) events: &'a Events,
}

#[derive(Debug)]
pub(crate) struct ActionResult {
    pub(crate) attempt: Attempt,
    /// The inputs as they were at the beginning; `None` without inputs.
    pub(crate) inputs: Option<Inputs>,
    pub(crate) site: ActionSite,
}

#[derive(Debug, Default)]
pub(crate) struct ActionSite {
    /// The base directory of relative paths.
    pub(crate) directory: PathBuf,
    pub(crate) environment: process::Environment,
    pub(crate) closing: Option<agent::Closing>,
    pub(crate) watch: Option<Arc<Watch>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub(crate) evidence: Evidence,
    pub(crate) notes: Vec<String>,
}

impl ActionSite {
    /// Returns the directory of the suite with the environment of this program: the site where the act begins, and of
    /// observations before it.
    pub(crate) fn of_suite(job: &Job) -> ActionSite {
        ActionSite { directory: job.directory.clone(), ..ActionSite::default() }
    }

    /// Closes the site once all needs of claims have been observed there: releases the resources of the act and ends
    /// the processes that the attempt left running. Returns error messages.
    pub(crate) async fn close(self, background: &process::Background) -> Vec<String> {
        match self.closing {
            Some(closing) => closing.close(background).await,
            None => {
                background.end().await;
                Vec::new()
            }
        }
    }
}

impl ActionResult {
    pub(crate) fn without_act(attempt: Attempt, job: &Job) -> ActionResult {
        ActionResult { attempt, inputs: None, site: ActionSite::of_suite(job) }
    }
}

impl Attempt {
    pub(crate) fn begun(context: Context) -> Attempt {
        Attempt { evidence: Evidence { context, ..Evidence::default() }, notes: Vec::new() }
    }

    pub(crate) fn with_error(context: Context, kind: RunErrorKind, message: impl Into<String>) -> Attempt {
        let error = Some(RunError { kind, message: message.into() });
        Attempt { evidence: Evidence { context, error, ..Evidence::default() }, notes: Vec::new() }
    }

    /// Returns the attempt that does nothing, because these variables have no value.
    pub(crate) fn without_values(context: Context, names: &[String]) -> Attempt {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("missing template variables: {}; add them to `vars`", names.join(", "));
        Attempt::with_error(context, RunErrorKind::MissingVariable, message)
    }
}
