//! Case × evidence → verdicts. Pure, so that an edited claim is judged again without a run.

use crate::{
    evidence::Evidence,
    mask::Secrets,
    suite::Case,
    verdict::{Outcome, Status, Verdict},
};

/// A verdict, and the claim that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The index in [`Case::claims`].
    pub claim: usize,
    /// The verdict; its place is relative to the claim.
    pub verdict: Verdict,
}

/// Judges every claim of a case, in order. Evidence of an attempt that broke gives no verdict: a claim that does not hold
/// and a run that did not happen are different things. The evidence must have been masked and
/// [interpreted](crate::dialect::Dialect::interpret).
pub fn judge(case: &Case, evidence: &Evidence, secrets: &Secrets) -> Vec<Judged> {
    if evidence.error.is_some() {
        return Vec::new();
    }
    let mut judged = Vec::new();
    for (claim, found) in case.claims.iter().enumerate() {
        let masked = !secrets.is_empty() && found.check.texts().iter().any(|text| secrets.contains_secret(text));
        for mut verdict in found.check.check(evidence) {
            if masked {
                verdict.outcome =
                    Outcome::Unknown("the claim holds a secret, which is masked in what was observed".to_owned());
                (verdict.code, verdict.score) = (None, None);
                verdict.related.clear();
            }
            judged.push(Judged { claim, verdict });
        }
    }
    judged
}

/// The status of an attempt: that of its worst verdict; an error when it broke.
pub fn status(evidence: &Evidence, judged: &[Judged]) -> Status {
    if evidence.error.is_some() {
        return Status::Error;
    }
    judged.iter().map(|it| it.verdict.outcome.status()).max().unwrap_or(Status::Pass)
}

#[cfg(test)]
mod tests {
    use super::{judge, status};
    use crate::{
        dialect::{Dialect, kindlm::lower::lower_suite},
        document::Document,
        evidence::{Capture, Evidence, RunError, RunErrorKind},
        files::MemoryFiles,
        mask::Secrets,
        suite::Case,
        verdict::Status,
    };

    fn case(expect: &str) -> Case {
        let text = format!("tests:\n  - {{name: t, command: x, expect: {expect}}}\n");
        let document = Document::read(&text, Dialect::KindLm.scalar_rules());
        let suite = lower_suite(&document, &MemoryFiles::default(), None);
        suite.cases.first().unwrap().as_ref().clone()
    }

    fn evidence(stdout: &str) -> Evidence {
        let stdout = Capture { text: stdout.to_owned(), cut: false };
        let mut evidence = Evidence { stdout: Some(stdout), ..Evidence::default() };
        Dialect::KindLm.interpret(&mut evidence);
        evidence
    }

    #[test]
    fn a_broken_run_has_no_verdicts() {
        let case = case("{output: {contains: [a]}}");
        let error = RunError { kind: RunErrorKind::TimedOut, message: "too slow".to_owned() };
        let broken = Evidence { error: Some(error), ..evidence("a") };
        let judged = judge(&case, &broken, &Secrets::none());
        assert_eq!((judged.len(), status(&broken, &judged)), (0, Status::Error));
    }

    #[test]
    fn the_worst_verdict_counts_and_no_claim_passes() {
        let evidence = evidence("a");
        for (expect, expected) in [
            ("{}", Status::Pass),
            ("{output: {contains: [a]}}", Status::Pass),
            ("{output: {contains: [a]}, judge: [{criteria: c}]}", Status::Unknown),
            ("{output: {contains: [a, b]}, judge: [{criteria: c}]}", Status::Fail),
        ] {
            assert_eq!(status(&evidence, &judge(&case(expect), &evidence, &Secrets::none())), expected, "{expect}");
        }
    }

    #[test]
    fn a_claim_that_holds_a_secret_is_unknown() {
        let (secrets, _) = Secrets::new([("API_KEY", "abcd1234")], &[], &[]);
        let case = case(
            "{output: {contains: ['key abcd1234', done]}, guardrails: {keywords: {deny: [abcd1234]}}, latency: {maxMs: 1}}",
        );
        let judged = judge(&case, &evidence("key ******** done"), &secrets);
        let statuses: Vec<_> = judged.iter().map(|it| (it.claim, it.verdict.outcome.status())).collect();
        assert_eq!(statuses, [(0, Status::Unknown), (0, Status::Unknown), (1, Status::Unknown), (2, Status::Unknown)]);
        assert!(judged.iter().all(|it| !it.verdict.outcome.message().contains("abcd1234")));
        assert!(judged[3].verdict.outcome.message().contains("duration"), "no text, no secret");
    }
}
