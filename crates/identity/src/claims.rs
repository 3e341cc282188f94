//! What tokens claim, and whether they may claim that to this server now.

use crate::trust::{Audience, TrustedIssuer};
use crate::{Expected, Refusal};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far the clocks of an issuer and of this server may differ.
const CLOCK_SKEW_SECONDS: i64 = 120;
/// An assertion is used at once; one that lives longer is worth stealing.
const MAX_LIFETIME_SECONDS: i64 = 600;
/// Longer names are refused rather than stored.
const MAX_NAME_BYTES: usize = 500;
/// The event that makes a token a logout token.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// Whom an assertion vouches for.
#[derive(Debug, Clone)]
pub struct Identity {
    pub issuer: Arc<TrustedIssuer>,
    pub subject: String,
    pub client_id: String,
    /// The id of the assertion, which may be used once.
    pub assertion_id: String,
    /// When the assertion expires, in seconds since the Unix epoch, with the allowed difference of clocks.
    pub expires_at: i64,
    /// The scopes that the issuer allows; `None`: it says nothing about them.
    pub scopes: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub struct AssertionClaims {
    #[serde(default)]
    aud: OneOrMany,
    sub: Option<String>,
    client_id: Option<String>,
    jti: Option<String>,
    exp: Option<f64>,
    iat: Option<f64>,
    nbf: Option<f64>,
    scope: Option<String>,
    resource: Option<OneOrMany>,
    email: Option<String>,
    email_verified: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub struct LogoutClaims {
    #[serde(default)]
    aud: OneOrMany,
    sub: Option<String>,
    exp: Option<f64>,
    iat: Option<f64>,
    #[serde(default)]
    events: BTreeMap<String, serde_json::Value>,
    /// Must be absent, so that an ID token never passes for a logout token.
    nonce: Option<serde_json::Value>,
}

/// A claim that is one text or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl AssertionClaims {
    pub fn check(
        self,
        trusted: &Arc<TrustedIssuer>,
        expected: &Expected<'_>,
        now: i64,
    ) -> Result<Identity, Refusal> {
        if !is_for_us(self.aud.as_slice(), trusted.audience, expected) {
            return Err(Refusal::AudienceMismatch);
        }
        // The claim `resource` narrows an assertion down to one server.
        let resources = self.resource.as_ref().map(OneOrMany::as_slice);
        if resources.is_some_and(|named| !named.iter().any(|url| is_below(url, expected.resource))) {
            return Err(Refusal::AudienceMismatch);
        }
        let expires_at = check_times(self.exp, self.iat, self.nbf, now)?;
        let assertion_id = name(self.jti, "the assertion has no id (`jti`)")?;
        let subject = name(self.sub, "the assertion has no subject (`sub`)")?;
        let client_id = name(self.client_id, "")
            .map_err(|_| Refusal::InvalidClientId("the assertion names no client (`client_id`)"))?;
        if !trusted.lists_client(&client_id) {
            return Err(Refusal::InvalidClientId("the operator of this server does not list this client"));
        }
        let has_email =
            self.email.is_some_and(|email| !email.is_empty()) && self.email_verified == Some(true);
        if trusted.require_verified_email && !has_email {
            return Err(Refusal::MissingVerifiedEmail);
        }
        let scopes = self.scope.map(|text| text.split_ascii_whitespace().map(str::to_owned).collect());
        Ok(Identity { issuer: trusted.clone(), subject, client_id, assertion_id, expires_at, scopes })
    }
}

impl LogoutClaims {
    pub fn check(
        self,
        trusted: &TrustedIssuer,
        expected: &Expected<'_>,
        now: i64,
    ) -> Result<String, Refusal> {
        if !is_for_us(self.aud.as_slice(), trusted.audience, expected) {
            return Err(Refusal::AudienceMismatch);
        }
        if !self.events.contains_key(LOGOUT_EVENT) || self.nonce.is_some() {
            return Err(Refusal::InvalidAssertion("the token is not a logout token"));
        }
        check_times(self.exp, self.iat, None, now)?;
        name(self.sub, "the token has no subject (`sub`)")
    }
}

/// Checks that a token is valid now; returns when it certainly is not any more.
#[expect(clippy::cast_possible_truncation, reason = "times outside a small range are refused")]
fn check_times(exp: Option<f64>, iat: Option<f64>, nbf: Option<f64>, now: i64) -> Result<i64, Refusal> {
    let seconds = |time: Option<f64>, missing| {
        // Beyond this range a time is nonsense, and sums with it could overflow.
        time.filter(|time| (0.0..1e11).contains(time))
            .map(|time| time as i64)
            .ok_or(Refusal::InvalidAssertion(missing))
    };
    let expires = seconds(exp, "the assertion has no valid time of expiry (`exp`)")?;
    let issued = seconds(iat, "the assertion has no valid time of issue (`iat`)")?;
    if expires + CLOCK_SKEW_SECONDS <= now {
        return Err(Refusal::Expired);
    }
    let early = nbf.is_some_and(|time| time > (now + CLOCK_SKEW_SECONDS) as f64);
    if issued > now + CLOCK_SKEW_SECONDS || early {
        return Err(Refusal::InvalidAssertion("the assertion is not valid yet"));
    }
    if expires - issued > MAX_LIFETIME_SECONDS || expires <= issued {
        return Err(Refusal::InvalidAssertion("the assertion must expire within ten minutes of its issue"));
    }
    Ok(expires + CLOCK_SKEW_SECONDS)
}

/// Whether one of the audiences names this server in the way that the operator has set.
fn is_for_us(audiences: &[String], rule: Audience, expected: &Expected<'_>) -> bool {
    let is = |url: &String, own: &str| same_url(url, own);
    audiences.iter().any(|url| match rule {
        Audience::Either => is(url, expected.resource) || is(url, expected.issuer),
        Audience::Resource => is(url, expected.resource),
        Audience::Issuer => is(url, expected.issuer),
    })
}

/// A slash at the end is not a difference: `resource` ends with one, issuers usually do not.
fn same_url(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Whether the URL is this server's or one of its paths, such as `/mcp`.
fn is_below(url: &str, own: &str) -> bool {
    let own = own.trim_end_matches('/');
    url.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn name(claim: Option<String>, missing: &'static str) -> Result<String, Refusal> {
    let usable = |text: &String| !text.is_empty() && text.len() <= MAX_NAME_BYTES;
    claim.filter(usable).ok_or(Refusal::InvalidAssertion(missing))
}
