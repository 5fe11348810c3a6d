//! The store's answers about attempts that were added, with recordings and without.

use std::sync::Arc;

use speclens_schema::{
    act::Act,
    document::Pointer,
    evidence::{Capture, Evidence, Ran},
    format::Dialect,
    mask::Secrets,
    suite::{Case, Claim, Subject, Suite},
    verdict::{Check, Mismatch, Outcome, Status, Verdict},
};

use super::{AttemptRef, EvidenceStore};
use crate::{
    event::{AbsenceKind, Origin, StoredEvidence},
    recording::{Recorded, Recordings, Retention, beginning_us},
};

/// A claim with a fixed outcome.
#[derive(Debug)]
struct Says(fn(Act<'_>) -> Outcome);

impl Check for Says {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        vec![Verdict::of("says", "says", (self.0)(act))]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

fn holds_good(act: Act<'_>) -> Outcome {
    match act.stdout().is_ok_and(|stdout| stdout.so_far().contains("good")) {
        true => Outcome::Pass,
        false => Outcome::Fail(Mismatch::default()),
    }
}

fn suite(command: &str, claims: &[fn(Act<'_>) -> Outcome]) -> Suite {
    let claim =
        |says: &fn(Act<'_>) -> Outcome| Claim { at: Pointer::root(), phase: None, check: Arc::new(Says(*says)) };
    let claims = claims.iter().map(claim).collect();
    let case = Case { claims, ..crate::run::tests::case("a", command, "") };
    Suite { cases: vec![Arc::new(case)], ..Suite::empty(Dialect::KINDLM) }
}

fn attempt_ref(suite: &Suite) -> AttemptRef<'_> {
    AttemptRef { suite, case: &suite.cases[0], subject: &Subject::Command, repeat: 0 }
}

fn recorded(suite: &Suite, began_us: u64, output: &str) -> Recorded {
    let attempt_ref = attempt_ref(suite);
    Recorded {
        key: attempt_ref.key(),
        act: attempt_ref.case.action.parts(
            suite.dialect.as_str(),
            attempt_ref.subject,
            &suite.inputs(&attempt_ref.case.action),
        ),
        began_us,
        now: String::new(),
        evidence: Arc::new(Evidence {
            command: Some(Ran { stdout: Some(Capture::whole(output)), ..Ran::default() }),
            ..Evidence::default()
        }),
        notes: vec!["noticed".to_owned()],
    }
}

fn store_output(store: &EvidenceStore, suite: &Suite, began_us: u64, output: &str) -> StoredEvidence {
    let (attempt_ref, recorded) = (attempt_ref(suite), recorded(suite, began_us, output));
    let stored = store.add(attempt_ref, recorded, &Arc::default(), |_| ()).1;
    assert!(stored.error.is_none());
    stored.held
}

/// Returns a store with recordings, and one without.
fn stores(directory: &tempfile::TempDir) -> [EvidenceStore; 2] {
    let recordings = Recordings::open(directory.path(), "kindlm.yaml", 64 * 1024 * 1024);
    [Some(Arc::new(recordings)), None].map(|recordings| EvidenceStore::new(recordings, Retention::default()))
}

#[test]
fn entered_evidence_is_judged_by_current_claims() {
    let directory = tempfile::tempdir().unwrap();
    for (store, origin) in stores(&directory).into_iter().zip([Origin::Replayed, Origin::Observed]) {
        let suite = suite("run", &[holds_good]);
        assert!(store.is_empty());
        assert_eq!(
            store.result(attempt_ref(&suite), &Arc::default()).absence.unwrap().kind,
            AbsenceKind::NoRecording,
            "{origin:?}"
        );
        store_output(&store, &suite, beginning_us(), "all good");
        let found = store.result(attempt_ref(&suite), &Arc::default());
        assert_eq!((found.status, found.origin, found.notes), (Status::Pass, origin, vec!["noticed".to_owned()]));
        let edited = super::tests::suite("run", &[|_| Outcome::Fail(Mismatch::default())]);
        assert_eq!(store.result(attempt_ref(&edited), &Arc::default()).status, Status::Fail);
    }
}

#[test]
fn another_act_is_stale_and_says_which_part_changed() {
    let directory = tempfile::tempdir().unwrap();
    for store in stores(&directory) {
        store_output(&store, &suite("run one", &[]), beginning_us(), "good");
        let found = store.result(attempt_ref(&suite("run two", &[])), &Arc::default());
        let absence = found.absence.unwrap();
        assert_eq!(absence.kind, AbsenceKind::Stale);
        assert_eq!(absence.message, "stale: the command has changed since the test was recorded; run the test again");
    }
}

#[test]
fn an_attempt_that_began_earlier_and_ended_later_does_not_count() {
    let directory = tempfile::tempdir().unwrap();
    for store in stores(&directory) {
        let (before, after) = (suite("before", &[]), suite("after", &[holds_good]));
        let (early, late) = (beginning_us(), beginning_us());
        store_output(&store, &after, late, "good");
        store_output(&store, &before, early, "good");
        assert_eq!(store.result(attempt_ref(&after), &Arc::default()).status, Status::Pass);
        assert_eq!(store.result(attempt_ref(&before), &Arc::default()).absence.unwrap().kind, AbsenceKind::Stale);
    }
}

#[test]
fn a_case_whose_every_claim_was_skipped_is_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let skips: fn(Act<'_>) -> Outcome = |_| Outcome::Skip("no back end".to_owned());
    for store in stores(&directory) {
        for (claims, status) in
            [(vec![skips, skips], Status::Unknown), (vec![skips, holds_good], Status::Pass), (vec![], Status::Pass)]
        {
            let suite = suite("run", &claims);
            store_output(&store, &suite, beginning_us(), "good");
            assert_eq!(store.result(attempt_ref(&suite), &Arc::default()).status, status);
        }
    }
}

#[test]
fn large_evidence_leaves_memory_once_it_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let [recorded, unrecorded] = stores(&directory);
    let suite = suite("run", &[]);
    let large = "good ".repeat(100_000);
    let held = store_output(&recorded, &suite, beginning_us(), &large);
    assert!(matches!(held, StoredEvidence::Disk(_)));
    assert_eq!(held.get().unwrap().stdout().unwrap().text, large);
    assert!(
        matches!(store_output(&unrecorded, &suite, beginning_us(), &large), StoredEvidence::Memory(_)),
        "it is nowhere else"
    );
    assert!(matches!(store_output(&recorded, &suite, beginning_us(), "small"), StoredEvidence::Memory(_)));
}

#[test]
fn later_secret_is_masked() {
    let directory = tempfile::tempdir().unwrap();
    let secrets = Arc::new(Secrets::new([("API_KEY", "abcd1234")], &[], &[]));
    for store in stores(&directory) {
        let suite = suite("run", &[]);
        store_output(&store, &suite, beginning_us(), "good abcd1234");
        let evidence = store.result(attempt_ref(&suite), &secrets).evidence.get().unwrap();
        assert!(!format!("{evidence:?}").contains("abcd1234"));
    }
}

#[test]
fn observation_without_act_counts_until_next_attempt_of_same_act() {
    let directory = tempfile::tempdir().unwrap();
    for store in stores(&directory) {
        let before = suite("run", &[holds_good]);
        let now = beginning_us();
        store_output(&store, &before, now, "all good");
        let seen = |began_us| recorded(&before, began_us, "all bad");
        let look = |suite: &Suite| store.result(attempt_ref(suite), &Arc::default());
        store.keep_present(attempt_ref(&before).label(), seen(now + 10));
        assert_eq!((look(&before).status, look(&before).origin), (Status::Fail, Origin::Present));
        // The current claims.
        assert_eq!(look(&suite("run", &[|_| Outcome::Pass])).status, Status::Pass);
        assert_eq!(look(&suite("run another", &[])).absence.unwrap().kind, AbsenceKind::Stale);
        // It is not a recording.
        let found = store.recorded(attempt_ref(&before), String::new(), &Arc::default()).unwrap();
        assert_eq!(found.evidence.stdout().unwrap().text, "all good");
        store_output(&store, &before, now + 20, "all good");
        assert_eq!(look(&before).status, Status::Pass);
        // The other process recorded later.
        store.keep_present(attempt_ref(&before).label(), seen(now + 15));
        assert_eq!(look(&before).status, Status::Pass);
    }
}
