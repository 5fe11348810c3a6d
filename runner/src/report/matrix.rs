//! The results of the tests by subject. Data only: reports for people and for programs render it.

use speclens_schema::{
    evidence::RunErrorKind,
    suite::{Subject, short_names},
    verdict::Status,
};

use crate::event::{AbsenceKind, Origin, RunResult, SuiteResult};

/// The attempts of a suite, test by test and subject by subject.
#[derive(Debug)]
pub(super) struct Matrix<'r> {
    pub(super) subjects: Vec<SubjectScore<'r>>,
    pub(super) rows: Vec<MatrixRow>,
    pub(super) spending: Spending,
}

#[derive(Debug)]
pub(super) struct SubjectScore<'r> {
    pub(super) subject: &'r Subject,
    pub(super) name: String,
    pub(super) score: Score,
}

#[derive(Debug)]
pub(super) struct MatrixRow {
    pub(super) case: usize,
    pub(super) scores: Vec<Score>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Score {
    pub(super) passed: usize,
    pub(super) runs: usize,
    /// Number of attempts that failed or ended with an error, without unknown and cancelled ones.
    failed: usize,
    turns: u64,
    with_turns: usize,
    pub(super) cost: Cost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// US dollars of the attempts whose price is known.
    pub(super) usd: f64,
    pub(super) priced: usize,
    /// Number of attempts with known tokens, but without a price.
    pub(super) unpriced: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spending {
    pub(super) subjects: Cost,
    pub(super) judges: Cost,
    /// Whether everything comes from recordings, so nothing was spent now.
    pub(super) is_replayed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stability {
    Stable,
    Flaky,
    Failing,
}

impl Matrix<'_> {
    pub(super) fn of(result: &SuiteResult) -> Matrix<'_> {
        let mut subjects: Vec<&Subject> = Vec::new();
        let begun = |run: &&RunResult| !run.is_left_out();
        for run in result.cases.iter().flat_map(|case| &case.runs) {
            if !subjects.contains(&&run.subject) {
                subjects.push(&run.subject);
            }
        }
        let index = |run: &RunResult| subjects.iter().position(|subject| **subject == run.subject);
        let mut totals = vec![Score::default(); subjects.len()];
        let mut spending = Spending { is_replayed: true, ..Spending::default() };
        let mut rows = Vec::new();
        for case in result.cases.iter().filter(|case| !case.runs.is_empty()) {
            let mut scores = vec![Score::default(); subjects.len()];
            for run in case.runs.iter().map(AsRef::as_ref).filter(begun) {
                let Some(index) = index(run) else { continue };
                scores[index].add(run);
                totals[index].add(run);
                spending.add(run);
            }
            rows.push(MatrixRow { case: case.case, scores });
        }
        let names = short_names(&subjects);
        let scored = subjects.into_iter().zip(names).zip(totals);
        let subjects = scored.map(|((subject, name), score)| SubjectScore { subject, name, score }).collect();
        Matrix { subjects, rows, spending }
    }

    pub(super) fn has_models(&self) -> bool {
        self.subjects.iter().any(|column| column.subject.model_id().is_some())
    }

    pub(super) fn has_repeats(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.scores).any(|score| score.runs > 1)
    }
}

impl Score {
    fn add(&mut self, run: &RunResult) {
        self.runs += 1;
        // Counted in the same way as in gates.
        self.passed += usize::from(matches!(run.status, Status::Pass | Status::Warn | Status::Skip));
        self.failed += usize::from(is_bad(run));
        if let Some(turns) = run.figures.turns {
            self.turns += u64::from(turns);
            self.with_turns += 1;
        }
        self.cost.add_subject(run);
    }

    /// Returns the percentage of passed attempts; `None` without attempts.
    pub(super) fn rate(self) -> Option<f64> {
        (self.runs > 0).then(|| self.passed as f64 / self.runs as f64 * 100.0)
    }

    /// Returns the mean number of turns; `None` if none are known.
    pub(super) fn mean_turns(self) -> Option<f64> {
        (self.with_turns > 0).then(|| self.turns as f64 / self.with_turns as f64)
    }

    /// Returns the agreement of the attempts; `None` if it is not known.
    pub(super) fn stability(self) -> Option<Stability> {
        match (self.passed, self.failed) {
            (0, 0) => None,
            (passed, _) if passed == self.runs => Some(Stability::Stable),
            (_, failed) if failed == self.runs => Some(Stability::Failing),
            // Some have no result: their agreement with the others is not known.
            (0, _) | (_, 0) => None,
            (_, _) => Some(Stability::Flaky),
        }
    }
}

fn is_bad(run: &RunResult) -> bool {
    let cancelled = AbsenceKind::RunError(RunErrorKind::Cancelled);
    matches!(run.status, Status::Fail | Status::Error)
        && run.absence.as_ref().is_none_or(|absence| absence.kind != cancelled)
}

impl Cost {
    fn add(&mut self, usd: Option<f64>) {
        match usd {
            Some(usd) => {
                self.usd += usd;
                self.priced += 1;
            }
            None => self.unpriced += 1,
        }
    }

    fn add_subject(&mut self, run: &RunResult) {
        if let Some(usage) = run.figures.usage {
            self.add(usage.cost_usd);
        }
    }

    /// Returns US dollars; `None` if a price is not known, or there is none.
    pub(super) fn known(self) -> Option<f64> {
        (self.priced > 0 && self.unpriced == 0).then_some(self.usd)
    }

    pub(super) fn is_nothing(self) -> bool {
        self.priced + self.unpriced == 0
    }
}

impl Spending {
    fn add(&mut self, run: &RunResult) {
        self.subjects.add_subject(run);
        if let Some(judges) = run.figures.judges {
            self.judges.add(judges.cost_usd);
        }
        let has_spent = run.figures.usage.is_some() || run.figures.judges.is_some();
        let is_replayed = match run.origin {
            Origin::Replayed | Origin::Foreign => true,
            Origin::Recorded | Origin::Observed | Origin::Present | Origin::Nowhere => false,
        };
        self.is_replayed &= is_replayed || !has_spent;
    }
}
