//! CPU time of recording scrapes, per record.

use super::{noise, team};
use anyhow::{Result, ensure};
use gannet_bench::timing::Stopwatch;
use std::time::Duration;
use store::Store;
use store::credits::NewReservation;
use store::pages::NewPage;
use store::scrapes::{NewScrape, Recorded};
use uuid::Uuid;

const HOUR: Duration = Duration::from_hours(1);

#[derive(Debug, clap::Args)]
pub struct Size {
    #[arg(default_value_t = 5_000)]
    records: usize,
    #[arg(default_value_t = 1)]
    batch: usize,
    #[arg(default_value_t = 20_000)]
    result_bytes: usize,
    #[arg(default_value_t = 0)]
    page_bytes: usize,
    /// Charge a reservation of its own for each record.
    #[arg(value_parser = ["reserved"])]
    reserved: Option<String>,
}

pub async fn run(store: &dyn Store, size: &Size) -> Result<()> {
    let (batch, reserved) = (size.batch.max(1), size.reserved.is_some());
    let team = team(store, "bench".into()).await?;
    let (mut cpu, mut wall, mut count) = (0.0, 0.0, 0);
    while count < size.records {
        let mut scrapes = Vec::with_capacity(batch);
        for n in count..count + batch {
            let reservation = if reserved { reserve(store, team).await? } else { None };
            scrapes.push(NewScrape { reservation, ..scrape(team, n, size) });
        }
        let watch = Stopwatch::for_process();
        let outcomes = store.record_scrapes(scrapes).await?;
        let cost = watch.cost();
        wall += cost.wall;
        cpu += cost.cpu;
        ensure!(outcomes.iter().all(|one| *one == Recorded::Written), "a record was refused");
        count += batch;
    }
    let (result, page) = (size.result_bytes, size.page_bytes);
    println!("records      {count}, batches of {batch}, result {result} bytes, page {page} bytes");
    println!("credits      {}", if reserved { "from a reservation each" } else { "metered" });
    println!("processor    {:.3} ms per record (this process)", cpu / count as f64);
    println!("time         {:.3} ms per record", wall / count as f64);
    println!("cache        {} bytes in all", store.cache_bytes().await?);
    Ok(())
}

async fn reserve(store: &dyn Store, team_id: Uuid) -> Result<Option<Uuid>> {
    let new = NewReservation {
        team_id,
        key_id: None,
        amount: 1,
        allowance: Some(i64::MAX / 2),
        purpose: "scrape".into(),
        hold_for: HOUR,
    };
    Ok(store.reserve(new).await?)
}

fn scrape(team_id: Uuid, n: usize, size: &Size) -> NewScrape {
    let url = format!("https://www.example.test/some/section/page-{n}.html");
    NewScrape {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        endpoint: "scrape".into(),
        url: url.clone(),
        ok: true,
        result: Some(noise(n, size.result_bytes)),
        error: None,
        page: (size.page_bytes > 0).then(|| new_page(n, url, size.page_bytes)),
        search: None,
        credits: 1,
        reservation: None,
        audit: None,
        took: None,
        keep_for: HOUR * 24,
        private: false,
        claim: None,
    }
}

fn new_page(n: usize, url: String, bytes: usize) -> NewPage {
    let mut key = [0; 32];
    key.copy_from_slice(&noise(n, 32));
    NewPage {
        key,
        final_url: url.clone(),
        url,
        status: 200,
        content_type: "text/html; charset=utf-8".into(),
        headers: r#"{"etag":"\"0123456789\"","last-modified":"Sun, 15 Nov 2026 05:00:00 GMT"}"#.into(),
        rung: "http".into(),
        body: noise(n, bytes),
        keep_for: HOUR * 48,
    }
}
