//! The response of an address.

use std::time::Duration;

use reqwest::Url;
use speclens_schema::evidence::{Address, Answer, Capture, ResponseAnswer, ResponseNeed};

use super::view::View;
use crate::{
    clock::SuspendAwareTimer,
    http::{client_for, received},
};

const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn observe(need: &ResponseNeed, view: &View) -> Answer {
    let address = match (&need.address, &view.gateway) {
        (Address::Url(address), Some(gateway)) => gateway.reached(address),
        (Address::Url(address), None) => address.clone(),
        (Address::Gateway(path), Some(gateway)) => gateway.url(path),
        (Address::Gateway(_), None) => return Answer::Nothing("no gateway is configured".to_owned()),
    };
    Answer::Response(ask(&address, view).await)
}

async fn ask(address: &str, view: &View) -> ResponseAnswer {
    let mut answer = ResponseAnswer::default();
    let mut body = Vec::new();
    let received = SuspendAwareTimer::begin(view.suspended)
        .within(TIMEOUT, receive(address, view.limit, &mut answer, &mut body))
        .await;
    let is_whole = match received {
        Some(Ok(is_whole)) => is_whole,
        Some(Err(reason)) => {
            answer.error = Some(reason);
            false
        }
        None => {
            answer.error = Some(format!("no response within {} s", TIMEOUT.as_secs()));
            false
        }
    };
    if answer.status.is_some() {
        // The status is an answer, however the body ended.
        answer.error = None;
        answer.body = Capture::of_bytes(body, !is_whole);
    }
    answer
}

/// Receives a response, and returns whether all of it was kept. The received part remains when the wait is given up.
async fn receive(address: &str, limit: usize, answer: &mut ResponseAnswer, body: &mut Vec<u8>) -> Result<bool, String> {
    let mut url = Url::parse(address).map_err(|error| format!("`{address}` is not a valid URL: {error}"))?;
    // Assertions send no credentials. An address without a host has no user name to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let request = client_for(&url)?.get(url);
    received(request, limit, &mut answer.status, body).await
}
