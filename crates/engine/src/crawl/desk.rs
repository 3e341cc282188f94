//! What a process keeps at hand of the crawls it works on: read once, used for every page.

use super::familiar::Familiar;
use super::order::{Order, SitemapUse};
use crate::callers::Caller;
use crate::from_store;
use crate::plans::Plans;
use crate::scrape::ScrapePlan;
use crate::scrape::plan::{AddressRule, NamedPage, Stay};
use crate::webhooks::Events;
use net::{Credentials, Login};
use sites::{Address, Scope};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use store::Store;
use store::crawls::{Crawl, CrawlKind};
use uuid::Uuid;
use wire::{Kind, WireError};

/// Crawls kept at hand; past it the memory starts afresh.
const MOST_DESKS: usize = 256;
/// How we call ourselves in robots.txt.
const AGENT: &str = "gannet";

/// One crawl or batch, ready to be worked on.
#[derive(Debug)]
pub struct Desk {
    pub id: Uuid,
    pub team: Uuid,
    pub kind: CrawlKind,
    pub order: Order,
    pub caller: Arc<Caller>,
    pub limit: Option<u64>,
    /// Where a crawl begins and what belongs to it; none for a batch.
    pub site: Option<Site>,
    template: ScrapePlan,
    pub familiar: Familiar,
}

#[derive(Debug)]
pub struct Site {
    pub start: Address,
    pub scope: Arc<Scope>,
}

impl Desk {
    fn open(crawl: &Crawl, caller: Arc<Caller>) -> Result<Self, WireError> {
        let unreadable = |error: &dyn std::fmt::Display| {
            tracing::error!(crawl = %crawl.id, %error, "a stored crawl cannot be read");
            WireError::from(Kind::Internal)
        };
        let order: Order = serde_json::from_str(&crawl.request).map_err(|error| unreadable(&error))?;
        let named = order.start.as_deref().map(|start| NamedPage::parse(start, &|_| true)).transpose()?;
        let login = named.as_ref().and_then(|named| login_of(named, &order));
        let scope = named.as_ref().map(NamedPage::scope).unwrap_or_default();
        let site = match named {
            None => None,
            Some(named) => {
                let start =
                    Address::of(named.url, order.follow.sameness()).map_err(|error| unreadable(&error))?;
                let scope = Scope::new(&start, &order.follow.rules()).map_err(|error| unreadable(&error))?;
                Some(Site { start, scope: Arc::new(scope) })
            }
        };
        let template = ScrapePlan::template(&order.scrape, order.private, scope)?;
        let credentials = template.access.credentials.clone().with_login(login.as_ref());
        let mut template = template.with_credentials(credentials);
        template.access.waits_for_browser = true;
        template.access.allowed.site =
            site.as_ref().filter(|_| !order.follow.allow_external_links).map(|site| Stay {
                start: site.start.url().to_string(),
                scope: site.scope.clone(),
                sameness: order.follow.sameness(),
                rule: AddressRule::CrawlScope,
            });
        let Crawl { id, team_id: team, kind, limit, .. } = *crawl;
        Ok(Self { id, team, kind, order, caller, limit, site, template, familiar: Familiar::default() })
    }

    /// How a page of it is scraped.
    pub fn plan(&self, page: &NamedPage) -> ScrapePlan {
        let plan = self.template.for_page(page.url.clone(), &page.written);
        plan.with_credentials(self.credentials(page))
    }

    /// What is sent along with requests for a page, and for which origins. Those of a crawl are for the origin of its start; a batch
    /// names each of its pages.
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

    /// Credits of a page of it.
    pub fn price(&self) -> i64 {
        self.template.credits()
    }

    /// The name robots rules are read for; none where they are ignored.
    pub fn robots_agent(&self) -> Option<&str> {
        let follow = &self.order.follow;
        (self.site.is_some() && !follow.ignore_robots)
            .then(|| follow.robots_agent.as_deref().unwrap_or(AGENT))
    }

    /// The name for rules that pages and links have for robots.
    pub fn agent(&self) -> &str {
        self.order.follow.robots_agent.as_deref().unwrap_or(AGENT)
    }

    /// What is told of it, where somebody asked for that.
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
    order.webhook.as_ref().map(|hook| Events::of(hook, id, team, prefix))
}

/// The desks of a process.
pub struct Desks {
    store: Arc<dyn Store>,
    plans: Plans,
    open: Mutex<HashMap<Uuid, Arc<Desk>>>,
}

impl std::fmt::Debug for Desks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Desks").finish_non_exhaustive()
    }
}

impl Desks {
    pub fn new(store: Arc<dyn Store>, plans: Plans) -> Self {
        Self { store, plans, open: Mutex::default() }
    }

    /// The desk of a crawl; none when there is no such crawl.
    pub async fn desk(&self, id: Uuid) -> Result<Option<Arc<Desk>>, WireError> {
        if let Some(desk) = self.open().get(&id) {
            return Ok(Some(desk.clone()));
        }
        let Some(crawl) = self.store.crawl_for_work(id).await.map_err(from_store)? else { return Ok(None) };
        let Some(team) = self.store.team(crawl.team_id).await.map_err(from_store)? else { return Ok(None) };
        let mut caller = Caller::new(team, None, &self.plans);
        caller.key = crawl.key_id;
        let desk = Arc::new(Desk::open(&crawl, Arc::new(caller))?);
        let mut open = self.open();
        if open.len() >= MOST_DESKS {
            open.clear();
        }
        open.insert(id, desk.clone());
        Ok(Some(desk))
    }

    /// The crawl has ended.
    pub fn close(&self, id: Uuid) {
        self.open().remove(&id);
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, Arc<Desk>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
