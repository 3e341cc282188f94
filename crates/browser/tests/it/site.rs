//! Test sites with given responses, a scripted resolver, and browsers to visit them.

use gannet_browser::{BrowserSettings, Browsers, Visit, VisitError, Visited};
use net::{Deadline, EgressAllow, EgressPolicy, Fetcher, FetcherSettings, Resolve};
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// A server on loopback. Ends with the test's runtime.
#[derive(Clone)]
pub struct Site {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Hands every connection to `serve`.
    pub async fn raw<F, Fut>(bind: &str, serve: F) -> Self
    where
        F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(bind).await.unwrap();
        let site = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let connections = Arc::clone(&site.connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        site
    }

    /// Responds to every request with what `answer` returns for its path and head.
    pub async fn new(answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::bound("127.0.0.1:0", answer).await
    }

    /// The same at a given address.
    pub async fn bound(bind: &str, answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&requests);
        let site = Self::raw(bind, move |mut stream| {
            let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
            async move {
                while let Some(head) = read_request(&mut stream).await {
                    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
                    seen.lock().unwrap().push(head.clone());
                    if stream.write_all(&answer(&path, &head)).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { requests, ..site }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Heads of the requests received so far.
    pub fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Paths of the requests received so far.
    pub fn paths(&self) -> Vec<String> {
        self.heads().iter().map(|head| head.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let mut head = String::from_utf8_lossy(&head).into_owned();
    let length = header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    head.push_str(&String::from_utf8_lossy(&body));
    Some(head)
}

pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
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

pub fn html(body: &str) -> Vec<u8> {
    response("200 OK", &[("Content-Type", "text/html; charset=utf-8")], body.as_bytes())
}

pub fn typed(kind: &str, body: &str) -> Vec<u8> {
    response("200 OK", &[("Content-Type", kind)], body.as_bytes())
}

pub fn redirect(location: &str) -> Vec<u8> {
    response("302 Found", &[("Location", location)], b"")
}

pub fn not_found() -> Vec<u8> {
    response("404 Not Found", &[("Content-Type", "text/html")], b"<h1>nothing here</h1>")
}

/// A page with enough text not to be taken for an empty one.
pub fn filled(extra: &str) -> Vec<u8> {
    html(&format!("<!doctype html><title>filled</title><p>{}</p>{extra}", "words and more words ".repeat(20)))
}

/// A resolver with scripted results: each lookup of a name takes the next one; the last one is repeated.
#[derive(Debug, Default)]
pub struct ScriptedResolver {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl ScriptedResolver {
    pub fn new(pairs: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let names = pairs.iter().map(|(name, list)| ((*name).to_owned(), list.iter().map(parse).collect()));
        Arc::new(Self { answers: Mutex::new(names.collect()), asked: Mutex::default() })
    }

    /// The names that were looked up.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Resolve for ScriptedResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let Some(list) = answers.get_mut(host) else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        Ok(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
    }
}

pub fn fetcher(allow: &str, names: &Arc<ScriptedResolver>) -> Fetcher {
    let resolver: Arc<dyn Resolve> = Arc::clone(names) as Arc<dyn Resolve>;
    let policy = EgressPolicy::new(EgressAllow::parse(allow).unwrap());
    Fetcher::new(FetcherSettings { resolver, ..FetcherSettings::new(policy) }).unwrap()
}

pub fn settings() -> BrowserSettings {
    // To test another build than the one that is found.
    let executable = std::env::var_os("GANNET_TEST_CHROMIUM").map(Into::into);
    BrowserSettings { executable, ..BrowserSettings::default() }
}

/// Browsers that may visit loopback.
pub fn browsers() -> Browsers {
    browsers_with(settings())
}

pub fn browsers_with(settings: BrowserSettings) -> Browsers {
    let names = ScriptedResolver::new(&[
        ("site.example", &[&["127.0.0.1"]]),
        ("other.example", &[&["127.0.0.1"]]),
        ("deep.site.example", &[&["127.0.0.1"]]),
        ("forbidden.example", &[&["10.0.0.1"]]),
    ]);
    Browsers::new(fetcher("scrape=127.0.0.0/8", &names), settings)
}

/// A folder for browser files that another account can reach as well.
pub fn browser_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    folder
}

pub fn within(seconds: u64) -> Deadline {
    Deadline::after(Duration::from_secs(seconds))
}

pub async fn visit(browsers: &Browsers, url: Url) -> Result<Visited, VisitError> {
    browsers.visit(Visit::new(url), within(30)).await
}
