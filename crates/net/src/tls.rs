//! TLS configuration: rustls on aws-lc, HTTP/2 preferred, root certificates of the system or, if it has none,
//! the bundled ones. Certificates are checked by default; not checking them is a second, separate
//! configuration.

use crate::error::{FetchError, TlsError, error_chain};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io;
use std::sync::Arc;
use tokio_rustls::{TlsConnector, rustls};

/// Connectors with and without certificate checks. They share no session cache: a session begun unchecked is
/// never resumed as checked.
#[derive(Clone)]
pub(crate) struct Tls {
    checked: TlsConnector,
    unchecked: TlsConnector,
    /// For proxies and mail servers: names no protocol, always checked.
    without_alpn: TlsConnector,
}

impl Tls {
    pub(crate) fn new(extra_roots: &[CertificateDer<'static>]) -> Result<Self, FetchError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let roots = load_roots(extra_roots)?;
        let builder = || {
            ClientConfig::builder_with_provider(Arc::clone(&provider))
                .with_safe_default_protocol_versions()
                .map_err(|error| FetchError::BadRequest(error_chain(&error)))
        };
        let mut checked = builder()?.with_root_certificates(roots.clone()).with_no_client_auth();
        let without_alpn = builder()?.with_root_certificates(roots).with_no_client_auth();
        let mut unchecked = builder()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(Arc::clone(&provider))))
            .with_no_client_auth();
        for config in [&mut checked, &mut unchecked] {
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        Ok(Self {
            checked: TlsConnector::from(Arc::new(checked)),
            unchecked: TlsConnector::from(Arc::new(unchecked)),
            without_alpn: TlsConnector::from(Arc::new(without_alpn)),
        })
    }

    pub(crate) fn for_pages(&self, check: bool) -> &TlsConnector {
        if check { &self.checked } else { &self.unchecked }
    }

    pub(crate) fn without_alpn(&self) -> &TlsConnector {
        &self.without_alpn
    }
}

/// All certificates of a PEM file. A certificate that cannot be used as a root, or a file without any, is an
/// error: a file that an operator names is meant to be used.
pub fn parse_pem_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| PemError(error.to_string()))?;
    if found.is_empty() {
        return Err(PemError("it contains no certificate".into()));
    }
    let mut store = RootCertStore::empty();
    for (place, certificate) in found.iter().enumerate() {
        let added = store.add(certificate.clone());
        added.map_err(|error| PemError(format!("certificate {}: {}", place + 1, error_chain(&error))))?;
    }
    Ok(found)
}

/// A PEM file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PemError(String);

fn load_roots(extra: &[CertificateDer<'static>]) -> Result<RootCertStore, FetchError> {
    let mut store = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(system.certs);
    if store.is_empty() {
        // A minimal container has no certificates of its own.
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for certificate in extra {
        // Unlike the system's, these were configured: an unusable one must be reported.
        let added = store.add(certificate.clone());
        added.map_err(|error| {
            FetchError::BadRequest(format!("invalid extra root certificate: {}", error_chain(&error)))
        })?;
    }
    Ok(store)
}

/// Converts the error of a failed handshake.
pub(crate) fn handshake_error(error: &io::Error) -> TlsError {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(certificate)) => match certificate {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsError::WrongName
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsError::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsError::NotYetValid
            }
            CertificateError::UnknownIssuer => TlsError::UnknownIssuer,
            CertificateError::Revoked => TlsError::Revoked,
            other => TlsError::Certificate(error_chain(&rustls::Error::InvalidCertificate(other.clone()))),
        },
        _ => TlsError::Handshake(error_chain(error)),
    }
}

/// Accepts every certificate. Handshake signatures are still checked, so that the other side at least holds
/// the key of the certificate it shows.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
