//! Repeats that are omitted because the threshold of their model is decided.

use std::{fs, path::Path};

use proptest::prelude::*;
use speclens_schema::{
    evidence::RunErrorKind,
    gates::CaseOutcome,
    suite::{Case, Suite},
    verdict::Status,
};

use super::{
    super::{
        left_out,
        plan::{Unit, plan},
        stop_repeats::AllAttempts,
    },
    Job, Options, Ran,
    agents::{Acts, job_of, runs},
    recorded, run_job,
};
use crate::{
    event::{AbsenceKind, RunResult, measured},
    evidence_store::AttemptRef,
};

const MODEL: &str = "a/b";

/// Returns a suite with two tasks that read a file outside their directories.
fn suite(directory: &Path, repeat: u32, threshold: u32, wanted: &str) -> String {
    let directory = directory.display();
    format!(
        "cli: sh\nproviders: [a/b]\nrepeat: {repeat}\nthresholds: {{ default: {threshold} }}\ntasks:\n\
         - id: one\n  intent: Look\n  assert: [{{ output_contains: {wanted} }}]\n\
         - id: two\n  intent: Look again\n  assert: [{{ output_contains: {wanted} }}]\n\
         env: {{ FOUND: '{directory}/found' }}\n"
    )
}

fn look(_: &str) -> Vec<String> {
    vec!["cat \"$FOUND\"".to_owned()]
}

async fn run_as(directory: &Path, text: &str, stop_repeats: bool, options: Options) -> Ran {
    let job = job_of(directory, text, &[(MODEL, Acts::new(look))]);
    run_job(Job { stop_repeats, ..job }, options).await
}

/// Returns the statuses of the attempts; `None` where one was omitted.
fn attempts(ran: &Ran) -> Vec<Option<Status>> {
    runs(ran).into_iter().map(|run| (!run.is_left_out()).then_some(run.status)).collect()
}

fn gate(ran: &Ran) -> (Status, &str) {
    let gate = &ran.result.gates.gates[0];
    (gate.status, &gate.message)
}

fn place(found: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("found"), found).unwrap();
    directory
}

const PASS: Option<Status> = Some(Status::Pass);
const FAIL: Option<Status> = Some(Status::Fail);

#[tokio::test]
async fn repeats_stop_when_threshold_is_met_and_replay_says_the_same() {
    let place = place("yes");
    let text = suite(place.path(), 4, 50, "yes");
    let live = run_as(place.path(), &text, true, Options { concurrency: Some(1), ..Options::default() }).await;
    assert_eq!(attempts(&live), [PASS, PASS, None, None, PASS, PASS, None, None]);
    let message =
        "a/b: pass rate 100% meets the threshold of 50% (after 4 of 8 attempts; the others could not change this)";
    assert_eq!(gate(&live), (Status::Pass, message));
    let replay = run_as(place.path(), &text, true, recorded()).await;
    assert_eq!((attempts(&replay), gate(&replay)), (attempts(&live), gate(&live)));
    assert_eq!((replay.result.failed, replay.result.inconclusive), (false, false));
    let finished_runs: Vec<_> = replay.events.iter().filter_map(finished).collect();
    assert_eq!(finished_runs.iter().filter(|run| run.is_decided()).count(), 4, "{finished_runs:?}");
    let part = Options { cases: Some([1].into()), ..recorded() };
    let replay = run_as(place.path(), &text, true, part).await;
    assert_eq!(attempts(&replay), [PASS, PASS, None, None], "the whole suite decides");
}

fn finished(event: &crate::event::Event) -> Option<&RunResult> {
    use crate::event::Event;
    match event {
        Event::AttemptFinished { run, .. } => Some(run),
        Event::Started { .. }
        | Event::AttemptStarted { .. }
        | Event::Waiting { .. }
        | Event::TurnStarted { .. }
        | Event::Note { .. }
        | Event::Finished(_) => None,
    }
}

#[tokio::test]
async fn repeats_stop_when_threshold_is_out_of_reach() {
    let place = place("no");
    let text = suite(place.path(), 4, 80, "yes");
    let live = run_as(place.path(), &text, true, Options { concurrency: Some(1), ..Options::default() }).await;
    assert_eq!(attempts(&live), [FAIL, None, None, None, FAIL, None, None, None]);
    assert_eq!(gate(&live).0, Status::Fail);
    let replay = run_as(place.path(), &text, true, recorded()).await;
    assert_eq!((attempts(&replay), gate(&replay)), (attempts(&live), gate(&live)));
}

#[tokio::test]
async fn recordings_of_an_earlier_run_do_not_replace_attempts_that_a_later_one_omitted() {
    let place = place("no");
    let text = suite(place.path(), 4, 50, "yes");
    let all = run_as(place.path(), &text, false, Options::default()).await;
    assert_eq!(attempts(&all), [FAIL; 8], "without the setting every attempt is made");
    fs::write(place.path().join("found"), "yes").unwrap();
    let live = run_as(place.path(), &text, true, Options { concurrency: Some(1), ..Options::default() }).await;
    assert_eq!(attempts(&live), [PASS, PASS, None, None, PASS, PASS, None, None]);
    let replay = run_as(place.path(), &text, true, recorded()).await;
    assert_eq!((attempts(&replay), gate(&replay)), (attempts(&live), gate(&live)));
    // If more of them are needed now, they count.
    let stricter = run_as(place.path(), &suite(place.path(), 4, 75, "yes"), true, recorded()).await;
    assert_eq!(attempts(&stricter), [PASS, PASS, FAIL, FAIL, PASS, PASS, FAIL, FAIL]);
    assert_eq!(gate(&stricter).0, Status::Fail);
}

#[tokio::test]
async fn run_of_some_tests_makes_every_attempt() {
    let place = place("yes");
    let text = suite(place.path(), 3, 50, "yes");
    let part = run_as(place.path(), &text, true, Options { cases: Some([0].into()), ..Options::default() }).await;
    assert_eq!(attempts(&part), [PASS; 3]);
}

/// The outcomes of all attempts of some tasks by two models.
#[derive(Clone, Debug)]
struct Outcomes {
    repeats: Vec<u32>,
    threshold: u32,
    outcomes: Vec<Status>,
}

fn outcomes() -> impl Strategy<Value = Outcomes> {
    let status = prop_oneof![4 => Just(Status::Pass), 3 => Just(Status::Fail), 1 => Just(Status::Error)];
    (prop::collection::vec(1_u32..6, 1..5), 0_u32..=100).prop_flat_map(move |(repeats, threshold)| {
        let all = 2 * repeats.iter().sum::<u32>() as usize;
        prop::collection::vec(status.clone(), all).prop_map(move |outcomes| Outcomes {
            repeats: repeats.clone(),
            threshold,
            outcomes,
        })
    })
}

fn answers(suite: &Suite, units: &[Unit], results: &[RunResult]) -> Vec<Status> {
    let of_case = |case: usize| {
        let own = units.iter().zip(results).filter(move |(unit, _)| unit.case == case);
        let runs: Vec<&RunResult> = own.map(|(_, result)| result).collect();
        measured(&suite.cases[case], runs.iter().map(|run| run.status).max().unwrap(), runs.into_iter())
    };
    let cases: Vec<CaseOutcome<'_>> = (0..suite.cases.len()).map(of_case).collect();
    let gates = suite.gates.evaluate(&cases).gates;
    assert!(!gates.is_empty(), "the thresholds of the suite are its gates");
    gates.iter().map(|gate| gate.status).collect()
}

proptest! {
    #[test]
    fn gates_say_the_same_with_all_attempts_and_with_those_that_decide_them(outcomes in outcomes()) {
        let Outcomes { repeats, threshold, outcomes } = outcomes;
        let tasks: String = repeats.iter().enumerate().map(|(index, repeat)| {
            format!("- {{ id: t{index}, intent: Look, repeat: {repeat}, assert: [{{ exit_code: 0 }}] }}\n")
        }).collect();
        let text = format!("cli: sh\nproviders: [a/b, c/d]\nthresholds: {{ default: {threshold} }}\ntasks:\n{tasks}");
        let job = job_of(Path::new("/nowhere"), &text, &[]);
        let suite = &job.suite;
        let all: Vec<usize> = (0..suite.cases.len()).collect();
        let units = plan(suite, &all, &Options::default());
        let attempt_ref = |unit: &Unit| -> RunResult {
            let case: &Case = &suite.cases[unit.case];
            AttemptRef { suite, case, subject: &unit.subject, repeat: unit.repeat }.absent(AbsenceKind::NoRecording, "")
        };
        let made = |index: usize, began_us: u64| {
            let status = outcomes[index];
            let absence = (status == Status::Error).then(|| crate::event::Absence {
                kind: AbsenceKind::RunError(RunErrorKind::Provider), message: String::new(),
            });
            RunResult { status, absence, began_us, ..attempt_ref(&units[index]) }
        };
        let everything: Vec<RunResult> = (0..units.len()).map(|index| made(index, 1)).collect();

        // The run: each task once, then each task again.
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|index| units[*index].repeat);
        let standings = AllAttempts::of(&units);
        let mut live: Vec<RunResult> = units.iter().map(attempt_ref).collect();
        let mut found = live.clone();
        for (turn, index) in order.into_iter().enumerate() {
            if standings.may_skip(&suite.gates, &units[index]) {
                live[index] = RunResult { absence: live[index].absence.clone().map(|absence| crate::event::Absence {
                    kind: AbsenceKind::Decided, ..absence
                }), status: Status::Skip, ..live[index].clone() };
            } else {
                live[index] = made(index, turn as u64 + 1);
                found[index] = live[index].clone();
                standings.made(&units[index], live[index].status);
            }
        }
        prop_assert_eq!(answers(suite, &units, &live), answers(suite, &units, &everything));

        // The replay of what it recorded.
        let known: Vec<(usize, &RunResult)> = units.iter().map(|unit| unit.case).zip(&found).collect();
        let spare = left_out(&suite.gates, &known);
        let skipped: Vec<bool> = live.iter().map(RunResult::is_decided).collect();
        prop_assert_eq!(spare, skipped);
    }
}

#[test]
fn repeats_of_an_earlier_run_count_where_the_newest_decide_nothing() {
    let task = |id: &str| format!("- {{ id: {id}, intent: Look, repeat: 4, assert: [{{ exit_code: 0 }}] }}\n");
    let tasks: String = ["good", "bad", "other"].map(task).concat();
    let text = format!("cli: sh\nproviders: [a/b]\nthresholds: {{ default: 50 }}\ntasks:\n{tasks}");
    let job = job_of(Path::new("/nowhere"), &text, &[]);
    let units = plan(&job.suite, &[0, 1, 2], &Options::default());
    // The first attempts of two tasks were made again by a run that ended at the first failure.
    let known: Vec<RunResult> = units
        .iter()
        .map(|unit| {
            let case: &Case = &job.suite.cases[unit.case];
            let attempt_ref = AttemptRef { suite: &job.suite, case, subject: &unit.subject, repeat: unit.repeat };
            let missing = attempt_ref.absent(AbsenceKind::NoRecording, "");
            let status = if unit.case == 1 { Status::Fail } else { Status::Pass };
            let began_us = if unit.repeat == 0 && unit.case < 2 { 100 } else { 1 };
            if unit.repeat == 3 { missing } else { RunResult { status, absence: None, began_us, ..missing } }
        })
        .collect();
    let known: Vec<(usize, &RunResult)> = units.iter().map(|unit| unit.case).zip(&known).collect();
    let expected: Vec<bool> = units.iter().map(|unit| unit.repeat == 3).collect();
    assert_eq!(left_out(&job.suite.gates, &known), expected);
}

#[test]
fn models_without_a_threshold_repeat_every_task() {
    let text = "cli: sh\nproviders: [a/b]\nrepeat: 2\ntasks: [{ id: t, intent: Look, assert: [{ exit_code: 0 }] }]\n";
    let job = job_of(Path::new("/nowhere"), text, &[]);
    let units = plan(&job.suite, &[0], &Options::default());
    let standings = AllAttempts::of(&units);
    standings.made(&units[0], Status::Fail);
    assert!(!standings.may_skip(&job.suite.gates, &units[1]));
}
