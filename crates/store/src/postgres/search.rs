//! What is kept for search on PostgreSQL. The number of a change is that of its transaction, see the migration.

use super::{PostgresStore, Tx};
use crate::rows::Columns;
use crate::search::{
    AT_ONCE, CollectionTotal, Feed, FeedbackPut, GONE_KEPT, MOST_VALUED, NewFeedback, NewSearch,
    NewSearchPage, SAME_AGAIN, Search, SearchKey, SearchRecord, collection_total, distinct, feed_entry,
    search_record, url_list, value_of,
};
use crate::text::storable;
use crate::{Millis, StoreResult, clock, weight};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Keeps pages, in one statement; how many were new or other than before. Of several with one key the last is kept.
pub(super) async fn put_in(tx: &mut Tx, pages: Vec<(Uuid, &NewSearchPage)>) -> StoreResult<u64> {
    let pages: BTreeMap<(Uuid, &str, &SearchKey), &NewSearchPage> =
        pages.into_iter().map(|(team, page)| ((team, &*page.collection, &page.key), page)).collect();
    if pages.is_empty() {
        return Ok(0);
    }
    let teams: Vec<Uuid> = pages.keys().map(|(team, _, _)| *team).collect();
    let pages: Vec<&NewSearchPage> = pages.into_values().collect();
    let done = sqlx::query(include_str!("sql/search/put.sql"))
        .bind(teams)
        .bind(pages.iter().map(|page| storable(&page.collection)).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| page.key.as_slice()).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| weight::search_page(page)).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| page.hash.as_slice()).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| storable(&page.url)).collect::<Vec<_>>())
        .bind(pages.iter().map(|page| page.document.as_slice()).collect::<Vec<_>>())
        .bind(clock::millis(SAME_AGAIN))
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected())
}

/// What can be evicted, as it was when it was looked at.
struct Old {
    team: Uuid,
    collection: String,
    key: Vec<u8>,
    seen_at: Millis,
    bytes: i64,
}

#[async_trait::async_trait]
impl Search for PostgresStore {
    async fn put_search_pages(&self, team: Uuid, pages: Vec<NewSearchPage>) -> StoreResult<u64> {
        let mut written = 0;
        for some in pages.chunks(AT_ONCE) {
            let mut tx = self.write().await?;
            written += put_in(&mut tx, some.iter().map(|page| (team, page)).collect()).await?;
            tx.commit().await?;
        }
        Ok(written)
    }

    async fn search_feed(&self, after: i64, limit: u32) -> StoreResult<Feed> {
        let lines = sqlx::query(include_str!("sql/search/feed.sql"))
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        let entries = lines.iter().map(feed_entry).collect::<StoreResult<Vec<_>>>()?;
        let standing =
            sqlx::query(include_str!("sql/search/standing.sql")).bind(after).fetch_one(&self.pool).await?;
        Ok(Feed {
            id: standing.id("id")?,
            now: standing.int("now")?,
            ahead: standing.flag("ahead")?,
            entries,
        })
    }

    async fn search_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("search").await
    }

    async fn search_totals(&self) -> StoreResult<Vec<CollectionTotal>> {
        let totals = sqlx::query(include_str!("sql/search/totals.sql")).fetch_all(&self.pool).await?;
        totals.iter().map(collection_total).collect()
    }

    async fn forget_search_pages(&self, team: Uuid, collection: &str, prefix: &str) -> StoreResult<u64> {
        let (mut gone, mut after) = (0, Vec::new());
        loop {
            let batch = sqlx::query(include_str!("sql/search/batch.sql"))
                .bind(team)
                .bind(storable(collection))
                .bind(after)
                .bind(storable(prefix))
                .bind(i64::try_from(AT_ONCE).unwrap_or(i64::MAX))
                .fetch_all(&self.pool)
                .await?;
            let Some(last) = batch.last() else { return Ok(gone) };
            after = last.bytes("key")?;
            let mut chosen = Vec::new();
            for row in &batch {
                if row.flag("chosen")? {
                    chosen.push(row.bytes("key")?);
                }
            }
            let done = sqlx::query(include_str!("sql/search/forget.sql"))
                .bind(team)
                .bind(storable(collection))
                .bind(chosen)
                .execute(&self.pool)
                .await?;
            gone += done.rows_affected();
        }
    }

    async fn evict_search_pages(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        self.fold_stored_bytes("search").await?;
        let Some(excess) = weight::excess(self.search_bytes().await?, ceiling) else { return Ok(0) };
        let found = sqlx::query(include_str!("sql/search/oldest.sql"))
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        let oldest = found
            .iter()
            .map(|row| {
                let (team, collection) = (row.id("team_id")?, row.text("collection")?);
                let (seen_at, bytes) = (row.int("seen_at")?, row.int("bytes")?);
                Ok(Old { team, collection, key: row.bytes("key")?, seen_at, bytes })
            })
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |one| one.bytes);
        let done = sqlx::query(include_str!("sql/search/evict.sql"))
            .bind(chosen.iter().map(|one| one.team).collect::<Vec<_>>())
            .bind(chosen.iter().map(|one| one.collection.as_str()).collect::<Vec<_>>())
            .bind(chosen.iter().map(|one| one.key.as_slice()).collect::<Vec<_>>())
            .bind(chosen.iter().map(|one| one.seen_at).collect::<Vec<_>>())
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }

    async fn purge_search(&self, limit: u32) -> StoreResult<u64> {
        let limit = i64::from(limit);
        let mut most = sqlx::query(include_str!("sql/search/renumber.sql"))
            .bind(limit)
            .execute(&self.pool)
            .await?
            .rows_affected();
        let purges = [
            (include_str!("sql/search/purge_pages.sql"), clock::millis(GONE_KEPT)),
            (include_str!("sql/search/purge_searches.sql"), 0),
        ];
        for (purge, age) in purges {
            let gone = sqlx::query(purge).bind(age).bind(limit).execute(&self.pool).await?;
            most = most.max(gone.rows_affected());
        }
        Ok(most)
    }

    async fn put_search(&self, search: NewSearch) -> StoreResult<()> {
        let (query, urls) = if search.private { ("", &[][..]) } else { (&*search.query, &*search.urls) };
        sqlx::query(include_str!("sql/search/search_insert.sql"))
            .bind(search.id)
            .bind(search.team_id)
            .bind(clock::millis(search.keep_for))
            .bind(storable(query))
            .bind(url_list(urls))
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn search_record(&self, team: Uuid, id: Uuid) -> StoreResult<Option<SearchRecord>> {
        let row = sqlx::query(include_str!("sql/search/search.sql"))
            .bind(id)
            .bind(team)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(search_record).transpose()
    }

    async fn put_feedback(&self, feedback: NewFeedback) -> StoreResult<FeedbackPut> {
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/search/feedback_insert.sql"))
            .bind(feedback.id)
            .bind(feedback.team_id)
            .bind(feedback.subject)
            .bind(storable(&feedback.endpoint))
            .bind(storable(&feedback.body))
            .execute(&mut tx)
            .await?;
        if done.rows_affected() == 0 {
            let first = sqlx::query(include_str!("sql/search/feedback.sql"))
                .bind(feedback.team_id)
                .bind(feedback.subject)
                .fetch_one(&mut tx)
                .await?;
            return Ok(FeedbackPut::KnownBefore(first.id("id")?));
        }
        if let Some(sources) = distinct(&feedback.valued) {
            sqlx::query(include_str!("sql/search/value.sql"))
                .bind(feedback.team_id)
                .bind(sources)
                .execute(&mut tx)
                .await?;
            sqlx::query(include_str!("sql/search/value_trim.sql"))
                .bind(feedback.team_id)
                .bind(i64::from(MOST_VALUED))
                .execute(&mut tx)
                .await?;
        }
        tx.commit().await?;
        Ok(FeedbackPut::Written)
    }

    async fn valued_sources(&self, team: Uuid) -> StoreResult<Vec<(String, f32)>> {
        let found = sqlx::query(include_str!("sql/search/valued.sql"))
            .bind(team)
            .bind(i64::from(MOST_VALUED))
            .fetch_all(&self.pool)
            .await?;
        found.iter().map(|row| Ok((row.text("source")?, value_of(row.int("marks")?)))).collect()
    }
}
