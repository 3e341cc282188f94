//! The reference to an upload that its caller holds: signed, so that nobody can make one up, and with the name and the
//! type of the file, which are stored nowhere else. Whoever has it may upload the file; only the team of the upload may
//! have it parsed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use store::Millis;
use uuid::Uuid;

/// A name of 512 characters and a content type, encoded, are shorter.
const MAX_REFERENCE_BYTES: usize = 8 * 1024;

/// What a reference says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadReference {
    pub id: Uuid,
    /// The name of the file.
    pub name: String,
    pub content_type: Option<String>,
    pub expires_at: Millis,
}

impl UploadReference {
    /// The reference as callers hold it.
    pub fn to_text(&self, secret: &[u8; 32]) -> Result<String, serde_json::Error> {
        let content = serde_json::to_vec(self)?;
        let signature = signature(secret, &content).finalize().into_bytes();
        Ok(format!("{}.{}", URL_SAFE_NO_PAD.encode(content), URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Reads a reference; `None` unless this service signed it.
    pub fn from_text(text: &str, secret: &[u8; 32]) -> Option<Self> {
        if text.len() > MAX_REFERENCE_BYTES {
            return None;
        }
        let (content, signed) = text.split_once('.')?;
        let content = URL_SAFE_NO_PAD.decode(content).ok()?;
        let signed = URL_SAFE_NO_PAD.decode(signed).ok()?;
        signature(secret, &content).verify_slice(&signed).ok()?;
        serde_json::from_slice(&content).ok()
    }
}

fn signature(secret: &[u8; 32], content: &[u8]) -> Hmac<Sha256> {
    // A key of any length will do, so this cannot fail.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap_or_else(|_| unreachable!());
    mac.update(content);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_read() {
        let reference = UploadReference {
            id: Uuid::now_v7(),
            name: "Müllers \"Bericht\".pdf".repeat(24),
            content_type: Some("application/pdf".to_owned()),
            expires_at: 1_700_000_000_000,
        };
        let text = reference.to_text(&[1; 32]).unwrap();
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)), "{text}");
        assert_eq!(UploadReference::from_text(&text, &[1; 32]), Some(reference));
        assert_eq!(UploadReference::from_text(&text, &[2; 32]), None, "of another server");
        let (content, signed) = text.split_once('.').unwrap();
        let forged = URL_SAFE_NO_PAD.encode(br#"{"id":"x"}"#);
        let long = "a".repeat(MAX_REFERENCE_BYTES + 1);
        let cut = &text[..text.len() - 2];
        for bad in
            ["", ".", "x", content, cut, &long, &format!("{forged}.{signed}"), &format!("{content}."), "ä.ö"]
        {
            assert_eq!(UploadReference::from_text(bad, &[1; 32]), None, "{bad}");
        }
    }
}
