//! Judges that are asked for scores: in the protocol of the gateway, and models.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use speclens_schema::{
    evidence::{Address, Answer, AskedModel, Judge, ModelReply, Need, Observation, ObservationTime, ScoreNeed},
    gateway::config::Config,
    mask::Secrets,
    settings::Settings,
};

use super::{View, directory, view};
use crate::{
    gateway::Gateway,
    model::{
        Models,
        tests::loopback::{Loopback, json as said},
    },
    observe::{self, Observations},
};

const TEXT: &str = "# Hook\n\nBuy now\n\n# Body\n\nthe word abcd1234-secret\n";
const TOKEN: &str = "planted-token-4711";

fn need(judge: Judge) -> ScoreNeed {
    ScoreNeed {
        judge,
        rubric: "Score 1-5".to_owned(),
        path: "out.md".to_owned(),
        section: None,
        identity: None,
        moment: ObservationTime::After,
        times: 1,
    }
}

fn at_gateway() -> Judge {
    Judge::Endpoint(Address::Gateway("/qa/judge".to_owned()))
}

fn view_of(directory: &Path, host: &str) -> View {
    std::fs::write(directory.join("out.md"), TEXT).unwrap();
    std::fs::write(directory.join("SOUL.md"), "# Me\n").unwrap();
    let variable = |name: &str| (name == "HOOKS_TOKEN").then(|| TOKEN.to_owned());
    let gateway = Gateway::of(&Config::default(), variable, Some(&format!("http://{host}")));
    let plain = view(directory);
    let secrets = Arc::new(Secrets::new([("API_KEY", "abcd1234-secret")], &[], &[]));
    View { gateway: Some(Arc::new(gateway)), secrets, ..plain }
}

/// Observes the question after the files that it is about.
async fn ask(need: &ScoreNeed, view: &View) -> Answer {
    let files = [Some(&need.path), need.identity.as_ref()].into_iter().flatten();
    let mut needs = vec![Need::Scores(need.clone())];
    needs.extend(files.map(|path| Need::Files(need.file(path))));
    let Observations { observations, cancelled } = observe::all(needs, view).await;
    assert!(!cancelled);
    let is_score = |observation: &Observation| matches!(observation.need, Need::Scores(_));
    observations.into_iter().find(is_score).unwrap().answer
}

async fn replies(need: &ScoreNeed, view: &View) -> Vec<ModelReply> {
    match ask(need, view).await {
        Answer::Question(answer) => answer.replies,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn gateway_is_asked_with_its_token_and_without_secrets() {
    let server = Loopback::always(200, json!({ "score": 4 })).await;
    let directory = directory();
    let view = view_of(directory.path(), &server.host);
    let found = replies(&ScoreNeed { times: 2, ..need(at_gateway()) }, &view).await;
    assert_eq!(
        found.iter().map(|it| (it.text.text.as_str(), it.error.as_deref())).collect::<Vec<_>>(),
        [(r#"{"score":4}"#, None), (r#"{"score":4}"#, None)]
    );
    let asked = server.seen();
    assert_eq!((asked.len(), asked[0].line.as_str()), (2, "POST /qa/judge"));
    assert_eq!(asked[0].headers["authorization"], format!("Bearer {TOKEN}"));
    let stars = TEXT.replace("abcd1234-secret", &"*".repeat("abcd1234-secret".len()));
    assert_eq!(asked[0].body, json!({ "rubric": "Score 1-5", "text": stars, "section": null }));
}

#[tokio::test]
async fn only_the_section_is_sent_and_the_identity_where_there_is_one() {
    let server = Loopback::always(200, json!({ "score": 4 })).await;
    let directory = directory();
    let view = view_of(directory.path(), &server.host);
    ask(&ScoreNeed { section: Some("hook".to_owned()), ..need(at_gateway()) }, &view).await;
    ask(&ScoreNeed { identity: Some("SOUL.md".to_owned()), ..need(at_gateway()) }, &view).await;
    let bodies: Vec<Value> = server.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies[0], json!({ "rubric": "Score 1-5", "text": "# Hook\n\nBuy now\n\n", "section": "hook" }));
    assert_eq!((&bodies[1]["identity"], bodies[1].get("text")), (&json!("# Me\n"), None));
    let missing = ask(&ScoreNeed { section: Some("End".to_owned()), ..need(at_gateway()) }, &view).await;
    assert!(matches!(&missing, Answer::Nothing(reason) if reason.contains("no section `End`")), "{missing:?}");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn token_is_sent_only_to_the_gateway() {
    let [gateway, other] = [Loopback::always(200, json!({})).await, Loopback::always(200, json!({})).await];
    let directory = directory();
    let view = view_of(directory.path(), &gateway.host);
    for host in [&gateway.host, &other.host] {
        ask(&need(Judge::Endpoint(Address::Url(format!("http://{host}/judge")))), &view).await;
    }
    assert!(gateway.seen()[0].headers.contains_key("authorization"));
    assert!(!other.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn status_that_is_no_success_is_no_answer_whatever_the_body_says() {
    let steps = [500, 302, 404].map(|status| said(status, &[("location", "/elsewhere")], json!({ "score": 5 })));
    let server = Loopback::start(steps.into()).await;
    let directory = directory();
    let view = view_of(directory.path(), &server.host);
    let found = replies(&ScoreNeed { times: 3, ..need(at_gateway()) }, &view).await;
    for (reply, status) in found.iter().zip(["500", "302", "404"]) {
        assert!(reply.error.as_ref().is_some_and(|error| error.ends_with(&format!("status {status}"))), "{reply:?}");
    }
    assert_eq!(server.seen().len(), 3);
    let gone = Loopback::gone().await;
    let found = replies(&need(at_gateway()), &view_of(directory.path(), &gone.host)).await;
    assert!(found[0].error.is_some(), "{found:?}");
}

#[tokio::test]
async fn model_of_the_settings_is_asked_with_the_rubric_and_the_text() {
    let answer = json!({
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "{\"score\": 4}" } }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
    });
    let server = Loopback::always(200, answer).await;
    let settings = json!({ "providers": { "local": { "base_url": format!("http://{}/v1", server.host) } } });
    let settings: Settings = serde_json::from_value(settings).unwrap();
    let directory = directory();
    let plain = view_of(directory.path(), "127.0.0.1:9");
    let models = Arc::new(Models::new(Arc::new(settings), 1, |_| None));
    let view = View { models, ..plain };
    let found = replies(&need(Judge::Model(AskedModel::of_id("local/judge").unwrap())), &view).await;
    assert_eq!((found[0].text.text.as_str(), found[0].usage.unwrap().input_tokens), (r#"{"score": 4}"#, 7));
    let asked = server.seen();
    let question = asked[0].body["messages"][1]["content"].as_str().unwrap();
    assert!(question.contains("Score 1-5") && question.contains("Buy now") && !question.contains("abcd1234"));
}

#[tokio::test]
async fn cancelled_run_waits_for_no_judge() {
    let server =
        Loopback::start(vec![crate::model::tests::loopback::step(|_| crate::model::tests::loopback::Answer::Silence)])
            .await;
    let directory = directory();
    let view = view_of(directory.path(), &server.host);
    let (cancel, asked) = (view.cancel.clone(), Arc::clone(&server.asked));
    let cancelling = tokio::spawn(async move {
        asked.notified().await;
        cancel.cancel();
    });
    let need = need(at_gateway());
    let needs = vec![Need::Files(need.file("out.md")), Need::Scores(need)];
    let seen = observe::all(needs, &view).await;
    cancelling.await.unwrap();
    assert!(seen.cancelled && seen.observations.len() == 1, "{seen:?}");
}
