use super::*;

const A: Uuid = Uuid::from_u128(1);
const B: Uuid = Uuid::from_u128(2);

/// Whether a team gets a slot at once.
async fn at_once(fair_queue: &FairQueue, team: Uuid) -> Option<Ticket> {
    tokio::time::timeout(Duration::from_millis(20), fair_queue.acquire(team)).await.ok()?.ok()
}

fn use_up(fair_queue: &FairQueue, team: Uuid, seconds: f64) {
    let now = Instant::now();
    fair_queue.lock().team(team, now).add_use(seconds, now);
}

/// Slots whose teams have used more than a little, so that they wait for them.
fn busy_queue(count: usize) -> FairQueue {
    let fair_queue = FairQueue::new(count);
    use_up(&fair_queue, A, 100.0);
    use_up(&fair_queue, B, 99.0);
    fair_queue
}

/// Work on a thread of its own that takes a slot, pauses until `end`, and says how long it ran.
fn work(fair_queue: &FairQueue, team: Uuid, end: &Arc<AtomicBool>) -> tokio::task::JoinHandle<Duration> {
    let (fair_queue, end) = (fair_queue.clone(), end.clone());
    tokio::spawn(async move {
        let mut ticket = fair_queue.acquire(team).await.unwrap();
        let working = tokio::task::spawn_blocking(move || {
            let (mut clock, begun) = (CpuClock::start(), Instant::now());
            while !end.load(Ordering::Relaxed) {
                ticket.pause(&mut clock);
                std::hint::spin_loop();
            }
            ticket.end(&mut clock);
            begun.elapsed()
        });
        working.await.unwrap()
    })
}

#[tokio::test]
async fn no_more_jobs_than_slots() {
    let fair_queue = busy_queue(2);
    let (one, two) = (at_once(&fair_queue, A).await.unwrap(), at_once(&fair_queue, B).await.unwrap());
    assert!(at_once(&fair_queue, A).await.is_none() && at_once(&fair_queue, B).await.is_none());
    assert_eq!(fair_queue.0.waiting.load(Ordering::Relaxed), 0, "who leaves waits no more");
    drop(one);
    let three = at_once(&fair_queue, A).await.unwrap();
    drop((two, three));
    let state = fair_queue.lock();
    assert_eq!((state.free, state.begun, state.working.len()), (2, 0, 0));
}

#[tokio::test]
async fn the_team_that_used_less_is_next() {
    let fair_queue = busy_queue(1);
    let held = at_once(&fair_queue, A).await.unwrap();
    use_up(&fair_queue, A, 1.0);
    let turns = Arc::new(Mutex::new(Vec::new()));
    let waiting: Vec<_> = [A, A, A, B]
        .into_iter()
        .map(|team| {
            let (fair_queue, turns) = (fair_queue.clone(), turns.clone());
            tokio::spawn(async move {
                let _ticket = fair_queue.acquire(team).await.unwrap();
                turns.lock().push(team);
            })
        })
        .collect();
    while fair_queue.0.waiting.load(Ordering::Relaxed) < 4 {
        tokio::task::yield_now().await;
    }
    drop(held);
    for job in waiting {
        job.await.unwrap();
    }
    assert_eq!(*turns.lock(), [B, A, A, A]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_work_makes_way_for_another_team() {
    let fair_queue = busy_queue(1);
    let end = Arc::new(AtomicBool::new(false));
    let long = work(&fair_queue, A, &end);
    tokio::time::sleep(Duration::from_millis(50)).await;
    for _ in 0..5 {
        let begun = Instant::now();
        let ticket =
            tokio::time::timeout(Duration::from_secs(20), fair_queue.acquire(B)).await.unwrap().unwrap();
        assert_eq!(fair_queue.lock().free, 0);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        drop(ticket);
    }
    end.store(true, Ordering::Relaxed);
    long.await.unwrap();
    assert_eq!(fair_queue.lock().free, 1);
}

#[tokio::test]
async fn work_that_never_pauses_loses_its_slot() {
    let fair_queue = busy_queue(1);
    let stuck = at_once(&fair_queue, A).await.unwrap();
    let ticket = tokio::time::timeout(Duration::from_secs(20), fair_queue.acquire(B)).await.unwrap().unwrap();
    assert_eq!(fair_queue.lock().working.len(), 2);
    drop(stuck);
    assert_eq!(fair_queue.lock().free, 0, "what was lost is not given back twice");
    drop(ticket);
    let state = fair_queue.lock();
    assert_eq!((state.free, state.begun, state.working.len()), (1, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_that_used_little_does_not_wait_for_one_that_uses_much() {
    let fair_queue = FairQueue::new(1);
    use_up(&fair_queue, A, 10.0);
    let held = at_once(&fair_queue, A).await.unwrap();
    assert!(!held.is_light());
    let light = at_once(&fair_queue, B).await.unwrap();
    assert!(light.is_light());
    assert!(at_once(&fair_queue, B).await.is_none(), "one job at a time");
    drop(light);
    // Work that turns out to be long waits for a slot like all other.
    let end = Arc::new(AtomicBool::new(false));
    let long = work(&fair_queue, B, &end);
    let waits = async {
        while fair_queue.0.waiting.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waits).await.unwrap();
    assert_eq!(fair_queue.lock().extra, 0);
    drop(held);
    end.store(true, Ordering::Relaxed);
    long.await.unwrap();
    let state = fair_queue.lock();
    assert_eq!((state.free, state.begun, state.extra), (1, 0, 0));
    assert!(!state.teams[&B].is_extra);
}

#[tokio::test]
async fn a_queue_has_an_end() {
    let fair_queue = busy_queue(1);
    let _held = at_once(&fair_queue, A).await.unwrap();
    let waiting: Vec<_> = (0..MAX_WAITING)
        .map(|_| {
            let fair_queue = fair_queue.clone();
            tokio::spawn(async move { fair_queue.acquire(A).await.map(drop) })
        })
        .collect();
    while fair_queue.0.waiting.load(Ordering::Relaxed) < MAX_WAITING {
        tokio::task::yield_now().await;
    }
    assert_eq!(fair_queue.acquire(A).await.unwrap_err(), Full);
    for job in &waiting {
        job.abort();
    }
    for job in waiting {
        let _ = job.await;
    }
    assert_eq!(fair_queue.0.waiting.load(Ordering::Relaxed), 0);
}

#[test]
fn use_is_forgotten() {
    let now = Instant::now();
    let mut team = Team { waiting: VecDeque::new(), begun: 0, is_extra: false, used: 0.0, used_at: now };
    team.add_use(8.0, now);
    assert!((team.used(now + HALF_LIFE) - 4.0).abs() < 0.01);
    team.add_use(4.0, now + HALF_LIFE);
    assert!((team.used(now + 3 * HALF_LIFE) - 2.0).abs() < 0.01);
}
