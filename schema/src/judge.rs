//! Judges the evidence of a case: case × evidence → verdicts. Pure, so an edited claim is judged again without a run.

use crate::{
    act::Act,
    evidence::{Evidence, Need, Output, PartialRun, has_hidden, merged},
    mask::{MASK_CHARACTER, Secrets, shown},
    suite::{Case, Claim},
    verdict::{Outcome, Status, Verdict},
    words::plural,
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
/// differs from a run that did not happen. The evidence must have been [masked](crate::format::Dialect::mask)
/// and [interpreted](crate::format::Format::interpret); a claim that depends on masked text is unknown.
pub fn judge(case: &Case, evidence: &Evidence, secrets: &Secrets) -> Vec<Judged> {
    judged(case.claims.iter().enumerate(), evidence, secrets)
}

/// Returns the verdicts of an attempt without a result: all are unknown.
pub fn unjudged(case: &Case) -> Vec<Verdict> {
    let nothing = Evidence::default();
    let verdicts = case.claims.iter().flat_map(|claim| claim.check.check(Act::of(&nothing)));
    verdicts.map(|verdict| verdict.instead(Outcome::Unknown("the attempt has no result".to_owned()))).collect()
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
    let act = Act::of(evidence);
    let mut unmet = false;
    for (claim, found) in claims {
        let is_precondition = found.is_precondition();
        if let Some(reason) = left_out(evidence.only, is_precondition) {
            judged.extend(
                found
                    .check
                    .check(act)
                    .into_iter()
                    .map(|verdict| Judged { claim, verdict: verdict.instead(Outcome::Skip(reason.to_owned())) }),
            );
            continue;
        }
        let texts = found.check.texts();
        // The placeholder of masked secrets must not be in the claim.
        let confusing = texts.iter().any(|text| text.contains(MASK_CHARACTER));
        let telling = !secrets.is_empty() && texts.iter().any(|text| secrets.contains_secret(text));
        for mut verdict in found.check.check(act) {
            if unmet && !is_precondition {
                let reason = "a precondition does not hold, so nothing was started";
                verdict = verdict.instead(Outcome::Skip(reason.to_owned()));
            }
            if telling {
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
            // What is hidden cannot be written into a suite.
            if let Outcome::Fail(mismatch) | Outcome::Warn(mismatch) = &mut verdict.outcome {
                mismatch.acceptable.take_if(|it| telling || has_hidden(&it.value));
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
            let verdicts = claim.check.check(Act::of(evidence));
            verdicts.iter().any(|verdict| verdict.outcome.status() == Status::Unknown)
        };
        if !needs.is_empty() && is_unknown() { needs } else { Vec::new() }
    };
    merged(case.claims.iter().flat_map(open_of))
}

/// Returns the status of an attempt: the worst status of its verdicts, or that of the failure that broke it. An
/// attempt whose assertions about the act were all skipped does not pass, whatever its preconditions say; one without
/// claims passes.
pub fn status(case: &Case, evidence: &Evidence, judged: &[Judged]) -> Status {
    if let Some(error) = &evidence.error {
        return error.kind.status();
    }
    let statuses = judged.iter().map(|it| (case.claims[it.claim].is_precondition(), it.verdict.outcome.status()));
    let worst = statuses.clone().map(|(_, status)| status).max();
    let of_act = statuses.filter(|(is_precondition, _)| !is_precondition).map(|(_, status)| status).max();
    match (worst, of_act) {
        // A test without preconditions can always start.
        (Some(Status::Skip), _) if evidence.only == Some(PartialRun::Preconditions) => Status::Pass,
        (Some(worst), Some(Status::Skip)) if evidence.only != Some(PartialRun::Preconditions) => {
            worst.max(Status::Unknown)
        }
        (Some(Status::Skip), _) => Status::Unknown,
        (Some(worst), _) => worst,
        (None, _) => Status::Pass,
    }
}

/// Returns a sentence about the assertions that were skipped: how many, and why. `None` if none was.
pub fn skipped(judged: &[Judged]) -> Option<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for Judged { verdict, .. } in judged {
        let Outcome::Skip(reason) = &verdict.outcome else { continue };
        // The remedy follows the reason.
        let reason = reason.split_once("; ").map_or(reason.as_str(), |(reason, _)| reason);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let skipped: usize = reasons.iter().map(|(_, count)| count).sum();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
    let all = plural(judged.len(), "assertion");
    (skipped > 0).then(|| format!("{skipped} of {all} skipped: {}", reasons.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Judged, judge, may_begin, open_questions, skipped, status};
    use crate::{
        act::Act,
        analysis::Analyzer,
        document::{Document, Pointer},
        evidence::{
            Answer, Capture, Ended, Evidence, Exit, ModelReply, Observation, QuestionAnswer, Ran, RunError,
            RunErrorKind,
        },
        files::MemoryFiles,
        format::Dialect,
        json_schema::SpecFile,
        mask::Secrets,
        settings::Settings,
        suite::{Case, Claim, Phase},
        verdict::{Check, Mismatch, Outcome, Status, Verdict},
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
        let exit = Some(Exit { code: Some(0), signal: None });
        let ran = Ran { stdout: Some(stdout), exit, ..Ran::default() };
        let mut evidence = Evidence { command: Some(ran), ..Evidence::default() };
        Dialect::KINDLM.interpret(&mut evidence);
        evidence
    }

    #[derive(Debug)]
    struct Fixed(Outcome);

    impl Check for Fixed {
        fn check(&self, _: Act<'_>) -> Vec<Verdict> {
            vec![Verdict::of("fixed", "", self.0.clone())]
        }

        fn texts(&self) -> Vec<String> {
            Vec::new()
        }
    }

    fn of_claims(claims: Vec<(Option<Phase>, Outcome)>, evidence: &Evidence) -> (Vec<Status>, Status) {
        let claims = claims.into_iter().map(|(phase, outcome)| Claim {
            at: Pointer::root(),
            phase,
            check: Arc::new(Fixed(outcome)),
        });
        let case = Case { claims: claims.collect(), ..case("{}") };
        let judged = judge(&case, evidence, &Secrets::none());
        (judged.iter().map(|it| it.verdict.outcome.status()).collect(), status(&case, evidence, &judged))
    }

    #[test]
    fn where_a_precondition_does_not_hold_nothing_else_is_judged_and_the_case_fails() {
        let evidence = Evidence { ended: Some(Ended::Answer), ..Evidence::default() };
        let fail = || Outcome::Fail(Mismatch::default());
        let (given, then) = (Some(Phase::Given), Some(Phase::Then));
        let claims = vec![(given, fail()), (given, Outcome::Pass), (then, Outcome::Pass), (then, fail())];
        let skipped = [Status::Fail, Status::Pass, Status::Skip, Status::Skip];
        assert_eq!(of_claims(claims, &evidence), (skipped.to_vec(), Status::Fail));
        let claims = vec![(given, Outcome::Pass), (then, fail())];
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
            let check = Arc::new(Fixed(outcome.clone()));
            let claims = vec![Claim { at: Pointer::root(), phase: Some(phase), check }];
            let case = Case { claims, ..case("{}") };
            assert_eq!(may_begin(&case, &Evidence::default(), &Secrets::none()), begins, "{phase} {outcome:?}");
        }
    }

    #[test]
    fn case_whose_every_claim_about_the_act_was_skipped_is_unknown() {
        let evidence = Evidence { ended: Some(Ended::Answer), ..Evidence::default() };
        let skip = || (None, Outcome::Skip("no back end".to_owned()));
        let pass = |phase| (phase, Outcome::Pass);
        let fail = |phase| (phase, Outcome::Fail(Mismatch::default()));
        for (claims, expected) in [
            (vec![skip(), skip()], Status::Unknown),
            (vec![skip(), pass(None)], Status::Pass),
            (vec![pass(Some(Phase::Given)), skip(), skip()], Status::Unknown),
            (vec![pass(Some(Phase::Given)), pass(None), skip()], Status::Pass),
            (vec![fail(Some(Phase::Given)), skip()], Status::Fail),
            (vec![pass(Some(Phase::Given))], Status::Pass),
            (Vec::new(), Status::Pass),
        ] {
            assert_eq!(of_claims(claims.clone(), &evidence).1, expected, "{claims:?}");
        }
    }

    #[test]
    fn skipped_claims_are_counted_by_their_reasons() {
        let judged = |reasons: &[Option<&str>]| -> Vec<Judged> {
            let outcome = |reason: &Option<&str>| reason.map_or(Outcome::Pass, |it| Outcome::Skip(it.to_owned()));
            let of = |reason| Judged { claim: 0, verdict: Verdict::of("k", "", outcome(reason)) };
            reasons.iter().map(of).collect()
        };
        assert_eq!(skipped(&judged(&[None])), None);
        let some = judged(&[Some("no tokens"), None, Some("no traces; set `a`"), Some("no traces; set `b`")]);
        let expected = "3 of 4 assertions skipped: no traces (2), no tokens (1)";
        assert_eq!(skipped(&some).as_deref(), Some(expected));
    }

    #[test]
    fn a_broken_run_has_no_verdicts() {
        let case = case("{output: {contains: [a]}}");
        let error = RunError { kind: RunErrorKind::TimedOut, message: "too slow".to_owned() };
        let broken = Evidence { error: Some(error), ..evidence("a") };
        let judged = judge(&case, &broken, &Secrets::none());
        assert_eq!((judged.len(), status(&case, &broken, &judged)), (0, Status::Error));
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
            let case = case(expect);
            let judged = judge(&case, &evidence, &Secrets::none());
            assert_eq!(status(&case, &evidence, &judged), expected, "{expect}");
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
        assert_eq!(statuses, [unknown(0), unknown(0), unknown(0), unknown(1), unknown(2)]);
        for Judged { verdict, .. } in &judged {
            assert!(!format!("{verdict:?}").contains("abcd1234"), "{verdict:?}");
        }
    }
}
