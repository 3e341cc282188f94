//! What is kept for search on SQLite. Every change takes a number of its own, from the one writer.

use super::{SqliteStore, Tx};
use crate::rows::Columns;
use crate::search::{
    AT_ONCE, CollectionTotal, Feed, FeedbackPut, GONE_KEPT, MOST_VALUED, NewFeedback, NewSearch,
    NewSearchPage, SAME_AGAIN, Search, SearchRecord, collection_total, distinct, feed_entry, search_record,
    url_list, value_of,
};
use crate::text::storable;
use crate::{Millis, StoreResult, clock, weight};
use uuid::Uuid;

/// Takes `count` numbers; the one before the first.
async fn numbers(tx: &mut Tx, count: usize) -> StoreResult<i64> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let row = sqlx::query(include_str!("sql/search/numbers.sql")).bind(count).fetch_one(&mut **tx).await?;
    Ok(row.int("last")? - count)
}

/// Keeps pages; how many were new or other than before.
pub(super) async fn put_in(tx: &mut Tx, pages: Vec<(Uuid, NewSearchPage)>, now: Millis) -> StoreResult<u64> {
    if pages.is_empty() {
        return Ok(0);
    }
    let mut number = numbers(tx, pages.len()).await?;
    let mut written = 0;
    for (team, page) in pages {
        number += 1;
        let done = sqlx::query(include_str!("sql/search/put.sql"))
            .bind(team)
            .bind(storable(&page.collection))
            .bind(page.key.to_vec())
            .bind(number)
            .bind(now)
            .bind(weight::search_page(&page))
            .bind(page.hash.to_vec())
            .bind(storable(&page.url))
            .bind(page.document)
            .bind(clock::millis(SAME_AGAIN))
            .execute(&mut **tx)
            .await?;
        written += done.rows_affected();
    }
    Ok(written)
}

/// Lets rows go.
async fn forget(tx: &mut Tx, rows: Vec<i64>) -> StoreResult<u64> {
    if rows.is_empty() {
        return Ok(0);
    }
    let before = numbers(tx, rows.len()).await?;
    let done = sqlx::query(include_str!("sql/search/forget.sql"))
        .bind(before)
        .bind(super::number_list(rows.into_iter()))
        .bind(clock::now())
        .execute(&mut **tx)
        .await?;
    Ok(done.rows_affected())
}

#[async_trait::async_trait]
impl Search for SqliteStore {
    async fn put_search_pages(&self, team: Uuid, pages: Vec<NewSearchPage>) -> StoreResult<u64> {
        let mut written = 0;
        let mut pages = pages.into_iter().map(|page| (team, page)).peekable();
        while pages.peek().is_some() {
            let some = pages.by_ref().take(AT_ONCE).collect();
            let mut tx = self.write().await?;
            written += put_in(&mut tx, some, clock::now()).await?;
            tx.commit().await?;
        }
        Ok(written)
    }

    async fn search_feed(&self, after: i64, limit: u32) -> StoreResult<Feed> {
        let lines = sqlx::query(include_str!("sql/search/feed.sql"))
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await?;
        let entries = lines.iter().map(feed_entry).collect::<StoreResult<Vec<_>>>()?;
        let standing =
            sqlx::query(include_str!("sql/search/standing.sql")).bind(after).fetch_one(&self.readers).await?;
        Ok(Feed { id: standing.id("id")?, now: clock::now(), ahead: standing.flag("ahead")?, entries })
    }

    async fn search_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("search").await
    }

    async fn search_totals(&self) -> StoreResult<Vec<CollectionTotal>> {
        let totals = sqlx::query(include_str!("sql/search/totals.sql")).fetch_all(&self.readers).await?;
        totals.iter().map(collection_total).collect()
    }

    async fn forget_search_pages(&self, team: Uuid, collection: &str, prefix: &str) -> StoreResult<u64> {
        let (mut gone, mut after) = (0, Vec::new());
        loop {
            let mut tx = self.write().await?;
            let batch = sqlx::query(include_str!("sql/search/batch.sql"))
                .bind(team)
                .bind(storable(collection))
                .bind(after)
                .bind(storable(prefix))
                .bind(i64::try_from(AT_ONCE).unwrap_or(i64::MAX))
                .fetch_all(&mut *tx)
                .await?;
            let Some(last) = batch.last() else { return Ok(gone) };
            after = last.bytes("key")?;
            let mut chosen = Vec::new();
            for row in &batch {
                if row.flag("chosen")? {
                    chosen.push(row.int("number")?);
                }
            }
            gone += forget(&mut tx, chosen).await?;
            tx.commit().await?;
        }
    }

    async fn evict_search_pages(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        let Some(excess) = weight::excess(self.search_bytes().await?, ceiling) else { return Ok(0) };
        let mut tx = self.write().await?;
        let found = sqlx::query(include_str!("sql/search/oldest.sql"))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await?;
        let oldest = found
            .iter()
            .map(|row| Ok((row.int("number")?, row.int("bytes")?)))
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |(_, bytes)| *bytes);
        let gone = forget(&mut tx, chosen.into_iter().map(|(number, _)| number).collect()).await?;
        tx.commit().await?;
        Ok(gone)
    }

    async fn purge_search(&self, limit: u32) -> StoreResult<u64> {
        let now = clock::now();
        let mut most = 0;
        let purges = [
            (include_str!("sql/search/purge_pages.sql"), now - clock::millis(GONE_KEPT)),
            (include_str!("sql/search/purge_searches.sql"), now),
        ];
        for (purge, before) in purges {
            let mut tx = self.write().await?;
            let gone = sqlx::query(purge).bind(before).bind(i64::from(limit)).execute(&mut *tx).await?;
            tx.commit().await?;
            most = most.max(gone.rows_affected());
        }
        Ok(most)
    }

    async fn put_search(&self, search: NewSearch) -> StoreResult<()> {
        let now = clock::now();
        let (query, urls) = if search.private { ("", &[][..]) } else { (&*search.query, &*search.urls) };
        let mut tx = self.write().await?;
        sqlx::query(include_str!("sql/search/search_insert.sql"))
            .bind(search.id)
            .bind(search.team_id)
            .bind(now)
            .bind(now + clock::millis(search.keep_for))
            .bind(storable(query))
            .bind(url_list(urls))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(())
    }

    async fn search_record(&self, team: Uuid, id: Uuid) -> StoreResult<Option<SearchRecord>> {
        let row = sqlx::query(include_str!("sql/search/search.sql"))
            .bind(id)
            .bind(team)
            .bind(clock::now())
            .fetch_optional(&self.readers)
            .await?;
        row.as_ref().map(search_record).transpose()
    }

    async fn put_feedback(&self, feedback: NewFeedback) -> StoreResult<FeedbackPut> {
        let now = clock::now();
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/search/feedback_insert.sql"))
            .bind(feedback.id)
            .bind(feedback.team_id)
            .bind(feedback.subject)
            .bind(now)
            .bind(storable(&feedback.endpoint))
            .bind(storable(&feedback.body))
            .execute(&mut *tx)
            .await?;
        if done.rows_affected() == 0 {
            let first = sqlx::query(include_str!("sql/search/feedback.sql"))
                .bind(feedback.team_id)
                .bind(feedback.subject)
                .fetch_one(&mut *tx)
                .await?;
            return Ok(FeedbackPut::KnownBefore(first.id("id")?));
        }
        if let Some(sources) = distinct(&feedback.valued) {
            sqlx::query(include_str!("sql/search/value.sql"))
                .bind(feedback.team_id)
                .bind(url_list(&sources))
                .bind(now)
                .execute(&mut *tx)
                .await?;
            sqlx::query(include_str!("sql/search/value_trim.sql"))
                .bind(feedback.team_id)
                .bind(i64::from(MOST_VALUED))
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(FeedbackPut::Written)
    }

    async fn valued_sources(&self, team: Uuid) -> StoreResult<Vec<(String, f32)>> {
        let found = sqlx::query(include_str!("sql/search/valued.sql"))
            .bind(team)
            .bind(i64::from(MOST_VALUED))
            .fetch_all(&self.readers)
            .await?;
        found.iter().map(|row| Ok((row.text("source")?, value_of(row.int("marks")?)))).collect()
    }
}
