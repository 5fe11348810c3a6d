//! Reports in the form of ClawSpec: one file for each run, in the directory that `clawspec.yaml` names.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, ensure};
use speclens_runner::{
    event::RunResult,
    files::{DiskFiles, lexical},
    report::clawspec::{self, DAY_LENGTH, Report, Subject, last_step},
    run::Job,
    write::{self, Readers},
};
use speclens_schema::{
    evidence::{Evidence, PartialRun},
    files::Files,
    format::Dialect,
    gateway::config::Config,
    gateway::workspace,
    judge::Judged,
    suite::{Action, Case},
    words::slug,
};

const VARIABLE: &str = "CLAWSPEC_REPORT_DIR";

const DEFAULT: &str = "reports";

#[derive(Clone, Copy, Debug)]
pub(crate) enum ReportRequest<'a> {
    /// Only the settings and the environment: nothing is written unless they name a directory.
    BySettings,
    /// The user, without a directory: the settings, the environment or the default decide.
    Anywhere,
    /// The user, in this directory.
    In(&'a Path),
}

#[derive(Debug)]
pub(crate) struct Reports {
    job: Job,
    settings: Config,
    directory: PathBuf,
    /// Whether `clawspec.yaml` chose it: then it must be in the workspace.
    is_confined: bool,
}

impl Reports {
    /// Returns the writer of a suite's reports; `None` if no reports are wanted or the suite is not a ClawSpec suite.
    pub(crate) fn of(job: &Job, asked: ReportRequest<'_>) -> Option<Reports> {
        if job.suite.dialect != Dialect::CLAWSPEC {
            return None;
        }
        let (settings, root) = (workspace::settings(&*job.files), &job.directory);
        let of_user = env::var(VARIABLE).ok().filter(|directory| !directory.is_empty());
        let is_confined = of_user.is_none() && !matches!(asked, ReportRequest::In(_));
        let named = of_user.or_else(|| settings.report_dir.as_ref().map(|directory| directory.to_string()));
        let directory = match asked {
            ReportRequest::BySettings => root.join(named?),
            ReportRequest::Anywhere => root.join(named.as_deref().unwrap_or(DEFAULT)),
            ReportRequest::In(directory) => directory.to_owned(),
        };
        Some(Reports { job: job.clone(), settings, directory, is_confined })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the report of a run and of each handoff in it. Returns how many it wrote: 0 if ClawSpec would write none.
    /// `now` is RFC 3339 in UTC.
    pub(crate) fn write(&self, case: usize, run: &RunResult, now: &str) -> anyhow::Result<usize> {
        let case = &self.job.suite.cases[case];
        let (Some(subject), Action::Trigger(trigger)) = (self.subject_of(case), &case.action) else { return Ok(0) };
        let is_whole = |evidence: &Arc<Evidence>| evidence.only != Some(PartialRun::Preconditions);
        let evidence = run.evidence.get().filter(is_whole);
        let Some(evidence) = evidence.filter(|_| clawspec::is_reported(case, run)) else { return Ok(0) };
        let all: Vec<&Judged> = run.verdicts.iter().collect();
        let handovers = clawspec::handovers(case, run).into_iter();
        let handovers =
            handovers.map(|(handover, results)| (Subject::of_handover(handover), handover.contract.as_str(), results));
        self.confine()?;
        let parts: Vec<_> = handovers.chain([(subject, trigger.contract.as_str(), all)]).collect();
        let count = parts.len();
        for (subject, contract, results) in parts {
            let contract = self.job.directory.join(contract).display().to_string();
            let completed_at = clawspec::whole_seconds(now);
            write(&Report { subject, contract, case, results, evidence: &evidence, completed_at }, &self.directory)?;
        }
        Ok(count)
    }

    /// Refuses a directory that the suite chose outside of its workspace, also through links.
    fn confine(&self) -> anyhow::Result<()> {
        if !self.is_confined {
            return Ok(());
        }
        let directory = lexical(&self.directory);
        let existing = directory.ancestors().find_map(|directory| directory.canonicalize().ok());
        let is_inside = directory.starts_with(lexical(&self.job.directory))
            && existing
                .zip(self.job.directory.canonicalize().ok())
                .is_some_and(|(existing, root)| existing.starts_with(root));
        ensure!(
            is_inside,
            "no report was written, because `report_dir` in `clawspec.yaml` is outside the workspace; name a directory in \
             it, or set {VARIABLE}"
        );
        Ok(())
    }

    /// Returns the subject of the reports of a case. If several targets end in the same name, the whole path
    /// distinguishes them.
    fn subject_of(&self, case: &Case) -> Option<Subject> {
        let subject = Subject::of(case)?;
        let Action::Trigger(trigger) = &case.action else { return Some(subject) };
        let target = trigger.target.trim_matches('/');
        let patterns = || self.settings.scenario_patterns(self.job.files.scenario_patterns());
        let is_shared = subject.workflow == last_step(target)
            && patterns().iter().flat_map(|pattern| self.job.files.glob(pattern).paths).any(|contract| {
                let other = contract.split("/tests/").next().unwrap_or_default();
                other != target && last_step(other) == subject.workflow
            });
        Some(if is_shared { Subject { workflow: slug(target), ..subject } } else { subject })
    }
}

fn write(report: &Report<'_>, directory: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot write a report to {}", directory.display());
    fs::create_dir_all(directory).with_context(cannot)?;
    let names = fs::read_dir(directory).with_context(cannot)?.filter_map(Result::ok);
    let numbers = names.filter_map(|entry| report.subject.number_in(entry.file_name().to_str()?));
    let mut number = numbers.max().unwrap_or(0) + 1;
    loop {
        let day = report.completed_at.get(..DAY_LENGTH).unwrap_or_default();
        let path = directory.join(format!("{day}-{}-r{number}.yaml", report.subject.file_stem()));
        match write::create(&path, report.text(number), Readers::Usual) {
            // Another run has just created this file.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            result => return result.with_context(|| format!("cannot write {}", path.display())),
        }
    }
}

#[derive(Debug)]
pub(super) struct ClawSpecWorkspace {
    /// The directory of `clawspec.yaml`; without that file, the directory where the search began.
    pub(super) root: PathBuf,
    pub(super) settings: Config,
}

impl ClawSpecWorkspace {
    pub(super) fn around(start: &Path) -> anyhow::Result<ClawSpecWorkspace> {
        let start = fs::canonicalize(start).with_context(|| format!("cannot read `{}`", start.display()))?;
        let has_settings = |directory: &&Path| directory.join(Config::FILE).is_file();
        let root = start.ancestors().find(has_settings).unwrap_or(&start).to_owned();
        let settings = workspace::settings(&DiskFiles::new(&root, Config::FILE));
        Ok(ClawSpecWorkspace { root, settings })
    }

    pub(super) fn here() -> anyhow::Result<ClawSpecWorkspace> {
        ClawSpecWorkspace::around(&env::current_dir().context("cannot read the working directory")?)
    }

    /// Returns the path in force: from the environment, else from the file, else the default. It is relative to the
    /// root.
    pub(super) fn path(&self, variable: &str, written: Option<&str>, default: &str) -> PathBuf {
        let named = env::var(variable).ok().filter(|path| !path.is_empty());
        self.root.join(named.as_deref().or(written).unwrap_or(default))
    }
}
