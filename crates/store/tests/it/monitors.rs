//! Monitors: each firing becomes one check, each page and end is written once, and nothing is left of what was
//! deleted.

use crate::ground::{HOUR, NOW, TestStore, number, team};
use std::time::Duration;
use store::Store;
use store::credits::NewReservation;
use store::monitors::{
    CheckCause, CheckEnd, CheckLease, CheckPageStatus, CheckState, ClaimedCheck, Fired, Firing, Monitor,
    MonitorSnapshot, MonitorState, MonitorUpdate, NewCheck, NewCheckPage, NewMonitor, Recipient,
    RecipientStatus, RequestedCheck, RewrittenSnapshot, SnapshotChange, UpdatedMonitor,
};
use store::webhooks::NewDelivery;
use store::work::LeaseStatus;
use uuid::Uuid;

const LONG_AGO: i64 = 1_000;

on_both!(
    a_monitor_is_read_as_it_was_written,
    changes_that_race_do_not_overwrite_each_other,
    a_firing_becomes_one_check,
    a_firing_during_a_check_is_skipped,
    a_check_on_request_needs_an_active_and_idle_monitor,
    teams_take_turns,
    a_page_is_written_once_with_its_snapshot_and_webhooks,
    credits_are_charged_once_with_their_page,
    a_lost_lease_writes_nothing,
    an_end_is_kept_and_the_next_check_can_start,
    a_deleted_monitor_leaves_nothing,
    old_checks_go_and_the_last_one_stays,
    recipients_keep_their_status,
    recipients_are_written_with_their_monitor,
    who_unsubscribed_stays_unsubscribed,
    what_was_told_is_found_by_time,
    links_open_monitors_and_checks_until_they_are_deleted,
);

pub fn new_monitor(team_id: Uuid) -> NewMonitor {
    NewMonitor {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        request: "{\"name\":\"secret words\"}".to_owned(),
        next_run_at: LONG_AGO,
        retain_for: HOUR,
        recipients: Vec::new(),
        deliveries: Vec::new(),
    }
}

pub async fn create(store: &dyn Store, team: Uuid) -> Uuid {
    let monitor = new_monitor(team);
    let id = monitor.id;
    store.create_monitor(monitor).await.unwrap();
    id
}

pub fn new_check() -> NewCheck {
    NewCheck { id: Uuid::now_v7(), estimated_credits: 3 }
}

fn reservation(team_id: Uuid, amount: i64, allowance: Option<i64>) -> NewReservation {
    NewReservation { team_id, key_id: None, amount, allowance, purpose: "monitor".into(), hold_for: HOUR }
}

fn firing(monitor: Uuid, due_at: i64) -> Firing {
    Firing { monitor, due_at, next_run_at: Some(due_at + 1), check: new_check() }
}

async fn claim_one(store: &dyn Store) -> ClaimedCheck {
    let mut claimed = store.claim_checks(Uuid::now_v7(), 1, HOUR).await.unwrap();
    claimed.pop().expect("a check waits")
}

pub fn delivery(team_id: Uuid, subject: Uuid) -> NewDelivery {
    let event = "monitor.page".to_owned();
    NewDelivery {
        id: Uuid::now_v7(),
        team_id,
        subject,
        event,
        target: "{}".into(),
        body: vec![1],
        document: None,
        not_before: None,
    }
}

pub fn page(key: u8, status: CheckPageStatus) -> NewCheckPage {
    let (snapshot, deliveries) = (SnapshotChange::Keep, Vec::new());
    NewCheckPage {
        id: Uuid::now_v7(),
        key: [key; 32],
        status,
        credits: 1,
        reservation: None,
        body: vec![key],
        snapshot,
        deliveries,
    }
}

pub fn end(state: CheckState) -> CheckEnd {
    CheckEnd {
        state,
        credits: 2,
        reservation: None,
        result: "{}".into(),
        summary: "{\"same\":1}".into(),
        told: false,
        deliveries: Vec::new(),
    }
}

async fn find(ground: &TestStore, monitor: Uuid) -> Monitor {
    ground.store.monitor(ground.team, monitor).await.unwrap().expect("the monitor is there")
}

async fn a_monitor_is_read_as_it_was_written(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let (first, second) = (create(store, team_id).await, create(store, team_id).await);
    let found = find(&ground, first).await;
    assert_eq!(found.request, "{\"name\":\"secret words\"}");
    assert_eq!((found.state, found.version, found.next_run_at), (MonitorState::Active, 1, Some(LONG_AGO)));
    let listed = store.monitors(team_id, 10, 0).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [second, first]);
    assert_eq!(store.monitors(team_id, 1, 1).await.unwrap()[0].id, first);
    let stranger = team(store, "free").await;
    assert!(store.monitor(stranger, first).await.unwrap().is_none());
    assert!(!store.delete_monitor(stranger, first).await.unwrap());
    let shown = format!("{found:?}");
    assert!(!shown.contains("secret words"), "requests hold secrets: {shown}");
}

async fn changes_that_race_do_not_overwrite_each_other(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    let update = |version, request: &str| MonitorUpdate {
        version,
        request: request.to_owned(),
        state: MonitorState::Paused,
        next_run_at: None,
        retain_for: HOUR,
        recipients: None,
        deliveries: Vec::new(),
    };
    assert_eq!(
        store.update_monitor(team_id, monitor, update(1, "a")).await.unwrap(),
        UpdatedMonitor::Updated
    );
    assert_eq!(
        store.update_monitor(team_id, monitor, update(1, "b")).await.unwrap(),
        UpdatedMonitor::Conflict
    );
    let found = find(&ground, monitor).await;
    assert_eq!((found.request.as_str(), found.state, found.version), ("a", MonitorState::Paused, 2));
    assert_eq!(found.next_run_at, None);
    let stranger = team(store, "free").await;
    assert_eq!(
        store.update_monitor(stranger, monitor, update(2, "c")).await.unwrap(),
        UpdatedMonitor::NotFound
    );
}

async fn a_firing_becomes_one_check(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    let due = store.due_monitors(1_000).await.unwrap();
    assert!(due.iter().any(|one| one.id == monitor), "it is due");
    // Many processes see the same firing.
    let tries: Vec<_> = (0..8)
        .map(|_| {
            let store = ground.store.clone();
            tokio::spawn(async move { store.fire_monitor(firing(monitor, LONG_AGO)).await.unwrap() })
        })
        .collect();
    let mut fired = Vec::new();
    for one in tries {
        fired.push(one.await.unwrap());
    }
    assert_eq!(fired.iter().filter(|one| **one == Fired::Queued).count(), 1, "{fired:?}");
    assert!(fired.iter().all(|one| matches!(one, Fired::Queued | Fired::NotDue)), "{fired:?}");
    let checks = store.checks(monitor, None, 10, 0).await.unwrap();
    assert_eq!(checks.len(), 1);
    assert_eq!((checks[0].state, checks[0].cause), (CheckState::Queued, CheckCause::Schedule));
    assert_eq!((checks[0].scheduled_for, checks[0].estimated_credits), (LONG_AGO, 3));
    let found = find(&ground, monitor).await;
    assert_eq!((found.next_run_at, found.current_check), (Some(LONG_AGO + 1), Some(checks[0].id)));
}

async fn a_firing_during_a_check_is_skipped(ground: TestStore) {
    let store = &*ground.store;
    let monitor = create(store, ground.team).await;
    assert_eq!(store.fire_monitor(firing(monitor, LONG_AGO)).await.unwrap(), Fired::Queued);
    assert_eq!(store.fire_monitor(firing(monitor, LONG_AGO + 1)).await.unwrap(), Fired::SkippedOverlap);
    let skipped = store.checks(monitor, Some(CheckState::SkippedOverlap), 10, 0).await.unwrap();
    assert_eq!(skipped.len(), 1);
    assert!(skipped[0].finished_at.is_some());
    assert_eq!(store.checks(monitor, None, 10, 0).await.unwrap().len(), 2);
}

async fn a_check_on_request_needs_an_active_and_idle_monitor(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    let request = |team| store.request_check(team, monitor, new_check());
    assert_eq!(request(team(store, "free").await).await.unwrap(), RequestedCheck::NotFound);
    assert_eq!(request(team_id).await.unwrap(), RequestedCheck::Queued);
    assert_eq!(request(team_id).await.unwrap(), RequestedCheck::AlreadyRunning);
    let check = find(&ground, monitor).await.current_check.unwrap();
    assert_eq!(store.check(monitor, check).await.unwrap().unwrap().cause, CheckCause::Request);
    let paused = create(store, team_id).await;
    let update = MonitorUpdate {
        version: 1,
        request: String::new(),
        state: MonitorState::Paused,
        next_run_at: None,
        retain_for: HOUR,
        recipients: None,
        deliveries: Vec::new(),
    };
    store.update_monitor(team_id, paused, update).await.unwrap();
    assert_eq!(store.request_check(team_id, paused, new_check()).await.unwrap(), RequestedCheck::Paused);
}

async fn teams_take_turns(ground: TestStore) {
    let (store, other) = (&*ground.store, team(&*ground.store, "free").await);
    for _ in 0..3 {
        let monitor = create(store, ground.team).await;
        store.request_check(ground.team, monitor, new_check()).await.unwrap();
    }
    let monitor = create(store, other).await;
    store.request_check(other, monitor, new_check()).await.unwrap();
    // The databases of these tests may be shared: only the two teams count.
    let claimed = store.claim_checks(Uuid::now_v7(), 1_000, HOUR).await.unwrap();
    let ours: Vec<Uuid> = claimed
        .iter()
        .map(|one| one.monitor.team_id)
        .filter(|id| [ground.team, other].contains(id))
        .collect();
    assert_eq!(ours.len(), 4);
    assert!(
        store.claim_checks(Uuid::now_v7(), 10, HOUR).await.unwrap().is_empty(),
        "each is handed out once"
    );
}

async fn a_page_is_written_once_with_its_snapshot_and_webhooks(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    store.request_check(team_id, monitor, new_check()).await.unwrap();
    let ClaimedCheck { lease, monitor: claimed, .. } = claim_one(store).await;
    assert_eq!((claimed.id, claimed.request.as_str()), (monitor, "{\"name\":\"secret words\"}"));
    let target = Uuid::now_v7();
    let snapshot =
        |body: &[u8]| SnapshotChange::Replace { target, url: "https://a.test/".into(), body: body.to_vec() };
    let changed = |body: &[u8]| NewCheckPage {
        snapshot: snapshot(body),
        deliveries: vec![delivery(team_id, lease.check)],
        ..page(1, CheckPageStatus::Changed)
    };
    assert!(store.write_check_page(&lease, changed(b"first")).await.unwrap());
    assert!(store.write_check_page(&lease, changed(b"second")).await.unwrap(), "known, and nothing happens");
    let kept = store.monitor_snapshot(monitor, &[1; 32]).await.unwrap().unwrap();
    assert_eq!(kept.body, b"first");
    let rewrite = async |team| store.rewrite_snapshot(team, monitor, &[1; 32], &kept, vec![9]).await.unwrap();
    assert_eq!(rewrite(team_id).await, RewrittenSnapshot::CheckRunning, "its check writes it");
    assert_eq!(rewrite(Uuid::now_v7()).await, RewrittenSnapshot::NotFound);
    let sent = store.claim_deliveries(1_000, HOUR).await.unwrap();
    assert_eq!(sent.iter().filter(|(_, one)| one.subject == lease.check).count(), 1);
    assert!(store.write_check_page(&lease, page(2, CheckPageStatus::Same)).await.unwrap());
    let known = store.known_pages(monitor, target, 10).await.unwrap();
    assert_eq!((known.len(), known[0].url.as_str()), (1, "https://a.test/"));
    let written = store.written_pages(lease.check).await.unwrap();
    assert_eq!(written.len(), 2);
    let pages = store.check_pages(lease.check, None, 10, 0).await.unwrap();
    assert_eq!(
        pages.iter().map(|page| page.status).collect::<Vec<_>>(),
        [CheckPageStatus::Changed, CheckPageStatus::Same]
    );
    let same = store.check_pages(lease.check, Some(CheckPageStatus::Same), 10, 0).await.unwrap();
    assert_eq!((same.len(), same[0].body.as_slice()), (1, [2].as_slice()));
    assert_eq!(store.check_pages(lease.check, None, 10, 1).await.unwrap().len(), 1);
    let gone = NewCheckPage { snapshot: SnapshotChange::Delete, ..page(3, CheckPageStatus::Removed) };
    assert!(store.write_check_page(&lease, NewCheckPage { key: [1; 32], ..gone.clone() }).await.unwrap());
    assert!(
        store.monitor_snapshot(monitor, &[1; 32]).await.unwrap().is_some(),
        "that page was written before"
    );
    assert!(store.write_check_page(&lease, gone).await.unwrap());
}

async fn credits_are_charged_once_with_their_page(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    create(store, team_id).await;
    let monitor = create(store, team_id).await;
    store.request_check(team_id, monitor, new_check()).await.unwrap();
    let lease = claim_one(store).await.lease;
    let balance = async || {
        let balance = store.balance(team_id).await.unwrap();
        (balance.used, balance.reserved)
    };
    let reservation = store.reserve(reservation(team_id, 3, Some(10))).await.unwrap();
    let paid = |key, credits| NewCheckPage { credits, reservation, ..page(key, CheckPageStatus::Same) };
    store.write_check_page(&lease, paid(1, 2)).await.unwrap();
    store.write_check_page(&lease, paid(1, 2)).await.unwrap();
    assert_eq!(balance().await, (2, 1), "the same page again costs nothing");
    store.write_check_page(&lease, paid(2, 4)).await.unwrap();
    assert_eq!(balance().await, (6, 0), "more than was set aside is charged too");
    store.write_check_page(&lease, NewCheckPage { reservation: None, ..paid(3, 1) }).await.unwrap();
    assert_eq!(balance().await, (7, 0));
    let other = store.reserve(self::reservation(team_id, 3, Some(10))).await.unwrap();
    assert!(
        store.end_check(&lease, CheckEnd { reservation: other, ..end(CheckState::Completed) }).await.unwrap()
    );
    assert_eq!(balance().await, (7, 0), "the end releases the rest");
}

async fn a_lost_lease_writes_nothing(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    store.request_check(team_id, monitor, new_check()).await.unwrap();
    let mut claimed = store.claim_checks(Uuid::now_v7(), 1, NOW).await.unwrap();
    let lost = claimed.pop().expect("a check waits").lease;
    assert!(store.sweep_checks().await.unwrap() >= 1);
    let ClaimedCheck { lease: held, check, .. } = claim_one(store).await;
    assert_eq!((held.check, check.lost_leases), (lost.check, 1));
    assert!(!store.write_check_page(&lost, page(1, CheckPageStatus::New)).await.unwrap());
    assert!(!store.end_check(&lost, end(CheckState::Completed)).await.unwrap());
    assert!(!store.hand_back_check(&lost).await.unwrap());
    let statuses = store.keep_checks(&[lost, held], HOUR).await.unwrap();
    assert_eq!(statuses, [LeaseStatus::Lost, LeaseStatus::Held]);
    assert!(store.hand_back_check(&held).await.unwrap());
    let again = claim_one(store).await;
    assert_eq!((again.lease.check, again.check.lost_leases), (held.check, 1), "handed back is not lost");
    assert!(again.lease.number > held.number);
}

async fn an_end_is_kept_and_the_next_check_can_start(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    store.request_check(team_id, monitor, new_check()).await.unwrap();
    let lease = claim_one(store).await.lease;
    let snapshot =
        SnapshotChange::Replace { target: Uuid::now_v7(), url: "https://a.test/".into(), body: vec![1] };
    store.write_check_page(&lease, NewCheckPage { snapshot, ..page(1, CheckPageStatus::New) }).await.unwrap();
    let with_webhook =
        CheckEnd { deliveries: vec![delivery(team_id, lease.check)], ..end(CheckState::Partial) };
    assert!(store.end_check(&lease, with_webhook.clone()).await.unwrap());
    assert!(!store.end_check(&lease, with_webhook).await.unwrap(), "it ends once");
    let check = store.check(monitor, lease.check).await.unwrap().unwrap();
    assert_eq!((check.state, check.credits), (CheckState::Partial, 2));
    assert!(check.finished_at.is_some() && check.started_at.is_some());
    let found = find(&ground, monitor).await;
    assert_eq!((found.current_check, found.last_summary.as_deref()), (None, Some("{\"same\":1}")));
    assert!(found.last_run_at.is_some());
    let kept = store.monitor_snapshot(monitor, &[1; 32]).await.unwrap().unwrap();
    let rewrite =
        async |read| store.rewrite_snapshot(team_id, monitor, &[1; 32], read, vec![9]).await.unwrap();
    let older = MonitorSnapshot { taken_at: kept.taken_at - 1, ..kept.clone() };
    assert_eq!(rewrite(&older).await, RewrittenSnapshot::CheckRunning, "another one was written since");
    assert_eq!(rewrite(&kept).await, RewrittenSnapshot::Rewritten);
    assert_eq!(store.monitor_snapshot(monitor, &[1; 32]).await.unwrap().unwrap().body, [9]);
    assert_eq!(store.request_check(team_id, monitor, new_check()).await.unwrap(), RequestedCheck::Queued);
    let misuse = store.end_check(&lease, end(CheckState::Running)).await;
    assert!(misuse.is_err());
}

async fn a_deleted_monitor_leaves_nothing(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    store.request_check(team_id, monitor, new_check()).await.unwrap();
    let lease = claim_one(store).await.lease;
    let target = Uuid::now_v7();
    let snapshot = SnapshotChange::Replace { target, url: "https://a.test/".into(), body: vec![1] };
    store.write_check_page(&lease, NewCheckPage { snapshot, ..page(1, CheckPageStatus::New) }).await.unwrap();
    store.set_recipients(monitor, vec![recipient("a@b.test", 1)]).await.unwrap();
    assert!(store.delete_monitor(team_id, monitor).await.unwrap());
    assert!(!store.delete_monitor(team_id, monitor).await.unwrap());
    assert!(store.monitor(team_id, monitor).await.unwrap().is_none());
    // In the middle of its check.
    assert!(!store.write_check_page(&lease, page(2, CheckPageStatus::New)).await.unwrap());
    assert!(!store.end_check(&lease, end(CheckState::Completed)).await.unwrap());
    while store.purge_monitors(2).await.unwrap() > 0 {}
    for count in [
        "SELECT CAST(count(*) AS BIGINT) FROM monitors WHERE state = 2",
        "SELECT CAST(count(*) AS BIGINT) FROM monitor_checks c WHERE NOT EXISTS (SELECT 1 FROM monitors m WHERE m.id = c.monitor_id)",
        "SELECT CAST(count(*) AS BIGINT) FROM monitor_pages p WHERE NOT EXISTS (SELECT 1 FROM monitor_checks c WHERE c.id = p.check_id)",
        "SELECT CAST(count(*) AS BIGINT) FROM monitor_snapshots s WHERE NOT EXISTS (SELECT 1 FROM monitors m WHERE m.id = s.monitor_id)",
        "SELECT CAST(count(*) AS BIGINT) FROM monitor_recipients r WHERE NOT EXISTS (SELECT 1 FROM monitors m WHERE m.id = r.monitor_id)",
    ] {
        assert_eq!(number(&ground.url, count).await, 0, "{count}");
    }
}

async fn old_checks_go_and_the_last_one_stays(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let short = NewMonitor { retain_for: NOW, ..new_monitor(team_id) };
    let monitor = short.id;
    store.create_monitor(short).await.unwrap();
    let mut leases: Vec<CheckLease> = Vec::new();
    for _ in 0..3 {
        store.request_check(team_id, monitor, new_check()).await.unwrap();
        let lease = claim_one(store).await.lease;
        store.write_check_page(&lease, page(1, CheckPageStatus::Same)).await.unwrap();
        store.end_check(&lease, end(CheckState::Completed)).await.unwrap();
        leases.push(lease);
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    while store.purge_monitors(100).await.unwrap() > 0 {}
    let left = store.checks(monitor, None, 10, 0).await.unwrap();
    assert_eq!(left.iter().map(|check| check.id).collect::<Vec<_>>(), [leases[2].check]);
    assert_eq!(store.check_pages(leases[2].check, None, 10, 0).await.unwrap().len(), 1);
    assert!(store.check_pages(leases[0].check, None, 10, 0).await.unwrap().is_empty());
}

fn recipient(email: &str, token: u8) -> Recipient {
    let mut token_hash = [0; 32];
    token_hash[..16].copy_from_slice(Uuid::now_v7().as_bytes());
    token_hash[31] = token;
    Recipient { email: email.to_owned(), status: RecipientStatus::Pending, is_of_team: false, token_hash }
}

async fn recipients_keep_their_status(ground: TestStore) {
    let store = &*ground.store;
    let monitor = create(store, ground.team).await;
    let (ann, bob) = (recipient("ann@a.test", 1), recipient("bob@a.test", 2));
    store.set_recipients(monitor, vec![ann.clone(), bob.clone()]).await.unwrap();
    assert!(store.set_recipient_status(&ann.token_hash, RecipientStatus::Confirmed).await.unwrap());
    assert!(!store.set_recipient_status(&[9; 32], RecipientStatus::Confirmed).await.unwrap());
    let carl = recipient("carl@a.test", 3);
    store.set_recipients(monitor, vec![recipient("ann@a.test", 4), carl.clone()]).await.unwrap();
    let found = store.recipients(monitor).await.unwrap();
    let confirmed = Recipient { status: RecipientStatus::Confirmed, ..ann };
    assert_eq!(found, [confirmed, carl], "who was there keeps the token of their mails");
}

async fn recipients_are_written_with_their_monitor(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let (ann, bob) = (recipient("ann@a.test", 1), recipient("bob@a.test", 2));
    let confirm = delivery(team_id, Uuid::now_v7());
    let new = NewMonitor {
        recipients: vec![ann.clone()],
        deliveries: vec![confirm.clone()],
        ..new_monitor(team_id)
    };
    let monitor = new.id;
    store.create_monitor(new).await.unwrap();
    assert_eq!(store.recipients(monitor).await.unwrap(), std::slice::from_ref(&ann));
    assert_eq!(store.recipient(&ann.token_hash).await.unwrap(), Some((monitor, ann.clone())));
    assert_eq!(store.recipient(&[7; 32]).await.unwrap(), None);
    let claimed = store.claim_deliveries(9, HOUR).await.unwrap();
    assert_eq!(claimed.iter().map(|(lease, _)| lease.delivery).collect::<Vec<_>>(), [confirm.id]);
    let more = delivery(team_id, Uuid::now_v7());
    let update = |version, recipients| MonitorUpdate {
        version,
        request: String::new(),
        state: MonitorState::Active,
        next_run_at: None,
        retain_for: HOUR,
        recipients,
        deliveries: vec![more.clone()],
    };
    let lost = store.update_monitor(team_id, monitor, update(7, Some(Vec::new()))).await.unwrap();
    assert_eq!(lost, UpdatedMonitor::Conflict);
    assert_eq!(
        store.recipients(monitor).await.unwrap(),
        std::slice::from_ref(&ann),
        "a change that lost changes nothing"
    );
    assert!(store.claim_deliveries(9, HOUR).await.unwrap().is_empty(), "and sends nothing");
    store.update_monitor(team_id, monitor, update(1, Some(vec![bob.clone()]))).await.unwrap();
    assert_eq!(store.recipients(monitor).await.unwrap(), std::slice::from_ref(&bob));
    store.update_monitor(team_id, monitor, update(2, None)).await.unwrap();
    assert_eq!(store.recipients(monitor).await.unwrap(), [bob]);
    assert_eq!(store.claim_deliveries(9, HOUR).await.unwrap().len(), 1, "the same delivery is written once");
}

async fn who_unsubscribed_stays_unsubscribed(ground: TestStore) {
    let store = &*ground.store;
    let monitor = create(store, ground.team).await;
    let ann = recipient("ann@a.test", 1);
    store.set_recipients(monitor, vec![ann.clone()]).await.unwrap();
    store.set_recipient_status(&ann.token_hash, RecipientStatus::Unsubscribed).await.unwrap();
    store.set_recipients(monitor, Vec::new()).await.unwrap();
    store.set_recipients(monitor, vec![recipient("ann@a.test", 2)]).await.unwrap();
    let found = store.recipients(monitor).await.unwrap();
    assert_eq!(found, [Recipient { status: RecipientStatus::Unsubscribed, ..ann }]);
}

async fn what_was_told_is_found_by_time(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    let mut told = Vec::new();
    for number in 0..4 {
        store.request_check(team_id, monitor, new_check()).await.unwrap();
        let lease = claim_one(store).await.lease;
        let told_now = number % 2 == 0;
        store.end_check(&lease, CheckEnd { told: told_now, ..end(CheckState::Completed) }).await.unwrap();
        if told_now {
            told.insert(0, lease.check);
        }
    }
    let ids = async |ended, limit| {
        let found = store.told_checks(monitor, ended, limit).await.unwrap();
        found.iter().map(|check| check.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0..=i64::MAX, 10).await, told);
    assert_eq!(ids(0..=i64::MAX, 1).await, told[..1]);
    assert!(ids(0..=LONG_AGO, 10).await.is_empty());
}

async fn links_open_monitors_and_checks_until_they_are_deleted(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let monitor = create(store, team_id).await;
    let check = new_check();
    store.request_check(team_id, monitor, check).await.unwrap();
    let found = store.linked_monitor(monitor).await.unwrap().unwrap();
    assert_eq!((found.team_id, found.request.contains("secret words")), (team_id, true));
    assert_eq!(store.linked_check(check.id).await.unwrap().unwrap().monitor_id, monitor);
    assert!(store.linked_check(monitor).await.unwrap().is_none());
    store.delete_monitor(team_id, monitor).await.unwrap();
    assert!(store.linked_monitor(monitor).await.unwrap().is_none());
}
