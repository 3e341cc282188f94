//! A web server with the routes of one test, on a free loopback port. It runs on a thread of its own, so that
//! a test which blocks on a program does not stop it.

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running server; it stops when this value is dropped.
pub struct SiteServer {
    pub base: String,
    _end: oneshot::Sender<()>,
}

impl SiteServer {
    pub fn start(router: Router) -> Self {
        let (report, listening) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                report.send(listener.local_addr().expect("an address")).expect("the test waits");
                tokio::select! {
                    () = async { drop(axum::serve(listener, router).await) } => {}
                    _ = ended => {}
                }
            });
        });
        let address = listening.recv().expect("the server listens");
        Self { base: format!("http://{address}"), _end: end }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}
