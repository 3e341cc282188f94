//! Random calls on monitors against a model: every firing ends in exactly one check, whoever dies in between.

use crate::ground::{HOUR, NOW, TestStore};
use crate::monitors::{create, end, new_check, page};
use std::collections::HashMap;
use store::monitors::{CheckLease, CheckPageStatus, CheckState, Fired, Firing};
use uuid::Uuid;

on_both!(every_firing_ends_in_one_check);

const MONITORS: usize = 4;
const STEPS: u64 = 400;

/// What must be true of one monitor.
struct ModelMonitor {
    next_run_at: i64,
    /// Checks by id: whether they have ended.
    checks: HashMap<Uuid, bool>,
    fired: usize,
}

async fn every_firing_ends_in_one_check(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let mut random = 0x9E37_79B9_u64;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut model = HashMap::new();
    for _ in 0..MONITORS {
        let id = create(store, team).await;
        model.insert(id, ModelMonitor { next_run_at: 1_000, checks: HashMap::new(), fired: 0 });
    }
    let ids: Vec<Uuid> = model.keys().copied().collect();
    let mut leases: Vec<CheckLease> = Vec::new();
    for _ in 0..STEPS {
        let id = ids[usize::try_from(next(MONITORS as u64)).unwrap()];
        match next(5) {
            0 => {
                let known = model.get_mut(&id).unwrap();
                // Now and then the firing of a process that is late.
                let due_at = if next(4) == 0 { known.next_run_at - 1 } else { known.next_run_at };
                let check = new_check();
                let firing = Firing { monitor: id, due_at, next_run_at: Some(due_at + 1), check };
                let fired = store.fire_monitor(firing).await.unwrap();
                let is_open = known.checks.values().any(|ended| !ended);
                let expected = match (due_at == known.next_run_at, is_open) {
                    (false, _) => Fired::NotDue,
                    (true, true) => Fired::SkippedOverlap,
                    (true, false) => Fired::Queued,
                };
                assert_eq!(fired, expected);
                if fired != Fired::NotDue {
                    known.next_run_at += 1;
                    known.fired += 1;
                    known.checks.insert(check.id, fired == Fired::SkippedOverlap);
                }
            }
            1 => {
                // Half of the workers die at once.
                let lease_for = if next(2) == 0 { NOW } else { HOUR };
                let claimed = store.claim_checks(Uuid::now_v7(), 3, lease_for).await.unwrap();
                leases.extend(
                    claimed.iter().filter(|one| model.contains_key(&one.monitor.id)).map(|one| one.lease),
                );
            }
            2 => {
                store.sweep_checks().await.unwrap();
            }
            3 if !leases.is_empty() => {
                let lease = leases[usize::try_from(next(leases.len() as u64)).unwrap()];
                store
                    .write_check_page(&lease, page(u8::try_from(next(3)).unwrap(), CheckPageStatus::Same))
                    .await
                    .unwrap();
            }
            _ if !leases.is_empty() => {
                let lease = leases.swap_remove(usize::try_from(next(leases.len() as u64)).unwrap());
                if store.end_check(&lease, end(CheckState::Completed)).await.unwrap() {
                    let known =
                        model.values_mut().find(|known| known.checks.contains_key(&lease.check)).unwrap();
                    let ended = known.checks.insert(lease.check, true);
                    assert_eq!(ended, Some(false), "a check ends once");
                }
            }
            _ => {}
        }
    }
    for (id, known) in &model {
        let checks = store.checks(*id, None, 1_000, 0).await.unwrap();
        assert_eq!(checks.len(), known.fired, "as many checks as firings");
        for check in &checks {
            assert_eq!(Some(&check.state.is_terminal()), known.checks.get(&check.id), "{check:?}");
        }
        let current = store.monitor(team, *id).await.unwrap().unwrap().current_check;
        let open = known.checks.iter().find(|(_, ended)| !**ended).map(|(check, _)| *check);
        assert_eq!(current, open);
    }
}
