//! Which values of which records are secret, and where each is stored. Called at the borders of both backends.

use super::reseal::Column;
use super::sealer::{Place, Sealer, Unreadable};
use crate::agents::{NewRun, Run};
use crate::crawls::{Crawl, NewCrawl, Settlement};
use crate::monitors::{Monitor, NewMonitor};
use crate::text::storable;
use crate::webhooks::{Delivery, NewDelivery, WebhookSecret};
use crate::{StoreError, StoreResult};
use uuid::Uuid;

debug_only! {
    NewCrawl { id, team_id, kind, limit }
    Crawl { id, team_id, kind, state, limit, counts, credits, error, version }
    NewRun { id, team_id, kind, turn_of, max_credits }
    Run { id, team_id, kind, state, turn, credits, max_credits, lost_leases, error, events }
    NewMonitor { id, team_id, next_run_at }
    Monitor { id, team_id, state, version, next_run_at, current_check }
    NewDelivery { id, team_id, subject, event, document }
    Delivery { id, team_id, subject, event, document, attempts, last_error }
    WebhookSecret { created_at, until }
}

fn place(column: Column, row: &[u8]) -> Place<'_> {
    Place { column: column.authenticated_name(), row }
}

/// Profiles are known by team and name.
pub(super) fn profile_row(team: Uuid, name: &str) -> Vec<u8> {
    [team.as_bytes(), name.as_bytes()].concat()
}

impl Sealer {
    pub(crate) fn seal_crawl(&self, crawl: &mut NewCrawl) -> StoreResult<()> {
        crawl.request = self.seal_value(Column::CrawlRequest, crawl.id.as_bytes(), &crawl.request)?;
        self.seal_deliveries(&mut crawl.deliveries)
    }

    pub(crate) fn seal_settlement(&self, settlement: &mut Settlement) -> StoreResult<()> {
        self.seal_deliveries(&mut settlement.deliveries)?;
        self.seal_deliveries(&mut settlement.at_end)
    }

    pub(crate) fn seal_run(&self, run: &mut NewRun) -> StoreResult<()> {
        run.request = self.seal_value(Column::RunRequest, run.id.as_bytes(), &run.request)?;
        self.seal_deliveries(&mut run.deliveries)
    }

    pub(crate) fn seal_monitor_request(&self, monitor: Uuid, request: &str) -> StoreResult<String> {
        self.seal_value(Column::MonitorRequest, monitor.as_bytes(), request)
    }

    /// As [`Sealer::open_crawls`].
    pub(crate) fn open_monitors<'a>(
        &self,
        monitors: impl IntoIterator<Item = &'a mut Monitor>,
    ) -> StoreResult<()> {
        for monitor in monitors {
            self.open_or_empty(Column::MonitorRequest, monitor.id, &mut monitor.request)?;
        }
        Ok(())
    }

    pub(crate) fn seal_deliveries(&self, deliveries: &mut [NewDelivery]) -> StoreResult<()> {
        for delivery in deliveries {
            delivery.target =
                self.seal_value(Column::DeliveryTarget, delivery.id.as_bytes(), &delivery.target)?;
        }
        Ok(())
    }

    pub(crate) fn seal_webhook_secret(&self, team: Uuid, secret: &str) -> StoreResult<String> {
        self.seal_value(Column::WebhookSecret, team.as_bytes(), secret)
    }

    pub(crate) fn seal_profile(&self, team: Uuid, name: &str, state: &[u8]) -> StoreResult<Vec<u8>> {
        let row = profile_row(team, &storable(name));
        self.seal_bytes(place(Column::ProfileState, &row), state)
    }

    pub(crate) fn seal_scrape_request(&self, scrape: Uuid, request: &str) -> StoreResult<String> {
        self.seal_value(Column::ScrapeRequest, scrape.as_bytes(), request)
    }

    /// A request that cannot be read is as good as none.
    pub(crate) fn open_scrape_request(&self, scrape: Uuid, stored: String) -> StoreResult<Option<String>> {
        let opened = self.open_text(place(Column::ScrapeRequest, scrape.as_bytes()), stored)?;
        if opened.is_err() {
            tracing::error!(%scrape, "the request of a scrape cannot be decrypted with the keys of this process");
        }
        Ok(opened.ok())
    }

    pub(crate) fn seal_server_secret(&self, name: &str, secret: &[u8]) -> StoreResult<Vec<u8>> {
        self.seal_bytes(place(Column::ServerSecret, name.as_bytes()), secret)
    }

    /// A request that cannot be read becomes empty, so that whoever works on the crawl can end it with a reason.
    pub(crate) fn open_crawls<'a>(&self, crawls: impl IntoIterator<Item = &'a mut Crawl>) -> StoreResult<()> {
        for crawl in crawls {
            self.open_or_empty(Column::CrawlRequest, crawl.id, &mut crawl.request)?;
        }
        Ok(())
    }

    /// As [`Sealer::open_crawls`].
    pub(crate) fn open_runs<'a>(&self, runs: impl IntoIterator<Item = &'a mut Run>) -> StoreResult<()> {
        for run in runs {
            self.open_or_empty(Column::RunRequest, run.id, &mut run.request)?;
        }
        Ok(())
    }

    /// A target that cannot be read becomes empty: such a delivery is given up and listed as failed.
    pub(crate) fn open_deliveries<'a>(
        &self,
        deliveries: impl IntoIterator<Item = &'a mut Delivery>,
    ) -> StoreResult<()> {
        for delivery in deliveries {
            self.open_or_empty(Column::DeliveryTarget, delivery.id, &mut delivery.target)?;
        }
        Ok(())
    }

    /// An error when one cannot be read: deliveries must not go out with fewer signatures than receivers expect.
    pub(crate) fn open_webhook_secrets(&self, team: Uuid, secrets: &mut [WebhookSecret]) -> StoreResult<()> {
        for known in secrets {
            let stored = std::mem::take(&mut known.secret);
            let opened = self.open_text(place(Column::WebhookSecret, team.as_bytes()), stored)?;
            known.secret = opened.map_err(|Unreadable| unreadable("webhook secret"))?;
        }
        Ok(())
    }

    /// A state that cannot be read is as good as none: the profile starts afresh.
    pub(crate) fn open_profile(
        &self,
        team: Uuid,
        name: &str,
        stored: Vec<u8>,
    ) -> StoreResult<Option<Vec<u8>>> {
        let row = profile_row(team, &storable(name));
        let opened = self.open_bytes(place(Column::ProfileState, &row), stored)?;
        if opened.is_err() {
            tracing::error!(%team, "a browser profile cannot be decrypted with the keys of this process");
        }
        Ok(opened.ok())
    }

    pub(crate) fn open_server_secret(&self, name: &str, stored: Vec<u8>) -> StoreResult<[u8; 32]> {
        let opened = self.open_bytes(place(Column::ServerSecret, name.as_bytes()), stored)?;
        bytes_32(opened.map_err(|Unreadable| unreadable("secret of the server"))?)
    }

    fn seal_value(&self, column: Column, row: &[u8], plain: &str) -> StoreResult<String> {
        self.seal_text(place(column, row), &storable(plain))
    }

    fn open_or_empty(&self, column: Column, row: Uuid, value: &mut String) -> StoreResult<()> {
        let stored = std::mem::take(value);
        if let Ok(plain) = self.open_text(place(column, row.as_bytes()), stored)? {
            *value = plain;
        } else {
            tracing::error!(%row, ?column, "a stored value cannot be decrypted with the keys of this process");
        }
        Ok(())
    }
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Database(format!(
        "a {what} cannot be decrypted with the keys of this process; `gannet secrets reset` drops what cannot be read"
    ))
}

fn bytes_32(bytes: Vec<u8>) -> StoreResult<[u8; 32]> {
    bytes.try_into().map_err(|_| StoreError::Database("a secret does not have 32 bytes".into()))
}
