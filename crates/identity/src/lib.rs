//! Identity assertions: JSON Web Tokens in which an issuer that the operator trusts says for whom a client acts.
//!
//! Whoever registers agents calls [`Verifier`]. This crate verifies signatures and claims; it does not know
//! whether an assertion was used before, creates no API keys and speaks no HTTP but to fetch public keys.

mod claims;
mod key_set;
mod refusal;
mod trust;

pub use claims::Identity;
pub use refusal::Refusal;
pub use trust::{Audience, Client, TrustedIssuer};

use claims::{AssertionClaims, LogoutClaims};
use futures_util::future::BoxFuture;
use jsonwebtoken::{Algorithm, DecodingKey, Header, TokenData, Validation};
use key_set::KeySet;
use net::Fetcher;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// An assertion has a few hundred bytes; a large one is an attack.
const MAX_TOKEN_BYTES: usize = 16 * 1024;
/// The type that the header of an assertion must name, so that no other token of the issuer passes for one.
const ASSERTION_TYPE: &str = "oauth-id-jag+jwt";
const LOGOUT_TYPE: &str = "logout+jwt";
/// Signatures by public keys only. With a shared secret, the public key itself would be accepted as the secret.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

/// How this server is named in assertions that are meant for it.
#[derive(Debug, Clone)]
pub struct Expected<'a> {
    /// The protected resource: the address of the API.
    pub resource: &'a str,
    /// The authorization server.
    pub issuer: &'a str,
}

/// Verifies assertions of the issuers on the operator's list.
#[derive(Debug)]
pub struct Verifier {
    issuers: Vec<IssuerKeys>,
    fetcher: Fetcher,
}

#[derive(Debug)]
struct IssuerKeys {
    trusted: Arc<TrustedIssuer>,
    keys: KeySet,
}

impl Verifier {
    pub fn new(trusted: Vec<TrustedIssuer>, fetcher: Fetcher) -> Self {
        let with_keys = |trusted: TrustedIssuer| IssuerKeys {
            keys: KeySet::new(trusted.key_source()),
            trusted: Arc::new(trusted),
        };
        Self { issuers: trusted.into_iter().map(with_keys).collect(), fetcher }
    }

    /// Whether any issuer is trusted at all.
    pub fn trusts_nobody(&self) -> bool {
        self.issuers.is_empty()
    }

    /// Who the assertion says the caller acts for. `now` is in seconds since the Unix epoch.
    pub fn verify<'a>(
        &'a self,
        token: &'a str,
        expected: &'a Expected<'a>,
        now: i64,
    ) -> BoxFuture<'a, Result<Identity, Refusal>> {
        Box::pin(async move {
            let (issuer, data) = self.decode::<AssertionClaims>(token, ASSERTION_TYPE).await?;
            data.claims.check(&issuer.trusted, expected, now)
        })
    }

    /// Which user the issuer has logged out: the issuer's name and the subject.
    pub fn verify_logout<'a>(
        &'a self,
        token: &'a str,
        expected: &'a Expected<'a>,
        now: i64,
    ) -> BoxFuture<'a, Result<(String, String), Refusal>> {
        Box::pin(async move {
            let (issuer, data) = self.decode::<LogoutClaims>(token, LOGOUT_TYPE).await?;
            let subject = data.claims.check(&issuer.trusted, expected, now)?;
            Ok((issuer.trusted.issuer.clone(), subject))
        })
    }

    /// The content of a token whose signature one of the trusted issuers has made.
    async fn decode<T: DeserializeOwned>(
        &self,
        token: &str,
        kind: &str,
    ) -> Result<(&IssuerKeys, TokenData<T>), Refusal> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::InvalidAssertion("the assertion is too large"));
        }
        let header = jsonwebtoken::decode_header(token)
            .map_err(|_| Refusal::InvalidAssertion("the assertion is not a signed JSON Web Token"))?;
        if !header.typ.as_deref().is_some_and(|typ| is_type(typ, kind)) {
            return Err(Refusal::InvalidAssertion(
                "the header of the assertion does not name its type (`typ`)",
            ));
        }
        if !ALGORITHMS.contains(&header.alg) {
            return Err(Refusal::InvalidSignature("the algorithm is not allowed; use RS256, ES256 or EdDSA"));
        }
        // Read before the signature is checked, only to know whose key to check it with.
        let claimed: ClaimedIssuer = jsonwebtoken::dangerous::insecure_decode_claims(token)
            .map_err(|_| Refusal::InvalidAssertion("the assertion does not name its issuer (`iss`)"))?;
        let issuer = self
            .issuers
            .iter()
            .find(|known| known.trusted.issuer == claimed.iss)
            .ok_or(Refusal::IssuerNotEnabled)?;
        let data = self.check_signature(issuer, token, &header).await?;
        Ok((issuer, data))
    }

    async fn check_signature<T: DeserializeOwned>(
        &self,
        issuer: &IssuerKeys,
        token: &str,
        header: &Header,
    ) -> Result<TokenData<T>, Refusal> {
        let keys = issuer.keys.candidates(&self.fetcher, header.kid.as_deref(), header.alg).await?;
        let unknown =
            Refusal::InvalidSignature("the assertion is signed with a key that its issuer does not publish");
        let mut failed = unknown;
        for key in keys {
            match decode_with(token, &key, header.alg) {
                Ok(data) => return Ok(data),
                Err(refusal) => failed = refusal,
            }
        }
        Err(failed)
    }
}

/// Only what is needed to choose the key.
#[derive(Debug, serde::Deserialize)]
struct ClaimedIssuer {
    iss: String,
}

fn decode_with<T: DeserializeOwned>(
    token: &str,
    key: &DecodingKey,
    algorithm: Algorithm,
) -> Result<TokenData<T>, Refusal> {
    // Claims are checked afterwards, each with a refusal of its own.
    let mut validation = Validation::new(algorithm);
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    jsonwebtoken::decode(token, key, &validation).map_err(|error| match error.kind() {
        jsonwebtoken::errors::ErrorKind::Json(_) => {
            Refusal::InvalidAssertion("a claim of the assertion is missing or of the wrong type")
        }
        _ => Refusal::InvalidSignature("the signature is not right"),
    })
}

/// Media types are compared without regard to case, with or without `application/`.
fn is_type(given: &str, wanted: &str) -> bool {
    let given = given.strip_prefix("application/").unwrap_or(given);
    given.eq_ignore_ascii_case(wanted)
}
