//! HTTP connections: their encryption, and clients that send a secret.

use std::sync::{Arc, OnceLock};

use reqwest::{Client, ClientBuilder, Response, Url, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::model::is_loopback;

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

/// Error message for a token that would be sent in the open.
pub(crate) const OPEN_TOKEN: &str = "the token would be sent over `http://`, which does not encrypt it";

/// Returns whether a secret may be sent to an address: without encryption it must not leave this machine.
pub(crate) fn may_carry_secret(address: &Url) -> bool {
    address.scheme() != "http" || is_loopback(address)
}

/// Returns a builder of clients that send a secret to this address, and to no other.
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
