//! Reports in the form of ClawSpec: one file for each run, in the directory that `clawspec.yaml` names.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use speclens_runner::{
    event::{RunResult, SuiteResult},
    files::DiskFiles,
    report::clawspec::{self, DAY_LENGTH, Subject, Times, last_step, slug},
};
use speclens_schema::{
    dialect::{
        Dialect,
        clawspec::{config::Config, lower},
    },
    evidence::{Evidence, Only},
    files::Files,
    suite::{Action, Case},
};

use super::targets::{ReportKind, ReportTarget};
use crate::cli::{
    load::{Loaded, shown},
    output,
};

/// The variable that names the directory of reports.
const VARIABLE: &str = "CLAWSPEC_REPORT_DIR";

/// The directory of reports where nothing names another.
const DEFAULT: &str = "reports";

/// Writes the reports of what was run, and says where. Nothing is written unless the settings, the environment or the command
/// line ask for reports.
pub(super) fn write(loaded: &Loaded, result: &SuiteResult, targets: &[ReportTarget], now: &str) -> anyhow::Result<()> {
    if loaded.report.suite.dialect != Dialect::ClawSpec {
        return Ok(());
    }
    let files = loaded.workspace.files(&loaded.directory, &loaded.place);
    let settings = lower::settings(&files);
    let Some(directory) = directory(&loaded.directory, &settings, targets) else { return Ok(()) };
    let contract = loaded.directory.join(&loaded.place).display().to_string();
    let mut written = 0;
    for case in &result.cases {
        let of = &loaded.report.suite.cases[case.case];
        let Some(subject) = subject_of(of, &files, &settings) else { continue };
        for run in case.runs.iter().filter(|run| clawspec::is_reported(of, run)) {
            let is_whole = |evidence: &Arc<Evidence>| evidence.only != Some(Only::Preconditions);
            let Some(evidence) = run.evidence.get().filter(is_whole) else { continue };
            let report = Report { subject: &subject, case: of, run, evidence: &evidence, contract: &contract, now };
            report.write(&directory)?;
            written += 1;
        }
    }
    match written {
        0 => {}
        1 => output::remark(&format!("wrote 1 report to {}", shown(&directory))),
        count => output::remark(&format!("wrote {count} reports to {}", shown(&directory))),
    }
    Ok(())
}

/// The directory that reports go to: as the command line says, else the environment, else the settings. Where only the
/// command line asks for them, it may leave the directory to the default.
fn directory(root: &Path, settings: &Config, targets: &[ReportTarget]) -> Option<PathBuf> {
    let target = targets.iter().find(|target| target.kind == ReportKind::ClawSpec);
    if let Some(directory) = target.and_then(|target| target.file.clone()) {
        return Some(directory);
    }
    let named = env::var(VARIABLE).ok().filter(|directory| !directory.is_empty());
    let named = named.or_else(|| settings.report_dir.as_ref().map(|directory| directory.to_string()));
    named.or_else(|| target.map(|_| DEFAULT.to_owned())).map(|directory| root.join(directory))
}

/// What reports of a case are about. Where several targets end in the same name, the whole path tells them apart.
fn subject_of(case: &Case, files: &DiskFiles, settings: &Config) -> Option<Subject> {
    let subject = Subject::of(case)?;
    let Action::Trigger(trigger) = &case.action else { return Some(subject) };
    let target = trigger.target.trim_matches('/');
    let is_shared = subject.workflow == last_step(target)
        && settings.scenario_patterns().iter().flat_map(|pattern| files.glob(pattern).paths).any(|contract| {
            let other = contract.split("/tests/").next().unwrap_or_default();
            other != target && last_step(other) == subject.workflow
        });
    Some(if is_shared { Subject { workflow: slug(target), ..subject } } else { subject })
}

/// A report that is about to be written.
struct Report<'r> {
    subject: &'r Subject,
    case: &'r Case,
    run: &'r RunResult,
    evidence: &'r Evidence,
    contract: &'r str,
    /// RFC 3339 in UTC.
    now: &'r str,
}

impl Report<'_> {
    /// Writes it under the next free number.
    fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let cannot = || format!("cannot write a report to {}", directory.display());
        fs::create_dir_all(directory).with_context(cannot)?;
        let names = fs::read_dir(directory).with_context(cannot)?.filter_map(Result::ok);
        let numbers = names.filter_map(|entry| self.subject.number_in(entry.file_name().to_str()?));
        let mut number = numbers.max().unwrap_or(0) + 1;
        loop {
            let day = self.now.get(..DAY_LENGTH).unwrap_or_default();
            let path = directory.join(format!("{day}-{}-r{number}.yaml", self.subject.file_stem()));
            match output::create_whole(&path, &self.text(number)) {
                // Another run was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                result => return result.with_context(|| format!("cannot write {}", path.display())),
            }
        }
    }

    fn text(&self, number: u64) -> String {
        let (started_at, completed_at) = (whole_seconds(&self.evidence.context.started), whole_seconds(self.now));
        let times = Times { started_at: &started_at, completed_at: &completed_at };
        clawspec::render(self.subject, number, self.case, self.run, self.evidence, times, self.contract)
    }
}

/// A time without parts of seconds.
fn whole_seconds(time: &str) -> String {
    time.split_once('.').map_or_else(|| time.to_owned(), |(seconds, _)| format!("{seconds}Z"))
}
