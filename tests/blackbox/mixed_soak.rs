//! Mixed work under faults: scrapes over HTTP and in the browser, crawls with webhooks and agent runs, while
//! something breaks every few seconds. Accepted work is never lost, every error has an explanation, the
//! service works again within ten seconds of the end of each fault without a restart, and memory, handles,
//! threads and the database do not grow.
//!
//! Some ten seconds with short faults here, in which nothing can be said about growth; forty minutes with
//! `GANNET_TEST_SOAK=1` (`GANNET_TEST_SOAK_MINUTES` sets another time). Real pages come from the file that
//! `GANNET_TEST_PAGES` names: one JSON object with an `html` field per line, compressed with zstd.

mod faults;
mod record;
mod site;
mod work;

use self::work::Work;
use crate::scrape;
use crate::webhooks::Receiver;
use faults::Faults;
use record::Record;
use site::SoakSite;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::TempDir;

fn is_long() -> bool {
    std::env::var_os("GANNET_TEST_SOAK").is_some()
}

/// How long the test runs, and how often something breaks.
fn schedule() -> (Duration, Duration) {
    if !is_long() {
        return (Duration::from_secs(10), Duration::from_secs(3));
    }
    let minutes = std::env::var("GANNET_TEST_SOAK_MINUTES").ok().and_then(|text| text.parse().ok());
    (Duration::from_mins(minutes.unwrap_or(40)), Duration::from_secs(20))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mixed_work_survives_a_fault_every_few_seconds() {
    let (duration, between_faults) = schedule();
    let dir = TempDir::new();
    let (site, receiver) = (Arc::new(SoakSite::start()), Arc::new(Receiver::start()));
    let config = scrape::config(&dir)
        .set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8")
        .set("webhook_retries", "1s,2s,4s,8s,16s")
        .set("webhook_timeout", "2s");
    let server = config.start().await;
    let work = Work::start(&server.http, &site, &receiver);
    let mut faults = Faults::new(&server, &site, &dir);
    let (mut record, began) = (Record::new(&server, &dir), Instant::now());
    let mut next_fault = began + between_faults;
    while began.elapsed() < duration {
        if Instant::now() >= next_fault {
            let fault = faults.inject().await;
            let recovered = work.wait_for_recovery(&server.http, &site).await;
            println!("{:5.0} s  {fault}: works again after {recovered:.1?}", began.elapsed().as_secs_f64());
            next_fault += between_faults;
        }
        record.note();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let done = work.finish(&server.http, &receiver).await;
    println!("{done}");
    if is_long() {
        record.is_level();
    }
    let log = server.log();
    let panics: Vec<&str> = log.lines().filter(|line| line.contains("panicked")).collect();
    assert!(panics.is_empty(), "{panics:?}");
    let (code, took, _) = server.terminate();
    assert_eq!(code, Some(0), "stopped after {took:?}");
}
