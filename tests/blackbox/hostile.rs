//! The hostile web through the real binary: every case gets its typed answer inside its time, the next page comes as if nothing
//! had happened, and nothing is left behind.

mod cases;
pub mod servers;

use crate::http::Http;
use crate::processes::{self, Process};
use crate::scrape::{House, scrape_as};
use cases::{Case, Expect};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{NameAnswer, NameServer};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const AT_ONCE: usize = 6;
/// What an answer may take beyond the time its request gave, on a machine that is busy.
const MARGIN: Duration = Duration::from_secs(8);

/// Names that lead to loopback; all others do not exist. Nothing is asked of the machine's own name servers.
fn names() -> NameServer {
    NameServer::start(|name, _| match name {
        name if name.ends_with(".example") && name.len() < 200 => NameAnswer::of(&["127.0.0.1"]),
        _ => NameAnswer::NoSuchName,
    })
}

/// Asks for one case; says what was wrong with the answer.
async fn try_case(http: &Http, case: &Case) -> Result<(), String> {
    let began = Instant::now();
    let reply = scrape_as(http, &case.url, case.options.clone()).await;
    let allowed = Duration::from_millis(case.options["timeout"].as_u64().unwrap_or(0)) + MARGIN;
    let took = began.elapsed();
    let shown = format!("{}: {} in {took:?}: {:.300}", case.name, reply.status, reply.text);
    if took > allowed {
        return Err(format!("too late: {shown}"));
    }
    let as_it_should = match case.expect {
        Expect::Fails(status, code) => {
            let error = reply.json["error"].as_str().unwrap_or_default();
            (reply.status, reply.json["code"].as_str()) == (status, Some(code))
                && reply.json["success"] == false
                && !error.is_empty()
        }
        Expect::Page(text) => {
            let markdown = reply.json["data"]["markdown"].as_str().unwrap_or_default();
            reply.status == 200 && markdown.contains(text)
        }
    };
    if as_it_should { Ok(()) } else { Err(format!("expected {:?}: {shown}", case.expect)) }
}

/// Tries all cases, a few at once, with a plain page after each; panics with everything that went wrong.
async fn try_all(house: &Arc<House>, cases: Vec<Case>) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for case in cases {
        let (house, places) = (Arc::clone(house), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            try_case(house.http(), &case).await?;
            let after = house.scrape("/article", json!({ "maxAge": 0, "fastMode": true })).await;
            if after.status == 200 { Ok(()) } else { Err(format!("after {}: {}", case.name, after.text)) }
        });
    }
    let mut wrong = Vec::new();
    while let Some(ended) = running.join_next().await {
        wrong.extend(ended.unwrap().err());
    }
    assert!(wrong.is_empty(), "{} cases went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn held(processes: &[Process]) -> (usize, u64) {
    let handles = processes.iter().map(Process::handles).sum();
    (handles, processes.iter().map(Process::memory_kb).sum::<u64>() / 1024)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hostile_server_gets_its_answer_and_leaves_nothing_behind() {
    let names = names();
    let house = Arc::new(House::with(|recipe| recipe.set("name_servers", &names.address.to_string())).await);
    house.document("/article", json!({})).await;
    let before = held(&processes::tree(house.server.pid()));
    let own = format!("{}/v2/openapi.json", house.http().base);
    let mut all = cases::heads().await;
    all.extend(cases::bodies().await);
    all.extend(cases::encodings().await);
    all.extend(cases::redirects(&own).await);
    all.extend(cases::tls().await);
    all.extend(cases::addresses().await);
    let servers = all.iter().filter(|case| case.url.contains("://127.0.0.1")).count();
    assert!(servers >= 60, "{servers} servers");
    try_all(&house, all).await;
    // What was told to come back is let go of; connections that are kept for the next page are few.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let tree = processes::tree(house.server.pid());
    assert_eq!(tree.len(), 1, "nothing was started for it: {tree:?}");
    let after = held(&tree);
    println!(
        "{servers} servers; handles {} then {}, memory {} MB then {} MB",
        before.0, after.0, before.1, after.1
    );
    assert!(after.0 <= before.0 + 64, "{} file handles became {}", before.0, after.0);
    assert!(after.1 <= before.1 + 200, "{} MB became {} MB", before.1, after.1);
}

/// Some sites break off with whoever is no browser, so a broken answer is given to one. It must end there as well.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_broken_over_http_ends_in_the_browser_too() {
    const ENDS: [&str; 3] = ["SCRAPE_SITE_ERROR", "SCRAPE_ALL_ENGINES_FAILED", "SCRAPE_TIMEOUT"];
    let house = Arc::new(House::open().await);
    let mut running = JoinSet::new();
    for (name, server) in [
        ("nothing at all", servers::saying("").await),
        ("HTTP/0.9", servers::saying("<html>no head before this</html>").await),
        ("a reset", servers::resetting("").await),
        (
            "a chunk of no size",
            servers::saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").await,
        ),
        (
            "gzip that is none",
            servers::saying("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain").await,
        ),
        ("a status that is no number", servers::saying("HTTP/1.1 abc OK\r\n\r\nbody").await),
    ] {
        let house = Arc::clone(&house);
        running.spawn(async move {
            let began = Instant::now();
            let options = json!({ "timeout": 15_000, "maxAge": 0 });
            let reply = scrape_as(house.http(), &server.url("/"), options).await;
            assert!(began.elapsed() < Duration::from_secs(15) + MARGIN, "{name}: {:?}", began.elapsed());
            let code = reply.json["code"].as_str().unwrap_or_default();
            assert!(ENDS.contains(&code), "{name}: {} {}", reply.status, reply.text);
            assert!(server.reached() > 1, "{name}: asked by hand and by the browser");
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    let page = house.document("/app", json!({ "maxAge": 0 })).await;
    assert_eq!(page["metadata"]["statusCode"], 200, "the next page that needs a browser has one: {page}");
    let tree = processes::tree(house.server.pid());
    assert!(tree.iter().any(Process::is_chromium) && tree.len() < 24, "{tree:?}");
    drop(house);
    processes::all_gone(&tree, Duration::from_secs(10));
}
