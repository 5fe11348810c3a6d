//! Encryption of all HTTP connections.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// Returns the encryption for addresses with this scheme, with the certificates of the system, which include those of a
/// company.
pub(crate) fn of(scheme: &str) -> Result<ClientConfig, String> {
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
