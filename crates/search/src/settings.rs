//! Which providers a server has, from its settings.

use crate::desk::{Desk, Mode};
use crate::health::Quota;
use crate::line::{Key, Line};
use crate::provider::Provider;
use crate::providers::{Brave, Local, LocalProvider, Searxng, Serper, Tavily, Wikipedia};
use net::{EgressAllow, Fetcher, Purpose};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// A kind of provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Make {
    Searxng,
    Brave,
    Serper,
    Tavily,
    Wikipedia,
    Local,
}

impl Make {
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
pub struct Listed {
    pub make: Make,
    /// Where it is, when not at its usual address.
    pub base: Option<Url>,
}

impl Listed {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, base) =
            text.split_once('=').map_or((text, None), |(name, base)| (name, Some(base.trim())));
        let name = name.trim();
        let Some(make) = Make::ALL.into_iter().find(|make| make.name() == name) else {
            let known = Make::ALL.map(Make::name).join(", ");
            return Err(format!("unknown search provider `{name}`; there are {known}"));
        };
        let base = base.map(|base| web_address(name, base)).transpose()?;
        match (make, &base) {
            (Make::Searxng, None) => Err("searxng needs its address: searxng=http://…".to_owned()),
            (Make::Local, Some(_)) => Err("local has no address".to_owned()),
            _ => Ok(Self { make, base }),
        }
    }
}

fn web_address(name: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("the address of {name}: {error}"))?;
    let usable = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if usable { Ok(url) } else { Err(format!("the address of {name} must start with http:// or https://")) }
}

/// Keys by provider.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    pub brave: Option<Key>,
    pub serper: Option<Key>,
    pub tavily: Option<Key>,
}

/// Everything about search that an operator may set.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    /// In the order they are asked. None: those that have a key.
    pub providers: Vec<Listed>,
    pub keys: Keys,
    pub mode: Mode,
    pub patience: Duration,
    /// By name.
    pub quotas: BTreeMap<String, Quota>,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            keys: Keys::default(),
            mode: Mode::default(),
            patience: Duration::from_secs(10),
            quotas: BTreeMap::new(),
        }
    }
}

impl SearchSettings {
    /// Who is asked, in order: as listed, or whoever has a key; and this server's own index after all unless it has a place.
    pub fn listed(&self) -> Vec<Listed> {
        let plain = |make| Listed { make, base: None };
        let mut listed = self.providers.clone();
        if listed.is_empty() {
            let keyed = [
                (&self.keys.brave, Make::Brave),
                (&self.keys.serper, Make::Serper),
                (&self.keys.tavily, Make::Tavily),
            ];
            listed.extend(keyed.into_iter().filter(|(key, _)| key.is_some()).map(|(_, make)| plain(make)));
        }
        if !listed.iter().any(|one| one.make == Make::Local) {
            listed.push(plain(Make::Local));
        }
        listed
    }

    /// Opens the hosts that the operator named: they are to be reached wherever they are.
    #[must_use]
    pub fn open_hosts(&self, allow: EgressAllow) -> EgressAllow {
        let hosts = self.providers.iter().filter_map(|listed| listed.base.as_ref()?.host_str());
        hosts.fold(allow, |allow, host| allow.and(Purpose::Search, host))
    }

    /// What is wrong with them together.
    pub fn check(&self) -> Result<(), String> {
        for listed in &self.providers {
            let (key, setting) = match listed.make {
                Make::Brave => (&self.keys.brave, "brave_key"),
                Make::Serper => (&self.keys.serper, "serper_key"),
                Make::Tavily => (&self.keys.tavily, "tavily_key"),
                Make::Searxng | Make::Wikipedia | Make::Local => continue,
            };
            if key.is_none() {
                return Err(format!(
                    "{} is among search_providers and {setting} is empty",
                    listed.make.name()
                ));
            }
        }
        let names: Vec<String> = self.named().into_iter().map(|(name, _)| name).collect();
        match self.quotas.keys().find(|name| !names.contains(name)) {
            Some(name) => Err(format!("search_quotas has {name}, and there are {}", names.join(", "))),
            None => Ok(()),
        }
    }

    /// Everybody who is listed with a name of its own: a second one of a kind is numbered.
    fn named(&self) -> Vec<(String, Listed)> {
        let mut named: Vec<(String, Listed)> = Vec::new();
        for listed in self.listed() {
            let before = named.iter().filter(|(_, known)| known.make == listed.make).count();
            let kind = listed.make.name();
            let name = if before == 0 { kind.to_owned() } else { format!("{kind}-{}", before + 1) };
            named.push((name, listed));
        }
        named
    }

    /// The desk with all of them. Without `local` there is no index of our own.
    pub fn open(&self, fetcher: &Fetcher, local: Option<&Arc<dyn Local>>) -> Desk {
        let mut providers: Vec<(Arc<dyn Provider>, Quota)> = Vec::new();
        for (name, listed) in self.named() {
            let line = Line::new(fetcher.clone(), &name);
            let Some(provider) = self.one(&listed, &name, line, local) else { continue };
            let quota = self.quotas.get(&name).copied().unwrap_or_default();
            providers.push((provider, quota));
        }
        Desk::new(providers, self.mode, self.patience)
    }

    fn one(
        &self,
        listed: &Listed,
        name: &str,
        line: Line,
        local: Option<&Arc<dyn Local>>,
    ) -> Option<Arc<dyn Provider>> {
        let at = |home: &str| listed.base.clone().or_else(|| Url::parse(home).ok());
        Some(match listed.make {
            Make::Searxng => Arc::new(Searxng::new(name, listed.base.clone()?, line)),
            Make::Brave => Arc::new(Brave::new(at(Brave::HOME)?, self.keys.brave.clone()?, line)),
            Make::Serper => Arc::new(Serper::new(at(Serper::HOME)?, self.keys.serper.clone()?, line)),
            Make::Tavily => Arc::new(Tavily::new(at(Tavily::HOME)?, self.keys.tavily.clone()?, line)),
            Make::Wikipedia => Arc::new(Wikipedia::new(listed.base.clone(), line)),
            Make::Local => Arc::new(LocalProvider::new(local?.clone())),
        })
    }
}

/// `brave=60/minute`, `serper=2500/month`: one of `search_quotas`, added to what is known.
pub fn read_quota(quotas: &mut BTreeMap<String, Quota>, text: &str) -> Result<(), String> {
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
        assert_eq!(Listed::parse("brave").unwrap(), Listed { make: Make::Brave, base: None });
        let own = Listed::parse("searxng=http://searxng:8080/sub").unwrap();
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
            assert!(Listed::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_enough_and_the_index_always_takes_part() {
        let mut settings = SearchSettings::default();
        let makes =
            |settings: &SearchSettings| settings.listed().iter().map(|one| one.make).collect::<Vec<_>>();
        assert_eq!(makes(&settings), [Make::Local]);
        settings.keys.serper = Some(Key::new("k"));
        assert_eq!(makes(&settings), [Make::Serper, Make::Local]);
        settings.providers = vec![Listed::parse("local").unwrap(), Listed::parse("brave").unwrap()];
        assert_eq!(makes(&settings), [Make::Local, Make::Brave]);
        assert!(settings.check().unwrap_err().contains("brave_key"));
        assert!(!format!("{settings:?}").contains("\"k\""));
    }

    #[test]
    fn reads_quotas() {
        let mut quotas = BTreeMap::new();
        read_quota(&mut quotas, "brave=60/minute").unwrap();
        read_quota(&mut quotas, "brave=2000/month").unwrap();
        assert_eq!(quotas["brave"], Quota { per_minute: Some(60), per_month: Some(2000) });
        let mut settings = SearchSettings { quotas: quotas.clone(), ..SearchSettings::default() };
        assert!(settings.check().unwrap_err().contains("search_quotas"), "nobody of that name is asked");
        settings.keys.brave = Some(Key::new("k"));
        assert!(settings.check().is_ok());
        for wrong in ["brave", "brave=x/minute", "brave=5/year", "brave=5"] {
            assert!(read_quota(&mut quotas, wrong).is_err(), "{wrong}");
        }
    }
}
