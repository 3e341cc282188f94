//! The settings of Web Bot Auth. The key is read when it is needed: commands that fetch nothing do without.

use super::values::{Values, optional};
use anyhow::{Context, Result, ensure};
use net::BotIdentity;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// The largest key file that is read.
const MAX_KEY_BYTES: u64 = 16 << 10;

/// The key that requests for pages are signed with, and where its directory is.
#[derive(Debug, Clone)]
pub struct WebBotAuth {
    key_file: PathBuf,
    agent: Url,
}

pub fn parse_settings(values: &Values<'_>) -> Result<Option<WebBotAuth>> {
    let key_file = values.parse("web_bot_auth_key", |text| Ok(optional(text).map(PathBuf::from)))?;
    let parse_url = |text: &str| optional(text).map(|url| Url::parse(&url)).transpose();
    let agent = values.parse("web_bot_auth_agent", |text| Ok(parse_url(text)?))?;
    let public_url = values.parse("public_url", |text| Ok(parse_url(text).ok().flatten()))?;
    let Some(key_file) = key_file else { return Ok(None) };
    let agent = agent.or(public_url).context(
        "web_bot_auth_key needs public_url or web_bot_auth_agent: sites look for the public key there",
    )?;
    Ok(Some(WebBotAuth { key_file, agent }))
}

impl WebBotAuth {
    pub fn open(&self) -> Result<Arc<BotIdentity>> {
        let shown = || format!("setting `web_bot_auth_key` = `{}`", self.key_file.display());
        let size = std::fs::metadata(&self.key_file).with_context(shown)?.len();
        ensure!(size <= MAX_KEY_BYTES, "{}: not an Ed25519 private key in PEM (PKCS #8)", shown());
        let pem = std::fs::read_to_string(&self.key_file).with_context(shown)?;
        Ok(Arc::new(BotIdentity::from_pem(&pem, &self.agent).with_context(shown)?))
    }

    /// Whether other users of this machine can read the key.
    pub fn is_open_to_others(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(&self.key_file).is_ok_and(|facts| facts.mode() & 0o077 != 0)
    }
}
