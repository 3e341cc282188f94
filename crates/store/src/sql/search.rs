//! What is stored for search. Every change has a number, in the order of which the index reads them: on
//! SQLite from a counter that only the one writer changes, on PostgreSQL that of its transaction (see the
//! migration).

use super::{Backend, SqlConnection, Transaction};
use crate::rows::Columns;
use crate::search::{
    CollectionTotal, DELETED_PAGE_RETENTION, Feed, FeedbackPut, MAX_PAGES_PER_TRANSACTION,
    MAX_VALUED_SOURCES, NewFeedback, NewSearch, NewSearchPage, SearchKey, SearchRecord, SearchStore,
    UNCHANGED_REWRITE_INTERVAL, collection_total, distinct, feed_entry, search_record, url_list, value_of,
};
use crate::text::storable;
use crate::{Millis, StoreResult, clock, weight};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Stores pages; how many were new or other than before. Of several with one key the last is stored.
pub(crate) async fn put_in(
    tx: &mut impl SqlConnection,
    pages: Vec<(Uuid, &NewSearchPage)>,
) -> StoreResult<u64> {
    let pages: BTreeMap<(Uuid, &str, &SearchKey), &NewSearchPage> =
        pages.into_iter().map(|(team, page)| ((team, &*page.collection, &page.key), page)).collect();
    let pages: Vec<(Uuid, &NewSearchPage)> =
        pages.into_iter().map(|((team, _, _), page)| (team, page)).collect();
    let written = tx
        .batch("search.put", &pages)
        .column(|(team, _)| *team)
        .column(|(_, page)| storable(&page.collection))
        .column(|(_, page)| page.key.as_slice())
        .column(|(_, page)| weight::search_page(page))
        .column(|(_, page)| page.hash.as_slice())
        .column(|(_, page)| storable(&page.url))
        .column(|(_, page)| page.document.as_slice())
        .bind(clock::millis(UNCHANGED_REWRITE_INTERVAL))
        .fetch_all(tx)
        .await?;
    Ok(written.len() as u64)
}

/// What can be evicted, as it was when it was read.
struct EvictablePage {
    team: Uuid,
    collection: String,
    key: Vec<u8>,
    seen_at: Millis,
    bytes: i64,
}

#[async_trait::async_trait]
impl<B: Backend> SearchStore for B {
    async fn put_search_pages(&self, team: Uuid, pages: Vec<NewSearchPage>) -> StoreResult<u64> {
        let mut written = 0;
        for some in pages.chunks(MAX_PAGES_PER_TRANSACTION) {
            let mut tx = self.begin().await?;
            written += put_in(&mut tx, some.iter().map(|page| (team, page)).collect()).await?;
            tx.commit().await?;
        }
        Ok(written)
    }

    async fn has_search_page(&self, team: Uuid, collection: &str, key: &SearchKey) -> StoreResult<bool> {
        let found = self
            .query("search.has")
            .bind(team)
            .bind(storable(collection))
            .bind(key.as_slice())
            .fetch_optional(&mut self.reader())
            .await?;
        Ok(found.is_some())
    }

    async fn search_feed(&self, after: i64, limit: u32) -> StoreResult<Feed> {
        let lines = self
            .query("search.feed")
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        let entries = lines.iter().map(feed_entry).collect::<StoreResult<Vec<_>>>()?;
        let progress = self.query("search.progress").bind(after).fetch_one(&mut self.reader()).await?;
        Ok(Feed {
            id: progress.id("id")?,
            now: progress.int("now")?,
            ahead: progress.flag("ahead")?,
            entries,
        })
    }

    async fn search_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("search").await
    }

    async fn search_totals(&self) -> StoreResult<Vec<CollectionTotal>> {
        let totals = self.query("search.totals").fetch_all(&mut self.reader()).await?;
        totals.iter().map(collection_total).collect()
    }

    async fn forget_search_pages(&self, team: Uuid, collection: &str, prefix: &str) -> StoreResult<u64> {
        let (mut gone, mut after) = (0, Vec::new());
        loop {
            let batch = self
                .query("search.batch")
                .bind(team)
                .bind(storable(collection))
                .bind(after)
                .bind(storable(prefix))
                .bind(i64::try_from(MAX_PAGES_PER_TRANSACTION).unwrap_or(i64::MAX))
                .fetch_all(&mut self.reader())
                .await?;
            let Some(last) = batch.last() else { return Ok(gone) };
            after = last.bytes("key")?;
            let mut chosen = Vec::new();
            for row in &batch {
                if row.flag("chosen")? {
                    chosen.push(row.bytes("key")?);
                }
            }
            let mut tx = self.begin().await?;
            let forgotten = tx
                .batch("search.forget", &chosen)
                .bind(team)
                .bind(storable(collection))
                .column(|key: &Vec<u8>| &key[..])
                .fetch_all(&mut tx)
                .await?;
            tx.commit().await?;
            gone += forgotten.len() as u64;
        }
    }

    async fn evict_search_pages(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        self.fold_stored_bytes("search").await?;
        let Some(excess) = weight::excess(self.search_bytes().await?, ceiling) else { return Ok(0) };
        let found = self.query("search.oldest").bind(i64::from(limit)).fetch_all(&mut self.reader()).await?;
        let oldest = found
            .iter()
            .map(|row| {
                let (team, collection) = (row.id("team_id")?, row.text("collection")?);
                let (seen_at, bytes) = (row.int("seen_at")?, row.int("bytes")?);
                Ok(EvictablePage { team, collection, key: row.bytes("key")?, seen_at, bytes })
            })
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |one| one.bytes);
        let mut tx = self.begin().await?;
        let gone = tx
            .batch("search.evict", &chosen)
            .column(|one| one.team)
            .column(|one| one.collection.as_str())
            .column(|one| &one.key[..])
            .column(|one| one.seen_at)
            .fetch_all(&mut tx)
            .await?;
        tx.commit().await?;
        Ok(gone.len() as u64)
    }

    async fn purge_search(&self, limit: u32) -> StoreResult<u64> {
        let limit = i64::from(limit);
        let mut single = self.single();
        let mut most = single.lock("search.renumber").bind(limit).execute(&mut single).await?;
        let purges =
            [("search.purge_pages", clock::millis(DELETED_PAGE_RETENTION)), ("search.purge_searches", 0)];
        for (purge, age) in purges {
            let gone = self.query(purge).bind(age).bind(limit).execute(&mut self.single()).await?;
            most = most.max(gone);
        }
        Ok(most)
    }

    async fn put_search(&self, search: NewSearch) -> StoreResult<()> {
        let (query, urls) = if search.private { ("", &[][..]) } else { (&*search.query, &*search.urls) };
        self.query("search.search_insert")
            .bind(search.id)
            .bind(search.team_id)
            .bind(clock::millis(search.keep_for))
            .bind(storable(query))
            .bind(url_list(urls))
            .execute(&mut self.single())
            .await?;
        Ok(())
    }

    async fn search_record(&self, team: Uuid, id: Uuid) -> StoreResult<Option<SearchRecord>> {
        let row = self.query("search.search").bind(id).bind(team).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(search_record).transpose()
    }

    async fn put_feedback(&self, feedback: NewFeedback) -> StoreResult<FeedbackPut> {
        let mut tx = self.begin().await?;
        let done = tx
            .query("search.feedback_insert")
            .bind(feedback.id)
            .bind(feedback.team_id)
            .bind(feedback.subject)
            .bind(storable(&feedback.endpoint))
            .bind(storable(&feedback.body))
            .execute(&mut tx)
            .await?;
        if done == 0 {
            let first = tx
                .query("search.feedback")
                .bind(feedback.team_id)
                .bind(feedback.subject)
                .fetch_one(&mut tx)
                .await?;
            return Ok(FeedbackPut::KnownBefore(first.id("id")?));
        }
        if let Some(sources) = distinct(&feedback.valued) {
            tx.query("search.value").bind(feedback.team_id).bind_list(sources).execute(&mut tx).await?;
            tx.query("search.value_trim")
                .bind(feedback.team_id)
                .bind(i64::from(MAX_VALUED_SOURCES))
                .execute(&mut tx)
                .await?;
        }
        tx.commit().await?;
        Ok(FeedbackPut::Written)
    }

    async fn valued_sources(&self, team: Uuid) -> StoreResult<Vec<(String, f32)>> {
        let found = self
            .query("search.valued")
            .bind(team)
            .bind(i64::from(MAX_VALUED_SOURCES))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(|row| Ok((row.text("source")?, value_of(row.int("marks")?)))).collect()
    }
}
