//! An identity provider for tests: keys of three kinds, the document that publishes them, and assertions of every
//! right and wrong kind.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What comes before the PKCS #1 key in a PKCS #8 document of an RSA key with 2048 bits.
const RSA_PKCS8_HEADER_BYTES: usize = 26;

/// A private key with its id and its public form.
pub struct SigningKey {
    pub id: String,
    pub algorithm: Algorithm,
    key: EncodingKey,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SigningKey {
    pub fn new(id: &str, algorithm: Algorithm) -> Self {
        let random = aws_lc_rs::rand::SystemRandom::new();
        let key = match algorithm {
            Algorithm::ES256 => {
                let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
                EncodingKey::from_ec_der(der.expect("a key").as_ref())
            }
            Algorithm::EdDSA => {
                let der = Ed25519KeyPair::generate_pkcs8v1(&random).expect("a key");
                EncodingKey::from_ed_der(der.as_ref())
            }
            _ => {
                let pair = aws_lc_rs::rsa::KeyPair::generate(KeySize::Rsa2048).expect("a key");
                let der: Pkcs8V1Der<'_> = pair.as_der().expect("its document");
                EncodingKey::from_rsa_der(&der.as_ref()[RSA_PKCS8_HEADER_BYTES..])
            }
        };
        Self { id: id.to_owned(), algorithm, key }
    }

    /// The public key, as an entry of a set.
    pub fn published(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public key");
        let mut value = serde_json::to_value(jwk).expect("JSON");
        value["kid"] = json!(self.id);
        value["use"] = json!("sig");
        value
    }

    /// A token with this header type and these claims.
    pub fn sign(&self, kind: &str, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.typ = Some(kind.to_owned());
        header.kid = Some(self.id.clone());
        jsonwebtoken::encode(&header, claims, &self.key).expect("a token")
    }
}

/// A set of public keys, as an issuer publishes it.
pub fn key_set(keys: &[&SigningKey]) -> String {
    json!({ "keys": keys.iter().map(|key| key.published()).collect::<Vec<_>>() }).to_string()
}

pub fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("before the end of time")
}

/// The claims of an assertion that is right, each time with a new id.
pub fn assertion_claims(issuer: &str, audience: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let now = unix_seconds();
    json!({
        "iss": issuer, "aud": audience, "sub": "user-1", "client_id": "test-agent",
        "jti": format!("{}-{now}-{number}", std::process::id()), "iat": now, "exp": now + 300,
        "email": "user@example.com", "email_verified": true,
    })
}

pub const ASSERTION_TYPE: &str = "oauth-id-jag+jwt";

/// Serves one body at every path until the process ends; the URL.
pub fn serve_body(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/keys", listener.local_addr().expect("its address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = [0; 4096];
            // Requests of tests fit into one read; a lost response fails the test that waits for it.
            let _ = stream.read(&mut request);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

/// Accepts connections and never answers; the URL.
pub fn serve_nothing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/keys", listener.local_addr().expect("its address"));
    std::thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    url
}
