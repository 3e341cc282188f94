//! What one transaction changes in the credit ledger, summed up: each row is written once, and in one order.

use super::{SqlConnection, credits};
use crate::batch::Spender;
use crate::{Millis, StoreResult};
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct PeriodChange {
    used: i64,
    /// Set aside until now, and not any more.
    released: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Charges {
    periods: BTreeMap<(Uuid, Millis), PeriodChange>,
    usage: BTreeMap<Spender, i64>,
}

impl Charges {
    /// `released` is what the reservation of the scrape held, or nothing.
    pub(crate) fn add(&mut self, spender: Spender, credits: i64, released: i64) {
        if credits == 0 && released == 0 {
            return;
        }
        let period = self.periods.entry((spender.team, spender.period)).or_default();
        period.used += credits;
        period.released += released;
        if credits > 0 {
            *self.usage.entry(spender).or_default() += credits;
        }
    }

    /// The reservations are gone by now.
    pub(crate) async fn write(self, tx: &mut impl SqlConnection) -> StoreResult<()> {
        for ((team, period), change) in self.periods {
            tx.query("credits.period_settle")
                .bind(team)
                .bind(period)
                .bind(change.used)
                .bind(change.released)
                .execute(tx)
                .await?;
        }
        for (spender, credits) in self.usage {
            let Spender { team, period, key, purpose } = spender;
            credits::add_usage(tx, team, period, key, &purpose, (credits, 0)).await?;
        }
        Ok(())
    }
}

/// Counts credits as used that nobody set aside.
pub(crate) async fn charge_unreserved(
    tx: &mut impl SqlConnection,
    spender: Spender,
    credits: i64,
) -> StoreResult<()> {
    let mut charges = Charges::default();
    charges.add(spender, credits, 0);
    charges.write(tx).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_add_up() {
        let spender = |key: Option<Uuid>| Spender { team: Uuid::nil(), period: 7, key, purpose: "x".into() };
        let mut charges = Charges::default();
        charges.add(spender(None), 2, 5);
        charges.add(spender(None), 0, 3);
        charges.add(spender(Some(Uuid::max())), 4, 0);
        charges.add(Spender { period: 8, ..spender(None) }, 0, 0);
        let periods: Vec<_> = charges.periods.into_iter().collect();
        assert_eq!(periods, [((Uuid::nil(), 7), PeriodChange { used: 6, released: 8 })]);
        assert_eq!(charges.usage.into_values().collect::<Vec<_>>(), [2, 4]);
    }
}
