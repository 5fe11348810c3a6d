//! Observations before and after the act, and the data that observers see.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use speclens_schema::{
    act::Act,
    document::Pointer,
    evidence::{Answer, Context, Evidence, FilesNeed, Need, ObservationTime, PathState, RunErrorKind},
    format::Dialect,
    mask::Secrets,
    suite::{Case, Claim, Phase},
    verdict::{Check, Mismatch, Outcome, Status, Verdict},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Ran, case, job, recorded, run_in, run_job, statuses, with_timeout};
use crate::{
    event::{AbsenceKind, Event, RunResult, StoredEvidence},
    model::tests::loopback::Loopback,
    run::{Job, Options, run},
};

/// Asks for something, and is judged by all observations.
#[derive(Clone, Debug)]
struct Asks {
    needs: Vec<Need>,
    judge: fn(Act<'_>) -> Outcome,
    /// Everything that it was ever shown.
    shown: Arc<Mutex<String>>,
}

impl Check for Asks {
    fn needs(&self, _: &Context) -> Vec<Need> {
        self.needs.clone()
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        self.shown.lock().unwrap().push_str(&format!("{act:?}"));
        vec![Verdict::of("asks", "", (self.judge)(act))]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

fn asks(needs: impl IntoIterator<Item = Need>, judge: fn(Act<'_>) -> Outcome) -> Asks {
    Asks { needs: needs.into_iter().collect(), judge, shown: Arc::default() }
}

fn fails(_: Act<'_>) -> Outcome {
    Outcome::Fail(Mismatch::default())
}

fn claim(phase: Phase, check: &Asks) -> Claim {
    Claim { at: Pointer::root(), phase: Some(phase), check: Arc::new(check.clone()) }
}

fn with_claims(case: Case, given: &[Asks], then: &[Asks]) -> Case {
    let given = given.iter().map(|check| claim(Phase::Given, check));
    let then = then.iter().map(|check| claim(Phase::Then, check));
    Case { claims: given.chain(then).collect(), ..case }
}

fn file(pattern: &str, moment: ObservationTime) -> Need {
    Need::Files(FilesNeed { pattern: pattern.to_owned(), moment, content: true, ..FilesNeed::default() })
}

fn path(path: &str) -> Need {
    Need::Path { path: path.to_owned(), content: true }
}

fn command(run: &str) -> Need {
    Need::Command { run: run.to_owned(), timeout_ms: 20_000 }
}

fn words(evidence: &Evidence) -> Vec<String> {
    let word = |answer: &Answer| match answer {
        Answer::Files(found) => format!("{} files", found.files.len()),
        Answer::Path(PathState::File { .. }) => "a file".to_owned(),
        Answer::Path(PathState::Missing { .. }) => "missing".to_owned(),
        Answer::Command(ran) => ran.stdout.as_ref().unwrap().text.trim().to_owned(),
        other => format!("{other:?}"),
    };
    evidence.observations.iter().map(|it| word(&it.answer)).collect()
}

fn evidence_of(run: &RunResult) -> Arc<Evidence> {
    run.evidence.get().unwrap()
}

/// Fails if a file existed before the act.
fn was_absent(act: Act<'_>) -> Outcome {
    let files = act.observations().iter().find_map(|it| match (&it.need, &it.answer) {
        (Need::Files(need), Answer::Files(found)) if need.moment == ObservationTime::Before => Some(found.files.len()),
        _ => None,
    });
    match files {
        None => Outcome::Unknown("not observed".to_owned()),
        Some(0) => Outcome::Pass,
        Some(_) => Outcome::Fail(Mismatch::default()),
    }
}

#[tokio::test]
async fn needs_are_observed_before_and_after_the_act_in_the_order_of_the_claims() {
    let directory = tempfile::tempdir().unwrap();
    let given = asks([file("marker", ObservationTime::Before)], was_absent);
    let then = [
        asks([file("marker", ObservationTime::After), path("x")], |_| Outcome::Pass),
        asks([command("touch x; echo first")], |_| Outcome::Pass),
        asks([path("x"), file("marker", ObservationTime::Before)], |_| Outcome::Pass),
        asks([command("rm x; echo second"), path("x")], |_| Outcome::Pass),
        asks([path("x")], |_| Outcome::Pass),
    ];
    // The command does not name the file: a named file would be an input.
    let case = with_claims(case("a", "touch mar$(printf ker)", ""), &[given], &then);
    let live = run_in(directory.path(), vec![case.clone()], Options::default()).await;
    assert_eq!(statuses(&live), [Status::Pass]);
    let evidence = evidence_of(&live.result.cases[0].runs[0]);
    assert_eq!(words(&evidence), ["0 files", "1 files", "missing", "first", "a file", "second", "missing"]);
    let replayed = run_in(directory.path(), vec![case], recorded()).await;
    assert_eq!(evidence_of(&replayed.result.cases[0].runs[0]), evidence);
}

#[tokio::test]
async fn failed_precondition_prevents_act_and_replay_agrees() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("old"), "").unwrap();
    let cases = || {
        let given = [
            asks([file("old", ObservationTime::Before)], was_absent),
            asks([file("other", ObservationTime::Before)], |_| Outcome::Pass),
        ];
        let then = [asks([command("touch observed")], |_| Outcome::Pass), asks([], fails)];
        vec![with_claims(case("a", "touch acted", ""), &given, &then)]
    };
    let live = run_in(directory.path(), cases(), Options::default()).await;
    let replayed = run_in(directory.path(), cases(), recorded()).await;
    for ran in [live, replayed] {
        let run = &ran.result.cases[0].runs[0];
        let outcomes: Vec<Status> = run.verdicts.iter().map(|it| it.verdict.outcome.status()).collect();
        assert_eq!((run.status, &run.absence), (Status::Fail, &None));
        assert_eq!(outcomes, [Status::Fail, Status::Pass, Status::Skip, Status::Skip]);
        let evidence = evidence_of(run);
        assert_eq!((evidence.ended, words(&evidence)), (None, vec!["1 files".to_owned(), "0 files".to_owned()]));
        assert!(!evidence.context.started.is_empty());
    }
    for name in ["acted", "observed"] {
        assert!(!directory.path().join(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn precondition_that_is_not_known_keeps_nothing_from_happening() {
    let directory = tempfile::tempdir().unwrap();
    let given = asks([], |_| Outcome::Unknown("not observed".to_owned()));
    let ran =
        run_in(directory.path(), vec![with_claims(case("a", "touch acted", ""), &[given], &[])], Options::default());
    assert_eq!(statuses(&ran.await), [Status::Unknown]);
    assert!(directory.path().join("acted").exists());
}

#[tokio::test]
async fn act_with_an_error_is_not_observed() {
    let directory = tempfile::tempdir().unwrap();
    let then = asks([command("touch observed")], |_| Outcome::Pass);
    let case = with_timeout(with_claims(case("a", "sleep 60", ""), &[], &[then]), 100);
    let ran = run_in(directory.path(), vec![case], Options::default()).await;
    assert_eq!(statuses(&ran), [Status::Error]);
    assert!(!directory.path().join("observed").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_that_is_cancelled_while_it_waits_ends_and_records_nothing() {
    for moment in [ObservationTime::Before, ObservationTime::After] {
        let directory = tempfile::tempdir().unwrap();
        let wait = FilesNeed { pattern: "never".to_owned(), moment, wait_ms: 3_600_000, ..FilesNeed::default() };
        let check = asks([Need::Files(wait)], |_| Outcome::Pass);
        let (given, then) = match moment {
            ObservationTime::Before => (vec![check], Vec::new()),
            ObservationTime::After => (Vec::new(), vec![check]),
        };
        let case = with_claims(case("a", "touch acted", ""), &given, &then);
        let cancel = CancellationToken::new();
        let (sender, mut events) = mpsc::unbounded_channel();
        let job = job(directory.path(), vec![case]);
        let running = tokio::spawn(run(job, Options::default(), cancel.clone(), sender));
        loop {
            let begun = match moment {
                ObservationTime::Before => matches!(events.try_recv(), Ok(Event::AttemptStarted { .. })),
                ObservationTime::After => directory.path().join("acted").exists(),
            };
            if begun {
                break;
            }
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        let result = running.await.unwrap();
        let absence = result.cases[0].runs[0].absence.as_ref().unwrap();
        assert_eq!(absence.kind, AbsenceKind::RunError(RunErrorKind::Cancelled));
        assert_eq!(result.cases[0].status, Status::Unknown);
        assert_eq!(directory.path().join("acted").exists(), moment == ObservationTime::After);
        assert!(!directory.path().join(".speclens").exists());
    }
}

const SECRET: &str = "abcd1234-efgh5678";

fn written(directory: &Path) -> String {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| {
        let name = path.display().to_string();
        let held = if path.is_dir() { written(&path) } else { fs::read_to_string(&path).unwrap() };
        format!("{name}\n{held}\n")
    };
    entries.map(text).collect()
}

#[tokio::test]
async fn no_claim_recording_or_result_shows_a_secret_that_was_observed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::create_dir(root.join("files")).unwrap();
    fs::write(root.join("files/before"), format!("key {SECRET}")).unwrap();
    fs::write(root.join(format!("files/{SECRET}")), format!("{SECRET}\n{}", "x".repeat(100_000))).unwrap();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{SECRET}", SECRET.len());
    let url = format!("http://{}/{SECRET}", Loopback::saying(answer).await.host);
    let response = Need::Response(speclens_schema::evidence::ResponseNeed {
        address: speclens_schema::evidence::Address::Url(url),
        moment: ObservationTime::After,
    });
    let files = |moment| {
        let pattern = "files/*".to_owned();
        Need::Files(FilesNeed { pattern, moment, wildcards: true, content: true, ..FilesNeed::default() })
    };
    let given = asks([files(ObservationTime::Before)], |_| Outcome::Pass);
    let then = asks(
        [
            files(ObservationTime::After),
            path("files/before"),
            path("files/missing"),
            command("cat files/before; cat files/before >&2; exit 1"),
            command(&format!("echo {SECRET}")),
            response,
            path(&format!("files/{SECRET}")),
        ],
        |evidence| Outcome::Fail(Mismatch { actual: format!("{evidence:?}"), ..Mismatch::default() }),
    );
    let (shown_before, shown_after) = (Arc::clone(&given.shown), Arc::clone(&then.shown));
    let case = with_claims(case("a", &format!("echo {SECRET}"), ""), &[given], &[then]);
    let job = Job { secrets: Arc::new(Secrets::new([("API_KEY", SECRET)], &[], &[])), ..job(root, vec![case]) };
    let Ran { result, .. } = run_job(job, Options::default()).await;
    let evidence = evidence_of(&result.cases[0].runs[0]);
    assert_eq!(evidence.observations.len(), 8, "{:?}", evidence.observations);
    assert!(!evidence.observations.iter().any(|it| matches!(it.answer, Answer::Nothing(_))), "{evidence:?}");
    let run = &result.cases[0].runs[0];
    let shown_result = format!("{:?} {:?} {:?}", run.verdicts, run.notes, run.absence);
    let shown = [shown_before.lock().unwrap().clone(), shown_after.lock().unwrap().clone()];
    let recorded = written(&root.join(".speclens"));
    for (place, text) in [
        ("preconditions", shown[0].as_str()),
        ("claims", &shown[1]),
        ("result", &shown_result),
        ("evidence", &format!("{evidence:?}")),
        ("recording", &recorded),
    ] {
        assert!(!text.contains(SECRET), "{place}: {text}");
        assert!(text.contains("*****"), "{place} has nothing that was masked: {text}");
    }
}

#[tokio::test]
async fn large_observations_leave_memory_once_they_are_recorded() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("large"), "x".repeat(200_000)).unwrap();
    let then = asks([path("large")], |_| Outcome::Pass);
    let ran =
        run_in(directory.path(), vec![with_claims(case("a", "true", ""), &[], &[then])], Options::default()).await;
    let run = &ran.result.cases[0].runs[0];
    assert!(matches!(run.evidence, StoredEvidence::Disk(_)), "{:?}", run.evidence);
    assert!(format!("{:?}", evidence_of(run)).len() > 200_000);
}

#[tokio::test]
async fn background_processes_of_independent_tests_are_observed_and_end_with_their_attempt() {
    let leaves = "sleep 60 > log 2>&1 & echo $! > pid";
    // A process that has ended and was not reaped is not running.
    let look = "state=$(ps -o stat= -p $(cat pid)); case $state in ''|Z*) echo gone;; *) echo alive;; esac";
    for (dialect, later) in [(Dialect::CLI_BENCH, "gone\n"), (Dialect::KINDLM, "alive\n")] {
        let directory = tempfile::tempdir().unwrap();
        let then = asks([command(look), command("sleep 61 > log 2>&1 & echo $! > observer")], |_| Outcome::Pass);
        let cases = vec![
            with_claims(case("leaves", leaves, ""), &[], &[then]),
            case("looks", look, ""),
            case("looks at the observer's", &look.replace("pid", "observer"), ""),
        ];
        let mut job = job(directory.path(), cases);
        Arc::make_mut(&mut job.suite).dialect = dialect;
        let Ran { result, .. } = run_job(job, Options { concurrency: Some(1), ..Options::default() }).await;
        let evidence = |case: usize| evidence_of(&result.cases[case].runs[0]);
        assert_eq!(words(&evidence(0))[0], "alive", "{dialect:?}");
        assert_eq!(evidence(1).stdout().unwrap().text, later, "{dialect:?}");
        assert_eq!(evidence(2).stdout().unwrap().text, "gone\n", "{dialect:?}");
        let note = &result.cases[0].runs[0].notes[0];
        let end = if dialect.keeps_background() { "the run of the suite ends" } else { "the test ends" };
        assert!(note.ends_with(end), "{note}");
    }
}

/// Panics when it is asked for its needs.
#[derive(Debug)]
struct Panics;

impl Check for Panics {
    fn needs(&self, _: &Context) -> Vec<Need> {
        panic!("this claim panics")
    }

    fn check(&self, _: Act<'_>) -> Vec<Verdict> {
        Vec::new()
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

#[tokio::test]
async fn claim_that_panics_about_its_needs_affects_only_its_test() {
    let directory = tempfile::tempdir().unwrap();
    let panicking = Claim { at: Pointer::root(), phase: None, check: Arc::new(Panics) };
    let cases = vec![Case { claims: vec![panicking], ..case("panics", "true", "") }, case("sound", "echo a", "a")];
    let options = Options { concurrency: Some(1), ..Options::default() };
    let ran = run_in(directory.path(), cases, options).await;
    assert_eq!(statuses(&ran), [Status::Error, Status::Pass]);
}
