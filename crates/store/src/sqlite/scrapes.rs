//! Records of scrapes on SQLite.

use super::{SqliteStore, Tx, credits, pages};
use crate::batch::{self, Charges, Spender};
use crate::rows::{self, Columns};
use crate::scrapes::{NewScrape, Recorded, ScrapeRecord, Scrapes};
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock, weight};
use uuid::Uuid;

/// Writes one scrape of a batch, but for its price: that is added to the charges.
async fn record(
    tx: &mut Tx,
    mut scrape: NewScrape,
    now: Millis,
    period: Millis,
    charges: &mut Charges,
) -> StoreResult<Recorded> {
    let (spender, released) = match scrape.reservation {
        Some(reservation) => match settle(tx, &scrape, reservation).await? {
            Some(settled) => settled,
            None if known(tx, scrape.id).await? => return Ok(Recorded::KnownBefore),
            None => return Ok(batch::not_covered()),
        },
        None => (Spender::of(&scrape, period), 0),
    };
    if !insert(tx, &mut scrape, now).await? {
        return Ok(Recorded::KnownBefore);
    }
    if !scrape.private {
        note(tx, &scrape, now).await?;
    }
    if let Some(page) = scrape.page {
        pages::put_in(tx, scrape.team_id, page, now).await?;
    }
    charges.add(spender, scrape.credits, released);
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

/// Notes the scrape in its team's activity; one that was noted before stays as it is.
async fn note(tx: &mut Tx, scrape: &NewScrape, now: Millis) -> StoreResult<()> {
    sqlx::query(include_str!("sql/activity/insert.sql"))
        .bind(scrape.id)
        .bind(scrape.team_id)
        .bind(scrape.key_id)
        .bind(storable(&scrape.endpoint))
        .bind(storable(&scrape.url))
        .bind(now)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// `false` when there is a record with this id already. Takes the result out, which is large.
async fn insert(tx: &mut Tx, scrape: &mut NewScrape, now: Millis) -> StoreResult<bool> {
    let done = sqlx::query(include_str!("sql/scrapes/insert.sql"))
        .bind(scrape.id)
        .bind(scrape.team_id)
        .bind(scrape.key_id.filter(|_| !scrape.private))
        .bind(scrape.ok)
        .bind(scrape.private)
        .bind(scrape.credits)
        .bind(now)
        .bind(now + clock::millis(scrape.keep_for))
        .bind(weight::scrape(scrape))
        .bind(scrape.request.map(|hash| hash.to_vec()))
        .bind(storable(&scrape.url))
        .bind(storable_or_none(scrape.error.as_ref()))
        .bind(scrape.result.take())
        .execute(&mut **tx)
        .await?;
    Ok(done.rows_affected() > 0)
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
        let mut charges = Charges::default();
        for one in admitted {
            outcomes[one.place] = record(&mut tx, one.scrape, now, period, &mut charges).await?;
        }
        credits::settle_in(&mut tx, charges).await?;
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

    async fn continued_scrape(&self, team: Uuid, request: &[u8; 32]) -> StoreResult<Option<ScrapeRecord>> {
        let row = sqlx::query(include_str!("sql/scrapes/continued.sql"))
            .bind(team)
            .bind(request.to_vec())
            .bind(clock::now())
            .fetch_optional(&self.readers)
            .await?;
        row.as_ref().map(rows::scrape_record).transpose()
    }
}
