//! A small site on loopback with every kind of page a scrape may meet. It records the requests it gets. It
//! runs on a thread of its own, so that a test which blocks on a command does not stop it.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

mod pages;
pub mod tls;

pub use pages::{ARTICLE, PDF};

/// Stands among the requests when `/dripping` has sent all of its page.
pub const DRIPPED: &str = "/dripping, sent";

/// A running site; it stops when this value is dropped.
pub struct Site {
    pub base: String,
    state: Arc<SiteState>,
    _end: oneshot::Sender<()>,
}

#[derive(Default)]
struct SiteState {
    seen: Mutex<Vec<ReceivedRequest>>,
    changing: Mutex<(u16, String)>,
}

/// A request that the site received.
#[derive(Clone)]
pub struct ReceivedRequest {
    pub path: String,
    headers: HeaderMap,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Site {
    pub fn start() -> Self {
        Self::serve(|listener, router| async move { axum::serve(listener, router).await })
    }

    /// The same site with a self-signed certificate.
    pub fn start_tls() -> Self {
        let site = Self::serve(|listener, router| async move {
            axum::serve(tls::TlsListener::new(listener), router).await
        });
        Self { base: site.base.replace("http://", "https://"), ..site }
    }

    fn serve<F: Future<Output = io::Result<()>>>(
        run: impl FnOnce(TcpListener, Router) -> F + Send + 'static,
    ) -> Self {
        let state = Arc::new(SiteState::default());
        let router = Router::new().fallback(answer).with_state(state.clone());
        let (report, listening) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = crate::site_server::new_listener();
                let address = listener.local_addr().expect("an address");
                report.send(address).expect("the test waits");
                tokio::select! {
                    () = async { drop(run(listener, router).await) } => {}
                    _ = ended => {}
                }
            });
        });
        let address = listening.recv().expect("the site listens");
        Self { base: format!("http://{address}"), state, _end: end }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The same page under another host name.
    pub fn url_by_name(&self, path: &str) -> String {
        self.url(path).replace("127.0.0.1", "localhost")
    }

    /// Requests for a path so far, with any query.
    pub fn hits(&self, path: &str) -> usize {
        self.requests(path).len()
    }

    pub fn requests(&self, path: &str) -> Vec<ReceivedRequest> {
        let seen = self.state.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.path == path).cloned().collect()
    }

    /// Sets what `/changing` responds from now on.
    pub fn change(&self, status: u16, text: &str) {
        *self.state.changing.lock().unwrap() = (status, text.to_owned());
    }
}

async fn answer(State(state): State<Arc<SiteState>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let headers = request.headers().clone();
    state.seen.lock().unwrap().push(ReceivedRequest { path: path.clone(), headers: headers.clone() });
    if let Some(page) = pages::find(&path) {
        return page;
    }
    let millis = query.strip_prefix("ms=").and_then(|text| text.parse().ok()).unwrap_or(0);
    let wait = Duration::from_millis(millis);
    match path.as_str() {
        "/moved" => redirect("/hop"),
        "/hop" => redirect("/article"),
        "/loop" => redirect("/loop"),
        "/to" => redirect(&query),
        "/etag" => with_etag(&headers),
        "/echo" => echo(&headers),
        "/slow" => {
            tokio::time::sleep(wait).await;
            pages::html(200, ARTICLE)
        }
        "/dripping" => dripping(state, wait),
        "/hang" => std::future::pending().await,
        "/changing" => {
            let (status, text) = state.changing.lock().unwrap().clone();
            pages::html(status, &pages::changing(&text))
        }
        _ => match path.rsplit_once('/') {
            Some(("/page", number)) => pages::html(200, &pages::numbered(number)),
            Some(("/script-page", number)) => pages::html(200, &pages::scripted(number)),
            Some(("/api/page", number)) => pages::numbered_text(number).into_response(),
            _ => pages::html(404, pages::MISSING),
        },
    }
}

fn redirect(to: &str) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, to)]).into_response()
}

/// Responds 304 to a request that has the current `ETag`.
fn with_etag(headers: &HeaderMap) -> Response {
    const TAG: &str = "\"edition-7\"";
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|tag| tag == TAG);
    let tag = [(header::ETAG, TAG)];
    if known {
        (StatusCode::NOT_MODIFIED, tag).into_response()
    } else {
        (tag, pages::html(200, ARTICLE)).into_response()
    }
}

/// The request headers, one per line.
fn echo(headers: &HeaderMap) -> Response {
    let mut text = String::from("These are the headers that came with the request:\n");
    for (name, value) in headers {
        let _ = writeln!(text, "{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    }
    text.into_response()
}

/// The first half at once, the second after a delay. When both are sent, that is noted like a request.
fn dripping(state: Arc<SiteState>, wait: Duration) -> Response {
    let halves = stream::unfold(0, move |turn| {
        let state = state.clone();
        async move {
            let (first, second) = ARTICLE.split_at(ARTICLE.find("<h2>Measured").expect("a middle"));
            match turn {
                0 => Some((Ok::<_, io::Error>(first), 1)),
                1 => {
                    tokio::time::sleep(wait).await;
                    Some((Ok(second), 2))
                }
                _ => {
                    let note = ReceivedRequest { path: DRIPPED.to_owned(), headers: HeaderMap::new() };
                    state.seen.lock().unwrap().push(note);
                    None
                }
            }
        }
    });
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], Body::from_stream(halves)).into_response()
}
