//! Responses of servers that listen on the loopback address.

use speclens_schema::evidence::{Address, Answer, Moment, Need, ResponseAnswer, ResponseNeed};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{Cancelled, View, answer, directory, observe, view};

/// A server that answers one request with these bytes and returns the request.
struct Server {
    address: String,
    asked: tokio::task::JoinHandle<String>,
}

impl Server {
    async fn answering(response: impl Into<Vec<u8>>, closes: bool) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let response: Vec<u8> = response.into();
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let asked = head_of(&mut stream).await;
            // A client that has read enough may hang up.
            let _ = stream.write_all(&response).await;
            if !closes {
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
            asked
        });
        Server { address, asked }
    }
}

async fn head_of(stream: &mut TcpStream) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        head.push(char::from(byte[0]));
    }
    head
}

fn need(url: String) -> Need {
    Need::Response(ResponseNeed { address: Address::Url(url), moment: Moment::After })
}

async fn response(url: String, view: &View) -> ResponseAnswer {
    match answer(&need(url), view).await {
        Answer::Response(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn address_is_asked_with_get_and_without_authorization() {
    let directory = directory();
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok\n", true).await;
    let url = format!("http://user:pass@{}/health?x=1", server.address);
    let found = response(url, &view(directory.path())).await;
    assert_eq!(
        (found.status, found.body.text.as_str(), found.body.cut, &found.error),
        (Some(200), "ok\n", false, &None)
    );
    let asked = server.asked.await.unwrap();
    assert!(asked.starts_with("GET /health?x=1 HTTP/1.1\r\n"), "{asked}");
    assert!(!asked.to_lowercase().contains("authorization"), "{asked}");
}

#[tokio::test]
async fn redirect_is_the_answer() {
    let directory = directory();
    let server = Server::answering("HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n", true).await;
    let found = response(format!("http://{}/", server.address), &view(directory.path())).await;
    assert_eq!((found.status, found.error), (Some(302), None));
}

#[tokio::test]
async fn body_is_bounded_and_a_truncated_one_is_cut() {
    let directory = directory();
    let view = View { limit: 4, ..view(directory.path()) };
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n12345678", true).await;
    let found = response(format!("http://{}/", server.address), &view).await;
    assert_eq!((found.status, found.body.text.as_str(), found.body.cut), (Some(200), "1234", true));
    let server = Server::answering("HTTP/1.1 500 Oh\r\ncontent-length: 8\r\n\r\n12", true).await;
    let found = response(format!("http://{}/", server.address), &view).await;
    assert_eq!((found.status, found.body.text.as_str(), found.body.cut), (Some(500), "12", true));
}

#[tokio::test]
async fn address_without_an_answer_says_why() {
    let directory = directory();
    let view = view(directory.path());
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let server = Server::answering("this is not HTTP\r\n\r\n", true).await;
    for url in [format!("http://{closed}/"), format!("http://{}/", server.address), "no address".to_owned()] {
        let found = response(url.clone(), &view).await;
        let reason = found.error.unwrap_or_default();
        assert!(found.status.is_none() && !reason.is_empty(), "{url}");
        assert!(!reason.contains('\n'), "{reason}");
    }
}

#[tokio::test]
async fn silent_address_is_given_up_after_five_seconds_in_which_the_program_was_not_suspended() {
    let directory = directory();
    // Suspended time does not count, so this clock alone decides when five seconds are over.
    let server = Server::answering("", false).await;
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let found = response(format!("http://{}/", server.address), &view(directory.path())).await;
    assert_eq!(found.error.as_deref(), Some("no response within 5 seconds"));
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn cancelled_run_does_not_wait_for_an_address() {
    let directory = directory();
    let view = view(directory.path());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let cancel = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        head_of(&mut stream).await;
        view.cancel.cancel();
        // The connection ends with the wait.
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    };
    let asked = need(url);
    let (found, ()) = tokio::join!(observe(&asked, &view), cancel);
    assert_eq!(found, Err(Cancelled));
}

#[tokio::test]
async fn suite_without_a_gateway_asks_none_and_says_so() {
    let directory = directory();
    let need = ResponseNeed { address: Address::Gateway("/health".to_owned()), moment: Moment::Before };
    let Answer::Nothing(reason) = answer(&Need::Response(need), &view(directory.path())).await else {
        panic!("an answer")
    };
    assert_eq!(reason, "no gateway is configured");
}
