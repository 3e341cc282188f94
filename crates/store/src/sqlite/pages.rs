//! The page cache on SQLite, and making room for it.

use super::{SqliteStore, Tx};
use crate::pages::{CacheSweep, CachedPage, NewPage, PageKey, Pages};
use crate::rows::{self, Columns};
use crate::text::storable;
use crate::{Millis, StoreResult, clock, weight};
use uuid::Uuid;

/// What can be evicted: a page or a scrape, by its row number.
struct Evictable {
    page: bool,
    number: i64,
    bytes: i64,
}

pub(super) async fn put_in(tx: &mut Tx, team: Uuid, page: NewPage, now: Millis) -> StoreResult<()> {
    sqlx::query(include_str!("sql/pages/put.sql"))
        .bind(team)
        .bind(page.key.to_vec())
        .bind(now)
        .bind(clock::millis(page.keep_for))
        .bind(weight::page(&page))
        .bind(i64::from(page.status))
        .bind(storable(&page.url))
        .bind(storable(&page.final_url))
        .bind(storable(&page.content_type))
        .bind(storable(&page.headers))
        .bind(storable(&page.rung))
        .bind(page.body)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

async fn evict(tx: &mut Tx, excess: i64, limit: u32) -> StoreResult<u64> {
    let found =
        sqlx::query(include_str!("sql/pages/oldest.sql")).bind(i64::from(limit)).fetch_all(&mut **tx).await?;
    let oldest = found
        .iter()
        .map(|row| {
            let page = row.int("sort")? == 0;
            Ok(Evictable { page, number: row.int("number")?, bytes: row.int("bytes")? })
        })
        .collect::<StoreResult<Vec<_>>>()?;
    let chosen = weight::enough(oldest, excess, |one| one.bytes);
    let (pages, scrapes): (Vec<_>, Vec<_>) = chosen.iter().partition(|one| one.page);
    for (statement, chosen) in
        [(include_str!("sql/pages/delete.sql"), pages), (include_str!("sql/scrapes/delete.sql"), scrapes)]
    {
        if !chosen.is_empty() {
            let numbers = super::number_list(chosen.iter().map(|one| one.number));
            sqlx::query(statement).bind(numbers).execute(&mut **tx).await?;
        }
    }
    Ok(chosen.len() as u64)
}

#[async_trait::async_trait]
impl Pages for SqliteStore {
    async fn cached_page(&self, team: Uuid, key: &PageKey) -> StoreResult<Option<CachedPage>> {
        let row = sqlx::query(include_str!("sql/pages/get.sql"))
            .bind(team)
            .bind(key.to_vec())
            .bind(clock::now())
            .fetch_optional(&self.readers)
            .await?;
        row.as_ref().map(rows::cached_page).transpose()
    }

    async fn put_page(&self, team: Uuid, page: NewPage) -> StoreResult<()> {
        let mut tx = self.write().await?;
        put_in(&mut tx, team, page, clock::now()).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn touch_page(&self, team: Uuid, key: &PageKey) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/pages/touch.sql"))
            .bind(team)
            .bind(key.to_vec())
            .bind(clock::now())
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    async fn cache_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("cache").await
    }

    async fn sweep_cache(&self, ceiling: u64, limit: u32) -> StoreResult<CacheSweep> {
        let mut done = CacheSweep::default();
        // A transaction for each step: others must get a turn.
        for purge in [include_str!("sql/pages/purge.sql"), include_str!("sql/scrapes/purge.sql")] {
            let mut tx = self.write().await?;
            let gone = sqlx::query(purge).bind(clock::now()).bind(i64::from(limit)).execute(&mut *tx).await?;
            tx.commit().await?;
            done.expired += gone.rows_affected();
        }
        if let Some(excess) = weight::excess(self.cache_bytes().await?, ceiling) {
            let mut tx = self.write().await?;
            done.evicted = evict(&mut tx, excess, limit).await?;
            tx.commit().await?;
        }
        Ok(done)
    }
}
