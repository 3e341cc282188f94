//! Objects in a folder and in S3-compatible storage: whole or not at all, known to the index, under
//! the ceiling.

use crate::ground::{HOUR, NOW, TestStore, a_moment};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, SystemTime};
use store::StoreError;
use store::objects::{ObjectPlace, ObjectSweep, Objects, S3Place};
use testkit::{S3Server, TempDir};
use uuid::Uuid;

on_both!(
    an_object_is_kept_replaced_and_deleted,
    expired_objects_go_first_then_the_soonest,
    some_objects_have_a_ceiling_of_their_own,
    what_was_left_half_written_is_cleared,
    writers_and_sweepers_at_once_leave_nothing_unknown,
);

fn folder() -> (TempDir, ObjectPlace) {
    let folder = TempDir::new();
    let place = ObjectPlace::Folder(folder.join("objects"));
    (folder, place)
}

/// Every file below a folder.
fn files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

async fn an_object_is_kept_replaced_and_deleted(ground: TestStore) {
    let (_folder, place) = folder();
    check_all(&ground, &Objects::open(&place, ground.store.clone()).unwrap()).await;
}

/// Files go in and come out whole, in one part or in several.
async fn check_files(ground: &TestStore, objects: &Objects) {
    let folder = TempDir::new();
    for (name, bytes) in [("empty", 0_u32), ("small", 1000), ("large", 20_000_003)] {
        let content: Vec<u8> = (0..bytes).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        std::fs::write(folder.join(name), &content).unwrap();
        let file = tokio::fs::File::open(folder.join(name)).await.unwrap();
        let key = format!("uploads/{name}");
        objects.put_file(&key, ground.team, file, u64::from(bytes), HOUR).await.unwrap();
        let mut copy = tokio::fs::File::create(folder.join("copy")).await.unwrap();
        assert_eq!(objects.get_to_file(&key, &mut copy).await.unwrap(), Some(u64::from(bytes)));
        assert!(std::fs::read(folder.join("copy")).unwrap() == content, "{name} is not the same");
        assert_eq!(ground.store.object_bytes().await.unwrap(), i64::from(bytes));
        let other = tokio::fs::File::open(folder.join(name)).await.unwrap();
        let wrong = objects.put_file("uploads/wrong", ground.team, other, u64::from(bytes) + 1, HOUR).await;
        assert!(wrong.is_err(), "{name}: a file of another size");
        assert!(objects.get("uploads/wrong").await.unwrap().is_none(), "{name}");
        objects.delete(&key).await.unwrap();
        assert_eq!(objects.get_to_file(&key, &mut copy).await.unwrap(), None);
    }
}

async fn check_all(ground: &TestStore, objects: &Objects) {
    check_files(ground, objects).await;
    let put =
        async |key: &str, body: &'static str, keep| objects.put(key, ground.team, body.into(), keep).await;
    put("pages/ab/one.html", "first", HOUR).await.unwrap();
    assert_eq!(objects.get("pages/ab/one.html").await.unwrap().as_deref(), Some(&b"first"[..]));
    put("pages/ab/one.html", "second!", HOUR).await.unwrap();
    assert_eq!(objects.get("pages/ab/one.html").await.unwrap().as_deref(), Some(&b"second!"[..]));
    assert_eq!(ground.store.object_bytes().await.unwrap(), 7);
    assert_eq!(objects.get("pages/ab/two.html").await.unwrap(), None);
    put("brief", "x", NOW).await.unwrap();
    a_moment().await;
    assert_eq!(objects.get("brief").await.unwrap(), None, "past its time, swept or not");
    for key in ["../up", "/etc/passwd", ""] {
        assert!(matches!(put(key, "x", HOUR).await, Err(StoreError::Misuse(_))), "{key}");
        assert!(matches!(objects.get(key).await, Err(StoreError::Misuse(_))), "{key}");
    }
    assert!(objects.delete("pages/ab/one.html").await.unwrap());
    assert!(!objects.delete("pages/ab/one.html").await.unwrap());
    assert_eq!(objects.get("pages/ab/one.html").await.unwrap(), None);
    // A row whose bytes were never written (the process died in between) is no object.
    ground.store.note_object("died", ground.team, 50, HOUR).await.unwrap();
    assert_eq!(objects.get("died").await.unwrap(), None);
    let swept = objects.sweep(0).await.unwrap();
    assert_eq!((swept.expired, swept.evicted), (1, 1));
    assert_eq!(ground.store.object_bytes().await.unwrap(), 0);
    objects.probe(ground.team).await.unwrap();
    assert_eq!(ground.store.object_bytes().await.unwrap(), 0);
}

async fn expired_objects_go_first_then_the_soonest(ground: TestStore) {
    let (folder, place) = folder();
    let objects = Objects::open(&place, ground.store.clone()).unwrap();
    let body = |n: usize| bytes::Bytes::from(vec![b'x'; n]);
    for (key, size, keep) in [
        ("late", 10, HOUR),
        ("soon", 10, Duration::from_mins(1)),
        ("sooner", 10, Duration::from_secs(30)),
        ("over", 500, NOW),
    ] {
        objects.put(key, ground.team, body(size), keep).await.unwrap();
    }
    a_moment().await;
    let swept = objects.sweep(1_000).await.unwrap();
    assert_eq!(swept, ObjectSweep { expired: 1, evicted: 0, bytes_freed: 500 }, "under the ceiling");
    let swept = objects.sweep(15).await.unwrap();
    assert_eq!(swept, ObjectSweep { expired: 0, evicted: 2, bytes_freed: 20 }, "no more than is needed");
    assert_eq!(files(&folder.join("objects")), ["late"]);
    assert_eq!(ground.store.object_bytes().await.unwrap(), 10);
}

async fn what_was_left_half_written_is_cleared(ground: TestStore) {
    let (folder, place) = folder();
    let objects = Objects::open(&place, ground.store.clone()).unwrap();
    objects.put("a", ground.team, "x".into(), HOUR).await.unwrap();
    let partial = folder.join("objects").join("partial");
    for (name, age) in [("old#1", 7_200), ("young#1", 60)] {
        let file = std::fs::File::create(partial.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    objects.sweep(u64::MAX).await.unwrap();
    assert_eq!(files(&folder.join("objects")), ["a", "partial/young#1"]);
}

async fn writers_and_sweepers_at_once_leave_nothing_unknown(ground: TestStore) {
    let (folder, place) = folder();
    let objects = Objects::open(&place, ground.store.clone()).unwrap();
    let mut tasks = Vec::new();
    for writer in 0..4_u64 {
        let (objects, team) = (objects.clone(), ground.team);
        tasks.push(tokio::spawn(async move {
            for n in 0..25_u64 {
                // Few keys, so that they are written anew while they are swept; and some of their own,
                // which no later write would note again.
                let key =
                    if n % 3 == 0 { format!("own/{writer}-{n}") } else { format!("k/{}", (n + writer) % 5) };
                let keep = if n % 2 == 0 { NOW } else { HOUR };
                objects.put(&key, team, vec![b'x'; 10].into(), keep).await.unwrap();
            }
        }));
    }
    for _ in 0..2 {
        let objects = objects.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..40 {
                objects.sweep(20).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for file in files(&folder.join("objects")) {
        let known = ground.store.object(&file).await.unwrap();
        assert!(known.is_some(), "{file} is stored and not known");
    }
    let noted: i64 = ground.store.soonest_objects(100).await.unwrap().iter().map(|entry| entry.bytes).sum();
    assert_eq!(ground.store.object_bytes().await.unwrap(), noted, "the running total is the sum");
    a_moment().await;
    objects.sweep(0).await.unwrap();
    assert!(files(&folder.join("objects")).is_empty());
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_unavailable() {
    let ground = TestStore::sqlite().await;
    let folder = TempDir::new();
    std::fs::write(folder.join("file"), "in the way").unwrap();
    let place = ObjectPlace::Folder(folder.join("file"));
    assert!(matches!(Objects::open(&place, ground.store.clone()), Err(StoreError::Objects(_))));
    let objects = Objects::open(&ObjectPlace::Folder(folder.join("objects")), ground.store.clone()).unwrap();
    // A folder stands where the file should go: the write fails after the note.
    std::fs::create_dir_all(folder.join("objects").join("k").join("sub")).unwrap();
    let refused = objects.put("k", ground.team, "x".into(), HOUR).await;
    assert!(matches!(refused, Err(StoreError::Objects(_))), "{refused:?}");
}

fn bucket(endpoint: String, prefix: &str) -> S3Place {
    S3Place {
        endpoint,
        region: "us-east-1".into(),
        bucket: "gannet".into(),
        prefix: prefix.into(),
        access_key: "test".into(),
        secret_key: "test".into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_keeps_objects_just_the_same() {
    let ground = TestStore::sqlite().await;
    let server = S3Server::start();
    server.create_bucket("gannet");
    // With and without a folder in the bucket; the test server takes its time, so the rest only once.
    let bare = ObjectPlace::S3(bucket(server.endpoint(), ""));
    Objects::open(&bare, ground.store.clone()).unwrap().probe(ground.team).await.unwrap();
    let place = ObjectPlace::S3(bucket(server.endpoint(), "some/folder"));
    check_all(&ground, &Objects::open(&place, ground.store.clone()).unwrap()).await;
    let absent = S3Place { bucket: "absent".into(), ..bucket(server.endpoint(), "") };
    let absent = Objects::open(&ObjectPlace::S3(absent), ground.store.clone()).unwrap();
    let refused = absent.put("k", ground.team, "x".into(), HOUR).await;
    assert!(matches!(refused, Err(StoreError::Objects(_))), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_follows_no_redirect_elsewhere() {
    let ground = TestStore::sqlite().await;
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let target = elsewhere.local_addr().unwrap();
    let endpoint = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = endpoint.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in endpoint.incoming().flatten() {
            let mut connection = connection;
            let _ = connection.read(&mut [0; 4_096]);
            let answer = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{target}/secret\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    let place = ObjectPlace::S3(bucket(format!("http://{address}"), ""));
    let objects = Objects::open(&place, ground.store.clone()).unwrap();
    let key = Uuid::now_v7().to_string();
    ground.store.note_object(&key, ground.team, 1, HOUR).await.unwrap();
    let refused = objects.get(&key).await;
    assert!(matches!(refused, Err(StoreError::Objects(_))), "{refused:?}");
    assert!(elsewhere.accept().is_err(), "nobody came there");
}

async fn some_objects_have_a_ceiling_of_their_own(ground: TestStore) {
    let (_folder, place) = folder();
    let objects = Objects::open(&place, ground.store.clone()).unwrap();
    for key in ["recordings/a/1", "recordings-of-others", "recordings/a/2", "recordings/b/1"] {
        objects.put(key, ground.team, vec![0; 100].into(), HOUR).await.unwrap();
        a_moment().await;
    }
    assert_eq!(objects.shrink("recordings/", 300).await.unwrap(), 0);
    assert_eq!(objects.shrink("recordings/", 150).await.unwrap(), 2);
    for (key, is_there) in [
        ("recordings/a/1", false),
        ("recordings/a/2", false),
        ("recordings/b/1", true),
        ("recordings-of-others", true),
    ] {
        assert_eq!(objects.get(key).await.unwrap().is_some(), is_there, "{key}");
    }
}
