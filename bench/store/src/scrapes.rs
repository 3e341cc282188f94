//! CPU time of recording scrapes, per record.

use crate::{cpu, noise, number, team};
use anyhow::ensure;
use std::time::{Duration, Instant};
use store::Store;
use store::credits::NewReservation;
use store::pages::NewPage;
use store::scrapes::{NewScrape, Recorded};
use uuid::Uuid;

const HOUR: Duration = Duration::from_hours(1);

pub async fn run(store: &dyn Store, rest: &[String]) -> anyhow::Result<()> {
    let (records, batch) = (number(rest, 0, 5_000)?, number(rest, 1, 1)?.max(1));
    let (result, page) = (number(rest, 2, 20_000)?, number(rest, 3, 0)?);
    let reserved = rest.get(4).is_some_and(|word| word == "reserved");
    let team = team(store, "bench".into()).await?;
    let (mut recording, mut waiting, mut done) = (Duration::ZERO, Duration::ZERO, 0);
    while done < records {
        let mut scrapes = Vec::with_capacity(batch);
        for n in done..done + batch {
            let reservation = if reserved { reserve(store, team).await? } else { None };
            scrapes.push(NewScrape { reservation, ..scrape(team, n, result, page) });
        }
        let (cpu, clock) = (cpu::spent(), Instant::now());
        let outcomes = store.record_scrapes(scrapes).await?;
        waiting += clock.elapsed();
        recording += cpu::spent().saturating_sub(cpu);
        ensure!(outcomes.iter().all(|one| *one == Recorded::Written), "a record was refused");
        done += batch;
    }
    let each = |time: Duration| time.as_secs_f64() * 1e3 / done as f64;
    println!("records      {done}, batches of {batch}, result {result} bytes, page {page} bytes");
    println!("credits      {}", if reserved { "from a reservation each" } else { "metered" });
    println!("processor    {:.3} ms per record (this process)", each(recording));
    println!("time         {:.3} ms per record", each(waiting));
    println!("cache        {} bytes in all", store.cache_bytes().await?);
    Ok(())
}

async fn reserve(store: &dyn Store, team_id: Uuid) -> anyhow::Result<Option<Uuid>> {
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

fn scrape(team_id: Uuid, n: usize, result: usize, page: usize) -> NewScrape {
    let url = format!("https://www.example.test/some/section/page-{n}.html");
    NewScrape {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        endpoint: "scrape".into(),
        url: url.clone(),
        ok: true,
        result: Some(noise(n, result)),
        error: None,
        page: (page > 0).then(|| new_page(n, url, page)),
        search: None,
        credits: 1,
        reservation: None,
        audit: None,
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
