//! A monitor from its creation to its end, with a change that is judged.

use crate::{World, eventually, get, refused};
use firecrawl::{CreateMonitorRequest, MonitorCheckDetail, MonitorSchedule, UpdateMonitorRequest};
use serde_json::json;

pub async fn use_monitors(world: &World) {
    let client = &world.client;
    let monitor = get!(
        client,
        create_monitor(CreateMonitorRequest {
            name: "Chair".to_owned(),
            schedule: MonitorSchedule { cron: "17 3 1 1 *".to_owned(), timezone: None },
            targets: vec![json!({ "type": "scrape", "url": format!("{}/chair", world.changing) })],
            webhook: None,
            notification: None,
            retention_days: Some(7),
            goal: Some("the price".to_owned()),
            judge_enabled: None,
        })
    );
    assert!(monitor.judge_enabled && monitor.retention_days == 7, "{monitor:?}");
    assert_eq!(get!(client, get_monitor(&monitor.id)).name, "Chair");
    let listed = get!(client, list_monitors(Some(5), Some(0)));
    assert!(listed.iter().any(|one| one.id == monitor.id), "{listed:?}");

    let first = run(world, &monitor.id).await;
    assert_eq!((first.check.summary.new, first.pages[0].status.as_str()), (1, "new"), "{first:?}");
    set_price(world, 45).await;
    let second = run(world, &monitor.id).await;
    let page = &second.pages[0];
    assert_eq!(page.status, "changed", "{second:?}");
    let judgment = page.judgment.as_ref().expect("a judgment");
    assert!(judgment.meaningful && !judgment.fields.is_empty(), "{judgment:?}");
    assert!(
        page.diff.as_ref().is_some_and(|diff| diff.text.as_ref().is_some_and(|text| text.contains("45")))
    );
    let same = get!(
        client,
        get_monitor_check_page(&monitor.id, &second.check.id, Some(1), Some(0), Some("changed"))
    );
    assert_eq!(same.pages.len(), 1, "{same:?}");
    let checks = get!(client, list_monitor_checks(&monitor.id, Some(10), None));
    assert_eq!(checks.len(), 2, "{checks:?}");

    let change =
        UpdateMonitorRequest { status: Some("paused".to_owned()), ..UpdateMonitorRequest::default() };
    assert_eq!(get!(client, update_monitor(&monitor.id, change)).status, "paused");
    refused(crate::call!(client, run_monitor(&monitor.id)), "paused");
    assert!(get!(client, delete_monitor(&monitor.id)));
    refused(crate::call!(client, get_monitor(&monitor.id)), "Monitor not found");
}

/// Runs a check and waits for its end.
async fn run(world: &World, monitor: &str) -> MonitorCheckDetail {
    let client = &world.client;
    let check = get!(client, run_monitor(monitor)).id;
    eventually(async || {
        let detail = get!(client, get_monitor_check(monitor, &check, Some(10), None, None));
        (!["queued", "running"].contains(&detail.check.status.as_str())).then_some(detail)
    })
    .await
}

async fn set_price(world: &World, price: u32) {
    let answer = reqwest::Client::new().post(format!("{}/content", world.changing));
    let answer = answer.body(format!("<p>Price: {price} EUR</p>")).send().await.expect("the site");
    assert!(answer.status().is_success(), "{answer:?}");
}
