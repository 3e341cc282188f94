//! `threatProtection`: the hosts that a request must not touch.

use access::Caller;
use std::sync::Arc;
use url::Url;
use wire::Issues;
use wire::scrape::ThreatInput;

const MAX_ENTRIES: usize = 1_000;
const MAX_ENTRY_BYTES: usize = 253;

/// Hosts that a request must not touch. Cheap to clone. Its debug form is part of keys of stored pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRules {
    /// Those of `threatProtection`.
    Lists(Arc<Lists>),
    /// All but these, which are those of the caller's key.
    OfKey(Arc<[String]>),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Lists {
    forbidden: Vec<String>,
    allowed: Vec<String>,
    domains: Vec<String>,
}

impl HostRules {
    /// What the key of a caller may reach; `None` where that is everything.
    pub fn of_caller(caller: &Caller) -> Option<Self> {
        (!caller.hosts.is_empty()).then(|| Self::OfKey(caller.hosts.clone()))
    }

    /// Whether an address may be asked for.
    pub fn allow(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let lists = match self {
            Self::OfKey(hosts) => return hosts.iter().any(|pattern| is_of(pattern, &host)),
            Self::Lists(lists) => lists,
        };
        let named = |list: &[String]| list.iter().any(|pattern| fits(pattern, &host));
        if named(&lists.allowed) {
            return true;
        }
        let last = host.rsplit('.').next().unwrap_or_default();
        !named(&lists.forbidden) && !lists.domains.iter().any(|domain| domain == last)
    }
}

/// Whether a host is the one of a key's list, or below it where it is written `*.name`.
fn is_of(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(name) => host.strip_suffix(name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        None => host == pattern,
    }
}

/// Whether a host fits a pattern, in which `*` stands for any part. A plain name also covers what is below
/// it.
fn fits(pattern: &str, host: &str) -> bool {
    if !pattern.contains('*') {
        return host == pattern || host.strip_suffix(pattern).is_some_and(|rest| rest.ends_with('.'));
    }
    let mut rest = host;
    let mut pieces = pattern.split('*').peekable();
    let first = pieces.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.len() >= piece.len() && rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

pub fn resolve(asked: Option<&ThreatInput>, issues: &mut Issues) -> Option<HostRules> {
    let asked = asked?;
    match asked.mode.as_deref() {
        Some("off") => return None,
        None | Some("manual-only" | "normal") => {}
        Some("zscaler") => {
            issues.add("threatProtection.mode", "zscaler is an outside service", "invalid_value");
        }
        Some(_) => {
            issues.add(
                "threatProtection.mode",
                "must be off, manual-only, normal or zscaler",
                "invalid_value",
            );
        }
    }
    if let Some(score) = asked.risk_score_threshold {
        issues.range("threatProtection.riskScoreThreshold", score, &(0..=100));
    }
    if asked.failure_policy.as_deref().is_some_and(|policy| !["open", "closed"].contains(&policy)) {
        issues.add("threatProtection.failurePolicy", "must be open or closed", "invalid_value");
    }
    let mut list = |field: &str, asked: Option<&Vec<String>>| {
        let list = asked.cloned().unwrap_or_default();
        if list.len() > MAX_ENTRIES
            || list.iter().any(|entry| entry.is_empty() || entry.len() > MAX_ENTRY_BYTES)
        {
            let why = format!("must have at most {MAX_ENTRIES} entries of 1 to {MAX_ENTRY_BYTES} characters");
            issues.add(field, &why, "too_big");
            return Vec::new();
        }
        list.iter().map(|entry| entry.trim().trim_start_matches('.').to_ascii_lowercase()).collect()
    };
    let lists = Lists {
        forbidden: list("threatProtection.blacklist", asked.blacklist.as_ref()),
        allowed: list("threatProtection.whitelist", asked.whitelist.as_ref()),
        domains: list("threatProtection.blockedTlds", asked.blocked_tlds.as_ref()),
    };
    // A whitelist only makes exceptions: where nothing is forbidden there is no rule.
    let forbids = !lists.forbidden.is_empty() || !lists.domains.is_empty();
    forbids.then(|| HostRules::Lists(Arc::new(lists)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_hosts() {
        for (pattern, host) in [
            ("bad.example", "bad.example"),
            ("bad.example", "www.bad.example"),
            ("*.bad.example", "a.b.bad.example"),
            ("ads*.example", "ads7.example"),
            ("*tracker*", "my-tracker.example"),
        ] {
            assert!(fits(pattern, host), "{pattern} {host}");
        }
        for (pattern, host) in [
            ("bad.example", "notbad.example"),
            ("*.bad.example", "bad.example.org"),
            ("ads*.example", "example"),
            ("a*b", "ab.c"),
        ] {
            assert!(!fits(pattern, host), "{pattern} {host}");
        }
    }

    #[test]
    fn a_key_reaches_its_hosts_and_no_others() {
        let rules = HostRules::OfKey(["a.example".to_owned(), "*.b.example".to_owned()].into());
        let allow = |url: &str| rules.allow(&Url::parse(url).unwrap());
        for own in [
            "https://a.example/x",
            "http://A.example.:8080/",
            "https://x.b.example/",
            "https://x.y.b.example/",
        ] {
            assert!(allow(own), "{own}");
        }
        for other in
            ["https://x.a.example/", "https://b.example/", "https://xb.example/", "about:blank", "data:,x"]
        {
            assert!(!allow(other), "{other}");
        }
    }

    #[test]
    fn the_whitelist_wins() {
        let asked = ThreatInput {
            blacklist: Some(vec!["*.example".into()]),
            whitelist: Some(vec!["good.example".into()]),
            blocked_tlds: Some(vec![".zip".into()]),
            ..ThreatInput::default()
        };
        let mut issues = Issues::default();
        let rules = resolve(Some(&asked), &mut issues).unwrap();
        let allow = |url: &str| rules.allow(&Url::parse(url).unwrap());
        assert!(allow("https://good.example/") && allow("https://other.org/"));
        assert!(!allow("https://evil.example/") && !allow("http://x.ZIP/"));
        assert!(issues.is_empty());
    }
}
