//! Decides whether a suite may run, and prepares its jobs. The command line and the editor both use this, so they
//! refuse the same suites and run them under the same settings.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use speclens_runner::{
    clock::Clock,
    event::SuiteResult,
    evidence_store::EvidenceStore,
    exec,
    gateway::Gateway,
    model::Models,
    run::{self, Job, Options},
    trace::{TraceSettings, Traces},
};
use speclens_schema::{
    document::{Encoding, Lines},
    gateway::config::Config,
    mask::Secrets,
    problem::Severity,
    settings::Settings,
    suite::{Suite, TriggerAction},
    words::plural,
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    clawspec::{ReportRequest, Reports},
    trust,
    workspace::{SettingsFile, Workspace},
};

#[derive(Debug)]
pub(crate) struct RunRequest<'a> {
    pub suite: &'a Arc<Suite>,
    pub directory: &'a Path,
    /// The path of its main file relative to that directory.
    pub place: &'a str,
    /// The settings in force, read once for the whole run.
    pub workspace: &'a Workspace,
    pub secrets: Arc<Secrets>,
    pub clock: Clock,
    /// The address of the gateway; overrides settings and the environment.
    pub gateway: Option<&'a str>,
    pub origin: RequestOrigin<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestOrigin<'a> {
    /// The command line, which trusts its user and refuses a suite that has an error.
    Terminal { has_errors: bool },
    /// An editor, which runs a test without errors even if others have some.
    Editor {
        /// A directory that decides what is run and in which the user has not allowed commands to run.
        untrusted: Option<&'a Path>,
    },
}

/// The reason why a suite does not run.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// Its settings have errors, so masking and gates are uncertain.
    Settings(Arc<SettingsFile>),
    Suite,
    /// Commands are not allowed to run in this directory.
    Untrusted(PathBuf),
}

/// A suite that may run.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Its job, as long as nothing is recorded.
    job: Job,
    place: String,
    settings: Arc<Settings>,
}

/// Returns the directories that decide what a run does: those of the suite and of the settings in force, as they are
/// reached and with links resolved.
pub(crate) fn deciding(directory: &Path, place: &str, workspace: &Workspace) -> Vec<PathBuf> {
    let settings = workspace.file.iter().map(|file| file.path.clone());
    let files = settings.chain([directory.join(place)]).flat_map(|path| [path.canonicalize().ok(), Some(path)]);
    let directories = files.flatten().filter_map(|path| path.parent().map(Path::to_owned));
    directories.chain([directory.to_owned()]).collect()
}

pub(crate) fn prepare(request: RunRequest<'_>) -> Result<Prepared, Refusal> {
    if let Some(file) = request.workspace.wrong() {
        return Err(Refusal::Settings(Arc::clone(file)));
    }
    match request.origin {
        RequestOrigin::Terminal { has_errors: true } => return Err(Refusal::Suite),
        RequestOrigin::Editor { untrusted: Some(directory) } => return Err(Refusal::Untrusted(directory.to_owned())),
        RequestOrigin::Terminal { has_errors: false } | RequestOrigin::Editor { untrusted: None } => {}
    }
    let settings = &request.workspace.settings;
    let requests = bounded(request.suite.concurrency, settings);
    let gateway = request.suite.gateway().map(|config| Arc::new(gateway(config, settings, request.gateway)));
    let models = models(settings, requests).in_directory(request.directory);
    let job = Job {
        traces: Arc::new(Traces::new(traces(settings, gateway.as_deref()))),
        models: Arc::new(models.also_with(&request.suite.key_variables(), variable)),
        gateway,
        suite: Arc::clone(request.suite),
        directory: request.directory.to_owned(),
        files: Arc::new(request.workspace.files(request.directory, "")),
        store: Arc::default(),
        secrets: request.secrets,
        clock: request.clock,
        output_limit: settings.limits.output_bytes(),
        stop_repeats: settings.limits.stop_repeats,
    };
    Ok(Prepared { job, place: request.place.to_owned(), settings: Arc::clone(settings) })
}

impl Prepared {
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.job.secrets
    }

    pub(crate) fn reports(&self, asked: ReportRequest<'_>) -> Option<Reports> {
        Reports::of(&self.job, asked)
    }

    pub(crate) fn models(&self) -> &Models {
        &self.job.models
    }

    pub(crate) fn describe(&self, trigger: &TriggerAction, test: &str) -> Vec<String> {
        match &self.job.gateway {
            Some(gateway) => exec::trigger::described(trigger, test, gateway, self.job.clock, &self.job.directory),
            None => Vec::new(),
        }
    }

    pub(crate) fn recording_job(&self) -> Job {
        let store = EvidenceStore::of(&self.settings, &self.job.directory, &self.place, trust::machine);
        self.job(Arc::new(store))
    }

    pub(crate) fn job(&self, store: Arc<EvidenceStore>) -> Job {
        Job { store, ..self.job.clone() }
    }

    pub(crate) async fn results(&self, options: Options, cancel: CancellationToken) -> Arc<SuiteResult> {
        let (events, _) = mpsc::unbounded_channel();
        run::run(self.recording_job(), options, cancel, events).await
    }

    /// Returns the number of concurrent attempts: as requested, else as in the suite, within the limit of the settings.
    pub(crate) fn concurrency(&self, wanted: Option<usize>) -> usize {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        bounded(wanted.unwrap_or_else(|| self.job.suite.attempts_at_once(cores())), &self.settings)
    }
}

pub(crate) fn models(settings: &Arc<Settings>, requests: usize) -> Models {
    Models::new(Arc::clone(settings), requests, variable)
}

pub(crate) fn gateway(config: &Config, settings: &Settings, base_url: Option<&str>) -> Gateway {
    let gateway = Gateway::of(config, variable, base_url);
    match (&settings.gateway.gateway, &settings.directory, base_url) {
        (Some(script), Some(directory), None) => gateway.with_script(directory.join(&**script), script.0.clone()),
        (Some(_) | None, _, _) => gateway,
    }
}

/// Returns the sources of traces under these settings: none without a gateway.
fn traces(settings: &Settings, gateway: Option<&Gateway>) -> TraceSettings {
    let Some(gateway) = gateway else { return TraceSettings::default() };
    let directory = settings.directory.clone().unwrap_or_default();
    let mut sources = settings.gateway.traces.clone();
    if gateway.is_scripted() {
        // Its spans need a receiver; any free port will do.
        sources.port.get_or_insert(0);
    }
    TraceSettings::of(&sources, &gateway.traces, directory, &variable)
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the requested number, but never more than the settings allow.
fn bounded(wanted: usize, settings: &Settings) -> usize {
    settings.limits.concurrency.map_or(wanted, |limit| wanted.min(limit as usize))
}

/// Returns a sentence that no test runs because of the settings, with the first error.
pub(crate) fn settings_sentence(file: &SettingsFile) -> String {
    let errors = || file.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let Some(first) = errors().next() else { return format!("{} has an error", file.path.display()) };
    let line = Lines::new(file.document.text(), Encoding::Utf16).place(first.range.start).line + 1;
    let more = match errors().count() - 1 {
        0 => String::new(),
        count => format!(", and {}", plural(count, "more error")),
    };
    format!("no test runs until line {line} of {} is corrected: {}{more}", file.path.display(), first.message)
}
