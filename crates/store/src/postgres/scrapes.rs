//! Records of scrapes on PostgreSQL: a batch is a handful of statements, however many scrapes it has.

use super::charges::Charges;
use super::{PostgresStore, Tx, claims, pages, search};
use crate::batch::{self, Admitted, Spender};
use crate::rows::{self, Columns};
use crate::scrapes::{NewScrape, Recorded, ScrapeRecord, Scrapes};
use crate::text::{storable, storable_or_none};
use crate::{StoreError, StoreResult, clock, weight};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// One column of the scrapes to write.
fn column<'a, T>(scrapes: &[&'a NewScrape], value: impl Fn(&'a NewScrape) -> T) -> Vec<T> {
    scrapes.iter().map(|scrape| value(scrape)).collect()
}

async fn known(tx: &mut Tx, admitted: &[Admitted]) -> StoreResult<HashSet<Uuid>> {
    let ids: Vec<Uuid> = admitted.iter().map(|one| one.scrape.id).collect();
    let found = sqlx::query(include_str!("sql/scrapes/known.sql")).bind(ids).fetch_all(&mut *tx).await?;
    found.iter().map(|row| row.id("id")).collect()
}

/// Closes the reservations of scrapes; who spends, and what each held. Those that are closed already or
/// do not cover their price are not there.
async fn settle(tx: &mut Tx, scrapes: &[Admitted]) -> StoreResult<HashMap<Uuid, (Spender, i64)>> {
    let (reservations, prices): (Vec<Uuid>, Vec<i64>) =
        scrapes.iter().filter_map(|one| Some((one.scrape.reservation?, one.scrape.credits))).unzip();
    if reservations.is_empty() {
        return Ok(HashMap::new());
    }
    let taken = sqlx::query(include_str!("sql/scrapes/settle.sql"))
        .bind(reservations)
        .bind(prices)
        .fetch_all(&mut *tx)
        .await?;
    taken
        .iter()
        .map(|row| {
            let spender = Spender {
                team: row.id("team_id")?,
                period: row.int("period_start")?,
                key: row.id_or_none("key_id")?,
                purpose: row.text("purpose")?,
            };
            Ok((row.id("id")?, (spender, row.int("remaining")?)))
        })
        .collect()
}

/// What the scrapes come to, and those whose reservation does not cover them taken out of them.
async fn charge(
    tx: &mut Tx,
    admitted: &mut Vec<Admitted>,
    outcomes: &mut [Recorded],
) -> StoreResult<Charges> {
    let mut settled = settle(tx, admitted).await?;
    let unreserved = |one: &Admitted| one.scrape.reservation.is_none() && one.scrape.credits > 0;
    let period = if admitted.iter().any(unreserved) { clock::period(super::now(tx).await?).0 } else { 0 };
    let mut charges = Charges::default();
    admitted.retain(|Admitted { place, scrape }| {
        let spent = match scrape.reservation {
            Some(reservation) => settled.remove(&reservation),
            None => Some((Spender::of(scrape, period), 0)),
        };
        if let Some((spender, released)) = spent {
            charges.add(spender, scrape.credits, released);
            return true;
        }
        outcomes[*place] = batch::not_covered();
        false
    });
    Ok(charges)
}

async fn insert(tx: &mut Tx, scrapes: &[&NewScrape]) -> StoreResult<()> {
    let done = sqlx::query(include_str!("sql/scrapes/insert.sql"))
        .bind(column(scrapes, |scrape| scrape.id))
        .bind(column(scrapes, |scrape| scrape.team_id))
        .bind(column(scrapes, |scrape| scrape.key_id.filter(|_| !scrape.private)))
        .bind(column(scrapes, |scrape| scrape.ok))
        .bind(column(scrapes, |scrape| scrape.private))
        .bind(column(scrapes, |scrape| scrape.credits))
        .bind(column(scrapes, |scrape| clock::millis(scrape.keep_for)))
        .bind(column(scrapes, weight::scrape))
        .bind(column(scrapes, |scrape| storable(&scrape.url)))
        .bind(column(scrapes, |scrape| storable_or_none(scrape.error.as_ref())))
        .bind(column(scrapes, |scrape| scrape.result.as_deref()))
        .execute(&mut *tx)
        .await?;
    if done.rows_affected() < scrapes.len() as u64 {
        // Somebody recorded one of them since we looked; the next call will find it known.
        return Err(StoreError::Unavailable("the same scrapes are being recorded by another call".into()));
    }
    Ok(())
}

async fn note(tx: &mut Tx, scrapes: &[&NewScrape]) -> StoreResult<()> {
    let open: Vec<&NewScrape> = scrapes.iter().copied().filter(|scrape| !scrape.private).collect();
    sqlx::query(include_str!("sql/scrapes/activity.sql"))
        .bind(column(&open, |scrape| scrape.id))
        .bind(column(&open, |scrape| scrape.team_id))
        .bind(column(&open, |scrape| scrape.key_id))
        .bind(column(&open, |scrape| storable(&scrape.endpoint)))
        .bind(column(&open, |scrape| storable(&scrape.url)))
        .bind(column(&open, |scrape| storable_or_none(scrape.audit.as_ref())))
        .execute(&mut *tx)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl Scrapes for PostgresStore {
    async fn record_scrapes(&self, scrapes: Vec<NewScrape>) -> StoreResult<Vec<Recorded>> {
        let (mut outcomes, mut admitted) = batch::admit(scrapes);
        if admitted.is_empty() {
            return Ok(outcomes);
        }
        let mut tx = self.write().await?;
        let known = known(&mut tx, &admitted).await?;
        admitted.retain(|one| {
            let new = !known.contains(&one.scrape.id);
            if !new {
                outcomes[one.place] = Recorded::KnownBefore;
            }
            new
        });
        charge(&mut tx, &mut admitted, &mut outcomes).await?.write(&mut tx).await?;
        let scrapes: Vec<&NewScrape> = admitted.iter().map(|one| &one.scrape).collect();
        if !scrapes.is_empty() {
            let pages = scrapes.iter().filter_map(|scrape| Some((scrape.team_id, scrape.page.as_ref()?)));
            pages::put_in(&mut tx, pages.collect()).await?;
            let found = scrapes.iter().filter_map(|scrape| Some((scrape.team_id, scrape.search.as_ref()?)));
            search::put_in(&mut tx, found.collect()).await?;
            insert(&mut tx, &scrapes).await?;
            note(&mut tx, &scrapes).await?;
            let of = |ok| scrapes.iter().filter(move |one| one.ok == ok).filter_map(|one| one.claim.as_ref());
            claims::complete_in(&mut tx, &of(true).collect::<Vec<_>>()).await?;
            claims::release(&mut tx, &of(false).collect::<Vec<_>>()).await?;
        }
        tx.commit().await?;
        Ok(outcomes)
    }

    async fn scrape(&self, team: Uuid, id: Uuid) -> StoreResult<Option<ScrapeRecord>> {
        let row = sqlx::query(include_str!("sql/scrapes/get.sql"))
            .bind(team)
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(rows::scrape_record).transpose()
    }
}
