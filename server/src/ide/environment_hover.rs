//! Shows what a claim about the environment of a run would see now: variables, and the address that would be called. No
//! request is sent.

use std::collections::BTreeMap;

use speclens_runner::gateway::Gateway;
use speclens_schema::{
    document::Document,
    evidence::{Answer, Context, Evidence, Need, ResponseAnswer, ResponseNeed, TemplateValues, VariablesNeed},
    suite::{Claim, Suite},
    template_syntax,
};

use super::{hover::Hover, last_run::written_at, latest::Latest, markdown, values::Values};

#[derive(Clone, Copy)]
pub(crate) struct RunEnvironment<'s> {
    pub environment: &'s dyn Fn(&str) -> Option<String>,
    /// The gateway in force; `None` if the suite has none.
    pub gateway: Option<&'s Gateway>,
    /// The time and the files on the disk.
    pub values: Values<'s>,
}

/// Returns what the claim at a place would see now, and its last response if it takes a request. `None` outside of keys
/// and values of claims, and for other claims.
pub(crate) fn hover(
    document: &Document,
    offset: usize,
    suite: &Suite,
    latest: Option<&Latest>,
    run_environment: RunEnvironment<'_>,
) -> Option<Hover> {
    let (at, range) = written_at(document, offset)?;
    let own = suite.cases.iter().filter(|case| case.file.is_none());
    let (case, index, claim) = own
        .flat_map(|case| case.claims.iter().enumerate().map(move |(index, claim)| (case, index, claim)))
        .find(|(_, _, claim)| at.below(&claim.at).is_some())?;
    let named = document.find(&at).and_then(|node| node.text()).unwrap_or_default();
    let seen = |need: Need| match need {
        Need::Variables(need) => Some(variables(&need, named, run_environment.environment)),
        Need::Response(need) => {
            let latest = latest.filter(|latest| latest.is_of(document));
            let answered = latest.and_then(|latest| last_answer(latest, &case.name, index));
            Some(response(&need, run_environment.gateway?) + &answered.unwrap_or_default())
        }
        Need::Path { .. }
        | Need::Command { .. }
        | Need::Files(_)
        | Need::Log(_)
        | Need::Trace
        | Need::Scores(_)
        | Need::Question(_) => None,
    };
    let parts: Vec<String> = claim.check.needs(&context(run_environment.values)).into_iter().filter_map(seen).collect();
    (!parts.is_empty()).then(|| Hover { range, markdown: parts.join("\n\n"), page: None })
}

fn context(values: Values<'_>) -> Context {
    let known = template_syntax::known_values().filter_map(|(name, _)| Some((name.to_owned(), values.of(name)?)));
    let known: BTreeMap<String, String> = known.collect();
    Context {
        templates: Some(TemplateValues { before: known.clone(), after: known, ..TemplateValues::default() }),
        ..Context::default()
    }
}

/// Returns which variables are set, never their values. At the name of one variable, only that one.
fn variables(need: &VariablesNeed, named: &str, environment: &dyn Fn(&str) -> Option<String>) -> String {
    let is_one = need.names.iter().any(|name| name == named);
    let names = need.names.iter().filter(|name| !is_one || *name == named);
    let line = |name: &String| {
        let state = match environment(name) {
            Some(value) if value.is_empty() => "is empty",
            Some(_) => "is set",
            None => "is not set",
        };
        format!("- {} {state}", markdown::inline(name))
    };
    format!("Now, in the editor's environment:\n\n{}", names.map(line).collect::<Vec<_>>().join("\n"))
}

fn response(need: &ResponseNeed, gateway: &Gateway) -> String {
    let address = markdown::inline(&gateway.shown_address(&need.address));
    match gateway.script_for(&need.address) {
        Some(script) => {
            format!(
                "A run sends the request to the scripted gateway {} instead of {address}.",
                markdown::inline(script)
            )
        }
        None => format!("A run sends the request to {address}."),
    }
}

fn last_answer(latest: &Latest, case: &str, claim: usize) -> Option<String> {
    let (case, outcome) = latest.own().find(|(known, _)| known.name == case)?;
    let claim: &Claim = case.claims.get(claim)?;
    let newest = outcome.attempts.iter().map(|attempt| &attempt.result).max_by_key(|result| result.began_us)?;
    let evidence: &Evidence = &*newest.evidence.get()?;
    let needs = claim.check.needs(&evidence.context);
    let answer =
        needs.iter().find(|need| matches!(need, Need::Response(_))).and_then(|need| evidence.answer_to(need))?;
    let said = match answer {
        Answer::Response(ResponseAnswer { status: Some(status), .. }) => format!("status {status}"),
        Answer::Response(ResponseAnswer { error, .. }) => error.clone().unwrap_or_else(|| "no response".to_owned()),
        Answer::Nothing(reason) => format!("none, {reason}"),
        Answer::Path(_)
        | Answer::Command(_)
        | Answer::Files(_)
        | Answer::Log(_)
        | Answer::Variables(_)
        | Answer::Trace(_)
        | Answer::Question(_) => return None,
    };
    Some(format!("\n\nLast recorded response: {said}, from the run of {}.", evidence.context.started))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use speclens_runner::event::{RunResult, StoredEvidence};
    use speclens_schema::{
        analysis::Analyzer,
        evidence::{Address, Observation, ObservationTime},
        settings::Settings,
        suite::Subject,
        verdict::Status,
    };

    use super::*;
    use crate::ide::tests::fixture::Fixture;

    fn unwell(subject: &Subject) -> RunResult {
        let need = |address| Need::Response(ResponseNeed { address, moment: ObservationTime::Before });
        let answer = |status| Answer::Response(ResponseAnswer { status: Some(status), ..ResponseAnswer::default() });
        let health = Observation { need: need(Address::Gateway("/health".to_owned())), answer: answer(503) };
        let context = Context { started: "2026-05-14T11:00:00Z".to_owned(), ..Context::default() };
        let evidence = Evidence { context, observations: vec![health], ..Evidence::default() };
        let evidence = StoredEvidence::Memory(Arc::new(evidence));
        RunResult { evidence, began_us: 1, ..RunResult::of(subject, 0, Status::Fail) }
    }

    #[track_caller]
    fn check(given: &str, script: Option<&str>, expected: &str) {
        let text = format!(
            "//- /clawspec-scenarios.yaml\nversion: '1.0'\ntarget: {{type: skill, path: skills/a, trigger: /a}}\n\
             scenarios:\n  - name: a\n    given:\n    - {given}\n    when: {{invoke: /a}}\n"
        );
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let fixture = Fixture::parse(&text);
            let analyzer = Analyzer::new(fixture.file);
            let suite = analyzer.analyze(&fixture.document, &fixture.files, &Settings::default()).suite;
            let gateway = Gateway::of(suite.gateway().unwrap(), |_| None, Some("http://me:pw@there:1/"));
            let gateway = match script {
                Some(script) => gateway.with_script(script.into(), script.to_owned()),
                None => gateway,
            };
            let environment = |name: &str| match name {
                "SET" => Some("planted-value".to_owned()),
                "EMPTY" => Some(String::new()),
                _ => None,
            };
            let values = Values { files: &fixture.files, now: "2026-05-14T12:00:00Z" };
            let run_environment = RunEnvironment { environment: &environment, gateway: Some(&gateway), values };
            let latest = fixture.latest(|case| case.action.subjects().iter().map(unwell).collect());
            let found = hover(&fixture.document, fixture.offset(), &suite, Some(&latest), run_environment);
            assert_eq!(found.map(|hover| hover.markdown).unwrap_or_default(), expected, "{given}");
        }
    }

    #[test]
    fn variables_are_set_or_not_and_never_shown() {
        let all = "Now, in the editor's environment:\n\n- `SET` is set\n- `EMPTY` is empty\n- `NOT` is not set";
        check("{type: env_$0present, vars: [SET, EMPTY, NOT]}", None, all);
        check("{type: env_present, va$0rs: [SET, EMPTY, NOT]}", None, all);
        let one = "Now, in the editor's environment:\n\n- `SET` is set";
        check("{type: env_present, vars: [\"S$0ET\", EMPTY, NOT]}", None, one);
    }

    #[test]
    fn gateway_has_its_address_without_a_password_and_the_last_recorded_answer() {
        let last = "\n\nLast recorded response: status 503, from the run of 2026-05-14T11:00:00Z.";
        check("{type: gateway_$0healthy}", None, &format!("A run sends the request to `http://there:1/health`.{last}"));
        let script = "A run sends the request to the scripted gateway `demo.gateway.yaml` instead of \
            `http://there:1/health`.";
        check("{type: gateway_$0healthy}", Some("demo.gateway.yaml"), &format!("{script}{last}"));
        let other = "{type: gateway_response, endpoint: 'http://x:2/{{today}}', expected_$0status: 200}";
        check(other, Some("demo.gateway.yaml"), "A run sends the request to `http://x:2/2026-05-14`.");
        check("{type: gateway_response, endpoint: 'http://x/{{run_id}}', expected_$0status: 200}", None, "");
        check("{type: file_$0present, path: a}", None, "");
    }
}
