//! A test certificate authority, and servers that use its certificates.

use crate::servers::{Server, page};
use gannet_net::CertificateDer;
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

static NUMBER: AtomicUsize = AtomicUsize::new(0);

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub root: CertificateDer<'static>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Two authorities with the same name would be mistaken for each other.
        let mut name = DistinguishedName::new();
        name.push(DnType::CommonName, format!("authority {}", NUMBER.fetch_add(1, Ordering::SeqCst)));
        params.distinguished_name = name;
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), root }
    }

    pub fn acceptor(&self, names: &[&str], expired: bool, protocols: &[&str]) -> TlsAcceptor {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        if expired {
            params.not_before = rcgen::date_time_ymd(2015, 1, 1);
            params.not_after = rcgen::date_time_ymd(2016, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    pub async fn server(&self, names: &[&str], expired: bool) -> Server {
        let acceptor = self.acceptor(names, expired, &["http/1.1"]);
        Server::raw("127.0.0.1:0", move |stream| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { return };
                    head.push(byte);
                }
                let _ = stream.write_all(&page("over TLS")).await;
                let _ = stream.flush().await;
                sleep(Duration::from_secs(5)).await;
            }
        })
        .await
    }
}
