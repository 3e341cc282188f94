//! The credit ledger on SQLite. `charge_in`, `use_in` and `close_in` are also steps of what jobs and crawls end by.

use super::{SqliteStore, Tx};
use crate::batch::Spender;
use crate::credits::{Balance, Credits, NewReservation, UsagePeriod};
use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult, clock};
use uuid::Uuid;

/// Periods that the history shows.
const HISTORY: i64 = 24;
/// The most reservations that one sweep releases.
const SWEEP_LIMIT: i64 = 500;

async fn open_period(tx: &mut Tx, team: Uuid) -> StoreResult<Millis> {
    let (start, _) = clock::period(clock::now());
    sqlx::query(include_str!("sql/credits/period_open.sql"))
        .bind(team)
        .bind(start)
        .execute(&mut **tx)
        .await?;
    Ok(start)
}

/// Turns part of a reservation into use.
pub(super) async fn charge_in(tx: &mut Tx, reservation: Uuid, amount: i64) -> StoreResult<()> {
    if amount < 0 {
        return Err(StoreError::Misuse("a charge cannot be negative".into()));
    }
    let taken = sqlx::query(include_str!("sql/credits/reservation_take.sql"))
        .bind(reservation)
        .bind(amount)
        .fetch_optional(&mut **tx)
        .await?;
    let Some(row) = taken else {
        return Err(StoreError::Misuse("charged more than is left of an open reservation".into()));
    };
    if amount == 0 {
        return Ok(());
    }
    let (team, period) = (row.id("team_id")?, row.int("period_start")?);
    sqlx::query(include_str!("sql/credits/period_charge.sql"))
        .bind(team)
        .bind(period)
        .bind(amount)
        .execute(&mut **tx)
        .await?;
    add_usage(tx, team, period, row.id_or_none("key_id")?, &row.text("purpose")?, (amount, 0)).await
}

/// Counts credits as used that nobody set aside.
pub(super) async fn use_in(tx: &mut Tx, spender: &Spender, amount: i64) -> StoreResult<()> {
    if amount == 0 {
        return Ok(());
    }
    sqlx::query(include_str!("sql/credits/period_use.sql"))
        .bind(spender.team)
        .bind(spender.period)
        .bind(amount)
        .execute(&mut **tx)
        .await?;
    add_usage(tx, spender.team, spender.period, spender.key, &spender.purpose, (amount, 0)).await
}

async fn add_usage(
    tx: &mut Tx,
    team: Uuid,
    period: Millis,
    key: Option<Uuid>,
    purpose: &str,
    (credits, tokens): (i64, i64),
) -> StoreResult<()> {
    sqlx::query(include_str!("sql/credits/usage_add.sql"))
        .bind(team)
        .bind(period)
        .bind(key.unwrap_or(Uuid::nil()))
        .bind(purpose)
        .bind(credits)
        .bind(tokens)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Releases what is left of a reservation; `false` when it was closed before.
pub(super) async fn close_in(tx: &mut Tx, reservation: Uuid) -> StoreResult<bool> {
    let closed = sqlx::query(include_str!("sql/credits/reservation_close.sql"))
        .bind(reservation)
        .fetch_optional(&mut **tx)
        .await?;
    let Some(row) = closed else { return Ok(false) };
    sqlx::query(include_str!("sql/credits/period_release.sql"))
        .bind(row.id("team_id")?)
        .bind(row.int("period_start")?)
        .bind(row.int("remaining")?)
        .execute(&mut **tx)
        .await?;
    Ok(true)
}

#[async_trait::async_trait]
impl Credits for SqliteStore {
    async fn reserve(&self, reservation: NewReservation) -> StoreResult<Option<Uuid>> {
        if reservation.amount < 0 {
            return Err(StoreError::Misuse("a reservation cannot be negative".into()));
        }
        let mut tx = self.write().await?;
        let period = open_period(&mut tx, reservation.team_id).await?;
        let done = sqlx::query(include_str!("sql/credits/reserve.sql"))
            .bind(reservation.team_id)
            .bind(period)
            .bind(reservation.amount)
            .bind(reservation.allowance)
            .execute(&mut *tx)
            .await?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        let id = Uuid::now_v7();
        sqlx::query(include_str!("sql/credits/reservation_insert.sql"))
            .bind(id)
            .bind(reservation.team_id)
            .bind(reservation.key_id)
            .bind(period)
            .bind(&reservation.purpose)
            .bind(reservation.amount)
            .bind(clock::now() + clock::millis(reservation.hold_for))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    async fn charge(&self, reservation: Uuid, amount: i64) -> StoreResult<()> {
        let mut tx = self.write().await?;
        charge_in(&mut tx, reservation, amount).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn close(&self, reservation: Uuid) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let closed = close_in(&mut tx, reservation).await?;
        tx.commit().await?;
        Ok(closed)
    }

    async fn add_tokens(&self, team: Uuid, key: Option<Uuid>, tokens: i64) -> StoreResult<()> {
        if tokens < 0 {
            return Err(StoreError::Misuse("tokens cannot be negative".into()));
        }
        let mut tx = self.write().await?;
        let period = open_period(&mut tx, team).await?;
        sqlx::query(include_str!("sql/credits/period_tokens.sql"))
            .bind(team)
            .bind(period)
            .bind(tokens)
            .execute(&mut *tx)
            .await?;
        add_usage(&mut tx, team, period, key, "", (0, tokens)).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn balance(&self, team: Uuid) -> StoreResult<Balance> {
        let (period_start, period_end) = clock::period(clock::now());
        let row = sqlx::query(include_str!("sql/credits/balance.sql"))
            .bind(team)
            .bind(period_start)
            .fetch_optional(&self.readers)
            .await?;
        let empty = Balance { period_start, period_end, ..Balance::default() };
        let Some(row) = row else { return Ok(empty) };
        let (used, reserved, tokens) = (row.int("used")?, row.int("reserved")?, row.int("tokens")?);
        Ok(Balance { used, reserved, tokens, ..empty })
    }

    async fn usage_history(&self, team: Uuid, by_key: bool) -> StoreResult<Vec<UsagePeriod>> {
        let history = if by_key {
            include_str!("sql/credits/history_by_key.sql")
        } else {
            include_str!("sql/credits/history.sql")
        };
        let found = sqlx::query(history).bind(team).bind(HISTORY).fetch_all(&self.readers).await?;
        found
            .iter()
            .map(|row| {
                let (start, end) = clock::period(row.int("period_start")?);
                let (credits, tokens) = (row.int("credits")?, row.int("tokens")?);
                Ok(UsagePeriod { start, end, key: row.text_or_none("key_name")?, credits, tokens })
            })
            .collect()
    }

    async fn sweep_reservations(&self) -> StoreResult<u64> {
        let mut tx = self.write().await?;
        let overdue = sqlx::query(include_str!("sql/credits/overdue.sql"))
            .bind(clock::now())
            .bind(SWEEP_LIMIT)
            .fetch_all(&mut *tx)
            .await?;
        let mut released = 0;
        for row in &overdue {
            released += u64::from(close_in(&mut tx, row.id("id")?).await?);
        }
        tx.commit().await?;
        Ok(released)
    }
}
