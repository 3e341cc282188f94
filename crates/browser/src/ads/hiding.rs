//! Selectors to hide, by host. Reads the three forms of line that lists use for it; knows nothing of requests.

use std::borrow::Cow;
use std::collections::HashSet;

/// What to hide where.
#[derive(Debug)]
pub(super) struct Hiding {
    everywhere: Vec<String>,
    /// Everything for every site, as one text: what nearly every page gets.
    sheet: String,
    by_host: Vec<Exception>,
    unlock: String,
}

/// A line for one host and all below it.
#[derive(Debug)]
struct Exception {
    host: String,
    selector: String,
    hide: bool,
}

impl Hiding {
    pub(super) fn read(list: &str, unlock: &str) -> Self {
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
            by_host.extend(hosts.split(',').filter(|host| !host.is_empty()).map(|host| Exception {
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
        let own: Vec<&Exception> = self.by_host.iter().filter(|line| line.covers(host)).collect();
        if own.is_empty() {
            return Cow::Borrowed(&self.sheet);
        }
        let taken_back: HashSet<&str> =
            own.iter().filter(|line| !line.hide).map(|line| line.selector.as_str()).collect();
        let added = own.iter().filter(|line| line.hide).map(|line| line.selector.as_str());
        let all = self.everywhere.iter().map(String::as_str).chain(added);
        Cow::Owned(sheet(all.filter(|selector| !taken_back.contains(selector)), &self.unlock))
    }
}

impl Exception {
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
