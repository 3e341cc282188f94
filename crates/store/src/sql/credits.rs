//! The credit ledger. `charge_in` and `close_in` are also steps of what crawls and agent runs end with.

use super::{Backend, SqlConnection, Transaction};
use crate::credits::{Balance, CreditStore, DayUsage, NewReservation, UsagePeriod};
use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult, clock};
use uuid::Uuid;

/// Periods that the history shows.
const MAX_HISTORY_PERIODS: i64 = 24;
/// Use by day is kept for a little longer than all of them.
const USAGE_RETENTION_DAYS: i64 = 25 * 31;
/// The most reservations that one sweep releases.
const MAX_SWEPT_RESERVATIONS: i64 = 500;

async fn open_period(tx: &mut impl SqlConnection, team: Uuid) -> StoreResult<Millis> {
    let (start, _) = clock::period(tx.now().await?);
    tx.query("credits.period_open").bind(team).bind(start).execute(tx).await?;
    Ok(start)
}

/// Turns part of a reservation into use.
pub(crate) async fn charge_in(
    tx: &mut impl SqlConnection,
    reservation: Uuid,
    amount: i64,
) -> StoreResult<()> {
    if amount < 0 {
        return Err(StoreError::Misuse("a charge cannot be negative".into()));
    }
    let taken =
        tx.query("credits.reservation_take").bind(reservation).bind(amount).fetch_optional(tx).await?;
    let Some(row) = taken else {
        return Err(StoreError::Misuse("charged more than is left of an open reservation".into()));
    };
    if amount == 0 {
        return Ok(());
    }
    let (team, period) = (row.id("team_id")?, row.int("period_start")?);
    tx.query("credits.period_charge").bind(team).bind(period).bind(amount).execute(tx).await?;
    add_usage(tx, team, period, row.id_or_none("key_id")?, &row.text("purpose")?, (amount, 0)).await
}

/// Sets more aside in a reservation; `false`, and a transaction to give up, when that is not possible.
pub(crate) async fn extend_in(
    tx: &mut impl SqlConnection,
    reservation: Uuid,
    amount: i64,
    allowance: i64,
) -> StoreResult<bool> {
    if amount < 0 {
        return Err(StoreError::Misuse("a reservation cannot shrink".into()));
    }
    let extended =
        tx.query("credits.reservation_extend").bind(reservation).bind(amount).fetch_optional(tx).await?;
    let Some(row) = extended else { return Ok(false) };
    let covered = tx
        .query("credits.reserve")
        .bind(row.id("team_id")?)
        .bind(row.int("period_start")?)
        .bind(amount)
        .bind(Some(allowance))
        .execute(tx)
        .await?;
    Ok(covered > 0)
}

/// What is left of an open reservation, which nobody changes until the transaction ends.
pub(crate) async fn left_in(tx: &mut impl SqlConnection, reservation: Uuid) -> StoreResult<Option<i64>> {
    let row = tx.query("credits.reservation_left").bind(reservation).fetch_optional(tx).await?;
    row.map(|row| row.int("remaining")).transpose()
}

pub(crate) async fn add_usage(
    tx: &mut impl SqlConnection,
    team: Uuid,
    period: Millis,
    key: Option<Uuid>,
    purpose: &str,
    (credits, tokens): (i64, i64),
) -> StoreResult<()> {
    tx.query("credits.usage_add")
        .bind(team)
        .bind(period)
        .bind(key.unwrap_or_default())
        .bind(purpose)
        .bind(credits)
        .bind(tokens)
        .bind(clock::period(period).1 - clock::DAY)
        .execute(tx)
        .await?;
    Ok(())
}

/// Releases what is left of a reservation; `false` when it was closed before.
pub(crate) async fn close_in(tx: &mut impl SqlConnection, reservation: Uuid) -> StoreResult<bool> {
    let closed = tx.query("credits.reservation_close").bind(reservation).fetch_optional(tx).await?;
    let Some(row) = closed else { return Ok(false) };
    tx.query("credits.period_release")
        .bind(row.id("team_id")?)
        .bind(row.int("period_start")?)
        .bind(row.int("remaining")?)
        .execute(tx)
        .await?;
    Ok(true)
}

/// Each in a transaction of its own: sweepers of several processes never wait for each other.
async fn release_overdue(store: &impl Backend, reservation: Uuid) -> StoreResult<bool> {
    let mut tx = store.begin().await?;
    let locked = tx.query("credits.overdue_lock").bind(reservation).fetch_optional(&mut tx).await?;
    if locked.is_none() {
        return Ok(false);
    }
    let free = tx.query("credits.overdue_free").bind(reservation).fetch_one(&mut tx).await?.flag("free")?;
    let released = free && close_in(&mut tx, reservation).await?;
    tx.commit().await?;
    Ok(released)
}

#[async_trait::async_trait]
impl<B: Backend> CreditStore for B {
    async fn reserve(&self, reservation: NewReservation) -> StoreResult<Option<Uuid>> {
        if reservation.amount < 0 {
            return Err(StoreError::Misuse("a reservation cannot be negative".into()));
        }
        let mut tx = self.begin().await?;
        let period = open_period(&mut tx, reservation.team_id).await?;
        let done = tx
            .query("credits.reserve")
            .bind(reservation.team_id)
            .bind(period)
            .bind(reservation.amount)
            .bind(reservation.allowance)
            .execute(&mut tx)
            .await?;
        if done == 0 {
            return Ok(None);
        }
        let id = Uuid::now_v7();
        tx.query("credits.reservation_insert")
            .bind(id)
            .bind(reservation.team_id)
            .bind(reservation.key_id)
            .bind(period)
            .bind(&reservation.purpose)
            .bind(reservation.amount)
            .bind(clock::millis(reservation.hold_for))
            .execute(&mut tx)
            .await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    async fn charge(&self, reservation: Uuid, amount: i64) -> StoreResult<()> {
        let mut tx = self.begin().await?;
        charge_in(&mut tx, reservation, amount).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn extend(&self, reservation: Uuid, amount: i64, allowance: i64) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let extended = extend_in(&mut tx, reservation, amount, allowance).await?;
        if extended {
            tx.commit().await?;
        }
        Ok(extended)
    }

    async fn close(&self, reservation: Uuid) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let closed = close_in(&mut tx, reservation).await?;
        tx.commit().await?;
        Ok(closed)
    }

    async fn add_tokens(&self, team: Uuid, key: Option<Uuid>, tokens: i64) -> StoreResult<()> {
        if tokens < 0 {
            return Err(StoreError::Misuse("tokens cannot be negative".into()));
        }
        let mut tx = self.begin().await?;
        let period = open_period(&mut tx, team).await?;
        tx.query("credits.period_tokens").bind(team).bind(period).bind(tokens).execute(&mut tx).await?;
        add_usage(&mut tx, team, period, key, "", (0, tokens)).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn balance(&self, team: Uuid) -> StoreResult<Balance> {
        let (period_start, period_end) = clock::period(self.reader().now().await?);
        let row = self
            .query("credits.balance")
            .bind(team)
            .bind(period_start)
            .fetch_optional(&mut self.reader())
            .await?;
        let empty = Balance { period_start, period_end, ..Balance::default() };
        let Some(row) = row else { return Ok(empty) };
        let (used, reserved, tokens) = (row.int("used")?, row.int("reserved")?, row.int("tokens")?);
        Ok(Balance { used, reserved, tokens, ..empty })
    }

    async fn usage_history(&self, team: Uuid, by_key: bool) -> StoreResult<Vec<UsagePeriod>> {
        let history = if by_key { "credits.history_by_key" } else { "credits.history" };
        let found =
            self.query(history).bind(team).bind(MAX_HISTORY_PERIODS).fetch_all(&mut self.reader()).await?;
        found
            .iter()
            .map(|row| {
                let (start, end) = clock::period(row.int("period_start")?);
                let (credits, tokens) = (row.int("credits")?, row.int("tokens")?);
                Ok(UsagePeriod { start, end, key: row.text_or_none("key_name")?, credits, tokens })
            })
            .collect()
    }

    async fn usage_by_day(&self, team: Uuid, days: u32) -> StoreResult<Vec<DayUsage>> {
        let today = clock::day_start(self.reader().now().await?);
        let first = today - i64::from(days.saturating_sub(1)) * clock::DAY;
        let found =
            self.query("credits.usage_by_day").bind(team).bind(first).fetch_all(&mut self.reader()).await?;
        found
            .iter()
            .map(|row| {
                let (day, purpose) = (row.int("day")?, row.text("purpose")?);
                Ok(DayUsage { day, purpose, credits: row.int("credits")?, tokens: row.int("tokens")? })
            })
            .collect()
    }

    async fn purge_usage(&self) -> StoreResult<u64> {
        let oldest = USAGE_RETENTION_DAYS * clock::DAY;
        Ok(self.query("credits.usage_purge").bind(oldest).execute(&mut self.single()).await?)
    }

    async fn sweep_reservations(&self) -> StoreResult<u64> {
        let overdue =
            self.query("credits.overdue").bind(MAX_SWEPT_RESERVATIONS).fetch_all(&mut self.reader()).await?;
        let mut released = 0;
        for row in &overdue {
            released += u64::from(release_overdue(self, row.id("id")?).await?);
        }
        Ok(released)
    }
}
