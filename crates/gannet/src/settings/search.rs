//! The search settings: providers, their order, and quotas.

use super::values::{Values, duration, list, optional};
use ::search::{ApiKey, ApiKeys, ListedProvider, ProviderMode, SearchSettings, parse_quota};
use anyhow::{Result, anyhow, bail};
use std::collections::BTreeMap;
use std::time::Duration;

pub fn parse_settings(values: &Values<'_>) -> Result<SearchSettings> {
    let key = |setting: &str| values.parse(setting, |text| Ok(optional(text).map(ApiKey::new)));
    let settings = SearchSettings {
        providers: values.parse("search_providers", |text| {
            list(text, |one| ListedProvider::parse(one).map_err(|why| anyhow!(why)))
        })?,
        keys: ApiKeys { brave: key("brave_key")?, serper: key("serper_key")?, tavily: key("tavily_key")? },
        mode: values.parse("search_mode", |text| match text {
            "fallback" => Ok(ProviderMode::Fallback),
            "parallel" => Ok(ProviderMode::Parallel),
            _ => bail!("must be fallback or parallel"),
        })?,
        provider_timeout: values.parse("search_timeout", |text| duration(text, Duration::from_millis(50)))?,
        quotas: values.parse("search_quotas", quotas)?,
    };
    settings.check().map_err(|why| anyhow!(why))?;
    Ok(settings)
}

fn quotas(text: &str) -> Result<BTreeMap<String, ::search::Quota>> {
    let mut quotas = BTreeMap::new();
    for one in list(text, |one| Ok(one.to_owned()))? {
        parse_quota(&mut quotas, &one).map_err(|why| anyhow!(why))?;
    }
    Ok(quotas)
}
