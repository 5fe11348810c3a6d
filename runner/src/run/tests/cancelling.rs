//! Cancelled runs, and the files that they leave.

use std::{
    fs,
    path::{Path, PathBuf},
};

use speclens_schema::{
    evidence::RunErrorKind,
    format::Dialect,
    mask::Secrets,
    suite::{Case, Subject},
    verdict::Status,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{case, job};
use crate::{
    event::{AbsenceKind, Event, Origin, RunResult},
    recording::{Label, Lookup, Recordings},
    run::{Options, run},
};

/// Number of cancelled runs.
const RUNS: usize = 120;

/// Returns tests whose commands end soon, the third with an output in a separate file.
fn cases() -> Vec<Case> {
    let long = "head -c 100000 /dev/zero | tr '\\0' x";
    let script = |index: usize| if index == 2 { long.to_owned() } else { format!("echo {index}") };
    (0..8).map(|index| case(&format!("c{index}"), &script(index), "")).collect()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn was_cancelled(run: &RunResult) -> bool {
    run.absence.as_ref().is_some_and(|absence| absence.kind == AbsenceKind::RunError(RunErrorKind::Cancelled))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_cancelled_after_any_event_record_what_had_ended_and_nothing_else() {
    let (mut kept, mut lost) = (0, 0);
    for round in 0..RUNS {
        let directory = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        // Coprime to the number of events: each of them is the last one before the end in some round.
        let last = round * 7 % 18;
        if last == 0 {
            cancel.cancel();
        }
        let (sender, mut events) = mpsc::unbounded_channel();
        let running = tokio::spawn(run(job(directory.path(), cases()), Options::default(), cancel.clone(), sender));
        let (mut seen, mut finished) = (0, Vec::new());
        while let Some(event) = events.recv().await {
            seen += 1;
            if seen == last {
                cancel.cancel();
            }
            if let Event::AttemptFinished { case, run } = event {
                finished.push((case, run));
            }
        }
        running.await.unwrap();
        assert_eq!(finished.len(), 8);

        let recordings = Recordings::open(directory.path(), "kindlm.yaml", 1024 * 1024);
        for (case, run) in &finished {
            let label = Label { case: format!("c{case}"), subject: Subject::Command, repeat: 0 };
            let key = run.key.clone().unwrap_or_default();
            match recordings.find(&key, &label) {
                Lookup::Fresh(file) => {
                    assert_eq!((run.status, run.origin), (Status::Pass, Origin::Recorded), "round {round}: {run:?}");
                    let recording =
                        recordings.read(&file.path, Dialect::KINDLM, &std::sync::Arc::new(Secrets::none())).unwrap();
                    assert_eq!(recording.case, label.case);
                    kept += 1;
                }
                Lookup::None => {
                    assert!(was_cancelled(run), "round {round}: {run:?}");
                    lost += 1;
                }
                Lookup::Stale(file) => panic!("round {round}: {file:?}"),
            }
        }
        let drafts: Vec<PathBuf> = files(directory.path());
        let drafts = drafts.iter().filter(|path| path.extension().is_some_and(|extension| extension == "tmp"));
        assert_eq!(drafts.count(), 0, "round {round}");
    }
    assert!(kept > 0 && lost > 0, "{kept} recorded, {lost} cancelled");
}
