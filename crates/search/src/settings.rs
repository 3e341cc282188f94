//! The search settings, and the providers built from them.

use crate::health::Quota;
use crate::http::{ApiKey, ProviderClient};
use crate::provider::Provider;
use crate::provider_router::{ProviderMode, ProviderRouter};
use crate::providers::{Brave, LocalProvider, LocalSearch, Searxng, Serper, Tavily, Wikipedia};
use net::{EgressAllow, Fetcher, Purpose};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// A kind of provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    Searxng,
    Brave,
    Serper,
    Tavily,
    Wikipedia,
    Local,
}

impl ProviderKind {
    pub const ALL: [Self; 6] =
        [Self::Searxng, Self::Brave, Self::Serper, Self::Tavily, Self::Wikipedia, Self::Local];

    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Serper => "serper",
            Self::Tavily => "tavily",
            Self::Wikipedia => "wikipedia",
            Self::Local => "local",
        }
    }
}

/// One of `search_providers`: `brave`, `searxng=http://searxng:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProvider {
    pub kind: ProviderKind,
    /// Its base URL, if not the usual one.
    pub base: Option<Url>,
}

impl ListedProvider {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, base) =
            text.split_once('=').map_or((text, None), |(name, base)| (name, Some(base.trim())));
        let name = name.trim();
        let Some(kind) = ProviderKind::ALL.into_iter().find(|kind| kind.name() == name) else {
            let known = ProviderKind::ALL.map(ProviderKind::name).join(", ");
            return Err(format!("unknown search provider `{name}`; use one of {known}"));
        };
        let base = base.map(|base| web_address(name, base)).transpose()?;
        match (kind, &base) {
            (ProviderKind::Searxng, None) => Err("searxng needs its address: searxng=http://…".to_owned()),
            (ProviderKind::Local, Some(_)) => Err("local has no address".to_owned()),
            _ => Ok(Self { kind, base }),
        }
    }
}

fn web_address(name: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("the address of {name}: {error}"))?;
    let usable = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if usable { Ok(url) } else { Err(format!("the address of {name} must start with http:// or https://")) }
}

/// API keys by provider.
#[derive(Debug, Clone, Default)]
pub struct ApiKeys {
    pub brave: Option<ApiKey>,
    pub serper: Option<ApiKey>,
    pub tavily: Option<ApiKey>,
}

/// All search settings of an operator.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    /// In the order they are asked. Empty: all providers that have a key.
    pub providers: Vec<ListedProvider>,
    pub keys: ApiKeys,
    pub mode: ProviderMode,
    pub provider_timeout: Duration,
    /// By provider name.
    pub quotas: BTreeMap<String, Quota>,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            keys: ApiKeys::default(),
            mode: ProviderMode::default(),
            provider_timeout: Duration::from_secs(10),
            quotas: BTreeMap::new(),
        }
    }
}

impl SearchSettings {
    /// The providers in the order they are asked: as listed, or all that have a key. This server's own index
    /// comes last unless it is listed.
    pub fn listed(&self) -> Vec<ListedProvider> {
        let usual = |kind| ListedProvider { kind, base: None };
        let mut listed = self.providers.clone();
        if listed.is_empty() {
            let keyed = [
                (&self.keys.brave, ProviderKind::Brave),
                (&self.keys.serper, ProviderKind::Serper),
                (&self.keys.tavily, ProviderKind::Tavily),
            ];
            listed.extend(keyed.into_iter().filter(|(key, _)| key.is_some()).map(|(_, kind)| usual(kind)));
        }
        if !listed.iter().any(|one| one.kind == ProviderKind::Local) {
            listed.push(usual(ProviderKind::Local));
        }
        listed
    }

    /// Permits the hosts that the operator listed, even at private addresses.
    #[must_use]
    pub fn allow_hosts(&self, allow: EgressAllow) -> EgressAllow {
        let hosts = self.providers.iter().filter_map(|listed| listed.base.as_ref()?.host_str());
        hosts.fold(allow, |allow, host| allow.with_host(Purpose::Search, host))
    }

    /// Checks the settings against each other.
    pub fn check(&self) -> Result<(), String> {
        for listed in &self.providers {
            let (key, setting) = match listed.kind {
                ProviderKind::Brave => (&self.keys.brave, "brave_key"),
                ProviderKind::Serper => (&self.keys.serper, "serper_key"),
                ProviderKind::Tavily => (&self.keys.tavily, "tavily_key"),
                ProviderKind::Searxng | ProviderKind::Wikipedia | ProviderKind::Local => continue,
            };
            if key.is_none() {
                return Err(format!("search_providers lists {}, but {setting} is empty", listed.kind.name()));
            }
        }
        let names: Vec<String> = self.with_unique_names().into_iter().map(|(name, _)| name).collect();
        match self.quotas.keys().find(|name| !names.contains(name)) {
            Some(name) => Err(format!(
                "search_quotas names {name}, which is not a configured provider: {}",
                names.join(", ")
            )),
            None => Ok(()),
        }
    }

    /// The providers with unique names: a second one of the same kind is numbered.
    fn with_unique_names(&self) -> Vec<(String, ListedProvider)> {
        let mut named: Vec<(String, ListedProvider)> = Vec::new();
        for listed in self.listed() {
            let before = named.iter().filter(|(_, known)| known.kind == listed.kind).count();
            let kind = listed.kind.name();
            let name = if before == 0 { kind.to_owned() } else { format!("{kind}-{}", before + 1) };
            named.push((name, listed));
        }
        named
    }

    /// Builds the router with all providers. Without `local` there is no local index.
    pub fn build_router(&self, fetcher: &Fetcher, local: Option<&Arc<dyn LocalSearch>>) -> ProviderRouter {
        let mut providers: Vec<(Arc<dyn Provider>, Quota)> = Vec::new();
        for (name, listed) in self.with_unique_names() {
            let client = ProviderClient::new(fetcher.clone(), &name);
            let Some(provider) = self.build_provider(&listed, &name, client, local) else { continue };
            let quota = self.quotas.get(&name).copied().unwrap_or_default();
            providers.push((provider, quota));
        }
        ProviderRouter::new(providers, self.mode, self.provider_timeout)
    }

    fn build_provider(
        &self,
        listed: &ListedProvider,
        name: &str,
        client: ProviderClient,
        local: Option<&Arc<dyn LocalSearch>>,
    ) -> Option<Arc<dyn Provider>> {
        let at = |home: &str| listed.base.clone().or_else(|| Url::parse(home).ok());
        Some(match listed.kind {
            ProviderKind::Searxng => Arc::new(Searxng::new(name, listed.base.clone()?, client)),
            ProviderKind::Brave => {
                Arc::new(Brave::new(at(Brave::DEFAULT_BASE_URL)?, self.keys.brave.clone()?, client))
            }
            ProviderKind::Serper => {
                Arc::new(Serper::new(at(Serper::DEFAULT_BASE_URL)?, self.keys.serper.clone()?, client))
            }
            ProviderKind::Tavily => {
                Arc::new(Tavily::new(at(Tavily::DEFAULT_BASE_URL)?, self.keys.tavily.clone()?, client))
            }
            ProviderKind::Wikipedia => Arc::new(Wikipedia::new(listed.base.clone(), client)),
            ProviderKind::Local => Arc::new(LocalProvider::new(local?.clone())),
        })
    }
}

/// Parses one entry of `search_quotas`, such as `brave=60/minute` or `serper=2500/month`, into `quotas`.
pub fn parse_quota(quotas: &mut BTreeMap<String, Quota>, text: &str) -> Result<(), String> {
    let wrong = || format!("`{text}` is not a quota such as brave=60/minute or brave=2000/month");
    let (name, quota) = text.split_once('=').ok_or_else(wrong)?;
    let (count, span) = quota.split_once('/').ok_or_else(wrong)?;
    let count: u32 = count.trim().parse().map_err(|_| wrong())?;
    let known = quotas.entry(name.trim().to_owned()).or_default();
    match span.trim() {
        "minute" => known.per_minute = Some(count),
        "month" => known.per_month = Some(count),
        _ => return Err(wrong()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_listed() {
        assert_eq!(
            ListedProvider::parse("brave").unwrap(),
            ListedProvider { kind: ProviderKind::Brave, base: None }
        );
        let own = ListedProvider::parse("searxng=http://searxng:8080/sub").unwrap();
        assert_eq!(own.base.unwrap().as_str(), "http://searxng:8080/sub");
        for wrong in [
            "",
            "bing",
            "searxng",
            "searxng=ftp://x",
            "searxng=nope",
            "local=http://x.example",
            "brave=javascript:1",
        ] {
            assert!(ListedProvider::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_enough_and_the_local_index_always_takes_part() {
        let mut settings = SearchSettings::default();
        let makes =
            |settings: &SearchSettings| settings.listed().iter().map(|one| one.kind).collect::<Vec<_>>();
        assert_eq!(makes(&settings), [ProviderKind::Local]);
        settings.keys.serper = Some(ApiKey::new("k"));
        assert_eq!(makes(&settings), [ProviderKind::Serper, ProviderKind::Local]);
        settings.providers =
            vec![ListedProvider::parse("local").unwrap(), ListedProvider::parse("brave").unwrap()];
        assert_eq!(makes(&settings), [ProviderKind::Local, ProviderKind::Brave]);
        assert!(settings.check().unwrap_err().contains("brave_key"));
        assert!(!format!("{settings:?}").contains("\"k\""));
    }

    #[test]
    fn reads_quotas() {
        let mut quotas = BTreeMap::new();
        parse_quota(&mut quotas, "brave=60/minute").unwrap();
        parse_quota(&mut quotas, "brave=2000/month").unwrap();
        assert_eq!(quotas["brave"], Quota { per_minute: Some(60), per_month: Some(2000) });
        let mut settings = SearchSettings { quotas: quotas.clone(), ..SearchSettings::default() };
        assert!(settings.check().unwrap_err().contains("search_quotas"), "no provider has that name");
        settings.keys.brave = Some(ApiKey::new("k"));
        assert!(settings.check().is_ok());
        for wrong in ["brave", "brave=x/minute", "brave=5/year", "brave=5"] {
            assert!(parse_quota(&mut quotas, wrong).is_err(), "{wrong}");
        }
    }
}
