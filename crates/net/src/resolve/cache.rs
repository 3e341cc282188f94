//! Caches the results of a resolver for a few seconds, so that many requests to one host cause one lookup.
//! Knows nothing of what is allowed: a cached address passes the guard like a fresh one.

use super::Resolve;
use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Long enough for the requests of one page load, short enough that the true lifetime (TTL) of a record does
/// not matter.
const CACHE_DURATION: Duration = Duration::from_secs(5);
/// A lookup that takes longer than this is no longer joined by others.
const MAX_LOOKUP_DURATION: Duration = Duration::from_secs(30);
const MAX_CACHED_NAMES: usize = 1024;

/// Errors are shared by those who wait for one lookup, and not cached for later requests.
type LookupResult = Result<Arc<[IpAddr]>, (io::ErrorKind, Arc<str>)>;
type Lookup = Shared<BoxFuture<'static, LookupResult>>;

/// A resolver that asks another one at most once for a name within a few seconds.
#[derive(Debug)]
pub struct CachingResolver<R> {
    resolver: Arc<R>,
    names: Mutex<HashMap<String, CachedLookup>>,
}

#[derive(Debug)]
struct CachedLookup {
    lookup: Lookup,
    since: Instant,
}

impl CachedLookup {
    /// Whether it can be used: in progress, or finished a moment ago.
    fn is_fresh(&self) -> bool {
        match self.lookup.peek() {
            None => self.since.elapsed() < MAX_LOOKUP_DURATION,
            Some(Ok(_)) => self.since.elapsed() < CACHE_DURATION,
            Some(Err(_)) => false,
        }
    }
}

impl<R: Resolve + 'static> CachingResolver<R> {
    pub fn new(resolver: R) -> Self {
        Self { resolver: Arc::new(resolver), names: Mutex::default() }
    }

    /// The cached lookup of `host`, or a new one.
    fn find_or_start_lookup(&self, host: &str) -> Lookup {
        let mut names = self.lock();
        if let Some(cached) = names.get(host).filter(|cached| cached.is_fresh()) {
            return cached.lookup.clone();
        }
        if names.len() >= MAX_CACHED_NAMES {
            names.retain(|_, cached| cached.is_fresh());
        }
        let (resolver, name) = (Arc::clone(&self.resolver), host.to_owned());
        let resolving = async move {
            let found = resolver.resolve(&name).await;
            found.map(Arc::from).map_err(|error| (error.kind(), error.to_string().into()))
        };
        let lookup = resolving.boxed().shared();
        // With this many names at once the next one is not cached.
        if names.len() < MAX_CACHED_NAMES {
            let cached = CachedLookup { lookup: lookup.clone(), since: Instant::now() };
            names.insert(host.to_owned(), cached);
        }
        lookup
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CachedLookup>> {
        self.names.lock()
    }
}

#[async_trait]
impl<R: Resolve + 'static> Resolve for CachingResolver<R> {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let result = self.find_or_start_lookup(host).await;
        result.map(|found| found.to_vec()).map_err(|(kind, text)| io::Error::new(kind, text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Returns a new address each time, after a short wait; `gone.example` is never found.
    #[derive(Debug, Default)]
    struct CountingResolver(AtomicU8);

    #[async_trait]
    impl Resolve for CountingResolver {
        async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            let number = self.0.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            if host == "gone.example" {
                return Err(io::ErrorKind::NotFound.into());
            }
            Ok(vec![IpAddr::from([10, 0, 0, number])])
        }
    }

    /// Makes all entries older by `length`.
    fn age(names: &CachingResolver<CountingResolver>, length: Duration) {
        for cached in names.lock().values_mut() {
            cached.since -= length;
        }
    }

    #[tokio::test]
    async fn many_ask_once_and_soon_ask_again() {
        let names = CachingResolver::new(CountingResolver::default());
        let asked = || names.resolver.0.load(Ordering::SeqCst);
        let all = futures_util::future::join_all((0..16).map(|_| names.resolve("a.example"))).await;
        assert!(all.iter().all(|found| found.as_ref().unwrap() == &[IpAddr::from([10, 0, 0, 0])]));
        assert_eq!(asked(), 1);
        names.resolve("b.example").await.unwrap();
        assert_eq!(asked(), 2, "another name is another question");
        age(&names, CACHE_DURATION);
        assert_eq!(names.resolve("a.example").await.unwrap(), [IpAddr::from([10, 0, 0, 2])]);
    }

    #[tokio::test]
    async fn failures_are_shared_but_not_kept() {
        let names = CachingResolver::new(CountingResolver::default());
        let both = tokio::join!(names.resolve("gone.example"), names.resolve("gone.example"));
        assert_eq!(both.0.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(both.1.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names.resolver.0.load(Ordering::SeqCst), 1);
        assert!(names.resolve("gone.example").await.is_err());
        assert_eq!(names.resolver.0.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_look_up_outlives_the_one_who_asked_first_and_the_memory_is_bounded() {
        let names = CachingResolver::new(CountingResolver::default());
        let given_up = tokio::time::timeout(Duration::from_millis(1), names.resolve("a.example")).await;
        assert!(given_up.is_err());
        assert!(names.resolve("a.example").await.is_ok());
        assert_eq!(names.resolver.0.load(Ordering::SeqCst), 1);
        for number in 0..2 * MAX_CACHED_NAMES {
            drop(names.find_or_start_lookup(&format!("{number}.example")));
        }
        assert_eq!(names.lock().len(), MAX_CACHED_NAMES);
        // Lookups that nobody waits for are removed in the end.
        age(&names, MAX_LOOKUP_DURATION);
        drop(names.find_or_start_lookup("a.example"));
        assert_eq!(names.lock().len(), 1);
    }
}
