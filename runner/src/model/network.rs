//! A model that is asked over the network.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, Method, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use speclens_schema::{
    evidence::{RunError, RunErrorKind, Service},
    settings::{Api, Price},
};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    Answering, Embedded, Model, Reply, Request,
    failure::{self, Failure, MAX_BYTES, RequestDeadline, RequestFacts},
    mcp, price,
    provider::{Key, Protocol, Target},
    wire::{self, Embedding},
};
use crate::http;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

pub(super) struct Network {
    client: Client,
    target: Target,
    host: String,
    key: Option<(String, Key)>,
    /// Other secrets in headers, which are masked in messages.
    secrets: Vec<Key>,
    price: Option<Price>,
    deadline: RequestDeadline,
    request_limit: RequestLimit,
}

/// A header by its name: its value, or a secret.
pub(super) type ServiceHeader = (String, String, Option<Key>);

impl Network {
    /// Prepares a model. Nothing is sent yet.
    pub(super) fn new(
        target: Target,
        key: Option<(String, Key)>,
        headers: Vec<ServiceHeader>,
        price: Option<Price>,
        deadline: RequestDeadline,
        request_limit: RequestLimit,
    ) -> Result<Network, RunError> {
        let host = target.host();
        let provider_error = |why: String| {
            let message = format!("cannot prepare requests to {host}: {why}");
            RunError { kind: RunErrorKind::Provider, message }
        };
        let client = client(&target, key.as_ref().map(|(_, key)| key), &headers, deadline.limit);
        let client = client.map_err(provider_error)?;
        let secrets = headers.into_iter().filter_map(|(.., secret)| secret).collect();
        Ok(Network { client, target, host, key, secrets, price, deadline, request_limit })
    }

    /// Sends a request until it is answered, or no retry can help.
    async fn retried<R>(
        &self,
        url: &Url,
        body: &str,
        read: impl Fn(&Value) -> Result<R, String> + Send,
    ) -> Result<R, RunError> {
        let seed = RandomState::new().hash_one(&self.host);
        let (mut retries, mut waited) = (0, Duration::ZERO);
        loop {
            let answer = self.exchange(url, body).await;
            let failure = match answer.and_then(|body| read(&body).map_err(Failure::Unreadable)) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let Some(pause) = failure::pause(&failure, retries, waited, seed) else {
                let variable = self.key.as_ref().map(|(variable, _)| variable.as_str());
                let request = RequestFacts { host: &self.host, variable, deadline: self.deadline, retries };
                return Err(failure.into_error(request));
            };
            // Others may ask in the meantime.
            tokio::time::sleep(pause).await;
            retries += 1;
            waited += pause;
        }
    }

    async fn answer(&self, request: &Request) -> Result<Reply, RunError> {
        let Target { protocol, model, .. } = &self.target;
        let body = wire::body(protocol, model, request);
        let mut reply = self.retried(&self.target.url(), &body, |body| wire::reply(protocol, body)).await?;
        reply.usage = price::usage(reply.usage, self.price);
        Ok(reply)
    }

    async fn vector(&self, text: &str) -> Result<Vec<f64>, RunError> {
        let Some(embedding) = Embedding::of(&self.target, text) else {
            let message = format!("{} has no embeddings; use another `method`", self.host);
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        };
        self.retried(&embedding.url, &embedding.body.to_string(), |body| embedding.vector(body)).await
    }

    /// Sends a request once, and reads the answer as JSON.
    async fn exchange(&self, url: &Url, body: &str) -> Result<Value, Failure> {
        let _permit = self.request_limit.permit().await;
        let answer = self.post(url, body).await;
        let Protocol::Service(Service::Mcp(service)) = &self.target.protocol else { return answer };
        if !mcp::speaks(&answer) {
            return answer;
        }
        let arguments =
            serde_json::from_str::<Value>(body).ok().and_then(|mut body| Some(body.get_mut("arguments")?.take()));
        match mcp::call(&self.client, url, &service.tool, arguments.unwrap_or_default()).await? {
            Some(result) => Ok(result),
            None => answer,
        }
    }

    async fn post(&self, url: &Url, body: &str) -> Result<Value, Failure> {
        let method = wire::method(&self.target.protocol).parse().unwrap_or(Method::POST);
        let sent = self.client.request(method, url.clone()).body(body.to_owned()).send().await;
        let mut response = sent.map_err(Failure::of_connection)?;
        let mut bytes = Vec::new();
        let is_whole = http::receive(&mut response, MAX_BYTES, &mut bytes).await.map_err(Failure::of_connection)?;
        let mask = |text: &str| {
            let keys = self.key.iter().map(|(_, key)| key).chain(&self.secrets);
            keys.fold(text.to_owned(), |text, key| key.mask(&text))
        };
        let text = String::from_utf8_lossy(&bytes);
        // In a message a key has no business; what an answer conceals is known only if the evidence is masked later.
        let shown = mask(&text);
        if !response.status().is_success() {
            return Err(Failure::of_status(response.status(), response.headers(), &shown));
        }
        if !is_whole {
            return Err(Failure::TooLarge);
        }
        let body = failure::parsed(&shown, response.headers())?;
        if let Some(failure) = Failure::in_body(&body) {
            return Err(failure);
        }
        if shown == text { Ok(body) } else { failure::parsed(&text, response.headers()) }
    }
}

impl Model for Network {
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(self.answer(request))
    }

    fn embed<'a>(&'a self, text: &'a str) -> Embedded<'a> {
        Box::pin(self.vector(text))
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Network").field("target", &self.target).field("key", &self.key).finish_non_exhaustive()
    }
}

fn client(target: &Target, key: Option<&Key>, more: &[ServiceHeader], deadline: Duration) -> Result<Client, String> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    if let (Some(key), Protocol::Api(api)) = (key, &target.protocol) {
        let (name, value) = match api {
            Api::OpenAi | Api::Cohere | Api::Ollama => ("authorization", key.header("Bearer ")),
            Api::Anthropic => ("x-api-key", key.header("")),
            Api::Gemini => ("x-goog-api-key", key.header("")),
        };
        headers.insert(HeaderName::from_static(name), value);
    }
    if target.protocol == Protocol::Api(Api::Anthropic) {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    for (name, value, secret) in more {
        let named = HeaderName::try_from(name).map_err(|_| format!("`{name}` is not a valid name of a header"))?;
        let value = match secret {
            Some(secret) => secret.header(""),
            None => {
                HeaderValue::from_str(value).map_err(|_| format!("the value of the header `{name}` is not valid"))?
            }
        };
        headers.insert(named, value);
    }
    let builder = http::with_secret(&target.base_url)?
        .default_headers(headers)
        .timeout(deadline)
        .connect_timeout(CONNECT_TIMEOUT.min(deadline));
    builder.build().map_err(|error| error.to_string())
}

const MAX_IN_FLIGHT: usize = 32;

static OF_PROGRAM: Semaphore = Semaphore::const_new(MAX_IN_FLIGHT);

#[derive(Clone, Debug)]
pub(super) struct RequestLimit(Arc<Semaphore>);

/// A permit for one request, valid until it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'c> {
    _of_suite: SemaphorePermit<'c>,
    _of_program: SemaphorePermit<'static>,
}

impl RequestLimit {
    pub(super) fn new(requests: usize) -> RequestLimit {
        RequestLimit(Arc::new(Semaphore::new(requests.clamp(1, MAX_IN_FLIGHT))))
    }

    pub(super) async fn permit(&self) -> Permit<'_> {
        const OPEN: &str = "nothing closes it";
        let of_suite = self.0.acquire().await.expect(OPEN);
        Permit { _of_suite: of_suite, _of_program: OF_PROGRAM.acquire().await.expect(OPEN) }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context};

    use super::RequestLimit;

    #[test]
    fn request_above_the_cap_waits_for_the_end_of_another() {
        let request_limit = RequestLimit::new(2);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut permits: Vec<_> = (0..2).map(|_| Box::pin(request_limit.permit())).collect();
        let granted: Vec<_> = permits.iter_mut().map(|permit| permit.as_mut().poll(&mut context)).collect();
        assert!(granted.iter().all(std::task::Poll::is_ready));
        let mut third = pin!(request_limit.permit());
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(granted);
        assert!(third.as_mut().poll(&mut context).is_ready());
    }
}
