//! Browsers start when they are needed and end when they are not, and leave nothing behind: not after a
//! crash, not after `kill -9`, not after many visits.

use crate::site::{
    ScriptedResolver, Site, browser_folder, browsers_with, fetcher, filled, settings, visit, within,
};
use gannet_browser::{BrowserSettings, Browsers, Visit, VisitError};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const CHILD_FOLDER_VARIABLE: &str = "GANNET_TEST_BROWSER_FOLDER";

/// Processes that are not zombies: id, group, command line.
fn processes() -> Vec<(i32, i32, String)> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter_map(|number| {
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            let state = fields.next()?;
            let group = fields.nth(1)?.parse().ok()?;
            let line = fs::read(format!("/proc/{number}/cmdline")).ok()?;
            (state != "Z").then(|| (number, group, String::from_utf8_lossy(&line).replace('\0', " ")))
        })
        .collect()
}

/// The browser that keeps its files in `folder`.
fn browser_in(folder: &Path) -> i32 {
    let folder = folder.to_str().unwrap();
    let found =
        processes().into_iter().find(|(number, group, line)| number == group && line.contains(folder));
    found.expect("a browser runs").0
}

fn processes_of_group(group: i32) -> Vec<(i32, i32, String)> {
    processes().into_iter().filter(|(_, of, _)| *of == group).collect()
}

fn kill(number: i32) {
    let _ = kill_process(Pid::from_raw(number).unwrap(), Signal::KILL);
}

async fn wait_until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Not a test: the process that the next test kills.
#[tokio::test(flavor = "multi_thread")]
async fn child_that_is_killed() {
    let Some(folder) = std::env::var_os(CHILD_FOLDER_VARIABLE) else { return };
    let site = Site::new(|_, _| {
        filled("<script>new Worker(URL.createObjectURL(new Blob(['for (;;) {}'])))</script>")
    })
    .await;
    let browsers = browsers_with(BrowserSettings { folder: Some(folder.into()), ..settings() });
    let page = visit(&browsers, site.url("/")).await.unwrap();
    assert_eq!(page.status, Some(200));
    // A visit is in progress when it is killed.
    let stuck = Site::raw("127.0.0.1:0", |stream| async move {
        sleep(Duration::from_mins(2)).await;
        drop(stream);
    })
    .await;
    println!("visited");
    let _ = browsers.visit(Visit::new(stuck.url("/")), within(100)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_no_process_and_the_next_one_removes_its_files() {
    let folder = browser_folder();
    let mut helper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lifecycle::child_that_is_killed", "--nocapture"])
        .env(CHILD_FOLDER_VARIABLE, folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(helper.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("visited")), "the helper did not get so far");
    sleep(Duration::from_millis(300)).await;
    let browser = browser_in(folder.path());
    assert!(processes_of_group(browser).len() > 3, "{:?}", processes_of_group(browser));
    helper.kill().unwrap();
    helper.wait().unwrap();
    wait_until("all processes end", Duration::from_secs(10), || processes_of_group(browser).is_empty()).await;
    assert!(entries(folder.path()) >= 2, "what a killed server leaves: a folder and its lock");

    let site = Site::new(|_, _| filled("")).await;
    let browsers = browsers_with(BrowserSettings { folder: Some(folder.path().into()), ..settings() });
    visit(&browsers, site.url("/")).await.unwrap();
    assert_eq!(entries(folder.path()), 2, "only its own folder and lock");
    browsers.shut_down().await;
    assert_eq!(entries(folder.path()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_browser_is_reported_at_once_and_replaced() {
    let folder = browser_folder();
    let stuck = Site::raw("127.0.0.1:0", |stream| async move {
        sleep(Duration::from_mins(2)).await;
        drop(stream);
    })
    .await;
    let site = Site::new(|_, _| filled("well")).await;
    let browsers = browsers_with(BrowserSettings { folder: Some(folder.path().into()), ..settings() });
    visit(&browsers, site.url("/")).await.unwrap();
    let pending = {
        let (browsers, url) = (browsers.clone(), stuck.url("/"));
        tokio::spawn(async move { browsers.visit(Visit::new(url), within(60)).await })
    };
    wait_until("the visit is under way", Duration::from_secs(10), || stuck.connections() > 0).await;
    let first = browser_in(folder.path());
    kill(first);
    let killed = Instant::now();
    let error = pending.await.unwrap().unwrap_err();
    assert_eq!(error, VisitError::Died);
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    let page = visit(&browsers, site.url("/")).await.unwrap();
    assert!(page.html.contains("well"));
    assert_ne!(browser_in(folder.path()), first);
    wait_until("the dead one is cleared away", Duration::from_secs(10), || {
        processes_of_group(first).is_empty()
    })
    .await;

    // A page whose own process is killed fails alone; the browser survives.
    let pending = {
        let (browsers, url) = (browsers.clone(), site.url("/"));
        let mut asked = Visit::new(url);
        asked.wait_for = Duration::from_secs(30);
        tokio::spawn(async move { browsers.visit(asked, within(60)).await })
    };
    wait_until("the page is there", Duration::from_secs(10), || browsers.status().pages_open > 0).await;
    sleep(Duration::from_millis(1500)).await;
    let second = browser_in(folder.path());
    for (number, _, line) in processes_of_group(second) {
        if line.contains("--type=renderer") {
            kill(number);
        }
    }
    let killed = Instant::now();
    assert_eq!(pending.await.unwrap().unwrap_err(), VisitError::RendererCrashed);
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    assert!(visit(&browsers, site.url("/")).await.is_ok());
    assert_eq!(browser_in(folder.path()), second);
    let status = browsers.status();
    assert_eq!((status.deaths, status.crashes, status.starts), (1, 1, 2), "{status:?}");
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_replaced_after_their_pages_and_end_when_idle() {
    let site = Site::new(|_, _| filled("")).await;
    let limits =
        BrowserSettings { recycle_after_pages: 2, idle_shutdown: Duration::from_secs(4), ..settings() };
    let browsers = browsers_with(limits);
    for _ in 0..5 {
        visit(&browsers, site.url("/")).await.unwrap();
    }
    assert_eq!(browsers.status().starts, 3);
    wait_until("idle browsers end", Duration::from_secs(15), || {
        let status = browsers.status();
        status.processes + status.orphans == 0
    })
    .await;
    visit(&browsers, site.url("/")).await.unwrap();
    assert_eq!(browsers.status().starts, 4);

    // A browser that uses too much memory is replaced as well.
    let small = browsers_with(BrowserSettings { recycle_above_bytes: 1 << 20, ..settings() });
    for round in 1..=2 {
        let _ = visit(&small, site.url("/")).await;
        wait_until("it is given up", Duration::from_secs(15), || small.status().browsers == 0).await;
        assert_eq!(small.status().starts, round);
    }
    small.shut_down().await;
    browsers.shut_down().await;
    assert!(visit(&browsers, site.url("/")).await.is_err(), "after the end nothing is started");
    assert_eq!(browsers.status().processes, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn places_are_bounded_and_given_back_by_visits_that_are_abandoned() {
    let stuck = Site::raw("127.0.0.1:0", |stream| async move {
        sleep(Duration::from_mins(2)).await;
        drop(stream);
    })
    .await;
    let site = Site::new(|_, _| filled("")).await;
    let browsers = browsers_with(BrowserSettings { max_pages: 1, ..settings() });
    let abandoned = {
        let (browsers, url) = (browsers.clone(), stuck.url("/"));
        tokio::spawn(async move { browsers.visit(Visit::new(url), within(60)).await })
    };
    wait_until("it is under way", Duration::from_secs(20), || stuck.connections() > 0).await;
    let busy = browsers.visit(Visit::new(site.url("/")), within(1)).await;
    assert!(matches!(busy, Err(VisitError::Busy)), "{busy:?}");
    abandoned.abort();
    assert!(visit(&browsers, site.url("/")).await.is_ok());
    // A page that never responds costs its own deadline and no more.
    let started = Instant::now();
    let late = browsers.visit(Visit::new(stuck.url("/")), within(3)).await;
    assert!(matches!(late, Err(VisitError::Timeout { .. })), "{late:?}");
    assert!(started.elapsed() < Duration::from_millis(3500), "{:?}", started.elapsed());
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visit_talks_to_the_proxy_and_to_nobody_else() {
    let folder = browser_folder();
    let stuck = Site::raw("127.0.0.1:0", |stream| async move {
        sleep(Duration::from_mins(2)).await;
        drop(stream);
    })
    .await;
    // A request that stays open, so that there is something to observe.
    let open = format!("<script>new EventSource('http://site.example:{}/')</script>", stuck.port());
    let site = Site::new(move |_, _| filled(&format!("<input type=search>{open}"))).await;
    let names = ScriptedResolver::new(&[("site.example", &[&["127.0.0.1"]])]);
    let home = BrowserSettings { folder: Some(folder.path().into()), ..settings() };
    let browsers = Browsers::new(fetcher("scrape=127.0.0.0/8", &names), home);
    let mut asked = Visit::new(url::Url::parse(&format!("http://site.example:{}/", site.port())).unwrap());
    asked.wait_for = Duration::from_secs(2);
    let visiting = {
        let browsers = browsers.clone();
        tokio::spawn(async move { browsers.visit(asked, within(60)).await })
    };
    let mut peers = std::collections::BTreeSet::new();
    while !visiting.is_finished() {
        if let Some((browser, ..)) = processes()
            .into_iter()
            .find(|(number, group, line)| number == group && line.contains(folder.path().to_str().unwrap()))
        {
            peers.extend(processes_of_group(browser).iter().flat_map(|(number, ..)| remote_ends(*number)));
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(visiting.await.unwrap().unwrap().status, Some(200));
    assert_eq!(peers.len(), 1, "only the proxy: {peers:?}");
    assert!(peers.first().unwrap().starts_with("0100007F:"), "{peers:?}");
    assert!(names.asked().iter().all(|name| name == "site.example"), "{:?}", names.asked());
    browsers.shut_down().await;
}

/// The remote addresses of a process's sockets, as the kernel writes them.
fn remote_ends(number: i32) -> Vec<String> {
    let Ok(files) = fs::read_dir(format!("/proc/{number}/fd")) else { return Vec::new() };
    let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    let sockets: Vec<String> = links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut ends = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if let (Some(remote), Some(inode)) = (fields.get(2), fields.get(9))
                && sockets.iter().any(|socket| socket == inode)
            {
                ends.push((*remote).to_owned());
            }
        }
    }
    ends
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Many visits, four at a time; returns the private memory of the browser after each quarter.
async fn many_visits(browsers: &Browsers, site: &Site, visits: usize) -> Vec<u64> {
    let mut memory = Vec::new();
    for _ in 0..4 {
        let mut running = tokio::task::JoinSet::new();
        for lane in 0..4 {
            let (browsers, site) = (browsers.clone(), site.clone());
            running.spawn(async move {
                for number in 0..visits / 16 {
                    let page = visit(&browsers, site.url(&format!("/{lane}/{number}"))).await.unwrap();
                    assert!(page.html.contains("words and more"), "{}", page.html);
                }
            });
        }
        running.join_all().await;
        sleep(Duration::from_millis(700)).await;
        memory.push(browsers.status().private_bytes);
    }
    memory
}

#[tokio::test(flavor = "multi_thread")]
async fn many_visits_leave_nothing_behind() {
    let long = std::env::var_os("GANNET_TEST_SOAK").is_some();
    let site = Site::new(|_, _| filled("<script>globalThis.held = new Array(1e5).fill('x')</script>")).await;
    let browsers = browsers_with(BrowserSettings { recycle_after_pages: 100_000, ..settings() });
    visit(&browsers, site.url("/")).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    let (files, processes) = (open_files(), browsers.status().processes);
    let memory = many_visits(&browsers, &site, if long { 1000 } else { 64 }).await;
    println!("private memory by quarter: {memory:?}");
    let status = browsers.status();
    assert_eq!((status.failures, status.pages_open, status.starts), (0, 0, 1), "{status:?}");
    assert!(status.processes <= processes + 2, "{} then {}", processes, status.processes);
    // Other tests of this process run meanwhile, so only a leak that grows with the visits is detected.
    assert!(open_files() < files + 40, "{files} then {}", open_files());
    if long {
        assert!(memory[3] * 10 <= memory[1] * 11, "memory is not flat: {memory:?}");
    }
    browsers.shut_down().await;
    let status = browsers.status();
    assert_eq!((status.processes, status.orphans), (0, 0), "{status:?}");
}
