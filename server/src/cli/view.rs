//! `speclens view`: the report of recorded runs in a browser, made anew when a file or a recording changes.

use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use ignore::WalkBuilder;
use rustix::fs::FileType;
use speclens_runner::{
    clock::Clock,
    live_page::LivePage,
    recording::DIRECTORY,
    report::{SuiteReport, html},
    run::{Mode, Options},
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{
    PASSED,
    discover::Wanted,
    levels::Levels,
    load::{self, Load},
    output, run, select,
};
use crate::threads;

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of files and directories of a suite that are looked at.
const MAX_ENTRIES: usize = 5_000;

/// The options of `speclens view`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    #[command(flatten)]
    select: select::Selection,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let clock = Clock::from_environment()?;
    let runtime = threads::runtime()?;
    let cancel = CancellationToken::new();
    run::end_with(&runtime, &cancel);
    end_with_input(&cancel)?;
    let live_page = runtime.block_on(LivePage::open())?;
    let mut directories = directories(&args.paths);
    let mut seen = None;
    while !cancel.is_cancelled() {
        let files = fingerprint(&directories);
        if seen == Some(files) {
            runtime.block_on(async { cancel.run_until_cancelled(tokio::time::sleep(INTERVAL)).await });
            continue;
        }
        let recorded = match recorded(args, clock, &runtime, &cancel) {
            // A selected test may be absent for a moment.
            Err(error) if seen.is_some() => Recorded { failures: vec![format!("{error:#}")], ..Recorded::default() },
            recorded => recorded?,
        };
        let Recorded { reports, failures, of_suites } = recorded;
        live_page.show(|version| html::run(&reports, &failures, &clock.now(), Some(version)));
        if seen.is_none() {
            output::print(&format!("{}\n", live_page.address))?;
            output::note("the page follows the files and the recordings; press Ctrl+C to end it");
        }
        // Of directories that were not known before, the state after reading them is all there is.
        let is_known = of_suites.is_subset(&directories);
        directories.extend(of_suites);
        seen = Some(if is_known { files } else { fingerprint(&directories) });
    }
    // The end of the process ends its threads and its connections.
    std::mem::forget(runtime);
    Ok(PASSED)
}

/// Ends the program when a pipe on its standard input is closed: then the program that started it has ended.
fn end_with_input(cancel: &CancellationToken) -> anyhow::Result<()> {
    let kind = rustix::fs::fstat(std::io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    // Some programs start others with sockets in place of pipes.
    let is_pipe = kind.is_ok_and(|kind| matches!(kind, FileType::Fifo | FileType::Socket));
    if is_pipe {
        let cancel = cancel.clone();
        threads::start("input", move || {
            let mut bytes = [0; 1024];
            while std::io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
            cancel.cancel();
        })?;
    }
    Ok(())
}

/// The suites with the results of their recorded runs.
#[derive(Default)]
struct Recorded {
    reports: Vec<SuiteReport>,
    failures: Vec<String>,
    of_suites: BTreeSet<PathBuf>,
}

fn recorded(args: &Args, clock: Clock, runtime: &Runtime, cancel: &CancellationToken) -> anyhow::Result<Recorded> {
    let levels = Levels::default();
    let Load { mut suites, failures, .. } = load::suites(&args.paths, Wanted::Suites, &levels);
    load::look_at_parts(&mut suites, &[], &levels);
    let of_suites = suites.iter().map(|loaded| real(&loaded.directory)).collect();
    let chosen = args.select.cases(&suites)?;
    let mut reports = Vec::new();
    for (loaded, cases) in suites.into_iter().zip(chosen) {
        if !args.select.is_empty() && cases.is_empty() {
            continue;
        }
        let result = loaded.prepare(&loaded.report.suite, clock, None).ok().map(|prepared| {
            let options = Options { mode: Mode::Recorded, cases: Some(cases), ..Options::default() };
            runtime.block_on(prepared.results(options, cancel.clone()))
        });
        reports.push(SuiteReport { result, ..loaded.report });
    }
    let failures = failures.iter().map(|error| format!("{error:#}")).collect();
    Ok(Recorded { reports, failures, of_suites })
}

/// Returns the directories of what the command line names.
fn directories(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let directory = |path: &PathBuf| match (path.is_dir(), path.parent()) {
        (false, Some(parent)) if !parent.as_os_str().is_empty() => real(parent),
        (false, _) => real(Path::new(".")),
        (true, _) => real(path),
    };
    if paths.is_empty() { BTreeSet::from([real(Path::new("."))]) } else { paths.iter().map(directory).collect() }
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns a number that changes with the files in these directories, and with the recordings there.
fn fingerprint(directories: &BTreeSet<PathBuf>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut add = |path: &Path| {
        if let Ok(metadata) = fs::metadata(path) {
            (path, metadata.len(), metadata.modified().ok()).hash(&mut hasher);
        }
    };
    let is_outermost = |directory: &&PathBuf| !directory.ancestors().skip(1).any(|above| directories.contains(above));
    for directory in directories.iter().filter(is_outermost) {
        let entries = WalkBuilder::new(directory).build().flatten().take(MAX_ENTRIES);
        for entry in entries {
            add(entry.path());
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                add(&entry.path().join(DIRECTORY).join("recordings"));
            }
        }
        // Settings may be in a directory above.
        directory.ancestors().skip(1).for_each(|above| add(&above.join("speclens.yaml")));
    }
    hasher.finish()
}
