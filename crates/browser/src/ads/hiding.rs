//! Selectors of elements to hide, by host. Parses the three forms of rules that filter lists use; knows
//! nothing of requests.

use std::borrow::Cow;
use std::collections::HashSet;

/// All hiding rules.
#[derive(Debug)]
pub(super) struct HidingRules {
    everywhere: Vec<String>,
    /// The style sheet for sites without rules of their own, which are nearly all.
    sheet: String,
    by_host: Vec<HostRule>,
    unlock: String,
}

/// A rule for one host and its subdomains.
#[derive(Debug)]
struct HostRule {
    host: String,
    selector: String,
    hide: bool,
}

impl HidingRules {
    pub(super) fn parse(list: &str, unlock: &str) -> Self {
        let mut everywhere = Vec::new();
        let mut by_host = Vec::new();
        for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('!')) {
            let (hosts, selector, hide) = match (line.split_once("#@#"), line.split_once("##")) {
                (Some((hosts, selector)), _) => (hosts, selector, false),
                (None, Some((hosts, selector))) => (hosts, selector, true),
                (None, None) => continue,
            };
            if hosts.is_empty() && hide {
                everywhere.push(selector.to_owned());
            }
            by_host.extend(hosts.split(',').filter(|host| !host.is_empty()).map(|host| HostRule {
                host: host.to_owned(),
                selector: selector.to_owned(),
                hide,
            }));
        }
        let sheet = sheet(everywhere.iter().map(String::as_str), unlock);
        Self { everywhere, sheet, by_host, unlock: unlock.to_owned() }
    }

    pub(super) fn css(&self, host: &str) -> Cow<'_, str> {
        let host = host.strip_suffix('.').unwrap_or(host);
        let own: Vec<&HostRule> = self.by_host.iter().filter(|line| line.covers(host)).collect();
        if own.is_empty() {
            return Cow::Borrowed(&self.sheet);
        }
        let exempted: HashSet<&str> =
            own.iter().filter(|line| !line.hide).map(|line| line.selector.as_str()).collect();
        let added = own.iter().filter(|line| line.hide).map(|line| line.selector.as_str());
        let all = self.everywhere.iter().map(String::as_str).chain(added);
        Cow::Owned(sheet(all.filter(|selector| !exempted.contains(selector)), &self.unlock))
    }
}

impl HostRule {
    fn covers(&self, host: &str) -> bool {
        host.strip_suffix(self.host.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

fn sheet<'a>(selectors: impl Iterator<Item = &'a str>, unlock: &str) -> String {
    let mut css = String::from(unlock);
    for selector in selectors {
        css.push_str(selector);
        css.push_str("{display:none!important}\n");
    }
    css
}
