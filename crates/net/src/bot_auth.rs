//! Web Bot Auth: requests for pages signed with the operator's key, so that a site can know who asks without
//! guessing from addresses and user agents. HTTP Message Signatures (RFC 9421) with Ed25519 in the profile of
//! the Web Bot Auth drafts, and the directory under which sites find the public key.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use url::Url;

/// Where sites look for the keys of a signer.
pub const BOT_DIRECTORY_PATH: &str = "/.well-known/http-message-signatures-directory";
const DIRECTORY_MEDIA_TYPE: &str = "application/http-message-signatures-directory+json";

/// The headers that a signature consists of, in lower case.
pub const SIGNATURE_HEADERS: [&str; 3] = ["signature-agent", "signature-input", "signature"];

/// How long a signed request may be under way. Clocks differ by seconds.
const REQUEST_VALIDITY: Duration = Duration::from_mins(5);
/// How long a directory that a site has cached is good.
const DIRECTORY_VALIDITY: Duration = Duration::from_hours(24);
const NONCE_BYTES: usize = 64;
const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BotKeyError {
    #[error("not an Ed25519 private key in PEM (PKCS #8)")]
    NotAKey,
    #[error("the URL of the directory must be http:// or https:// and a host, without a path")]
    BadAgent,
    #[error("no random numbers are available")]
    NoRandom,
}

/// The operator's key and the address of its directory.
pub struct BotIdentity {
    pair: Ed25519KeyPair,
    /// The JWK thumbprint (RFC 7638) of the public key.
    key_id: String,
    /// The public key in base64url, as a JWK has it.
    public_key: String,
    /// The value of `Signature-Agent`: an origin as a structured string.
    agent: String,
}

impl fmt::Debug for BotIdentity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BotIdentity")
            .field("key_id", &self.key_id)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

impl BotIdentity {
    /// A new private key as a PEM file.
    pub fn generate_key() -> Result<String, BotKeyError> {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| BotKeyError::NoRandom)?;
        Ok(format!("{PEM_BEGIN}\n{}\n{PEM_END}\n", STANDARD.encode(key.as_ref())))
    }

    /// Reads a private key as this program or OpenSSL writes it. `agent` is the origin under which
    /// [`BOT_DIRECTORY_PATH`] can be reached by sites.
    pub fn from_pem(pem: &str, agent: &Url) -> Result<Self, BotKeyError> {
        let (_, rest) = pem.split_once(PEM_BEGIN).ok_or(BotKeyError::NotAKey)?;
        let (inner, _) = rest.split_once(PEM_END).ok_or(BotKeyError::NotAKey)?;
        let text: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
        let der = STANDARD.decode(text).map_err(|_| BotKeyError::NotAKey)?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| BotKeyError::NotAKey)?;
        Self::from_pair(pair, agent)
    }

    fn from_pair(pair: Ed25519KeyPair, agent: &Url) -> Result<Self, BotKeyError> {
        let is_origin = matches!(agent.scheme(), "http" | "https")
            && agent.has_host()
            && agent.path() == "/"
            && agent.query().is_none();
        if !is_origin {
            return Err(BotKeyError::BadAgent);
        }
        let public_key = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public_key}"}}"#);
        let key_id = URL_SAFE_NO_PAD.encode(digest(&SHA256, canonical.as_bytes()));
        let agent = format!("\"{}\"", agent.origin().ascii_serialization());
        Ok(Self { pair, key_id, public_key, agent })
    }

    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The origin of the directory.
    pub fn agent(&self) -> &str {
        self.agent.trim_matches('"')
    }

    /// The headers that sign a request for `url`: names in lower case, and values.
    pub fn sign_request(&self, url: &Url) -> Vec<(&'static str, String)> {
        let mut nonce = [0; NONCE_BYTES];
        if getrandom::fill(&mut nonce).is_err() {
            return Vec::new();
        }
        let (created, expires) = window(REQUEST_VALIDITY);
        self.sign_request_with(authority(url), created, expires, &STANDARD.encode(nonce))
    }

    fn sign_request_with(
        &self,
        authority: &str,
        created: u64,
        expires: u64,
        nonce: &str,
    ) -> Vec<(&'static str, String)> {
        let parameters = format!(
            r#"("@authority" "signature-agent");created={created};keyid="{}";alg="ed25519";expires={expires};nonce="{nonce}";tag="web-bot-auth""#,
            self.key_id
        );
        let base = format!(
            "\"@authority\": {authority}\n\"signature-agent\": {}\n\"@signature-params\": {parameters}",
            self.agent
        );
        let [agent, input, signature] = SIGNATURE_HEADERS;
        vec![
            (agent, self.agent.clone()),
            (input, format!("sig1={parameters}")),
            (signature, self.signature(&base)),
        ]
    }

    /// The public keys as a JWK set.
    pub fn directory(&self) -> String {
        format!(
            r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{}","x":"{}","use":"sig"}}]}}"#,
            self.key_id, self.public_key
        )
    }

    /// The headers of the directory for whoever asked `authority` for it. They sign it: only who has the key
    /// can have put it there.
    pub fn directory_headers(&self, authority: &str) -> Vec<(&'static str, String)> {
        let (created, expires) = window(DIRECTORY_VALIDITY);
        self.directory_headers_with(authority, created, expires)
    }

    fn directory_headers_with(
        &self,
        authority: &str,
        created: u64,
        expires: u64,
    ) -> Vec<(&'static str, String)> {
        let body_digest =
            format!("sha-256=:{}:", STANDARD.encode(digest(&SHA256, self.directory().as_bytes())));
        let parameters = format!(
            r#"("@authority";req "content-digest");created={created};expires={expires};keyid="{}";tag="http-message-signatures-directory""#,
            self.key_id
        );
        let base = format!(
            "\"@authority\";req: {authority}\n\"content-digest\": {body_digest}\n\"@signature-params\": {parameters}"
        );
        vec![
            ("content-type", DIRECTORY_MEDIA_TYPE.to_owned()),
            ("cache-control", format!("max-age={}", DIRECTORY_VALIDITY.as_secs() / 2)),
            ("content-digest", body_digest),
            ("signature-input", format!("sig1={parameters}")),
            ("signature", self.signature(&base)),
        ]
    }

    fn signature(&self, base: &str) -> String {
        format!("sig1=:{}:", STANDARD.encode(self.pair.sign(base.as_bytes())))
    }
}

/// Host and port as the `Host` header has them: in lower case, without a default port.
fn authority(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}

/// From now on for so long, in seconds of the epoch.
fn window(validity: Duration) -> (u64, u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    (now, now + validity.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};

    /// The key `test-key-ed25519` of RFC 9421, appendix B.1.4.
    const TEST_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n\
        -----END PRIVATE KEY-----\n";

    fn identity() -> BotIdentity {
        BotIdentity::from_pem(TEST_KEY, &Url::parse("https://signature-agent.test").unwrap()).unwrap()
    }

    fn value<'a>(headers: &'a [(&str, String)], name: &str) -> &'a str {
        &headers.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// draft-ietf-webbotauth-httpsig-protocol-00, appendix E.2.2.
    #[test]
    fn a_request_is_signed_as_the_draft_signs_it() {
        let nonce =
            "e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";
        let headers = identity().sign_request_with("example.com", 1_735_689_600, 1_735_693_200, nonce);
        assert_eq!(value(&headers, "signature-agent"), "\"https://signature-agent.test\"");
        assert_eq!(
            value(&headers, "signature-input"),
            format!(
                "sig1=(\"@authority\" \"signature-agent\");created=1735689600;\
                 keyid=\"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U\";alg=\"ed25519\";expires=1735693200;\
                 nonce=\"{nonce}\";tag=\"web-bot-auth\""
            )
        );
        assert_eq!(
            value(&headers, "signature"),
            "sig1=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:"
        );
    }

    /// Appendix E.2.3 of the same draft.
    #[test]
    fn a_directory_is_signed_as_the_draft_signs_it() {
        let headers = identity().directory_headers_with("signature-agent.test", 1_735_689_600, 4_889_289_600);
        assert_eq!(
            value(&headers, "content-digest"),
            "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
        );
        assert_eq!(
            value(&headers, "signature"),
            "sig1=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:"
        );
    }

    #[test]
    fn a_generated_key_signs_for_host_and_port_with_another_nonce_each_time() {
        let pem = BotIdentity::generate_key().unwrap();
        let own = BotIdentity::from_pem(&pem, &Url::parse("https://bot.example/").unwrap()).unwrap();
        let url = Url::parse("https://Shop.Example:8443/a?b#c").unwrap();
        let (one, two) = (own.sign_request(&url), own.sign_request(&url));
        assert_ne!(value(&one, "signature-input"), value(&two, "signature-input"));
        let parameters = value(&one, "signature-input").strip_prefix("sig1=").unwrap();
        let base = format!(
            "\"@authority\": shop.example:8443\n\"signature-agent\": \"https://bot.example\"\n\"@signature-params\": {parameters}"
        );
        let signature = value(&one, "signature").strip_prefix("sig1=:").unwrap().strip_suffix(':').unwrap();
        let public = URL_SAFE_NO_PAD.decode(&own.public_key).unwrap();
        let key = UnparsedPublicKey::new(&ED25519, public);
        key.verify(base.as_bytes(), &STANDARD.decode(signature).unwrap()).unwrap();
        assert!(!format!("{own:?}").contains(&pem[40..60]));
    }

    #[test]
    fn other_keys_and_addresses_are_refused() {
        let agent = Url::parse("https://a.example/").unwrap();
        for pem in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "no key"] {
            assert_eq!(BotIdentity::from_pem(pem, &agent).unwrap_err(), BotKeyError::NotAKey);
        }
        for agent in ["https://a.example/path", "ftp://a.example/", "https://a.example/?q"] {
            let agent = Url::parse(agent).unwrap();
            assert_eq!(BotIdentity::from_pem(TEST_KEY, &agent).unwrap_err(), BotKeyError::BadAgent);
        }
    }
}
