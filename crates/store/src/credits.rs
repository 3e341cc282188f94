//! The credit ledger: reserve, then charge against the reservation, then close it.
//!
//! `used + reserved <= allowance` at every moment, whatever races. Periods are calendar months in UTC;
//! a reservation belongs to the period it was made in; use by key and purpose is counted by day. Everything is metered, unlimited teams too.

use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone)]
pub struct NewReservation {
    pub team_id: Uuid,
    /// The key that spends, for usage by key.
    pub key_id: Option<Uuid>,
    pub amount: i64,
    /// Credits of the team's plan per period; `None` = unlimited.
    pub allowance: Option<i64>,
    /// What the credits are for, for instance `scrape`.
    pub purpose: String,
    /// Released by the sweeper after this long, when nobody closed it (its owner died). A reservation
    /// that a live crawl or run holds is not swept before it ended.
    pub hold_for: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    pub used: i64,
    pub reserved: i64,
    pub tokens: i64,
    pub period_start: Millis,
    pub period_end: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsagePeriod {
    pub start: Millis,
    pub end: Millis,
    /// Name of the key, when asked by key; work without a key has none.
    pub key: Option<String>,
    pub credits: i64,
    pub tokens: i64,
}

/// What was used on one day for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayUsage {
    /// The start of the day in UTC.
    pub day: Millis,
    /// What the credits were for; empty for tokens alone.
    pub purpose: String,
    pub credits: i64,
    pub tokens: i64,
}

#[async_trait::async_trait]
pub trait CreditStore: Send + Sync + 'static {
    /// Sets credits aside; `None` when the allowance does not cover them. The amount may be 0.
    async fn reserve(&self, reservation: NewReservation) -> StoreResult<Option<Uuid>>;

    /// Turns part of an open reservation into use. More than is left of it is [`crate::StoreError::Misuse`]
    /// and changes nothing; so is a closed one.
    async fn charge(&self, reservation: Uuid, amount: i64) -> StoreResult<()>;

    /// Sets more aside in a reservation, for work that turns out to cost more; `false` when the allowance does not
    /// cover it or the reservation is closed. Then nothing changes.
    async fn extend(&self, reservation: Uuid, amount: i64, allowance: i64) -> StoreResult<bool>;

    /// Releases what is left of a reservation; `false` when it was closed before (then nothing changes).
    async fn close(&self, reservation: Uuid) -> StoreResult<bool>;

    /// Model tokens spent, beside credits.
    async fn add_tokens(&self, team: Uuid, key: Option<Uuid>, tokens: i64) -> StoreResult<()>;

    /// The current period.
    async fn balance(&self, team: Uuid) -> StoreResult<Balance>;

    /// Newest period first, at most 24 periods; split by key when asked.
    async fn usage_history(&self, team: Uuid, by_key: bool) -> StoreResult<Vec<UsagePeriod>>;

    /// The last so many days with use in them, today included, oldest first. A charge counts for the day it was made
    /// on, or for the last day of the period of its reservation.
    async fn usage_by_day(&self, team: Uuid, days: u32) -> StoreResult<Vec<DayUsage>>;

    /// Deletes use by day that is older than the history; how many rows.
    async fn purge_usage(&self) -> StoreResult<u64>;

    /// Releases reservations that nobody closed in time; how many. Bounded work per call.
    async fn sweep_reservations(&self) -> StoreResult<u64>;
}
