//! Test servers that respond with given bytes, and a resolver with scripted results.

use gannet_net::{
    Credentials, Deadline, EgressAllow, EgressPolicy, FetchError, FetchedResponse, Fetcher, FetcherSettings,
    Limits, Purpose, Request, Resolve,
};
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server on loopback. Ends with the test's runtime.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// Heads of the received requests, over all connections.
    pub requests: Arc<Mutex<Vec<String>>>,
    pub peers: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Server {
    /// Hands every connection to `serve`.
    pub async fn raw<F, Fut>(bind: &str, serve: F) -> Self
    where
        F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(bind).await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            requests: Arc::default(),
            peers: Arc::default(),
        };
        let (connections, peers) = (Arc::clone(&server.connections), Arc::clone(&server.peers));
        tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                peers.lock().unwrap().push(peer);
                tokio::spawn(serve(stream));
            }
        });
        server
    }

    /// Responds to every request with what `answer` returns for its head; connections are kept open.
    pub async fn http(bind: &str, answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&requests);
        let server = Self::raw(bind, move |mut stream| {
            let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
            async move {
                while let Some(head) = read_request(&mut stream).await {
                    let bytes = answer(&head);
                    seen.lock().unwrap().push(head);
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { requests, ..server }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads one request with its body; `None` when the client is gone.
pub async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(head)
}

pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

pub fn page(body: &str) -> Vec<u8> {
    response("200 OK", &[("Content-Type", "text/html")], body.as_bytes())
}

pub fn response(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        out.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    out.extend(b"\r\n");
    out.extend(body);
    out
}

pub fn redirect(location: &str) -> Vec<u8> {
    response("302 Found", &[("Location", location)], b"")
}

/// A resolver with scripted results: each lookup of a name takes the next one; the last one is repeated.
#[derive(Debug, Default)]
pub struct ScriptedResolver {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub lookups: AtomicUsize,
}

impl ScriptedResolver {
    pub fn new(pairs: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let answers = pairs
            .iter()
            .map(|(name, answers)| ((*name).to_owned(), answers.iter().map(parse).collect()))
            .collect();
        Arc::new(Self { answers: Mutex::new(answers), lookups: AtomicUsize::new(0) })
    }
}

#[async_trait::async_trait]
impl Resolve for ScriptedResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        if host == "silent.example" {
            std::future::pending::<()>().await;
        }
        if host == "broken.example" {
            return Err(io::Error::other("Temporary failure in name resolution"));
        }
        let mut answers = self.answers.lock().unwrap();
        let Some(list) = answers.get_mut(host) else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        Ok(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
    }
}

pub fn policy(allow: &str) -> EgressPolicy {
    EgressPolicy::new(EgressAllow::parse(allow).unwrap())
}

pub fn fetcher(allow: &str) -> Fetcher {
    fetcher_with(allow, &ScriptedResolver::new(&[]))
}

pub fn fetcher_with(allow: &str, names: &Arc<ScriptedResolver>) -> Fetcher {
    let resolver: Arc<dyn Resolve> = Arc::clone(names) as Arc<dyn Resolve>;
    Fetcher::new(FetcherSettings { resolver, ..FetcherSettings::new(policy(allow)) }).unwrap()
}

pub fn get(url: &str) -> Request {
    Request::get(Purpose::Scrape, url, Credentials::none()).unwrap()
}

/// The same with headers of the caller, for the origin of `url`.
pub fn get_with(url: &str, own: &[(&str, &str)]) -> Request {
    let credentials = Credentials::for_address(url, own.iter().copied()).unwrap();
    Request::get(Purpose::Scrape, url, credentials).unwrap()
}

/// Limits short enough for tests and long enough for a busy machine.
pub fn short_limits() -> Limits {
    Limits {
        connect: Duration::from_secs(2),
        first_byte: Duration::from_millis(800),
        idle: Duration::from_millis(600),
        retries: 0,
        ..Limits::default()
    }
}

pub fn test_deadline() -> Deadline {
    Deadline::after(Duration::from_secs(10))
}

pub async fn fetch(fetcher: &Fetcher, url: &str) -> Result<FetchedResponse, FetchError> {
    fetcher
        .fetch(
            Request::get(Purpose::Scrape, url, Credentials::none())?.limits(short_limits()),
            test_deadline(),
        )
        .await
}
