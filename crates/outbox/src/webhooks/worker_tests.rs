//! The worker for webhooks against receivers of every kind, on a real store.

use super::super::events::Events;
use super::super::receiver::{Receiver, Reply};
use super::super::signing_secrets;
use super::{DeliveryOptions, DeliveryWorker};
use crate::webhooks::Webhook;
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::audit_log::Actor;
use store::secrets::{SecretKey, SecretKeys};
use store::webhooks::{Delivery, NewDelivery};
use store::{Store, StoreOptions};
use testkit::TempDir;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use work::WorkSlots;

const RETRY: Duration = Duration::from_millis(40);

struct DeliveryFixture {
    store: Arc<dyn Store>,
    team: Uuid,
    _folder: TempDir,
}

impl DeliveryFixture {
    async fn new() -> Self {
        let folder = TempDir::new();
        let url = format!("sqlite:{}", folder.join("store.db").display());
        let keys = SecretKeys::new(SecretKey::random().unwrap());
        let store = store::open(&StoreOptions::new(url).with_secret_keys(keys)).await.unwrap();
        let name = "a team".to_owned();
        let new = store::keys::NewTeam {
            id: Uuid::now_v7(),
            name,
            plan: "free".into(),
            zero_data_retention: false,
        };
        let team = store.create_team(new).await.unwrap().id;
        Self { store, team, _folder: folder }
    }

    fn sender(&self) -> RunningWorker {
        self.sender_with(options(), "webhook=127.0.0.0/8")
    }

    fn sender_with(&self, options: DeliveryOptions, allow: &str) -> RunningWorker {
        self.sender_within(64, options, allow)
    }

    fn sender_within(&self, slots: usize, options: DeliveryOptions, allow: &str) -> RunningWorker {
        let policy = EgressPolicy::new(EgressAllow::parse(allow).unwrap());
        let fetcher = Fetcher::new(FetcherSettings::new(policy)).unwrap();
        let stop = CancellationToken::new();
        let slots = WorkSlots::new(slots).share(slots);
        let worker = DeliveryWorker::new(self.store.clone(), fetcher, slots, options);
        let task = tokio::spawn(worker.run(stop.clone()));
        RunningWorker { stop, task }
    }

    async fn tell(&self, deliveries: impl IntoIterator<Item = Option<NewDelivery>>) -> Vec<Uuid> {
        let deliveries: Vec<_> = deliveries.into_iter().flatten().collect();
        let ids = deliveries.iter().map(|delivery| delivery.id).collect();
        self.store.enqueue_deliveries(deliveries).await.unwrap();
        ids
    }

    async fn dead(&self, count: usize) -> Vec<Delivery> {
        let started = Instant::now();
        loop {
            let dead = self.store.dead_letters(self.team, None, 100).await.unwrap();
            if dead.len() >= count {
                return dead;
            }
            assert!(started.elapsed() < Duration::from_secs(90), "{count} dead letters, not {}", dead.len());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

struct RunningWorker {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl RunningWorker {
    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

fn options() -> DeliveryOptions {
    DeliveryOptions {
        retries: vec![RETRY; 2],
        timeout: Duration::from_millis(400),
        max_wait: Duration::from_secs(5),
        poll: Duration::from_millis(20),
        grace: Duration::from_secs(1),
        ..DeliveryOptions::default()
    }
}

fn hook(url: &str) -> Webhook {
    Webhook {
        url: url.to_owned(),
        headers: BTreeMap::from([("X-Own".to_owned(), "mine".to_owned())]).into(),
        metadata: BTreeMap::from([("run".to_owned(), "7".to_owned())]),
        events: super::super::JOB_EVENTS.map(str::to_owned).to_vec(),
        traceparent: None,
    }
}

/// Written anew from RFC 2104, apart from what signs.
fn hmac_sha256(key: &[u8], message: &[u8]) -> String {
    let mut block = [0_u8; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    let outer = Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize();
    stored_data::hex(&outer)
}

#[tokio::test]
async fn events_arrive_whole_signed_and_in_order() {
    let (fixture, receiver) = (DeliveryFixture::new().await, Receiver::start(|_| Reply::Status(204)).await);
    let with_login = receiver.url().replace("http://", "http://me:secret@");
    let (hook, job) = (hook(&with_login), Uuid::now_v7());
    let events = Events::new(&hook, job, fixture.team, "crawl");
    let ids = fixture
        .tell([events.started(), events.page_failed("no answer", "http://a.test/"), events.completed()])
        .await;
    let sender = fixture.sender();
    let got = receiver.wait_for(3).await;
    sender.stop().await;
    let secret =
        &signing_secrets::team_secrets(fixture.store.as_ref(), fixture.team).await.unwrap()[0].secret;
    for ((got, id), kind) in got.iter().zip(&ids).zip(["crawl.started", "crawl.page", "crawl.completed"]) {
        let body = got.json();
        assert_eq!((&body["type"], &body["id"]), (&kind.into(), &job.to_string().into()));
        assert_eq!(body["webhookId"], id.to_string());
        assert_eq!(body["metadata"]["run"], "7");
        assert_eq!(got.headers["x-own"], "mine");
        assert_eq!(got.headers["content-type"], "application/json");
        assert_eq!(got.headers["authorization"], "Basic bWU6c2VjcmV0");
        let signature = format!("sha256={}", hmac_sha256(secret.as_bytes(), &got.body));
        assert_eq!(got.headers["x-firecrawl-signature"], signature);
        assert!(!got.headers.contains_key("x-gannet-signature-next"));
    }
    assert_eq!(got.len(), 3, "each once");
}

#[tokio::test]
async fn a_failed_delivery_comes_again_with_its_id_and_holds_the_next_one() {
    let fixture = DeliveryFixture::new().await;
    let receiver = Receiver::start(|number| Reply::Status(if number < 2 { 500 } else { 200 })).await;
    let (hook, job) = (hook(&receiver.url()), Uuid::now_v7());
    let events = Events::new(&hook, job, fixture.team, "crawl");
    let ids = fixture.tell([events.started(), events.completed()]).await;
    let sender = fixture.sender();
    let started = Instant::now();
    let got = receiver.wait_for(4).await;
    assert!(started.elapsed() >= RETRY * 2, "after the times that were set");
    let arrived: Vec<_> =
        got.iter().map(|got| got.json()["webhookId"].as_str().unwrap().to_owned()).collect();
    let expected = [ids[0], ids[0], ids[0], ids[1]].map(|id| id.to_string());
    assert_eq!(arrived, expected);
    sender.stop().await;
    assert!(fixture.dead(0).await.is_empty());
}

#[tokio::test]
async fn a_receiver_that_never_works_ends_in_dead_letters_that_can_be_sent_again() {
    let fixture = DeliveryFixture::new().await;
    let receiver = Receiver::start(|number| Reply::Status(if number < 3 { 503 } else { 200 })).await;
    let hook = hook(&receiver.url());
    let ids = fixture.tell([Events::new(&hook, Uuid::now_v7(), fixture.team, "crawl").started()]).await;
    let sender = fixture.sender();
    let dead = fixture.dead(1).await;
    assert_eq!((dead[0].id, dead[0].attempts), (ids[0], 3), "one attempt and two retries");
    assert_eq!(dead[0].last_error.as_deref(), Some("the receiver answered 503"));
    assert!(fixture.store.revive_delivery(fixture.team, ids[0]).await.unwrap());
    let got = receiver.wait_for(4).await;
    assert_eq!(got[3].json()["webhookId"], ids[0].to_string());
    sender.stop().await;
    assert!(fixture.dead(0).await.is_empty());
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_nobody_else() {
    let fixture = DeliveryFixture::new().await;
    let hanging = Receiver::start(|_| Reply::Never).await;
    let quick = Receiver::start(|_| Reply::Status(200)).await;
    let (slow_hook, quick_hook) = (hook(&hanging.url()), hook(&quick.url()));
    let started = |hook| Events::new(hook, Uuid::now_v7(), fixture.team, "crawl").started();
    fixture.tell((0..30).map(|_| started(&slow_hook))).await;
    let patient = DeliveryOptions { timeout: Duration::from_secs(3), retries: Vec::new(), ..options() };
    let sender =
        fixture.sender_within(8, DeliveryOptions { max_per_host: 4, ..patient }, "webhook=127.0.0.1");
    hanging.wait_for(4).await;
    let before = Instant::now();
    fixture.tell((0..30).map(|_| started(&quick_hook))).await;
    quick.wait_for(30).await;
    assert!(before.elapsed() < Duration::from_millis(2_500), "before the hanging ones end");
    assert_eq!(hanging.most_at_once(), 4);
    let dead = fixture.dead(4).await;
    assert!(dead[0].last_error.as_deref().unwrap().contains("timed out"), "{dead:?}");
    sender.stop().await;
}

#[tokio::test]
async fn many_subjects_go_out_beside_each_other_and_one_subject_never() {
    let fixture = DeliveryFixture::new().await;
    let receiver = Receiver::start(|_| Reply::Slow(Duration::from_millis(20))).await;
    let hook = hook(&receiver.url());
    let one = Uuid::now_v7();
    fixture.tell((0..5).map(|_| Events::new(&hook, one, fixture.team, "crawl").started())).await;
    let sender = fixture.sender();
    receiver.wait_for(5).await;
    assert_eq!(receiver.most_at_once(), 1);
    fixture.tell((0..40).map(|_| Events::new(&hook, Uuid::now_v7(), fixture.team, "crawl").started())).await;
    receiver.wait_for(45).await;
    let most = receiver.most_at_once();
    assert!((2..=options().max_per_host).contains(&most), "{most} at once");
    sender.stop().await;
}

#[tokio::test]
async fn redirects_are_not_followed_and_private_receivers_are_refused() {
    let fixture = DeliveryFixture::new().await;
    let elsewhere = Receiver::start(|_| Reply::Status(200)).await;
    let target = elsewhere.url();
    let redirecting = Receiver::start(move |_| Reply::Redirect(target.clone())).await;
    let (first, second) =
        (hook(&redirecting.url()), hook(&elsewhere.url().replace("127.0.0.1", "127.0.0.2")));
    let once = DeliveryOptions { retries: Vec::new(), ..options() };
    let sender = fixture.sender_with(once, "webhook=127.0.0.1");
    fixture.tell([Events::new(&first, Uuid::now_v7(), fixture.team, "crawl").started()]).await;
    let dead = fixture.dead(1).await;
    assert!(dead[0].last_error.as_deref().unwrap().contains("redirects are not followed"), "{dead:?}");
    fixture.tell([Events::new(&second, Uuid::now_v7(), fixture.team, "crawl").started()]).await;
    let dead = fixture.dead(2).await;
    let error = dead[0].last_error.as_deref().unwrap();
    assert!(error.contains("not allowed for webhook") && error.contains("egress_allow"), "{error}");
    assert!(elsewhere.got().is_empty(), "nobody was asked who should not be");
    sender.stop().await;
}

#[tokio::test]
async fn a_refused_receiver_is_given_up_at_once() {
    let fixture = DeliveryFixture::new().await;
    let hook = hook("http://10.0.0.1/");
    fixture.tell([Events::new(&hook, Uuid::now_v7(), fixture.team, "crawl").started()]).await;
    let patient = DeliveryOptions { retries: vec![Duration::from_hours(1)], ..options() };
    let sender = fixture.sender_with(patient, "");
    assert_eq!(fixture.dead(1).await[0].attempts, 1, "no hour is waited for what cannot change by itself");
    sender.stop().await;
}

#[tokio::test]
async fn odd_answers_that_succeed_count_as_delivered_once() {
    for reply in [Reply::Endless, Reply::Abrupt] {
        let fixture = DeliveryFixture::new().await;
        let shown = format!("{reply:?}");
        let receiver = Receiver::start(move |_| reply.clone()).await;
        let (hook, job) = (hook(&receiver.url()), Uuid::now_v7());
        let events = Events::new(&hook, job, fixture.team, "crawl");
        let ids = fixture.tell([events.started(), events.completed()]).await;
        // An hour to wait would be noticed.
        let patient = DeliveryOptions { retries: vec![Duration::from_hours(1)], ..options() };
        let sender = fixture.sender_with(patient, "webhook=127.0.0.1");
        let got = receiver.wait_for(2).await;
        assert_eq!(got[1].json()["webhookId"], ids[1].to_string(), "{shown}");
        sender.stop().await;
    }
}

#[tokio::test]
async fn a_sender_that_ends_half_way_loses_nothing() {
    let fixture = DeliveryFixture::new().await;
    let receiver = Receiver::start(|_| Reply::Slow(Duration::from_millis(5))).await;
    let hook = hook(&receiver.url());
    let mut ids = Vec::new();
    for _ in 0..4 {
        let events = Events::new(&hook, Uuid::now_v7(), fixture.team, "crawl");
        ids.extend(fixture.tell((0..10).map(|_| events.started())).await);
    }
    // Stopped in good order.
    let first = fixture.sender();
    receiver.wait_for(5).await;
    first.stop().await;
    assert!(receiver.got().len() < ids.len());
    // Cut off, as a killed process is: what it held is taken over when its lease ends.
    let brief = DeliveryOptions { max_wait: Duration::from_millis(200), ..options() };
    let second = fixture.sender_with(brief.clone(), "webhook=127.0.0.1");
    receiver.wait_for(15).await;
    second.task.abort();
    let third = fixture.sender_with(brief, "webhook=127.0.0.1");
    let all = |ids: &[Uuid]| {
        let got = receiver.got();
        let seen: std::collections::HashSet<_> =
            got.iter().map(|got| got.json()["webhookId"].as_str().unwrap().to_owned()).collect();
        ids.iter().all(|id| seen.contains(&id.to_string()))
    };
    let started = Instant::now();
    while !all(&ids) {
        assert!(started.elapsed() < Duration::from_secs(90), "{} of {}", receiver.got().len(), ids.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    third.stop().await;
}

#[tokio::test]
async fn while_a_secret_is_phased_out_both_sign() {
    let (fixture, receiver) = (DeliveryFixture::new().await, Receiver::start(|_| Reply::Status(200)).await);
    let hook = hook(&receiver.url());
    let old =
        signing_secrets::team_secrets(fixture.store.as_ref(), fixture.team).await.unwrap().remove(0).secret;
    let both = signing_secrets::rotate(
        fixture.store.as_ref(),
        fixture.team,
        Duration::from_hours(1),
        &Actor::server(),
    )
    .await
    .unwrap();
    assert_eq!((both.len(), both[1].secret.as_str()), (2, old.as_str()));
    let events = Events::new(&hook, Uuid::now_v7(), fixture.team, "crawl");
    fixture.tell([events.started()]).await;
    let sender = fixture.sender();
    let got = receiver.wait_for(1).await.remove(0);
    let signed = |secret: &str| format!("sha256={}", hmac_sha256(secret.as_bytes(), &got.body));
    assert_eq!(
        got.headers["x-firecrawl-signature"],
        signed(&old),
        "receivers that know only the old one go on"
    );
    assert_eq!(got.headers["x-gannet-signature-next"], signed(&both[0].secret));
    let leaked =
        signing_secrets::rotate(fixture.store.as_ref(), fixture.team, Duration::ZERO, &Actor::server())
            .await
            .unwrap();
    assert_eq!(leaked.len(), 1);
    fixture.tell([events.completed()]).await;
    let got = receiver.wait_for(2).await.remove(1);
    let signature = format!("sha256={}", hmac_sha256(leaked[0].secret.as_bytes(), &got.body));
    assert_eq!(got.headers["x-firecrawl-signature"], signature, "a leaked one signs no more");
    assert!(!got.headers.contains_key("x-gannet-signature-next"));
    sender.stop().await;
}
