//! The settings of language models: one for everything, and others for single purposes.

use super::values::{Values, between, duration, optional};
use anyhow::{Context, Result, bail, ensure};
use engine::models::{ModelPlace, ModelSettings};
use std::time::Duration;
use url::Url;

pub fn understand(values: &Values<'_>) -> Result<ModelSettings> {
    let url = values.parse("model_url", |text| optional(text).map(|text| address(&text)).transpose())?;
    let name = values.parse("model_name", |text| Ok(optional(text)))?;
    let key = values.parse("model_key", |text| Ok(optional(text)))?;
    let main = match (url, name) {
        (Some(url), Some(name)) => Some(ModelPlace { url, name, key }),
        (None, None) => None,
        (Some(_), None) => bail!("setting `model_url` needs `model_name`: which model to ask for"),
        (None, Some(_)) => bail!("setting `model_name` needs `model_url`: where the model is"),
    };
    let of = |setting: &str| values.parse(setting, |text| place(text, main.as_ref()));
    let context: u32 = values.parse("model_context", |text| between(text, 0..=100_000_000))?;
    ensure!(context == 0 || context >= 512, "setting `model_context` must be 0 or at least 512");
    Ok(ModelSettings {
        agent: of("model_agent")?,
        extract: of("model_extract")?,
        summary: of("model_summary")?,
        timeout: values.parse("model_timeout", |text| duration(text, Duration::from_millis(100)))?,
        context: Some(context).filter(|context| *context > 0),
        at_once: values.parse("model_requests", |text| between(text, 1..=1_000))?,
        tokens_per_credit: values.parse("model_credit_tokens", |text| between(text, 0..=1_000_000_000))?,
    })
}

/// `NAME`, `URL|NAME` or `URL|NAME|KEY`; empty is the main one. A key goes to the address it was given for and nowhere else.
fn place(text: &str, main: Option<&ModelPlace>) -> Result<Option<ModelPlace>> {
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    match parts[..] {
        [""] => Ok(main.cloned()),
        [name] => {
            let main = main.context("a name alone needs `model_url`")?;
            Ok(Some(ModelPlace { name: name.to_owned(), ..main.clone() }))
        }
        [url, name] | [url, name, _] if !name.is_empty() => {
            let key = parts.get(2).and_then(|key| optional(key));
            Ok(Some(ModelPlace { url: address(url)?, name: name.to_owned(), key }))
        }
        _ => bail!("must be NAME, URL|NAME or URL|NAME|KEY"),
    }
}

fn address(text: &str) -> Result<Url> {
    // The text may hold a key; it is not repeated.
    let url = Url::parse(text).ok().context("must be an address such as http://localhost:11434/v1")?;
    net::Destination::of(&url)?;
    Ok(url)
}
