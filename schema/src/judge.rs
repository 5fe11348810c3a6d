//! Judges the evidence of a case: case × evidence → verdicts. Pure, so an edited claim is judged again without a run.

use crate::{
    evidence::{Evidence, Need, Output, PartialRun, merged},
    mask::{MASK_CHARACTER, Secrets, shown},
    suite::{Case, Claim},
    verdict::{Outcome, Status, Verdict},
};

/// A verdict and its claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Index in [`Case::claims`].
    pub claim: usize,
    /// Verdict; its location is relative to the claim.
    pub verdict: Verdict,
}

/// Judges every claim of a case, in order. Evidence of a broken attempt has no verdicts, because a failed claim
/// differs from a run that did not happen. The evidence must have been [masked](crate::dialect::Dialect::mask)
/// and [interpreted](crate::dialect::Format::interpret); a claim that depends on masked text is unknown.
pub fn judge(case: &Case, evidence: &Evidence, secrets: &Secrets) -> Vec<Judged> {
    judged(case.claims.iter().enumerate(), evidence, secrets)
}

/// Whether every precondition of a case permits the action, given the evidence from before it.
pub fn may_begin(case: &Case, evidence: &Evidence, secrets: &Secrets) -> bool {
    let preconditions = case.claims.iter().enumerate().filter(|(_, claim)| claim.is_precondition());
    judged(preconditions, evidence, secrets).iter().all(|judged| !forbids(&judged.verdict.outcome))
}

/// Whether a precondition with this outcome prevents the action.
fn forbids(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Fail(_) | Outcome::Error(_) => true,
        Outcome::Pass | Outcome::Warn(_) | Outcome::Skip(_) | Outcome::Unknown(_) => false,
    }
}

/// Returns the reason why a claim is not judged if only part of the evidence was collected.
fn left_out(only: Option<PartialRun>, is_precondition: bool) -> Option<&'static str> {
    match (only, is_precondition) {
        (Some(PartialRun::Preconditions), false) => Some("only the preconditions were checked: nothing was started"),
        (Some(PartialRun::Present), true) => Some("only the current state was evaluated: nothing was started"),
        (Some(PartialRun::Preconditions), true) | (Some(PartialRun::Present), false) | (None, _) => None,
    }
}

fn judged<'c>(claims: impl Iterator<Item = (usize, &'c Claim)>, evidence: &Evidence, secrets: &Secrets) -> Vec<Judged> {
    if evidence.error.is_some() {
        return Vec::new();
    }
    let mut judged: Vec<Judged> = Vec::new();
    let mut unmet = false;
    for (claim, found) in claims {
        let is_precondition = found.is_precondition();
        if let Some(reason) = left_out(evidence.only, is_precondition) {
            judged.extend(
                found
                    .check
                    .check(evidence)
                    .into_iter()
                    .map(|verdict| Judged { claim, verdict: verdict.instead(Outcome::Skip(reason.to_owned())) }),
            );
            continue;
        }
        let texts = found.check.texts();
        // The placeholder of masked secrets must not be in the claim.
        let confusing = texts.iter().any(|text| text.contains(MASK_CHARACTER));
        let telling = !secrets.is_empty() && texts.iter().any(|text| secrets.contains_secret(text));
        let open = telling && !found.check.handles_masked_text();
        let verdicts = found.check.check(evidence).into_iter();
        for mut verdict in verdicts.map(|verdict| evidence.settled(found.check.provisional(), verdict)) {
            if unmet && !is_precondition {
                let reason = "a precondition does not hold, so nothing was started";
                verdict = verdict.instead(Outcome::Skip(reason.to_owned()));
            }
            if open {
                let reason = "the assertion contains a secret, which is masked in the evidence";
                verdict = verdict.instead(Outcome::Unknown(reason.to_owned()));
            }
            let is_written = || evidence.stdout().is_some_and(|stdout| stdout.text.contains(MASK_CHARACTER));
            if confusing && (evidence.output.as_ref().is_some_and(Output::has_hidden) || is_written()) {
                let reason = format!(
                    "the assertion contains the character U+{:X}, which replaces secrets",
                    u32::from(MASK_CHARACTER)
                );
                verdict = verdict.instead(Outcome::Unknown(reason));
            }
            for text in verdict.texts() {
                if text.contains(MASK_CHARACTER) {
                    *text = shown(text).into_owned();
                }
                if telling {
                    *text = secrets.mask(text);
                }
            }
            unmet |= is_precondition && forbids(&verdict.outcome);
            judged.push(Judged { claim, verdict });
        }
    }
    judged
}

/// Returns the questions to models that would decide claims that are unknown now, without duplicates: those that no
/// model has answered about this evidence. They can be asked without running the action again.
pub fn open_questions(case: &Case, evidence: &Evidence) -> Vec<Need> {
    if evidence.error.is_some() {
        return Vec::new();
    }
    let open_of = |claim: &Claim| {
        let mut needs = claim.check.needs(&evidence.context);
        needs.retain(|need| {
            let is_open = |times: u32| !evidence.is_answered(need, times);
            match need {
                Need::Question(question) => question.text(evidence.output.as_ref()).is_ok() && is_open(question.times),
                Need::Scores(question) => question.scored(&evidence.observations).is_ok() && is_open(question.times),
                Need::Path { .. }
                | Need::Command { .. }
                | Need::Files(_)
                | Need::Log(_)
                | Need::Variables(_)
                | Need::Response(_)
                | Need::Trace => false,
            }
        });
        let is_unknown = || {
            let verdicts = claim.check.check(evidence);
            verdicts.iter().any(|verdict| verdict.outcome.status() == Status::Unknown)
        };
        if !needs.is_empty() && is_unknown() { needs } else { Vec::new() }
    };
    merged(case.claims.iter().flat_map(open_of))
}

/// Returns the status of an attempt: the worst status of its verdicts, or that of the failure that broke it. An
/// attempt with only skipped claims is unknown; one without claims passes.
pub fn status(evidence: &Evidence, judged: &[Judged]) -> Status {
    if let Some(error) = &evidence.error {
        return error.kind.status();
    }
    match judged.iter().map(|it| it.verdict.outcome.status()).max() {
        // A test without preconditions can always start.
        Some(Status::Skip) if evidence.only == Some(PartialRun::Preconditions) => Status::Pass,
        Some(Status::Skip) => Status::Unknown,
        Some(worst) => worst,
        None => Status::Pass,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Judged, judge, may_begin, open_questions, status};
    use crate::{
        analysis::Analyzer,
        dialect::Dialect,
        document::{Document, Pointer},
        evidence::{
            Answer, Capture, Ended, Evidence, ModelReply, Observation, QuestionAnswer, Ran, RunError, RunErrorKind,
        },
        files::MemoryFiles,
        json_schema::SpecFile,
        mask::Secrets,
        settings::Settings,
        suite::{Case, Claim, Phase},
        verdict::{Check, Mismatch, Outcome, Provisional, Status, Verdict},
    };

    fn case(expect: &str) -> Case {
        case_of(&format!("tests:\n  - {{name: t, command: x, expect: {expect}}}\n"))
    }

    fn case_of(text: &str) -> Case {
        let document = Document::read(text, Dialect::KINDLM.scalar_rules());
        let analysis =
            Analyzer::new(SpecFile::KINDLM).analyze(&document, &MemoryFiles::default(), &Settings::default());
        analysis.suite.cases[0].as_ref().clone()
    }

    fn evidence(stdout: &str) -> Evidence {
        let stdout = Capture::whole(stdout.to_owned());
        let ran = Ran { stdout: Some(stdout), ..Ran::default() };
        let mut evidence = Evidence { command: Some(ran), ..Evidence::default() };
        Dialect::KINDLM.interpret(&mut evidence);
        evidence
    }

    /// A claim with a fixed outcome.
    #[derive(Debug)]
    struct Fixed(Outcome, Provisional);

    impl Check for Fixed {
        fn check(&self, _: &Evidence) -> Vec<Verdict> {
            vec![Verdict::of("fixed", "", self.0.clone())]
        }

        fn texts(&self) -> Vec<String> {
            Vec::new()
        }

        fn provisional(&self) -> Provisional {
            self.1
        }
    }

    fn of_claims(claims: Vec<(Option<Phase>, Outcome, Provisional)>, evidence: &Evidence) -> (Vec<Status>, Status) {
        let claims = claims.into_iter().map(|(phase, outcome, open)| Claim {
            at: Pointer::root(),
            phase,
            check: Arc::new(Fixed(outcome, open)),
        });
        let case = Case { claims: claims.collect(), ..case("{}") };
        let judged = judge(&case, evidence, &Secrets::none());
        (judged.iter().map(|it| it.verdict.outcome.status()).collect(), status(evidence, &judged))
    }

    #[test]
    fn what_may_still_turn_is_unknown_until_the_act_has_ended() {
        let fail = || Outcome::Fail(Mismatch::default());
        for (ended, expected) in [
            (Some(Ended::Answer), [Status::Pass, Status::Fail, Status::Pass, Status::Fail, Status::Fail]),
            (Some(Ended::Deadline), [Status::Pass, Status::Fail, Status::Unknown, Status::Fail, Status::Unknown]),
            (None, [Status::Pass, Status::Fail, Status::Unknown, Status::Fail, Status::Unknown]),
        ] {
            let evidence = Evidence { ended, ..Evidence::default() };
            let claims = vec![
                (None, Outcome::Pass, Provisional::Nothing),
                (None, fail(), Provisional::Nothing),
                (None, Outcome::Pass, Provisional::Pass),
                (None, fail(), Provisional::Pass),
                (None, fail(), Provisional::Everything),
            ];
            assert_eq!(of_claims(claims, &evidence).0, expected, "{ended:?}");
        }
    }

    #[test]
    fn where_a_precondition_does_not_hold_nothing_else_is_judged_and_the_case_fails() {
        let evidence = Evidence { ended: Some(Ended::Answer), ..Evidence::default() };
        let fail = || Outcome::Fail(Mismatch::default());
        let (given, then) = (Some(Phase::Given), Some(Phase::Then));
        let claims = vec![
            (given, fail(), Provisional::Nothing),
            (given, Outcome::Pass, Provisional::Nothing),
            (then, Outcome::Pass, Provisional::Nothing),
            (then, fail(), Provisional::Nothing),
        ];
        let skipped = [Status::Fail, Status::Pass, Status::Skip, Status::Skip];
        assert_eq!(of_claims(claims, &evidence), (skipped.to_vec(), Status::Fail));
        let claims = vec![(given, Outcome::Pass, Provisional::Nothing), (then, fail(), Provisional::Nothing)];
        assert_eq!(of_claims(claims, &evidence), (vec![Status::Pass, Status::Fail], Status::Fail));
    }

    #[test]
    fn only_precondition_that_fails_or_breaks_keeps_the_act_from_beginning() {
        let fail = || Outcome::Fail(Mismatch::default());
        let reason = || "reason".to_owned();
        for (phase, outcome, begins) in [
            (Phase::Given, Outcome::Pass, true),
            (Phase::Given, Outcome::Warn(Mismatch::default()), true),
            (Phase::Given, Outcome::Skip(reason()), true),
            (Phase::Given, Outcome::Unknown(reason()), true),
            (Phase::Given, Outcome::Error(reason()), false),
            (Phase::Given, fail(), false),
            (Phase::Then, fail(), true),
        ] {
            let check = Arc::new(Fixed(outcome.clone(), Provisional::Nothing));
            let claims = vec![Claim { at: Pointer::root(), phase: Some(phase), check }];
            let case = Case { claims, ..case("{}") };
            assert_eq!(may_begin(&case, &Evidence::default(), &Secrets::none()), begins, "{phase} {outcome:?}");
        }
    }

    #[test]
    fn a_case_whose_every_claim_was_skipped_is_unknown() {
        let evidence = Evidence { ended: Some(Ended::Answer), ..Evidence::default() };
        let skip = || (None, Outcome::Skip("no back end".to_owned()), Provisional::Nothing);
        assert_eq!(of_claims(vec![skip(), skip()], &evidence).1, Status::Unknown);
        assert_eq!(of_claims(vec![skip(), (None, Outcome::Pass, Provisional::Nothing)], &evidence).1, Status::Pass);
        assert_eq!(of_claims(Vec::new(), &evidence).1, Status::Pass);
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
    fn question_is_open_until_a_model_answers_it_and_only_where_the_answer_counts() {
        let judged = |criteria: &str| {
            case_of(&format!(
                "models: [{{id: m, provider: openai, model: gpt-4o}}]\ntests:\n  - {{name: t, command: x, expect: {{judge: [{criteria}]}}}}\n"
            ))
        };
        let case = judged("{criteria: polite, minScore: 0.5}");
        let mut evidence = evidence("Thanks!");
        let open = open_questions(&case, &evidence);
        assert_eq!(open.len(), 1);
        let said = |text: &str| ModelReply { text: Capture::whole(text), ..ModelReply::default() };
        let answer = |reply| Answer::Question(QuestionAnswer { replies: vec![reply] });
        let observed = |reply| vec![Observation { need: open[0].clone(), answer: answer(reply) }];
        let failed = ModelReply { error: Some("down".to_owned()), ..ModelReply::default() };
        evidence.observe_again(observed(failed));
        assert_eq!(open_questions(&case, &evidence).len(), 1, "a request that failed is asked again");
        evidence.observe_again(observed(said("{\"score\": 0.7, \"reasoning\": \"r\"}")));
        assert!(open_questions(&case, &evidence).is_empty());
        let stricter = judged("{criteria: polite, minScore: 0.9}");
        assert!(open_questions(&stricter, &evidence).is_empty(), "a threshold asks nobody");
        let other = judged("{criteria: short}");
        assert_eq!(open_questions(&other, &evidence).len(), 1, "another criterion is another question");
        let error = RunError { kind: RunErrorKind::TimedOut, message: String::new() };
        assert!(open_questions(&other, &Evidence { error: Some(error), ..evidence.clone() }).is_empty());
        let cut = Evidence { output: None, ..evidence };
        assert!(open_questions(&other, &cut).is_empty(), "nothing to ask about");
    }

    #[test]
    fn a_claim_that_holds_a_secret_is_unknown_and_does_not_tell_it() {
        let secrets = Secrets::new([("API_KEY", "abcd1234")], &[], &[]);
        let case = case(
            "{output: {contains: ['key abcd1234', done], notContains: ['abcd1234?']}, guardrails: {keywords: {deny: [abcd1234]}}, latency: {maxMs: 1}}",
        );
        let mut evidence = evidence("key abcd1234 done");
        Dialect::KINDLM.mask(&mut evidence, &secrets);
        Dialect::KINDLM.interpret(&mut evidence);
        let judged = judge(&case, &evidence, &secrets);
        let statuses: Vec<_> = judged.iter().map(|it| (it.claim, it.verdict.outcome.status())).collect();
        let unknown = |claim| (claim, Status::Unknown);
        assert_eq!(statuses, [unknown(0), (0, Status::Pass), (0, Status::Pass), unknown(1), unknown(2)]);
        for Judged { verdict, .. } in &judged {
            assert!(!format!("{verdict:?}").contains("abcd1234"), "{verdict:?}");
        }
    }
}
