//! Which addresses a request accepts: the ones it may ask for, and the ones a page that answers it may come
//! from. The only place that combines the host lists of `threatProtection` with the site that a crawl or a
//! strict agent run must not leave.
//!
//! The rules are applied three times: to every redirect and to every move of a visited page while it is
//! fetched ([`AllowedUrls::hop_rule`]), to a stored page before it is used, and to the final address of every
//! page before it is read (`fetched_page::parse_response`).

use crate::host_rules::HostRules;
use access::Caller;
use net::UrlRule;
use outbox::webhooks::Webhook;
use sites::{PageUrl, Scope, UrlEquivalence};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// What a request accepts. The default accepts every address. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct AllowedUrls {
    /// Hosts that must not be touched, neither by the page nor by anything it loads. All lists hold, each
    /// with its own exceptions.
    pub hosts: Vec<HostRules>,
    /// The site that the page must be of. What the page loads may come from anywhere.
    pub site: Option<Stay>,
}

/// The site that a page must be of, after redirects of every kind.
#[derive(Debug, Clone)]
pub struct Stay {
    pub start: String,
    pub scope: Arc<Scope>,
    pub sameness: UrlEquivalence,
    /// Which rule asks for it.
    pub rule: AddressRule,
}

impl Stay {
    pub fn allows(&self, url: &Url) -> bool {
        PageUrl::from_url(url.clone(), self.sameness).is_ok_and(|address| self.scope.is_own_page(&address))
    }
}

/// The rules that can refuse an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressRule {
    ThreatProtection,
    StrictUrls,
    CrawlScope,
    /// The hosts that the caller's key may reach.
    KeyHosts,
}

impl AddressRule {
    /// As callers know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThreatProtection => "threatProtection",
            Self::StrictUrls => "strictConstrainToURLs",
            Self::CrawlScope => "crawl scope",
            Self::KeyHosts => "hosts of the key",
        }
    }
}

/// An address that a request does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedUrl {
    pub url: String,
    pub rule: AddressRule,
}

impl fmt::Display for RefusedUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, rule } = self;
        match rule {
            AddressRule::ThreatProtection => write!(out, "threatProtection does not allow {url}"),
            AddressRule::StrictUrls => {
                write!(out, "strictConstrainToURLs does not allow {url}, which is on another site")
            }
            AddressRule::CrawlScope => write!(out, "{url} is outside the crawled site"),
            AddressRule::KeyHosts => write!(out, "the API key may not reach the host of {url}"),
        }
    }
}

impl AllowedUrls {
    /// The lists of a request, where it has some.
    pub fn from_hosts(hosts: Option<HostRules>) -> Self {
        Self { hosts: hosts.into_iter().collect(), site: None }
    }

    /// Also holds what is fetched for a caller to the hosts of the caller's key.
    pub fn hold_to(&mut self, caller: &Caller) {
        if let Some(rules) = HostRules::of_caller(caller)
            && !self.hosts.contains(&rules)
        {
            self.hosts.push(rules);
        }
    }

    /// Whether the key of a caller may reach this address.
    pub fn check_key(caller: &Caller, url: &str) -> Result<(), RefusedUrl> {
        match HostRules::of_caller(caller) {
            Some(rules) if !Url::parse(url).is_ok_and(|url| rules.allow(&url)) => {
                Err(RefusedUrl { url: url.to_owned(), rule: AddressRule::KeyHosts })
            }
            _ => Ok(()),
        }
    }

    /// The same of where a webhook is sent.
    pub fn check_webhook(caller: &Caller, webhook: Option<&Webhook>) -> Result<(), RefusedUrl> {
        webhook.map_or(Ok(()), |webhook| Self::check_key(caller, &webhook.url))
    }

    /// Whether a page may come from this address.
    pub fn check(&self, url: &Url) -> Result<(), RefusedUrl> {
        let Self { hosts, site } = self;
        let refused = |rule| Err(RefusedUrl { url: url.to_string(), rule });
        match hosts.iter().find(|hosts| !hosts.allow(url)) {
            Some(HostRules::OfKey(_)) => return refused(AddressRule::KeyHosts),
            Some(HostRules::Lists(_)) => return refused(AddressRule::ThreatProtection),
            None => {}
        }
        match site {
            Some(site) if !site.allows(url) => refused(site.rule),
            _ => Ok(()),
        }
    }

    /// Why an address was refused while a page was fetched; none when it was not one of these rules.
    pub fn refusal(&self, url: &str) -> Option<RefusedUrl> {
        self.check(&Url::parse(url).ok()?).err()
    }

    /// For every address a page is asked for at: the first one, redirects, and moves of a visited page. None
    /// when all are accepted.
    pub fn hop_rule(&self) -> Option<UrlRule> {
        let Self { hosts, site } = self;
        let any = !hosts.is_empty() || site.is_some();
        let rules = self.clone();
        any.then(|| Arc::new(move |url: &Url| rules.check(url).is_ok()) as UrlRule)
    }

    /// For everything that a visited page loads.
    pub fn resource_rule(&self) -> Option<UrlRule> {
        let hosts = self.hosts.clone();
        let any = !hosts.is_empty();
        any.then(|| Arc::new(move |url: &Url| hosts.iter().all(|hosts| hosts.allow(url))) as UrlRule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::ScopeRules;
    use wire::Issues;
    use wire::scrape::ThreatInput;

    const ALIKE: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };

    fn rules() -> AllowedUrls {
        let asked = ThreatInput { blacklist: Some(vec!["bad.example".into()]), ..ThreatInput::default() };
        let start = PageUrl::parse("https://good.example/docs", ALIKE).unwrap();
        let entire = ScopeRules { crawl_entire_domain: true, ..ScopeRules::default() };
        let scope = Arc::new(Scope::new(&start, &entire).unwrap());
        let (start, rule) = (start.url().to_string(), AddressRule::StrictUrls);
        AllowedUrls {
            hosts: crate::host_rules::resolve(Some(&asked), &mut Issues::default()).into_iter().collect(),
            site: Some(Stay { start, scope, sameness: ALIKE, rule }),
        }
    }

    #[test]
    fn every_rule_is_held_and_named() {
        let rules = rules();
        let refused = |url: &str| rules.refusal(url).map(|refused| refused.rule);
        assert_eq!(refused("https://www.good.example/elsewhere"), None);
        assert_eq!(refused("https://bad.example/"), Some(AddressRule::ThreatProtection));
        assert_eq!(refused("https://other.example/"), Some(AddressRule::StrictUrls));
        for odd in ["about:blank", "data:text/html,x", "blob:https://good.example/1", "chrome-error://x/"] {
            assert!(refused(odd).is_some(), "{odd} is of no site");
        }
        assert!(rules.refusal("https://bad.example/").unwrap().to_string().contains("threatProtection"));
    }

    #[test]
    fn a_page_may_load_from_other_sites_but_not_from_forbidden_hosts() {
        let (hop, resource) = (rules().hop_rule().unwrap(), rules().resource_rule().unwrap());
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(!hop(&url("https://cdn.example/x.js")) && resource(&url("https://cdn.example/x.js")));
        assert!(!hop(&url("https://bad.example/")) && !resource(&url("https://bad.example/")));
        assert!(hop(&url("https://good.example/")) && resource(&url("https://good.example/")));
        let everything = AllowedUrls::default();
        assert!(everything.hop_rule().is_none() && everything.resource_rule().is_none());
        assert!(everything.check(&url("about:blank")).is_ok());
    }
}
