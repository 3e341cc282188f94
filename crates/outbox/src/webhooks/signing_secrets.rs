//! What webhooks are signed with. A team has one secret; while an older one is phased out that one still
//! makes the signature receivers know, and the new one makes a second signature.

use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::Duration;
use store::audit_log::Actor;
use store::webhooks::WebhookSecret;
use store::{StoreError, WebhookStore};
use stored_data::hex;
use uuid::Uuid;

/// The header receivers check.
pub const SIGNATURE: &str = "X-Firecrawl-Signature";
/// The same, made with the secret that takes over when the older one is phased out.
pub const NEXT_SIGNATURE: &str = "X-Gannet-Signature-Next";

const PREFIX: &str = "whsec_";

/// Why there are no secrets.
#[derive(Debug, thiserror::Error)]
pub enum SigningSecretError {
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
    /// Logged where it happens.
    #[error("no randomness for a webhook secret")]
    Randomness(#[source] getrandom::Error),
}

/// The secrets of a team, newest first; the first is made when it is first asked for.
pub fn team_secrets(
    store: &dyn WebhookStore,
    team: Uuid,
) -> BoxFuture<'_, Result<Vec<WebhookSecret>, SigningSecretError>> {
    Box::pin(async move {
        let known = store.webhook_secrets(team).await?;
        if !known.is_empty() {
            return Ok(known);
        }
        Ok(store.first_webhook_secret(team, &random()?).await?)
    })
}

/// Makes a new secret; the one before goes on to sign for `phase_out`. All of them, newest first.
pub fn rotate<'a>(
    store: &'a dyn WebhookStore,
    team: Uuid,
    phase_out: Duration,
    by: &'a Actor,
) -> BoxFuture<'a, Result<Vec<WebhookSecret>, SigningSecretError>> {
    Box::pin(async move {
        store.rotate_webhook_secret(team, &random()?, phase_out, by).await?;
        team_secrets(store, team).await
    })
}

/// The headers that sign a body.
pub(super) fn signatures(secrets: &[WebhookSecret], body: &[u8]) -> Vec<(&'static str, String)> {
    let mut headers = Vec::with_capacity(2);
    if let Some(oldest) = secrets.last() {
        headers.push((SIGNATURE, signature(&oldest.secret, body)));
    }
    if let [newest, _, ..] = secrets {
        headers.push((NEXT_SIGNATURE, signature(&newest.secret, body)));
    }
    headers
}

fn signature(secret: &str, body: &[u8]) -> String {
    // A key of any length will do, so this cannot fail.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap_or_else(|_| unreachable!());
    mac.update(body);
    format!("sha256={}", hex(&mac.finalize().into_bytes()))
}

fn random() -> Result<String, SigningSecretError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "no randomness for a webhook secret");
        SigningSecretError::Randomness(error)
    })?;
    Ok(format!("{PREFIX}{}", hex(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> WebhookSecret {
        WebhookSecret { secret: text.into(), created_at: 0, until: None }
    }

    /// The second test case of RFC 4231.
    const KEY: &str = "Jefe";
    const BODY: &[u8] = b"what do ya want for nothing?";
    const MAC: &str = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

    #[test]
    fn a_signature_is_that_of_the_standard() {
        assert_eq!(signatures(&[secret(KEY)], BODY), [(SIGNATURE, MAC.to_owned())]);
        assert!(signatures(&[], BODY).is_empty());
    }

    #[test]
    fn while_one_is_phased_out_it_signs_as_before_and_the_new_one_beside_it() {
        let both = signatures(&[secret("new"), secret(KEY)], BODY);
        assert_eq!(both[0], (SIGNATURE, MAC.to_owned()));
        assert_eq!(both[1].0, NEXT_SIGNATURE);
        assert_ne!(both[1].1, MAC);
    }

    #[test]
    fn secrets_are_long_and_distinct() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_ne!(one, other);
        assert!(one.starts_with(PREFIX) && one.len() == PREFIX.len() + 64);
    }
}
