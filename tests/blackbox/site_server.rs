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
        Self::start_on_thread(router, || {})
    }

    /// A site that would be on another machine: with a low priority, it takes no CPU time from what is measured.
    pub fn start_at_low_priority(router: Router) -> Self {
        Self::start_on_thread(router, lower_priority)
    }

    fn start_on_thread(router: Router, prepare_thread: impl FnOnce() + Send + 'static) -> Self {
        let (report, listening) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            prepare_thread();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = new_listener();
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

/// Listens on a port that no earlier site had: a server that tests share may remember that one.
pub fn new_listener() -> TcpListener {
    let (listener, _) = testkit::FreePort::listen();
    listener.set_nonblocking(true).expect("a listener for asynchronous use");
    TcpListener::from_std(listener).expect("a listener of the runtime")
}

/// Lowers the priority of this thread. Where that is not allowed, the measurement goes on without.
pub fn lower_priority() {
    let _ = rustix::process::setpriority_process(None, 19);
}
