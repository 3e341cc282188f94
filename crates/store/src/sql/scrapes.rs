//! Records of scrapes: on PostgreSQL a batch is a handful of statements, however many scrapes it has.

use super::charges::Charges;
use super::{Backend, SqlConnection, Transaction, idempotency, pages, search};
use crate::batch::{self, Admitted, Spender};
use crate::rows::Columns;
use crate::scrapes::{NewScrape, Recorded, ScrapeRecord, ScrapeStore, scrape_record_from_row};
use crate::text::{storable, storable_or_none};
use crate::{StoreError, StoreResult, clock, weight};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

async fn known(tx: &mut impl SqlConnection, admitted: &[Admitted]) -> StoreResult<HashSet<Uuid>> {
    let ids: Vec<Uuid> = admitted.iter().map(|one| one.scrape.id).collect();
    let found = tx.query("scrapes.known").bind_list(ids).fetch_all(tx).await?;
    found.iter().map(|row| row.id("id")).collect()
}

/// Closes the reservations of scrapes; who spends, and what each held. Those that are closed already or
/// do not cover their price are not there.
async fn close_reservations(
    tx: &mut impl SqlConnection,
    scrapes: &[Admitted],
) -> StoreResult<HashMap<Uuid, (Spender, i64)>> {
    let reserved: Vec<(Uuid, i64)> =
        scrapes.iter().filter_map(|one| Some((one.scrape.reservation?, one.scrape.credits))).collect();
    let taken = tx
        .batch("scrapes.close_reservations", &reserved)
        .column(|(reservation, _)| *reservation)
        .column(|(_, price)| *price)
        .fetch_all(tx)
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
    tx: &mut impl SqlConnection,
    admitted: &mut Vec<Admitted>,
    outcomes: &mut [Recorded],
) -> StoreResult<Charges> {
    let mut settled = close_reservations(tx, admitted).await?;
    let unreserved = |one: &Admitted| one.scrape.reservation.is_none() && one.scrape.credits > 0;
    let period = if admitted.iter().any(unreserved) { clock::period(tx.now().await?).0 } else { 0 };
    let mut charges = Charges::default();
    admitted.retain(|Admitted { place, scrape }| {
        let spent = match scrape.reservation {
            Some(reservation) => settled.remove(&reservation),
            None => Some((Spender::without_reservation(scrape, period), 0)),
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

/// Writes the records, and the activity of those that are not private.
async fn insert(tx: &mut impl SqlConnection, scrapes: &[&NewScrape]) -> StoreResult<()> {
    let written = tx
        .batch("scrapes.insert", scrapes)
        .column(|scrape| scrape.id)
        .column(|scrape| scrape.team_id)
        .column(|scrape| scrape.key_id)
        .column(|scrape| scrape.ok)
        .column(|scrape| scrape.private)
        .column(|scrape| scrape.credits)
        .column(|scrape| clock::millis(scrape.keep_for))
        .column(|scrape| weight::scrape(scrape))
        .column(|scrape| storable(&scrape.url))
        .column(|scrape| storable_or_none(scrape.error.as_ref()))
        .column(|scrape| scrape.result.as_deref())
        .column(|scrape| storable(&scrape.endpoint))
        .column(|scrape| storable_or_none(scrape.audit.as_ref()))
        .column(|scrape| scrape.took.map(clock::millis))
        .execute(tx)
        .await?;
    if written < scrapes.len() as u64 {
        // Somebody recorded one of them since we looked; the next call will find it known.
        return Err(StoreError::Unavailable("the same scrapes are being recorded by another call".into()));
    }
    Ok(())
}

#[async_trait::async_trait]
impl<B: Backend> ScrapeStore for B {
    async fn record_scrapes(&self, scrapes: Vec<NewScrape>) -> StoreResult<Vec<Recorded>> {
        let (mut outcomes, mut admitted) = batch::admit(scrapes);
        if admitted.is_empty() {
            return Ok(outcomes);
        }
        let mut tx = self.begin().await?;
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
            let of = |ok| scrapes.iter().filter(move |one| one.ok == ok).filter_map(|one| one.claim.as_ref());
            idempotency::complete_in(&mut tx, &of(true).collect::<Vec<_>>()).await?;
            idempotency::release_in(&mut tx, &of(false).collect::<Vec<_>>()).await?;
        }
        tx.commit().await?;
        Ok(outcomes)
    }

    async fn keep_scrape_request(
        &self,
        team: Uuid,
        id: Uuid,
        request: &str,
        keep_for: Duration,
    ) -> StoreResult<()> {
        let request = self.sealer().seal_scrape_request(id, request)?;
        self.query("scrapes.keep_request")
            .bind(id)
            .bind(team)
            .bind(request)
            .bind(clock::millis(keep_for))
            .execute(&mut self.single())
            .await?;
        Ok(())
    }

    async fn scrape_request(&self, team: Uuid, id: Uuid) -> StoreResult<Option<String>> {
        let row =
            self.query("scrapes.request").bind(team).bind(id).fetch_optional(&mut self.reader()).await?;
        let Some(row) = row else { return Ok(None) };
        self.sealer().open_scrape_request(id, row.text("request")?)
    }

    async fn purge_scrape_requests(&self, limit: u32) -> StoreResult<u64> {
        let done =
            self.query("scrapes.purge_requests").bind(i64::from(limit)).execute(&mut self.single()).await?;
        Ok(done)
    }

    async fn scrape(&self, team: Uuid, id: Uuid) -> StoreResult<Option<ScrapeRecord>> {
        let row = self.query("scrapes.get").bind(team).bind(id).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(scrape_record_from_row).transpose()
    }
}
