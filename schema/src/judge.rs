//! Case × evidence → verdicts. Pure, so that an edited claim is judged again without a run.

use crate::{
    evidence::{Evidence, Output},
    mask::{HIDDEN, Secrets, shown},
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
/// and a run that did not happen are different things. The evidence must have been [masked](crate::dialect::Dialect::mask)
/// and [interpreted](crate::dialect::Dialect::interpret); a claim that depends on what was masked is unknown.
pub fn judge(case: &Case, evidence: &Evidence, secrets: &Secrets) -> Vec<Judged> {
    if evidence.error.is_some() {
        return Vec::new();
    }
    let mut judged = Vec::new();
    for (claim, found) in case.claims.iter().enumerate() {
        let texts = found.check.texts();
        // What stands for a secret in the output must not be in the claim.
        let confusing = texts.iter().any(|text| text.contains(HIDDEN));
        let telling = !secrets.is_empty() && texts.iter().any(|text| secrets.contains_secret(text));
        let open = telling && !found.check.minds_secrets();
        for mut verdict in found.check.check(evidence) {
            if open {
                verdict.outcome =
                    Outcome::Unknown("the claim holds a secret, which is masked in what was observed".to_owned());
                (verdict.code, verdict.score) = (None, None);
                verdict.related.clear();
            }
            let is_written = || evidence.stdout.iter().any(|stdout| stdout.text.contains(HIDDEN));
            if confusing && (evidence.output.as_ref().is_some_and(Output::has_hidden) || is_written()) {
                let reason =
                    format!("the assertion contains the character U+{:X}, which replaces secrets", u32::from(HIDDEN));
                verdict.outcome = Outcome::Unknown(reason);
                (verdict.code, verdict.score) = (None, None);
                verdict.related.clear();
            }
            for text in verdict.texts() {
                if text.contains(HIDDEN) {
                    *text = shown(text).into_owned();
                }
                if telling {
                    *text = secrets.mask(text);
                }
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
    use super::{Judged, judge, status};
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
        let stdout = Capture::whole(stdout.to_owned());
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
    fn a_claim_that_holds_a_secret_is_unknown_and_does_not_tell_it() {
        let secrets = Secrets::new([("API_KEY", "abcd1234")], &[], &[]);
        let case = case(
            "{output: {contains: ['key abcd1234', done], notContains: ['abcd1234?']}, guardrails: {keywords: {deny: [abcd1234]}}, latency: {maxMs: 1}}",
        );
        let mut evidence = evidence("key abcd1234 done");
        Dialect::KindLm.mask(&mut evidence, &secrets);
        Dialect::KindLm.interpret(&mut evidence);
        let judged = judge(&case, &evidence, &secrets);
        let statuses: Vec<_> = judged.iter().map(|it| (it.claim, it.verdict.outcome.status())).collect();
        let unknown = |claim| (claim, Status::Unknown);
        assert_eq!(statuses, [unknown(0), (0, Status::Pass), (0, Status::Pass), unknown(1), unknown(2)]);
        for Judged { verdict, .. } in &judged {
            assert!(!format!("{verdict:?}").contains("abcd1234"), "{verdict:?}");
        }
    }
}
