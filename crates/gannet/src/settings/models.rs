//! The language model settings: a default model, and others for single purposes.

use super::values::{Values, between, duration, optional};
use anyhow::{Context, Result, bail, ensure};
use engine::models::{ModelEndpoint, ModelSettings};
use std::time::Duration;
use url::Url;

pub fn parse_settings(values: &Values<'_>) -> Result<ModelSettings> {
    let url = values.parse("model_url", |text| optional(text).map(|text| parse_url(&text)).transpose())?;
    let name = values.parse("model_name", |text| Ok(optional(text)))?;
    let key = values.parse("model_key", |text| Ok(optional(text)))?;
    let main = match (url, name) {
        (Some(url), Some(name)) => Some(ModelEndpoint { url, name, key }),
        (None, None) => None,
        (Some(_), None) => bail!("setting `model_url` needs `model_name`, the name of the model"),
        (None, Some(_)) => bail!("setting `model_name` needs `model_url`, the URL of the model server"),
    };
    let model_for = |setting: &str| values.parse(setting, |text| parse_model(text, main.as_ref()));
    let context: u32 = values.parse("model_context", |text| between(text, 0..=100_000_000))?;
    ensure!(context == 0 || context >= 512, "setting `model_context` must be 0 or at least 512");
    Ok(ModelSettings {
        agent: model_for("model_agent")?,
        extract: model_for("model_extract")?,
        summary: model_for("model_summary")?,
        timeout: values.parse("model_timeout", |text| duration(text, Duration::from_millis(100)))?,
        context: Some(context).filter(|context| *context > 0),
        at_once: values.parse("model_requests", |text| between(text, 1..=1_000))?,
        tokens_per_credit: values.parse("model_credit_tokens", |text| between(text, 0..=1_000_000_000))?,
    })
}

/// Parses `NAME`, `URL|NAME` or `URL|NAME|KEY`; empty means the default model. A key is only sent to the URL
/// it was given for.
fn parse_model(text: &str, main: Option<&ModelEndpoint>) -> Result<Option<ModelEndpoint>> {
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    match parts[..] {
        [""] => Ok(main.cloned()),
        [name] => {
            let main = main.context("a name alone needs `model_url`")?;
            Ok(Some(ModelEndpoint { name: name.to_owned(), ..main.clone() }))
        }
        [url, name] | [url, name, _] if !name.is_empty() => {
            let key = parts.get(2).and_then(|key| optional(key));
            Ok(Some(ModelEndpoint { url: parse_url(url)?, name: name.to_owned(), key }))
        }
        _ => bail!("must be NAME, URL|NAME or URL|NAME|KEY"),
    }
}

fn parse_url(text: &str) -> Result<Url> {
    // Not repeated in the error, because the text may contain a key.
    let url = Url::parse(text).ok().context("must be a URL such as http://localhost:11434/v1")?;
    net::Destination::from_url(&url)?;
    Ok(url)
}
