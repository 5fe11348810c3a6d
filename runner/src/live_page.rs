//! Serves a page to browsers on this machine, and tells them when there is a newer one.
//!
//! The address has a random part, and a request must name this machine as its host: other programs do not know the
//! first, and a page of the web whose name leads here does not have the second. Any other request is not found.

use std::{io, sync::Arc, time::Duration};

use hyper::{
    Method, Request, StatusCode,
    body::{Bytes, Incoming},
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    },
};
use tokio::{net::TcpListener, sync::watch, time::timeout};
use uuid::Uuid;

use crate::http;

const MAX_CONNECTIONS: usize = 64;

/// A browser asks again after this time, so it notices the end of the program.
const PATIENCE: Duration = Duration::from_secs(20);

/// A page and its number, which increases.
#[derive(Clone, Debug, Default)]
struct Version {
    number: u64,
    page: Bytes,
}

#[derive(Debug)]
pub struct LivePage {
    /// The address for the browser.
    pub address: String,
    versions: watch::Sender<Version>,
}

impl LivePage {
    /// Listens on a free port until the runtime ends.
    pub async fn open() -> io::Result<LivePage> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let host = listener.local_addr()?.to_string();
        let token = Uuid::new_v4().simple().to_string();
        let address = format!("http://{host}/{token}/");
        let (versions, seen) = watch::channel(Version::default());
        let place = Arc::new(Place { host, prefix: format!("/{token}/"), versions: seen });
        let respond = move |request| {
            let place = Arc::clone(&place);
            async move { place.respond(&request).await }
        };
        tokio::spawn(http::serve(listener, MAX_CONNECTIONS, respond));
        Ok(LivePage { address, versions })
    }

    /// Replaces the page by the one with the next number.
    pub fn show(&self, page: impl FnOnce(u64) -> String) {
        let number = self.versions.borrow().number + 1;
        self.versions.send_replace(Version { number, page: page(number).into() });
    }
}

struct Place {
    host: String,
    prefix: String,
    versions: watch::Receiver<Version>,
}

impl Place {
    async fn respond(&self, request: &Request<Incoming>) -> http::Answer {
        let is_host = request.headers().get(HOST).is_some_and(|host| host.as_bytes() == self.host.as_bytes());
        let is_read = *request.method() == Method::GET || *request.method() == Method::HEAD;
        let rest = request.uri().path().strip_prefix(&self.prefix).filter(|_| is_host && is_read);
        let mut versions = self.versions.clone();
        let mut answer = match rest.map(|rest| (rest, rest.strip_prefix("after/"))) {
            Some(("", _)) => {
                // The first page may still be in the making.
                let page = versions.wait_for(|version| version.number > 0).await.map(|version| version.page.clone());
                http::answer(StatusCode::OK, "text/html; charset=utf-8", page.unwrap_or_default())
            }
            Some((_, Some(number))) => {
                let seen: u64 = number.parse().unwrap_or_default();
                let status = match timeout(PATIENCE, versions.wait_for(|version| version.number > seen)).await {
                    Ok(Ok(_)) => StatusCode::OK,
                    // There is none yet, or the program ends.
                    Ok(Err(_)) | Err(_) => StatusCode::NO_CONTENT,
                };
                http::answer(status, "text/plain; charset=utf-8", "")
            }
            Some((_, None)) | None => http::answer(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "not found\n"),
        };
        let headers = [
            (CACHE_CONTROL, "no-store"),
            (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
            (REFERRER_POLICY, "no-referrer"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        for (name, value) in headers {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    }
}
