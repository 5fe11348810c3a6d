//! The evidence of a suite: the known facts about each attempt, judged by the current claims. Verdicts are never
//! stored: they follow from claims and evidence.
//!
//! Runs write into it; `--recorded`, `--failed` and the editor read from it.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use speclens_schema::{
    evidence::{Answer, Evidence},
    judge,
    mask::Secrets,
    settings::Settings,
    suite::{Action, Case, Parts, Subject, Suite, changes},
    verdict::Status,
};

use crate::{
    event::{Absence, AbsenceKind, Figures, OnDisk, Origin, RunResult, StoredEvidence, measured},
    recording::{InUse, Label, Lookup, Machine, Recorded, Recording, Recordings, Retention, Unusable},
};

/// Maximum size in bytes of recorded evidence that stays in memory: reading it again costs more than keeping it.
const MAX_HELD_BYTES: usize = 16 * 1024;

pub const FOREIGN_NOTE: &str = "recorded on another machine";

#[derive(Debug, Default)]
pub struct EvidenceStore {
    recordings: Option<Arc<Recordings>>,
    retention: Retention,
    /// Attempts that are not recorded, because the settings say so or the disk is full.
    unrecorded: Mutex<HashMap<Label, Recorded>>,
    present: Mutex<HashMap<Label, Recorded>>,
}

struct CurrentEvidence {
    attempt: Recorded,
    /// The case whose recording it is, if that is another case with the same action.
    from: Option<String>,
    on_disk: Option<(Origin, OnDisk)>,
}

#[derive(Debug)]
pub struct Stored {
    pub held: StoredEvidence,
    pub origin: Origin,
    /// The file of its recording; `None` if it is not recorded.
    pub path: Option<PathBuf>,
    pub error: Option<io::Error>,
}

#[derive(Clone, Copy, Debug)]
pub struct AttemptRef<'a> {
    pub suite: &'a Suite,
    pub case: &'a Case,
    pub subject: &'a Subject,
    pub repeat: u32,
}

impl AttemptRef<'_> {
    pub fn key(&self) -> String {
        self.case.action.key(self.suite.dialect.as_str(), self.subject, &self.suite.inputs(&self.case.action))
    }

    pub fn label(&self) -> Label {
        Label { case: self.case.name.clone(), subject: self.subject.clone(), repeat: self.repeat }
    }
}

impl EvidenceStore {
    pub fn new(recordings: Option<Arc<Recordings>>, retention: Retention) -> EvidenceStore {
        EvidenceStore { recordings, retention, unrecorded: Mutex::default(), present: Mutex::default() }
    }

    pub fn of(settings: &Settings, directory: &Path, place: &str, machine: fn() -> Option<Machine>) -> EvidenceStore {
        let limit = settings.limits.recording_bytes();
        let commits = settings.recordings.commit;
        let open = || Arc::new(Recordings::open(directory, place, limit).committing(commits).on(machine));
        let recordings = settings.recordings.enabled.then(open);
        EvidenceStore::new(recordings, Retention::of(settings))
    }

    fn unrecorded(&self) -> MutexGuard<'_, HashMap<Label, Recorded>> {
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn present(&self) -> MutexGuard<'_, HashMap<Label, Recorded>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        self.unrecorded().is_empty()
            && self.present().is_empty()
            && self.recordings.as_ref().is_none_or(|recordings| recordings.is_empty())
    }

    /// Looks for recordings that other processes wrote, and returns whether any appeared or disappeared.
    pub fn refresh(&self) -> bool {
        self.recordings.as_ref().is_some_and(|recordings| recordings.refresh())
    }

    /// Removes recordings beyond the limits after a run of a suite that began at `since_us`. Returns an error message,
    /// if any.
    pub fn tidy(&self, suite: &Suite, since_us: u64) -> Option<String> {
        let acts = || {
            let of_case = |case: &Arc<Case>| {
                let subjects = case.action.subjects().into_iter();
                let act = |subject: Subject| {
                    let attempt_ref = AttemptRef { suite, case, subject: &subject, repeat: 0 };
                    (attempt_ref.key(), attempt_ref.label())
                };
                subjects.map(act).collect::<Vec<_>>()
            };
            let admits_any = |case: &&Arc<Case>| case.action.admits(&Subject::model("", None));
            InUse {
                acts: suite.cases.iter().flat_map(of_case).collect(),
                of_any_model: suite.cases.iter().filter(admits_any).map(|case| case.name.clone()).collect(),
            }
        };
        self.recordings.as_ref().and_then(|recordings| recordings.tidy(&self.retention, since_us, acts))
    }

    /// Adds the evidence of an attempt, with secrets masked and not yet interpreted. If an attempt that began later
    /// is known, that one stays. `judge` receives the interpreted evidence before it may leave memory.
    pub fn add<R>(
        &self,
        attempt_ref: AttemptRef<'_>,
        mut recorded: Recorded,
        secrets: &Arc<Secrets>,
        judge: impl FnOnce(&Arc<Evidence>) -> R,
    ) -> (R, Stored) {
        let (label, dialect) = (&attempt_ref.label(), attempt_ref.suite.dialect);
        self.present().remove(label);
        let case = secrets.mask(&label.case);
        let write = |recordings: &Arc<Recordings>| match recordings.commits() {
            true => {
                let evidence = Arc::new(attempt_ref.lasting(&recorded.evidence, secrets));
                recordings.write(label, &case, &mut Recorded { evidence, ..recorded.clone() })
            }
            false => recordings.write(label, &case, &mut recorded),
        };
        let written = self.recordings.as_ref().map(write);
        // This is the only reference, so the evidence is interpreted without a copy.
        let evidence = Arc::make_mut(&mut recorded.evidence);
        dialect.interpret(evidence);
        let size: usize = evidence.captures_mut().into_iter().map(|capture| capture.text.len()).sum();
        let judged = judge(&recorded.evidence);
        let observed = StoredEvidence::Memory(Arc::clone(&recorded.evidence));
        let (path, error) = match written {
            Some(Ok(Some(path))) => (Some(path), None),
            // A later attempt is known.
            Some(Ok(None)) => {
                return (judged, Stored { held: observed, origin: Origin::Observed, path: None, error: None });
            }
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let stored = match path.zip(self.recordings.clone()) {
            Some((path, recordings)) => {
                self.unrecorded().remove(label);
                let secrets = Arc::clone(secrets);
                let held = match size <= MAX_HELD_BYTES {
                    true => observed,
                    false => StoredEvidence::Disk(OnDisk { recordings, path: path.clone(), dialect, secrets }),
                };
                Stored { held, origin: Origin::Recorded, path: Some(path), error: None }
            }
            None => {
                let mut unrecorded = self.unrecorded();
                if unrecorded.get(label).is_none_or(|known| known.began_us <= recorded.began_us) {
                    unrecorded.insert(label.clone(), recorded);
                }
                Stored { held: observed, origin: Origin::Observed, path: None, error }
            }
        };
        (judged, stored)
    }

    /// Adds the attempts that are not recorded to the store of another run of the same suite. Returns the first error; the
    /// attempts after it are not added.
    pub fn hand_over(&self, other: &EvidenceStore, suite: &Suite, secrets: &Arc<Secrets>) -> io::Result<()> {
        for (Label { case: name, subject, repeat }, recorded) in std::mem::take(&mut *self.unrecorded()) {
            let Some(case) = suite.cases.iter().find(|case| case.name == name) else { continue };
            let attempt_ref = AttemptRef { suite, case, subject: &subject, repeat };
            let ((), stored) = other.add(attempt_ref, recorded, secrets, |_| ());
            stored.error.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Stores what was observed without an act, with secrets masked and interpreted.
    /// [`result`](EvidenceStore::result) returns it until the next attempt is added or recorded elsewhere; it is never
    /// recorded.
    pub fn keep_present(&self, label: Label, seen: Recorded) {
        self.present().insert(label, seen);
    }

    fn seen(&self, attempt_ref: AttemptRef<'_>, secrets: &Arc<Secrets>) -> Option<Recorded> {
        let mut seen = self.present().get(&attempt_ref.label()).cloned()?;
        (seen.key == attempt_ref.key()).then(|| {
            attempt_ref.renew(&mut seen, secrets);
            seen
        })
    }

    fn find(&self, key: &str, label: &Label) -> Lookup {
        self.recordings.as_ref().map_or(Lookup::None, |recordings| recordings.find(key, label))
    }

    /// Returns what the recordings of the suite are about, without their evidence.
    pub fn all(&self) -> Vec<Recording> {
        self.recordings.as_ref().map(|recordings| recordings.own()).unwrap_or_default()
    }

    pub fn result(&self, attempt_ref: AttemptRef<'_>, secrets: &Arc<Secrets>) -> RunResult {
        let seen = self.seen(attempt_ref, secrets);
        let CurrentEvidence { attempt, from, on_disk } = match (self.known(attempt_ref, secrets), seen) {
            (Ok(known), Some(seen)) if known.attempt.began_us <= seen.began_us => {
                return attempt_ref.present(seen, secrets);
            }
            (Err(_), Some(seen)) => return attempt_ref.present(seen, secrets),
            (Ok(known), _) => known,
            (Err(Absence { kind, message }), None) => return attempt_ref.absent(kind, message),
        };
        let Recorded { key, began_us, evidence, notes, .. } = attempt;
        let result = attempt_ref.judged(&evidence, secrets, notes);
        let (origin, evidence) = match on_disk {
            Some((origin, on_disk)) => (origin, StoredEvidence::Disk(on_disk)),
            None => (Origin::Observed, result.evidence),
        };
        RunResult { key: Some(key), began_us, origin, from, evidence, ..result }
    }

    /// Returns the evidence of an attempt, ready to be added again with more observations (a later attempt then stays
    /// in its place). `None` if there is none, or only of another action.
    pub fn recorded(&self, attempt_ref: AttemptRef<'_>, now: String, secrets: &Arc<Secrets>) -> Option<Recorded> {
        Some(Recorded { now, ..self.known(attempt_ref, secrets).ok()?.attempt })
    }

    /// Returns the masked and interpreted evidence of a case's current action, or the reason why there is none.
    fn known(&self, attempt_ref: AttemptRef<'_>, secrets: &Arc<Secrets>) -> Result<CurrentEvidence, Absence> {
        let absent = |kind: AbsenceKind, message: String| Absence { kind, message };
        let (key, label) = (attempt_ref.key(), attempt_ref.label());
        let mut found = self.find(&key, &label);
        let known = self.unrecorded().get(&label).filter(|known| known.began_us >= found.began_us()).cloned();
        if let Some(mut attempt) = known {
            if attempt.key != key {
                return Err(absent(AbsenceKind::Stale, attempt_ref.stale(&attempt.act)));
            }
            attempt_ref.renew(&mut attempt, secrets);
            return Ok(CurrentEvidence { attempt, from: None, on_disk: None });
        }
        let dialect = attempt_ref.suite.dialect;
        let missing = || absent(AbsenceKind::NoRecording, Unusable::Missing.sentence());
        let Some(recordings) = &self.recordings else { return Err(missing()) };
        let read = |found: &Lookup| match found {
            Lookup::Fresh(file) | Lookup::Stale(file) => recordings.read(&file.path, dialect, secrets),
            Lookup::None => Err(Unusable::Missing),
        };
        let mut recording = read(&found);
        // Another process may have recorded a newer attempt since the directory was read.
        if matches!(recording, Err(Unusable::Missing)) && self.refresh() {
            found = self.find(&key, &label);
            recording = read(&found);
        }
        let recording = recording.map_err(|error| match error {
            Unusable::OtherVersion => absent(AbsenceKind::Stale, error.sentence()),
            Unusable::Missing
            | Unusable::Damaged
            | Unusable::TextMissing
            | Unusable::TextChanged
            | Unusable::TooLarge(_) => absent(AbsenceKind::NoRecording, error.sentence()),
        })?;
        let file = match found {
            Lookup::Fresh(file) => file,
            Lookup::Stale(_) => return Err(absent(AbsenceKind::Stale, attempt_ref.stale(&recording.act))),
            Lookup::None => return Err(missing()),
        };
        let from = (recording.case != secrets.mask(&attempt_ref.case.name)).then_some(recording.case);
        // Two agents with one task may do different things: a recording of one says nothing about the other, unless it
        // is the same task under an old name.
        let does_same = |case: &Arc<Case>| AttemptRef { case, ..attempt_ref }.key() == key;
        let is_ambiguous = || attempt_ref.suite.cases.iter().filter(|case| does_same(case)).count() > 1;
        if from.is_some() && !attempt_ref.case.action.is_repeatable() && is_ambiguous() {
            return Err(missing());
        }
        let origin = match recordings.is_foreign(recording.machine.as_ref()) {
            true => Origin::Foreign,
            false => Origin::Replayed,
        };
        let on_disk =
            OnDisk { recordings: Arc::clone(recordings), path: file.path, dialect, secrets: Arc::clone(secrets) };
        let Recording { act, evidence, mut notes, recorded: now, .. } = recording;
        notes.extend((origin == Origin::Foreign).then(|| FOREIGN_NOTE.to_owned()));
        let attempt = Recorded { key, act, began_us: file.began_us, now, evidence, notes };
        Ok(CurrentEvidence { attempt, from, on_disk: Some((origin, on_disk)) })
    }
}

/// The parts of evidence that differ in every run.
const PASSING_PARTS: [fn(&mut Evidence); 4] = [
    |evidence| (evidence.context.started, evidence.context.run_id) = Default::default(),
    |evidence| {
        let log = evidence.commands.iter_mut().flat_map(|log| &mut log.commands);
        evidence.command.iter_mut().chain(log).for_each(|ran| ran.duration_ms = None);
        for observation in &mut evidence.observations {
            match &mut observation.answer {
                Answer::Command(ran) => ran.duration_ms = None,
                Answer::Question(answer) => answer.replies.iter_mut().for_each(|reply| reply.duration_ms = None),
                Answer::Path(_)
                | Answer::Files(_)
                | Answer::Log(_)
                | Answer::Variables(_)
                | Answer::Response(_)
                | Answer::Trace(_)
                | Answer::Nothing(_) => {}
            }
        }
    },
    |evidence| evidence.turns.iter_mut().for_each(|turn| turn.duration_ms = None),
    |evidence| evidence.duration_ms = None,
];

impl AttemptRef<'_> {
    /// Returns masked evidence without what differs in every run, unless a verdict or a gate depends on it.
    fn lasting(&self, evidence: &Evidence, secrets: &Secrets) -> Evidence {
        let mut lasting = evidence.clone();
        match self.case.action {
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::None => {}
            // Its files and its log are compared with these times.
            Action::Trigger(_) => return lasting,
        }
        let statuses = |evidence: &Evidence| -> Vec<Status> {
            let mut evidence = evidence.clone();
            self.suite.dialect.interpret(&mut evidence);
            let run = self.judged(&Arc::new(evidence), secrets, Vec::new());
            let gates = self.suite.gates.evaluate(&[measured(self.case, run.status, [&run].into_iter())]);
            let verdicts = run.verdicts.iter().map(|judged| judged.verdict.outcome.status());
            verdicts.chain(gates.gates.iter().map(|gate| gate.status)).collect()
        };
        let expected = statuses(&lasting);
        for remove in PASSING_PARTS {
            let mut without = lasting.clone();
            remove(&mut without);
            if statuses(&without) == expected {
                lasting = without;
            }
        }
        lasting
    }

    /// Describes the recording that differs least: that of another attempt or model, or of a test that the suite no
    /// longer has. `None` if there is none.
    pub fn nearest(&self, recordings: &[Recording], secrets: &Secrets) -> Option<String> {
        let (action, case) = (&self.case.action, secrets.mask(&self.case.name));
        let now = action.parts(self.suite.dialect.as_str(), self.subject, &self.suite.inputs(action));
        let others: HashSet<String> = self.suite.cases.iter().map(|case| secrets.mask(&case.name)).collect();
        let nearest = recordings
            .iter()
            .filter(|other| other.case == case || !others.contains(&other.case))
            .map(|other| (other, changes(&other.act, &now)))
            .min_by_key(|(other, changed)| (other.case != case, other.subject != *self.subject, changed.len()))?;
        let (other, mut changed) = nearest;
        let name = if other.case == case {
            let by = if other.subject == *self.subject { String::new() } else { format!(" by `{}`", other.subject) };
            changed.retain(|_| by.is_empty());
            format!("attempt {}{by}", other.repeat + 1)
        } else {
            format!("`{}`", other.case)
        };
        let since = match changed.len() {
            0 => String::new(),
            1 => format!(", and {} has changed since", changed[0]),
            _ => format!(", and {} have changed since", listed(&changed)),
        };
        Some(format!("the nearest recording is of {name}{since}"))
    }

    pub fn stale(&self, before: &Parts) -> String {
        let action = &self.case.action;
        let changed =
            changes(before, &action.parts(self.suite.dialect.as_str(), self.subject, &self.suite.inputs(action)));
        if changed.is_empty() {
            return "stale: the test has changed since it was recorded; run the test again".to_owned();
        }
        let have = if changed.len() == 1 { "has" } else { "have" };
        format!("stale: {} {have} changed since the test was recorded; run the test again", listed(&changed))
    }

    /// Masks and interprets evidence in memory again: more secrets may be known by now.
    fn renew(&self, attempt: &mut Recorded, secrets: &Secrets) {
        let evidence = Arc::make_mut(&mut attempt.evidence);
        self.suite.dialect.mask(evidence, secrets);
        self.suite.dialect.interpret(evidence);
    }

    fn present(&self, seen: Recorded, secrets: &Secrets) -> RunResult {
        let Recorded { key, began_us, evidence, notes, .. } = seen;
        let judged = self.judged(&evidence, secrets, notes);
        RunResult { key: Some(key), began_us, origin: Origin::Present, ..judged }
    }

    pub fn absent(&self, kind: AbsenceKind, message: impl Into<String>) -> RunResult {
        let absence = Some(Absence { kind, message: message.into() });
        RunResult { absence, ..RunResult::of(self.subject, self.repeat, kind.status()) }
    }

    pub fn judged(&self, evidence: &Arc<Evidence>, secrets: &Secrets, mut notes: Vec<String>) -> RunResult {
        // A note may contain text that has become a secret since.
        notes.iter_mut().for_each(|note| *note = secrets.mask(note));
        // Masking may have added notes.
        notes.extend(evidence.mask_note().filter(|note| !notes.iter().any(|known| known.starts_with(note.as_str()))));
        let verdicts = judge::judge(self.case, evidence, secrets);
        let absence = evidence
            .error
            .as_ref()
            .map(|error| Absence { kind: AbsenceKind::RunError(error.kind), message: error.message.clone() });
        notes.extend(judge::skipped(&verdicts));
        let status = judge::status(self.case, evidence, &verdicts);
        RunResult {
            absence,
            verdicts,
            figures: Figures::of(evidence),
            evidence: StoredEvidence::Memory(Arc::clone(evidence)),
            origin: Origin::Observed,
            notes,
            ..RunResult::of(self.subject, self.repeat, status)
        }
    }
}

fn listed(names: &[String]) -> String {
    const MAX_NAMES: usize = 4;
    let mut shown: Vec<String> = names.iter().take(MAX_NAMES).cloned().collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("{} more", names.len() - MAX_NAMES));
    }
    match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some(_) | None => shown.join(""),
    }
}

#[cfg(test)]
mod tests;
