//! The audit log: each change of a key, a sign-in or a setting leaves a row in its own transaction, rows of a team are
//! listed newest first, and old ones go.

use crate::ground::{HOUR, TestStore, a_moment, key, team};
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;
use store::Store;
use store::audit_log::{Actor, ActorKind, AuditAction, AuditEntry, AuditFilter, NewAuditEntry};
use store::keys::NextSecret;
use store::sign_ins::SignInNote;
use uuid::Uuid;

on_both!(
    every_change_of_a_key_leaves_a_row,
    sign_ins_are_noted_with_their_key,
    what_is_undone_leaves_no_row,
    rows_are_found_by_action_id_and_time,
    old_and_too_many_rows_go,
);

async fn entries(store: &dyn Store, team: Uuid) -> Vec<AuditEntry> {
    store.audit_entries(team, AuditFilter::default(), None, 100).await.unwrap()
}

fn actions(entries: &[AuditEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.action.as_str()).collect()
}

async fn every_change_of_a_key_leaves_a_row(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let address: IpAddr = "::ffff:192.0.2.7".parse().unwrap();
    let other = Uuid::now_v7();
    let by = Actor { key: Some(other), ..Actor::new(ActorKind::SignIn, "la\0ptop", Some(address)) };
    let made = store.create_key(key(team, "ci"), &by).await.unwrap();
    let next =
        NextSecret { hint: "gn-…".into(), hash: [9; 32], phase_out: HOUR, expires_at: Some(i64::MAX) };
    store.rotate_key(team, made.id, next, &by).await.unwrap();
    for _ in 0..2 {
        assert!(store.revoke_key(team, made.id, &Actor::command_line()).await.unwrap());
    }
    let found = entries(store, team).await;
    assert_eq!(actions(&found), ["key.revoked", "key.rotated", "key.created"], "a second revocation is none");
    let created = &found[2];
    assert_eq!((created.actor_kind.as_str(), created.actor_name.as_str()), ("sign_in", "la\u{fffd}ptop"));
    assert_eq!((created.actor_key, created.subject), (Some(other), Some(made.id)));
    assert_eq!(created.address.as_deref(), Some("192.0.2.7"));
    assert_eq!(
        created.details,
        json!({ "name": "ci", "scopes": made.scopes, "expiresAt": null, "hosts": null })
    );
    assert_eq!(found[1].details["phaseOutHours"], 1);
    assert_eq!((found[0].actor_kind.as_str(), found[0].address.as_deref()), ("command_line", None));
    assert!(entries(store, crate::ground::team(store, "free").await).await.is_empty(), "of its team alone");
}

async fn sign_ins_are_noted_with_their_key(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let by = Actor::server();
    let made = store.create_key(key(team, "k"), &by).await.unwrap().id;
    for (hash, is_last) in [(1, false), (2, true)] {
        let note = SignInNote { by: &by, is_last };
        store.start_sign_in(&[hash; 32], made, HOUR, Some(note)).await.unwrap();
    }
    store.start_sign_in(&[3; 32], made, HOUR, None).await.unwrap();
    store.end_sign_in(&[1; 32], &by).await.unwrap();
    store.end_sign_ins(made, &by).await.unwrap();
    store.end_sign_ins(made, &by).await.unwrap();
    let found = entries(store, team).await;
    let started = ["sign_in.ended", "sign_in.ended", "sign_in.started", "sign_in.started", "key.created"];
    assert_eq!(actions(&found), started);
    assert_eq!((&found[0].details, &found[1].details), (&json!({ "signIns": 2 }), &json!({ "signIns": 1 })));
    assert!(found[2].details["furtherNotRecorded"].is_string() && found[3].details.get("x").is_none());
    assert!(found.iter().all(|entry| entry.subject == Some(made)));
}

async fn what_is_undone_leaves_no_row(ground: TestStore) {
    let (store, of_team) = (&*ground.store, ground.team);
    let first = key(of_team, "one");
    let second = store::keys::NewKey { hash: first.hash, ..key(of_team, "two") };
    store.create_key(first, &Actor::server()).await.unwrap();
    assert!(store.create_key(second, &Actor::server()).await.is_err());
    assert!(!store.revoke_key(of_team, Uuid::now_v7(), &Actor::server()).await.unwrap());
    assert!(!store.set_plan(Uuid::now_v7(), "scale", &Actor::server()).await.unwrap());
    assert_eq!(actions(&entries(store, of_team).await), ["key.created"]);
    let other = team(store, "free").await;
    store.set_plan(other, "scale", &Actor::server()).await.unwrap();
    assert_eq!(entries(store, other).await[0].details, json!({ "plan": "scale" }));
}

async fn note(store: &dyn Store, team: Uuid, action: AuditAction, by: &Actor) {
    let entry = NewAuditEntry { team, action, subject: None, details: json!({}) };
    store.record_audit(entry, by).await.unwrap();
}

async fn rows_are_found_by_action_id_and_time(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let made = store.create_key(key(team, "k"), &Actor::server()).await.unwrap().id;
    let by = Actor { key: Some(made), ..Actor::new(ActorKind::Key, "k", None) };
    note(store, team, AuditAction::SignInFailed, &Actor::server()).await;
    a_moment().await;
    note(store, team, AuditAction::MonitorCreated, &by).await;
    let all = entries(store, team).await;
    let middle = all[0].created_at;
    let find = async |filter: AuditFilter<'_>| {
        let found = store.audit_entries(team, filter, None, 100).await.unwrap();
        found.into_iter().map(|entry| entry.action).collect::<Vec<_>>()
    };
    let named = |action| AuditFilter { action: Some(action), ..AuditFilter::default() };
    assert_eq!(find(named("key.")).await, ["key.created"]);
    assert_eq!(find(named("sign_in.failed")).await, ["sign_in.failed"]);
    assert_eq!(find(named("sign%")).await, Vec::<String>::new());
    let of_key = AuditFilter { id: Some(made), ..AuditFilter::default() };
    assert_eq!(find(of_key).await, ["monitor.created", "key.created"]);
    assert_eq!(find(AuditFilter { from: Some(middle), ..AuditFilter::default() }).await, ["monitor.created"]);
    let until = AuditFilter { until: Some(middle), ..AuditFilter::default() };
    assert_eq!(find(until).await, ["sign_in.failed", "key.created"]);
    let page = store.audit_entries(team, AuditFilter::default(), Some(all[0].id), 1).await.unwrap();
    assert_eq!(page, [all[1].clone()]);
}

async fn old_and_too_many_rows_go(ground: TestStore) {
    let (store, of_team) = (&*ground.store, ground.team);
    let other = team(store, "free").await;
    for _ in 0..5 {
        note(store, of_team, AuditAction::MonitorChanged, &Actor::server()).await;
    }
    note(store, other, AuditAction::MonitorDeleted, &Actor::server()).await;
    assert_eq!(store.purge_audit(HOUR, 3, 1).await.unwrap(), 1, "no more than asked for");
    assert_eq!(store.purge_audit(HOUR, 3, 100).await.unwrap(), 1);
    assert_eq!(store.purge_audit(HOUR, 3, 100).await.unwrap(), 0);
    assert_eq!(entries(store, of_team).await.len(), 3);
    assert_eq!(entries(store, other).await.len(), 1);
    a_moment().await;
    while store.purge_audit(Duration::ZERO, 3, 100).await.unwrap() > 0 {}
    assert!(entries(store, of_team).await.is_empty() && entries(store, other).await.is_empty());
}
