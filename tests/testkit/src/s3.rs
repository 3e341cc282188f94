//! An S3-compatible server on loopback: moto, an imitation of AWS services in Python.

use crate::FreePort;
use crate::guarded_process::GuardedProcess;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A running server; it stops when this value is dropped.
#[derive(Debug)]
pub struct S3Server {
    port: u16,
    _server: GuardedProcess,
}

impl S3Server {
    /// Starts a server with nothing in it.
    ///
    /// # Panics
    /// When Python or moto is missing, or the server does not come up.
    pub fn start() -> Self {
        let python = python();
        let FreePort(port) = FreePort::find();
        let arguments = ["-m", "moto.server", "-H", "127.0.0.1", "-p"].map(String::from);
        let command: Vec<String> = std::iter::once(python.display().to_string())
            .chain(arguments)
            .chain([port.to_string()])
            .collect();
        let server = GuardedProcess::start("TERM", &command);
        let end = Instant::now() + Duration::from_mins(2);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "the S3 test server did not start: {command:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { port, _server: server }
    }

    /// Makes a bucket, with a request that any S3 server takes but only a test server takes unsigned.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn create_bucket(&self, name: &str) {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("the S3 test server");
        let request = format!(
            "PUT /{name} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            self.port
        );
        connection.write_all(request.as_bytes()).expect("a request to the S3 test server");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("an answer of the S3 test server");
        assert!(answer.starts_with("HTTP/1.1 200"), "no bucket: {answer}");
    }

    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// The Python with the packages for tests: `GANNET_TEST_PYTHON`, or the environment that `make test` creates.
fn python() -> PathBuf {
    let python = std::env::var_os("GANNET_TEST_PYTHON").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.test-env/venv/bin/python")),
        PathBuf::from,
    );
    let there = std::process::Command::new(&python)
        .args(["-c", "import moto.server"])
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    assert!(
        there,
        "{} cannot import moto.server; run `make test`, or install tests/requirements.txt into a virtual \
         environment and name its python in GANNET_TEST_PYTHON",
        python.display()
    );
    python
}
