//! Answers of a resolver, remembered for a moment, so that many requests to one host ask once. Knows nothing of what is
//! allowed: a remembered answer meets the guard like a fresh one, and the address that passed is the one connected to.

use super::Resolve;
use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Long enough for the requests of one moment, short enough that nobody need care for the true lifetime of an answer.
const KEPT_FOR: Duration = Duration::from_secs(5);
/// A look-up that takes longer than this is joined by nobody any more.
const LONGEST_LOOKUP: Duration = Duration::from_secs(30);
const MOST_NAMES: usize = 1024;

/// Failures are shared by those who wait for one look-up, and not kept for those who come later.
type Answer = Result<Arc<[IpAddr]>, (io::ErrorKind, Arc<str>)>;
type Lookup = Shared<BoxFuture<'static, Answer>>;

/// A resolver that is asked once for a name within a few seconds.
#[derive(Debug)]
pub struct RecentNames<R> {
    resolver: Arc<R>,
    names: Mutex<HashMap<String, Known>>,
}

#[derive(Debug)]
struct Known {
    lookup: Lookup,
    since: Instant,
}

impl Known {
    /// Whether it still counts: under way, or answered a moment ago.
    fn is_fresh(&self) -> bool {
        match self.lookup.peek() {
            None => self.since.elapsed() < LONGEST_LOOKUP,
            Some(Ok(_)) => self.since.elapsed() < KEPT_FOR,
            Some(Err(_)) => false,
        }
    }
}

impl<R: Resolve + 'static> RecentNames<R> {
    pub fn over(resolver: R) -> Self {
        Self { resolver: Arc::new(resolver), names: Mutex::default() }
    }

    /// The look-up of `host` that is known, or a new one.
    fn lookup(&self, host: &str) -> Lookup {
        let mut names = self.names();
        if let Some(known) = names.get(host).filter(|known| known.is_fresh()) {
            return known.lookup.clone();
        }
        if names.len() >= MOST_NAMES {
            names.retain(|_, known| known.is_fresh());
        }
        let (resolver, name) = (Arc::clone(&self.resolver), host.to_owned());
        let asking = async move {
            let found = resolver.resolve(&name).await;
            found.map(Arc::from).map_err(|error| (error.kind(), error.to_string().into()))
        };
        let lookup = asking.boxed().shared();
        // With so many names in one moment the next one goes unremembered.
        if names.len() < MOST_NAMES {
            let known = Known { lookup: lookup.clone(), since: Instant::now() };
            names.insert(host.to_owned(), known);
        }
        lookup
    }

    fn names(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<R: Resolve + 'static> Resolve for RecentNames<R> {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let answer = self.lookup(host).await;
        answer.map(|found| found.to_vec()).map_err(|(kind, text)| io::Error::new(kind, text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Answers with a new address each time, after a while; `gone.example` is never found.
    #[derive(Debug, Default)]
    struct Counting(AtomicU8);

    #[async_trait]
    impl Resolve for Counting {
        async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            let number = self.0.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            if host == "gone.example" {
                return Err(io::ErrorKind::NotFound.into());
            }
            Ok(vec![IpAddr::from([10, 0, 0, number])])
        }
    }

    /// As if `length` had passed.
    fn age(names: &RecentNames<Counting>, length: Duration) {
        for known in names.names().values_mut() {
            known.since -= length;
        }
    }

    #[tokio::test]
    async fn many_ask_once_and_soon_ask_again() {
        let names = RecentNames::over(Counting::default());
        let asked = || names.resolver.0.load(Ordering::SeqCst);
        let all = futures_util::future::join_all((0..16).map(|_| names.resolve("a.example"))).await;
        assert!(all.iter().all(|found| found.as_ref().unwrap() == &[IpAddr::from([10, 0, 0, 0])]));
        assert_eq!(asked(), 1);
        names.resolve("b.example").await.unwrap();
        assert_eq!(asked(), 2, "another name is another question");
        age(&names, KEPT_FOR);
        assert_eq!(names.resolve("a.example").await.unwrap(), [IpAddr::from([10, 0, 0, 2])]);
    }

    #[tokio::test]
    async fn failures_are_shared_but_not_kept() {
        let names = RecentNames::over(Counting::default());
        let both = tokio::join!(names.resolve("gone.example"), names.resolve("gone.example"));
        assert_eq!(both.0.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(both.1.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names.resolver.0.load(Ordering::SeqCst), 1);
        assert!(names.resolve("gone.example").await.is_err());
        assert_eq!(names.resolver.0.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_look_up_outlives_the_one_who_asked_first_and_the_memory_is_bounded() {
        let names = RecentNames::over(Counting::default());
        let given_up = tokio::time::timeout(Duration::from_millis(1), names.resolve("a.example")).await;
        assert!(given_up.is_err());
        assert!(names.resolve("a.example").await.is_ok());
        assert_eq!(names.resolver.0.load(Ordering::SeqCst), 1);
        for number in 0..2 * MOST_NAMES {
            drop(names.lookup(&format!("{number}.example")));
        }
        assert_eq!(names.names().len(), MOST_NAMES);
        // Those that nobody waits for make room in the end.
        age(&names, LONGEST_LOOKUP);
        drop(names.lookup("a.example"));
        assert_eq!(names.names().len(), 1);
    }
}
