//! Responses of servers that listen on the loopback address.

use speclens_schema::evidence::{Address, Answer, Need, ObservationTime, ResponseAnswer, ResponseNeed};

use crate::model::tests::loopback::{Answer as Reply, Loopback, step};

use super::{Cancelled, View, answer, directory, empty, observe, view};

fn need(url: String) -> Need {
    Need::Response(ResponseNeed { address: Address::Url(url), moment: ObservationTime::After })
}

async fn response(url: String, view: &View) -> ResponseAnswer {
    match answer(&need(url), view).await {
        Answer::Response(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn address_is_asked_with_get_and_without_authorization() {
    let (_directory, view) = empty();
    let server = Loopback::saying("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok\n").await;
    let url = format!("http://user:pass@{}/health?x=1", server.host);
    let found = response(url, &view).await;
    assert_eq!(
        (found.status, found.body.text.as_str(), found.body.cut, &found.error),
        (Some(200), "ok\n", false, &None)
    );
    let asked = &server.seen()[0];
    assert_eq!(asked.line, "GET /health?x=1");
    assert!(!asked.headers.contains_key("authorization"), "{asked:?}");
}

#[tokio::test]
async fn redirect_is_the_answer() {
    let (_directory, view) = empty();
    let server = Loopback::saying("HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n").await;
    let found = response(format!("http://{}/", server.host), &view).await;
    assert_eq!((found.status, found.error), (Some(302), None));
}

#[tokio::test]
async fn body_is_bounded_and_a_truncated_one_is_cut() {
    let directory = directory();
    let view = View { limit: 4, ..view(directory.path()) };
    let server = Loopback::saying("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n12345678").await;
    let found = response(format!("http://{}/", server.host), &view).await;
    assert_eq!((found.status, found.body.text.as_str(), found.body.cut), (Some(200), "1234", true));
    let server = Loopback::saying("HTTP/1.1 500 Oh\r\ncontent-length: 8\r\n\r\n12").await;
    let found = response(format!("http://{}/", server.host), &view).await;
    assert_eq!((found.status, found.body.text.as_str(), found.body.cut), (Some(500), "12", true));
}

#[tokio::test]
async fn address_without_an_answer_says_why() {
    let (_directory, view) = empty();
    let closed = Loopback::gone().await.host;
    let server = Loopback::saying("this is not HTTP\r\n\r\n").await;
    for url in [format!("http://{closed}/"), format!("http://{}/", server.host), "no address".to_owned()] {
        let found = response(url.clone(), &view).await;
        let reason = found.error.unwrap_or_default();
        assert!(found.status.is_none() && !reason.is_empty(), "{url}");
        assert!(!reason.contains('\n'), "{reason}");
    }
}

#[tokio::test]
async fn silent_address_is_given_up_after_five_seconds_in_which_the_program_was_not_suspended() {
    let (_directory, view) = empty();
    // Suspended time does not count, so this clock alone decides when five seconds are over.
    let server = Loopback::start(vec![step(|_| Reply::Silence)]).await;
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let found = response(format!("http://{}/", server.host), &view).await;
    assert_eq!(found.error.as_deref(), Some("no response within 5 s"));
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn cancelled_run_does_not_wait_for_an_address() {
    let (_directory, view) = empty();
    let mut server = Loopback::start(vec![step(|_| Reply::Silence)]).await;
    let asked = need(format!("http://{}/", server.host));
    let cancel = async {
        server.asked.notified().await;
        view.cancel.cancel();
        // The connection ends with the wait.
        server.gone.recv().await.unwrap();
    };
    let (found, ()) = tokio::join!(observe(&asked, &view), cancel);
    assert_eq!(found, Err(Cancelled));
}

#[tokio::test]
async fn suite_without_a_gateway_asks_none_and_says_so() {
    let (_directory, view) = empty();
    let need = ResponseNeed { address: Address::Gateway("/health".to_owned()), moment: ObservationTime::Before };
    let Answer::Nothing(reason) = answer(&Need::Response(need), &view).await else { panic!("an answer") };
    assert_eq!(reason, "no gateway is configured");
}
