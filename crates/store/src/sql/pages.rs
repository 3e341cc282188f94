//! The page cache, and making room for it.

use super::{Backend, SqlConnection, Transaction, search};
use crate::pages::{CacheSweep, CachedPage, KeptPage, NewPage, PageKey, PageStore, cached_page_from_row};
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult, clock, weight};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What can be evicted, as it was when it was read.
enum Evictable {
    Page { team: Uuid, key: Vec<u8>, fetched_at: Millis, bytes: i64 },
    Scrape { id: Uuid, bytes: i64 },
}

impl Evictable {
    fn from_row(row: &impl Columns) -> StoreResult<Self> {
        let bytes = row.int("bytes")?;
        Ok(match row.id_or_none("id")? {
            Some(id) => Self::Scrape { id, bytes },
            None => Self::Page {
                team: row.id("team_id")?,
                key: row.bytes("key")?,
                fetched_at: row.int("at")?,
                bytes,
            },
        })
    }

    fn bytes(&self) -> i64 {
        match self {
            Self::Page { bytes, .. } | Self::Scrape { bytes, .. } => *bytes,
        }
    }
}

/// Stores pages. Of several with one key the last is stored.
pub(crate) async fn put_in(tx: &mut impl SqlConnection, pages: Vec<(Uuid, &NewPage)>) -> StoreResult<()> {
    let pages: BTreeMap<(Uuid, &PageKey), &NewPage> =
        pages.into_iter().map(|(team, page)| ((team, &page.key), page)).collect();
    let pages: Vec<(Uuid, &NewPage)> = pages.into_iter().map(|((team, _), page)| (team, page)).collect();
    tx.batch("pages.put", &pages)
        .column(|(team, _)| *team)
        .column(|(_, page)| page.key.as_slice())
        .column(|(_, page)| clock::millis(page.keep_for))
        .column(|(_, page)| weight::page(page))
        .column(|(_, page)| i64::from(page.status))
        .column(|(_, page)| storable(&page.url))
        .column(|(_, page)| storable(&page.final_url))
        .column(|(_, page)| storable(&page.content_type))
        .column(|(_, page)| storable(&page.headers))
        .column(|(_, page)| storable(&page.rung))
        .column(|(_, page)| page.body.as_slice())
        .execute(tx)
        .await?;
    Ok(())
}

async fn evict(store: &impl Backend, excess: i64, limit: u32) -> StoreResult<u64> {
    let found = store.query("pages.oldest").bind(i64::from(limit)).fetch_all(&mut store.reader()).await?;
    let oldest = found.iter().map(Evictable::from_row).collect::<StoreResult<Vec<_>>>()?;
    let (mut pages, mut scrapes) = (Vec::new(), Vec::new());
    for one in weight::enough(oldest, excess, Evictable::bytes) {
        match one {
            Evictable::Page { team, key, fetched_at, .. } => pages.push((team, key, fetched_at)),
            Evictable::Scrape { id, .. } => scrapes.push(id),
        }
    }
    let mut tx = store.begin().await?;
    let pages = tx
        .batch("pages.delete", &pages)
        .column(|(team, _, _)| *team)
        .column(|(_, key, _)| &key[..])
        .column(|(_, _, fetched_at)| *fetched_at)
        .execute(&mut tx)
        .await?;
    tx.commit().await?;
    let scrapes = store.query("scrapes.delete").bind_list(scrapes).execute(&mut store.single()).await?;
    Ok(pages + scrapes)
}

#[async_trait::async_trait]
impl<B: Backend> PageStore for B {
    async fn cached_page(&self, team: Uuid, key: &PageKey) -> StoreResult<Option<CachedPage>> {
        let row = self
            .query("pages.get")
            .bind(team)
            .bind(key.as_slice())
            .fetch_optional(&mut self.reader())
            .await?;
        row.as_ref().map(cached_page_from_row).transpose()
    }

    async fn put_page(&self, team: Uuid, page: KeptPage) -> StoreResult<()> {
        let KeptPage { cached, search } = page;
        if cached.is_none() && search.is_none() {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        put_in(&mut tx, cached.iter().map(|page| (team, page)).collect()).await?;
        search::put_in(&mut tx, search.iter().map(|page| (team, page)).collect()).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn touch_page(&self, team: Uuid, key: &PageKey) -> StoreResult<bool> {
        let done =
            self.query("pages.touch").bind(team).bind(key.as_slice()).execute(&mut self.single()).await?;
        Ok(done > 0)
    }

    async fn cache_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("cache").await
    }

    async fn sweep_cache(&self, ceiling: u64, limit: u32) -> StoreResult<CacheSweep> {
        let mut done = CacheSweep::default();
        // A transaction for each step, so that others get between them.
        for purge in ["pages.purge", "scrapes.purge"] {
            let gone = self.query(purge).bind(i64::from(limit)).execute(&mut self.single()).await?;
            done.expired += gone;
        }
        self.fold_stored_bytes("cache").await?;
        if let Some(excess) = weight::excess(self.cache_bytes().await?, ceiling) {
            done.evicted = evict(self, excess, limit).await?;
        }
        Ok(done)
    }
}
