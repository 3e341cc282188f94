//! The pages that a run may read where its request names the only ones.

use super::web_error::forbidden;
use crate::allowed_urls::{AddressRule, Stay};
use agent::{Task, WebError};
use sites::{PageUrl, Scope, ScopeRules, UrlEquivalence};
use std::collections::HashSet;
use std::sync::Arc;

/// Which addresses count as the same page in a run.
pub const ALIKE: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };

/// The addresses of the request, which are the only ones that may be fetched.
#[derive(Debug)]
pub struct AllowedPages {
    /// Keys of pages.
    pages: HashSet<String>,
    /// Prefixes: addresses of the request that end in `*`.
    parts: Vec<String>,
}

impl AllowedPages {
    pub fn from_task(task: &Task) -> Self {
        let (parts, pages): (Vec<&String>, Vec<&String>) =
            task.urls.iter().partition(|url| url.ends_with('*'));
        let pages = pages.into_iter().filter_map(|url| PageUrl::parse(url, ALIKE).ok());
        let parts = parts.into_iter().map(|url| url.trim_end_matches('*').to_owned());
        Self { pages: pages.map(|address| address.key().to_owned()).collect(), parts: parts.collect() }
    }

    /// Whether the request names a whole section of a site by this prefix.
    pub fn has_section(&self, prefix: &str) -> bool {
        self.parts.iter().any(|part| part == prefix)
    }

    pub fn names(&self, address: &PageUrl) -> bool {
        let below = || self.parts.iter().any(|part| address.url().as_str().starts_with(part));
        self.pages.contains(address.key()) || below()
    }
}

/// Redirects of a page lead nowhere but within its site.
pub fn stay(address: &PageUrl) -> Result<Stay, WebError> {
    let rules = ScopeRules { crawl_entire_domain: true, allow_subdomains: true, ..ScopeRules::default() };
    let scope = Scope::new(address, &rules).map_err(|error| forbidden(&error.to_string()))?;
    let (start, rule) = (address.url().to_string(), AddressRule::StrictUrls);
    Ok(Stay { start, scope: Arc::new(scope), sameness: ALIKE, rule })
}
