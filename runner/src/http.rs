//! HTTP connections: their encryption, clients that send a secret, and the loop of the servers of this program.

use std::{
    convert::Infallible,
    error::Error,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Request, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, Url, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use serde_json::Value;
use tokio::{net::TcpListener, sync::Semaphore, task::JoinSet};
use url::Host;

/// Returns the encryption for addresses with this scheme, with the certificates of the system, which include those of a
/// company.
pub(crate) fn encryption(scheme: &str) -> Result<ClientConfig, String> {
    static OF_SYSTEM: OnceLock<Result<ClientConfig, String>> = OnceLock::new();
    let builder = || {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())
    };
    if scheme == "http" {
        // Reading the certificates takes a while, and a machine without any can still connect to itself.
        return Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let of_system = || {
        let verified = builder()?.with_platform_verifier().map_err(|error| {
            format!(
                "{error}; install the certificates of the system (the package `ca-certificates`), or set SSL_CERT_FILE"
            )
        })?;
        Ok(verified.with_no_client_auth())
    };
    OF_SYSTEM.get_or_init(of_system).clone()
}

pub(crate) const OPEN_TOKEN: &str = "the token would be sent over `http://`, which does not encrypt it";

/// Returns whether a secret may be sent to an address: without encryption it must not leave this machine.
pub(crate) fn may_carry_secret(address: &Url) -> bool {
    address.scheme() != "http" || is_loopback(address)
}

/// Returns whether an address leads to this machine, regardless of name resolution.
pub(crate) fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

pub(crate) fn with_secret(address: &Url) -> Result<ClientBuilder, String> {
    let builder = Client::builder()
        .user_agent(concat!("speclens/", env!("CARGO_PKG_VERSION")))
        // Another address may belong to another owner, who would receive the secret.
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        // A small body that unpacks to a large one is not a valid answer.
        .no_gzip()
        // A request that is dropped closes its connection, so the other side stops.
        .http1_only()
        .tls_backend_preconfigured(encryption(address.scheme())?);
    // A proxy could read what is not encrypted, and does not lead to this machine.
    Ok(if address.scheme() == "http" || is_loopback(address) { builder.no_proxy() } else { builder })
}

/// Receives the body of a response, and returns whether all of it was kept. The received part remains when the wait is
/// given up.
pub(crate) async fn receive(response: &mut Response, limit: usize, body: &mut Vec<u8>) -> Result<bool, reqwest::Error> {
    while let Some(chunk) = response.chunk().await? {
        let kept = chunk.len().min(limit - body.len());
        body.extend_from_slice(&chunk[..kept]);
        if kept < chunk.len() {
            return Ok(false);
        }
    }
    Ok(true)
}

const MAX_CHARACTERS: usize = 200;

/// Returns the innermost cause of an error: the outer ones only say where it happened.
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Returns the error text in the body of a response: each server has another place for it. `None` if it is empty.
pub(crate) fn words(body: &str) -> Option<String> {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    // Gemini's compatible address answers with a list of one item.
    let parsed = parsed.map(|value| value.get(0).cloned().unwrap_or(value));
    let place = ["/error/message", "/error", "/message", "/detail"];
    let found = parsed.as_ref().and_then(|value| place.iter().find_map(|place| value.pointer(place)?.as_str()));
    let text = found.unwrap_or(body).trim().trim_end_matches('.');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the first words of a text, in one line. No word is cut: a part of a secret would not be found to mask it.
pub(crate) fn in_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_CHARACTERS) else { return line };
    let whole = line[..end].rfind(' ').unwrap_or_default();
    format!("{} …", &line[..whole]).trim_start().to_owned()
}

/// Returns a client that asks exactly the given address: it follows no redirects and uses no proxy.
pub(crate) fn client_for(url: &Url) -> Result<Client, String> {
    Client::builder()
        .tls_backend_preconfigured(encryption(url.scheme())?)
        .redirect(Policy::none())
        .no_proxy()
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| innermost(&error))
}

/// Sends a request, and returns whether all of the response was kept. The received part remains when the wait is given
/// up.
pub(crate) async fn received(
    request: RequestBuilder,
    limit: usize,
    status: &mut Option<u16>,
    body: &mut Vec<u8>,
) -> Result<bool, String> {
    let mut response = request.send().await.map_err(|error| innermost(&error))?;
    *status = Some(response.status().as_u16());
    receive(&mut response, limit, body).await.map_err(|error| innermost(&error))
}

/// What a server of this program answers.
pub(crate) type Answer = hyper::Response<Full<Bytes>>;

pub(crate) fn answer(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Answer::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Answers requests, on this many connections at the same time. Dropping it ends all of them.
pub(crate) async fn serve<A>(
    listener: TcpListener,
    connections: usize,
    respond: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) where
    A: Future<Output = Answer> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(connections));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files: others may be closed in the meantime.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let respond = respond.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let answered = respond(request);
                async move { Ok::<_, Infallible>(answered.await) }
            });
            let connection =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection failed");
            }
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn error_text_is_found_in_each_place() {
        for body in [
            r#"{"error": {"message": "no such model.", "type": "x"}}"#,
            r#"{"type": "error", "error": {"type": "not_found_error", "message": "no such model"}}"#,
            r#"[{"error": {"code": 404, "message": "no such model"}}]"#,
            r#"{"error": "no such model"}"#,
            r#"{"message": "no such model"}"#,
            r#"{"detail": "no such model"}"#,
            " no such model\n",
        ] {
            assert_eq!(words(body).as_deref(), Some("no such model"), "{body}");
        }
        assert_eq!(words(" "), None);
    }
}
