//! The page cache on PostgreSQL, and making room for it.

use super::{PostgresStore, Tx};
use crate::pages::{CacheSweep, CachedPage, NewPage, PageKey, Pages};
use crate::rows::{self, Columns};
use crate::text::storable;
use crate::{Millis, StoreResult, clock, weight};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What can be evicted, as it was when it was looked at.
enum Evictable {
    Page { team: Uuid, key: Vec<u8>, fetched_at: Millis, bytes: i64 },
    Scrape { id: Uuid, bytes: i64 },
}

impl Evictable {
    fn read(row: &impl Columns) -> StoreResult<Self> {
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

/// Keeps pages, in one statement. Of several with one key the last is kept.
pub(super) async fn put_in(tx: &mut Tx, pages: Vec<(Uuid, &NewPage)>) -> StoreResult<()> {
    let pages: BTreeMap<(Uuid, &PageKey), &NewPage> =
        pages.into_iter().map(|(team, page)| ((team, &page.key), page)).collect();
    if pages.is_empty() {
        return Ok(());
    }
    let teams: Vec<Uuid> = pages.keys().map(|(team, _)| *team).collect();
    let pages: Vec<&NewPage> = pages.into_values().collect();
    let text = |field: fn(&NewPage) -> &String| pages.iter().map(|page| storable(field(page))).collect();
    let (urls, final_urls): (Vec<_>, Vec<_>) = (text(|page| &page.url), text(|page| &page.final_url));
    let (types, headers): (Vec<_>, Vec<_>) = (text(|page| &page.content_type), text(|page| &page.headers));
    let rungs: Vec<_> = text(|page| &page.rung);
    sqlx::query(include_str!("sql/pages/put.sql"))
        .bind(teams)
        .bind(pages.iter().map(|page| page.key.as_slice()).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| clock::millis(page.keep_for)).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| weight::page(page)).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| i64::from(page.status)).collect::<Vec<_>>())
        .bind(urls)
        .bind(final_urls)
        .bind(types)
        .bind(headers)
        .bind(rungs)
        .bind(pages.iter().map(|page| page.body.as_slice()).collect::<Vec<_>>())
        .execute(&mut *tx)
        .await?;
    Ok(())
}

async fn evict(store: &PostgresStore, excess: i64, limit: u32) -> StoreResult<u64> {
    let found = sqlx::query(include_str!("sql/pages/oldest.sql"))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    let oldest = found.iter().map(Evictable::read).collect::<StoreResult<Vec<_>>>()?;
    let (mut teams, mut keys, mut times, mut scrapes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for one in weight::enough(oldest, excess, Evictable::bytes) {
        match one {
            Evictable::Page { team, key, fetched_at, .. } => {
                teams.push(team);
                keys.push(key);
                times.push(fetched_at);
            }
            Evictable::Scrape { id, .. } => scrapes.push(id),
        }
    }
    let pages = sqlx::query(include_str!("sql/pages/delete.sql"))
        .bind(teams)
        .bind(keys)
        .bind(times)
        .execute(&store.pool)
        .await?;
    let scrapes =
        sqlx::query(include_str!("sql/scrapes/delete.sql")).bind(scrapes).execute(&store.pool).await?;
    Ok(pages.rows_affected() + scrapes.rows_affected())
}

#[async_trait::async_trait]
impl Pages for PostgresStore {
    async fn cached_page(&self, team: Uuid, key: &PageKey) -> StoreResult<Option<CachedPage>> {
        let row = sqlx::query(include_str!("sql/pages/get.sql"))
            .bind(team)
            .bind(key.as_slice())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(rows::cached_page).transpose()
    }

    async fn put_page(&self, team: Uuid, page: NewPage) -> StoreResult<()> {
        let mut tx = self.write().await?;
        put_in(&mut tx, vec![(team, &page)]).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn touch_page(&self, team: Uuid, key: &PageKey) -> StoreResult<bool> {
        let done = sqlx::query(include_str!("sql/pages/touch.sql"))
            .bind(team)
            .bind(key.as_slice())
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    async fn cache_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("cache").await
    }

    async fn sweep_cache(&self, ceiling: u64, limit: u32) -> StoreResult<CacheSweep> {
        let mut done = CacheSweep::default();
        for purge in [include_str!("sql/pages/purge.sql"), include_str!("sql/scrapes/purge.sql")] {
            let gone = sqlx::query(purge).bind(i64::from(limit)).execute(&self.pool).await?;
            done.expired += gone.rows_affected();
        }
        self.fold_stored_bytes("cache").await?;
        if let Some(excess) = weight::excess(self.cache_bytes().await?, ceiling) {
            done.evicted = evict(self, excess, limit).await?;
        }
        Ok(done)
    }
}
