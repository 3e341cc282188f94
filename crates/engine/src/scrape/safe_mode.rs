//! `safeMode`: a page is read only where robots.txt allows it. That block pages and captchas are not tried again in
//! the browser is up to the ladder.

use super::{ScrapePlan, Scraper};
use crate::Error;
use crate::robots_cache::{self, AGENT};
use access::Caller;
use net::Deadline;
use url::Url;

impl Scraper {
    /// Whether the site lets this address be read, where the request asks for that. Stored pages are used without
    /// asking the site.
    pub(super) async fn check_robots(
        &self,
        caller: &Caller,
        plan: &ScrapePlan,
        url: &Url,
        deadline: Deadline,
    ) -> Result<(), Error> {
        if !plan.access.safe_mode || !plan.cache.may_fetch() {
            return Ok(());
        }
        let rules = self.robots.rules(url, AGENT, &plan.access.credentials, caller);
        let late = |_| Error::timeout("reading robots.txt");
        let rules = Box::pin(deadline.run(rules)).await.map_err(late)??;
        if robots_cache::allows(&rules, url) {
            return Ok(());
        }
        Err(Error::RobotsForbid { url: url.to_string(), is_unreachable: rules.is_unreachable() })
    }
}
