//! A model that is asked over the network.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use genai::{
    Client, Headers, ModelIden, ServiceTarget,
    resolver::{AuthData, Endpoint},
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use speclens_schema::{
    evidence::{RunError, RunErrorKind},
    settings::{Api, Price},
};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    Answering, Model, Reply, Request, convert,
    failure::{self, Failure, RequestFacts},
    provider::{Key, Target},
};
use crate::http;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

pub(super) struct Network {
    client: Client,
    target: Target,
    host: String,
    key: Option<(String, Key)>,
    price: Option<Price>,
    deadline: Duration,
    request_limit: RequestLimit,
}

impl Network {
    /// Prepares a model. Nothing is sent yet.
    pub(super) fn new(
        target: Target,
        key: Option<(String, Key)>,
        price: Option<Price>,
        deadline: Duration,
        request_limit: RequestLimit,
    ) -> Result<Network, RunError> {
        let host = target.host();
        let provider_error = |why: String| {
            let message = format!("cannot prepare requests to {host}: {why}");
            RunError { kind: RunErrorKind::Provider, message }
        };
        let client = client(&target, key.as_ref().map(|(_, key)| key), deadline).map_err(provider_error)?;
        Ok(Network { client, target, host, key, price, deadline, request_limit })
    }

    async fn answer(&self, request: &Request) -> Result<Reply, RunError> {
        let seed = RandomState::new().hash_one(&self.host);
        let (mut retries, mut waited) = (0, Duration::ZERO);
        loop {
            let failure = match self.ask(request).await {
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

    async fn ask(&self, request: &Request) -> Result<Reply, Failure> {
        let (chat, options) = convert::request(request, &self.target);
        let _permit = self.request_limit.permit().await;
        let response = self.client.exec_chat(self.service(), chat, Some(&options)).await;
        let response = match response {
            Ok(response) => response,
            Err(error) => return self.rescued(error),
        };
        if let Some(failure) = response.captured_raw_body.as_ref().and_then(|body| self.error_in_body(body)) {
            return Err(failure);
        }
        convert::reply(response, self.target.api, self.price)
            .map_err(|missing| Failure::Unreadable(format!("it has no {missing}")))
    }

    fn rescued(&self, error: genai::Error) -> Result<Reply, Failure> {
        if let genai::Error::ChatResponseGeneration { response_body, .. } = &error {
            if let Some(failure) = self.error_in_body(response_body) {
                return Err(failure);
            }
            if let Some(reply) = convert::rescued(response_body, self.target.api, self.price) {
                return Ok(reply);
            }
        }
        let key = self.key.as_ref().map(|(_, key)| key);
        Err(Failure::of(error, key, jiff::Timestamp::now().as_second()))
    }

    fn error_in_body(&self, body: &Value) -> Option<Failure> {
        Failure::in_body(body, self.key.as_ref().map(|(_, key)| key))
    }

    /// Returns the address for the library. It never sees a key, so it cannot show one: the client adds it.
    fn service(&self) -> ServiceTarget {
        let url = self.target.url().to_string();
        ServiceTarget {
            endpoint: Endpoint::from_owned(url.as_str()),
            auth: AuthData::RequestOverride { url, headers: Headers::default() },
            model: ModelIden::new(self.target.adapter, self.target.model.as_str()),
        }
    }
}

impl Model for Network {
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(self.answer(request))
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Network").field("target", &self.target).field("key", &self.key).finish_non_exhaustive()
    }
}

fn client(target: &Target, key: Option<&Key>, deadline: Duration) -> Result<Client, String> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let (name, value) = match target.api {
            Api::OpenAi | Api::Ollama => ("authorization", key.header("Bearer ")),
            Api::Anthropic => ("x-api-key", key.header("")),
            Api::Gemini => ("x-goog-api-key", key.header("")),
        };
        headers.insert(HeaderName::from_static(name), value);
    }
    if target.api == Api::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let builder = http::with_secret(&target.base_url)?
        .default_headers(headers)
        .timeout(deadline)
        .connect_timeout(CONNECT_TIMEOUT.min(deadline));
    let client = builder.build().map_err(|error| error.to_string())?;
    Client::builder().with_reqwest(client).build().map_err(|error| error.to_string())
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
