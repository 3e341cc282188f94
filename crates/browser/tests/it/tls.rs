//! Untrusted certificates.

use crate::site::{Site, browsers, filled, within};
use gannet_browser::{NavigationError, Visit, VisitError};
use rcgen::{CertificateParams, KeyPair};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use url::Url;

async fn self_signed() -> Site {
    let params = CertificateParams::new(vec!["site.example".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Site::raw("127.0.0.1:0", move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { return };
                head.push(byte);
            }
            let _ = stream.write_all(&filled("over TLS")).await;
            let _ = stream.flush().await;
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_nobody_vouches_for_is_refused_unless_told_otherwise() {
    let (site, browsers) = (self_signed().await, browsers());
    let mut asked = Visit::new(Url::parse(&format!("https://site.example:{}/", site.port())).unwrap());
    let error = browsers.visit(asked.clone(), within(30)).await.unwrap_err();
    assert!(matches!(error, VisitError::Navigation(NavigationError::Tls(_))), "{error:?}");
    asked.check_certificate = false;
    let page = browsers.visit(asked.clone(), within(30)).await.unwrap();
    assert!(page.html.contains("over TLS") && page.status == Some(200), "{page:?}");
    // Requests with credentials are checked all the same, unless their owner disables that.
    let mut trusted = asked.clone();
    let own = net::Credentials::for_address(asked.url.as_str(), [("X-Pass", "p")]).unwrap();
    trusted.credentials = own.clone();
    let error = browsers.visit(trusted.clone(), within(30)).await.unwrap_err();
    assert!(matches!(error, VisitError::Navigation(NavigationError::Tls(_))), "{error:?}");
    trusted.credentials = own.accepting_any_certificate(true);
    assert!(browsers.visit(trusted, within(30)).await.is_ok());
    // The exception does not apply to the next visit.
    asked.check_certificate = true;
    assert!(browsers.visit(asked, within(30)).await.is_err());
    browsers.shut_down().await;
}
