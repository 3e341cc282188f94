//! Records of scrapes on SQLite.

use super::{SqliteStore, Tx, claims, pages, search};
use crate::batch::{self, Spender};
use crate::rows::{self, Columns};
use crate::scrapes::{NewScrape, Recorded, ScrapeRecord, Scrapes};
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock, weight};
use uuid::Uuid;

/// Writes one scrape of a batch, with everything that belongs to it.
async fn record(tx: &mut Tx, mut scrape: NewScrape, now: Millis, period: Millis) -> StoreResult<Recorded> {
    let (spender, released) = match scrape.reservation {
        Some(reservation) => match settle(tx, &scrape, reservation).await? {
            Some(settled) => settled,
            None if known(tx, scrape.id).await? => return Ok(Recorded::KnownBefore),
            None => return Ok(batch::not_covered()),
        },
        None => (Spender::of(&scrape, period), 0),
    };
    let weight = weight::scrape(&scrape);
    let written = sqlx::query(include_str!("sql/scrapes/record.sql"))
        .bind(scrape.id)
        .bind(scrape.team_id)
        .bind(scrape.key_id)
        .bind(scrape.ok)
        .bind(scrape.private)
        .bind(scrape.credits)
        .bind(now)
        .bind(now + clock::millis(scrape.keep_for))
        .bind(weight)
        .bind(storable_or_none(scrape.audit.as_ref()))
        .bind(storable(&scrape.url))
        .bind(storable_or_none(scrape.error.as_ref()))
        .bind(scrape.result.take())
        .bind(storable(&scrape.endpoint))
        .bind(spender.team)
        .bind(spender.period)
        .bind(spender.key.unwrap_or(Uuid::nil()))
        .bind(storable(&spender.purpose))
        .bind(released)
        .execute(&mut **tx)
        .await;
    match written {
        Ok(_) => {}
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => return Ok(Recorded::KnownBefore),
        Err(error) => return Err(error.into()),
    }
    if let Some(claim) = &scrape.claim {
        claims::end_in(tx, claim, scrape.ok, now).await?;
    }
    if let Some(page) = scrape.page {
        pages::put_in(tx, scrape.team_id, page, now).await?;
    }
    if let Some(page) = scrape.search {
        search::put_in(tx, vec![(scrape.team_id, page)], now).await?;
    }
    Ok(Recorded::Written)
}

/// Closes the reservation of a scrape; who spends, and what it held.
async fn settle(tx: &mut Tx, scrape: &NewScrape, reservation: Uuid) -> StoreResult<Option<(Spender, i64)>> {
    let taken = sqlx::query(include_str!("sql/scrapes/settle.sql"))
        .bind(reservation)
        .bind(scrape.credits)
        .bind(scrape.id)
        .fetch_optional(&mut **tx)
        .await?;
    let Some(row) = taken else { return Ok(None) };
    let spender = Spender {
        team: row.id("team_id")?,
        period: row.int("period_start")?,
        key: row.id_or_none("key_id")?,
        purpose: row.text("purpose")?,
    };
    Ok(Some((spender, row.int("remaining")?)))
}

async fn known(tx: &mut Tx, id: Uuid) -> StoreResult<bool> {
    let found = sqlx::query(include_str!("sql/scrapes/known.sql")).bind(id).fetch_optional(&mut **tx).await?;
    Ok(found.is_some())
}

#[async_trait::async_trait]
impl Scrapes for SqliteStore {
    async fn record_scrapes(&self, scrapes: Vec<NewScrape>) -> StoreResult<Vec<Recorded>> {
        let (mut outcomes, admitted) = batch::admit(scrapes);
        if admitted.is_empty() {
            return Ok(outcomes);
        }
        let mut tx = self.write().await?;
        let now = clock::now();
        let (period, _) = clock::period(now);
        for one in admitted {
            outcomes[one.place] = record(&mut tx, one.scrape, now, period).await?;
        }
        tx.commit().await?;
        Ok(outcomes)
    }

    async fn scrape(&self, team: Uuid, id: Uuid) -> StoreResult<Option<ScrapeRecord>> {
        let row = sqlx::query(include_str!("sql/scrapes/get.sql"))
            .bind(team)
            .bind(id)
            .bind(clock::now())
            .fetch_optional(&self.readers)
            .await?;
        row.as_ref().map(rows::scrape_record).transpose()
    }
}
