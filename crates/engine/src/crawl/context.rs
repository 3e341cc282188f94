//! What a process keeps in memory of each crawl that it works on: read once, used for every page.

use super::known_urls::KnownUrls;
use super::order::{Order, SitemapUse};
use crate::allowed_urls::{AddressRule, Stay};
use crate::robots_cache::AGENT;
use crate::scrape::ScrapePlan;
use crate::scrape::plan::NamedPage;
use crate::{Error, from_store};
use access::{Caller, Plans};
use net::{Credentials, Login};
use outbox::webhooks::Events;
use parking_lot::Mutex;
use sites::{PageUrl, Scope};
use std::collections::HashMap;
use std::sync::Arc;
use store::Store;
use store::crawls::{Crawl, CrawlKind};
use uuid::Uuid;

/// Contexts kept in memory; when there are more, all are dropped and read again as needed.
const MAX_CONTEXTS: usize = 256;

/// One crawl or batch, ready to be worked on.
#[derive(Debug)]
pub struct CrawlContext {
    pub id: Uuid,
    pub team: Uuid,
    pub kind: CrawlKind,
    pub order: Order,
    pub caller: Arc<Caller>,
    pub limit: Option<u64>,
    /// Where a crawl begins and what belongs to it; none for a batch.
    pub site: Option<CrawlSite>,
    template: ScrapePlan,
    pub known_urls: KnownUrls,
}

#[derive(Debug)]
pub struct CrawlSite {
    pub start: PageUrl,
    pub scope: Arc<Scope>,
}

impl CrawlContext {
    fn open(crawl: &Crawl, caller: Arc<Caller>) -> Result<Self, Error> {
        let unreadable = |error: &dyn std::fmt::Display| {
            tracing::error!(crawl = %crawl.id, %error, "a stored crawl cannot be read");
            Error::already_logged(error.to_string())
        };
        let order: Order = serde_json::from_str(&crawl.request).map_err(|error| unreadable(&error))?;
        let named = order.start.as_deref().map(|start| NamedPage::parse(start, &|_| true)).transpose()?;
        let login = named.as_ref().and_then(|named| login_of(named, &order));
        let scope = named.as_ref().map(NamedPage::scope).unwrap_or_default();
        let site = match named {
            None => None,
            Some(named) => {
                let start = PageUrl::from_url_with_hash_route(named.url, order.follow.sameness())
                    .map_err(|error| unreadable(&error))?;
                let scope = Scope::new(&start, &order.follow.rules()).map_err(|error| unreadable(&error))?;
                Some(CrawlSite { start, scope: Arc::new(scope) })
            }
        };
        let template = ScrapePlan::template(&order.scrape, order.private, scope)?;
        let credentials = template.access.credentials.clone().with_login(login.as_ref());
        let mut template = template.with_credentials(credentials);
        template.access.waits_for_browser = true;
        template.access.allowed.hold_to(&caller);
        // A crawl follows the links of a page, of which its markdown may have fewer.
        template.access.takes_markdown = crawl.kind == CrawlKind::Batch;
        template.access.allowed.site =
            site.as_ref().filter(|_| !order.follow.allow_external_links).map(|site| Stay {
                start: site.start.url().to_string(),
                scope: site.scope.clone(),
                sameness: order.follow.sameness(),
                rule: AddressRule::CrawlScope,
            });
        let Crawl { id, team_id: team, kind, limit, .. } = *crawl;
        Ok(Self { id, team, kind, order, caller, limit, site, template, known_urls: KnownUrls::default() })
    }

    /// How a page of this crawl is scraped.
    pub fn plan(&self, page: &NamedPage) -> ScrapePlan {
        let plan = self.template.for_page(page.url.clone(), &page.written);
        plan.with_credentials(self.credentials(page))
    }

    /// What is sent along with requests for a page, and for which origins. Those of a crawl are for the
    /// origin of its start; a batch names each of its pages.
    fn credentials(&self, page: &NamedPage) -> Credentials {
        let credentials = self.template.access.credentials.clone();
        match self.kind {
            CrawlKind::Crawl => credentials,
            CrawlKind::Batch => {
                let login = login_of(page, &self.order);
                credentials.with_scope(page.scope()).with_login(login.as_ref())
            }
        }
    }

    /// What is sent along with requests for the robots rules and the lists of a crawl's site.
    pub fn site_credentials(&self) -> &Credentials {
        &self.template.access.credentials
    }

    /// Credits that a page costs.
    pub fn price(&self) -> i64 {
        self.template.credits()
    }

    /// The name robots rules are read for; none where they are ignored.
    pub fn robots_agent(&self) -> Option<&str> {
        let follow = &self.order.follow;
        (self.site.is_some() && !follow.ignore_robots)
            .then(|| follow.robots_agent.as_deref().unwrap_or(AGENT))
    }

    /// The name that robots.txt is read for where only its sitemaps matter.
    pub fn agent(&self) -> &str {
        self.order.follow.robots_agent.as_deref().unwrap_or(AGENT)
    }

    /// The webhook events of the crawl, where its request asks for them.
    pub fn events(&self) -> Option<Events<'_>> {
        events_of(&self.order, self.id, self.team, self.kind)
    }

    pub fn follows_links(&self) -> bool {
        self.site.is_some() && self.order.follow.sitemap != SitemapUse::Only
    }
}

/// The login of a page that the request names. Orders of earlier versions have it in the address itself.
fn login_of(page: &NamedPage, order: &Order) -> Option<Login> {
    page.login.clone().or_else(|| order.logins.for_page(&page.url))
}

pub fn events_of(order: &Order, id: Uuid, team: Uuid, kind: CrawlKind) -> Option<Events<'_>> {
    let prefix = match kind {
        CrawlKind::Crawl => "crawl",
        CrawlKind::Batch => "batch_scrape",
    };
    order.webhook.as_ref().map(|hook| Events::new(hook, id, team, prefix))
}

/// The contexts of the crawls that this process works on.
pub struct CrawlContexts {
    store: Arc<dyn Store>,
    plans: Plans,
    open: Mutex<HashMap<Uuid, Arc<CrawlContext>>>,
}

impl std::fmt::Debug for CrawlContexts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CrawlContexts").finish_non_exhaustive()
    }
}

impl CrawlContexts {
    pub fn new(store: Arc<dyn Store>, plans: Plans) -> Self {
        Self { store, plans, open: Mutex::default() }
    }

    /// The context of a crawl; none when there is no such crawl.
    pub async fn get(&self, id: Uuid) -> Result<Option<Arc<CrawlContext>>, Error> {
        if let Some(context) = self.open().get(&id) {
            return Ok(Some(context.clone()));
        }
        let Some(crawl) = self.store.crawl_for_work(id).await.map_err(from_store)? else { return Ok(None) };
        let Some(team) = self.store.team(crawl.team_id).await.map_err(from_store)? else { return Ok(None) };
        let caller = Caller::of_work(self.store.as_ref(), team, crawl.key_id, &self.plans);
        let caller = caller.await.map_err(from_store)?;
        let context = Arc::new(CrawlContext::open(&crawl, Arc::new(caller))?);
        let mut open = self.open();
        if open.len() >= MAX_CONTEXTS {
            open.clear();
        }
        open.insert(id, context.clone());
        Ok(Some(context))
    }

    /// Drops the context of a crawl that has ended.
    pub fn close(&self, id: Uuid) {
        self.open().remove(&id);
    }

    fn open(&self) -> parking_lot::MutexGuard<'_, HashMap<Uuid, Arc<CrawlContext>>> {
        self.open.lock()
    }
}
