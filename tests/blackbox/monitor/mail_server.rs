//! A real mail server, aiosmtpd, and what it has received.

use mail_parser::MessageParser;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::TempDir;

pub struct MailServer {
    process: Child,
    pub port: u16,
    mails: Arc<Mutex<Vec<ReceivedMail>>>,
    folder: TempDir,
}

/// A mail that the server took.
#[derive(Debug, Clone)]
pub struct ReceivedMail {
    pub to: String,
    pub over_tls: bool,
    pub message_id: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    pub unsubscribe: String,
}

impl ReceivedMail {
    fn parse(mail: &Value) -> Self {
        let data = mail["data"].as_str().unwrap();
        let message = MessageParser::default().parse(data.as_bytes()).expect("a mail");
        let unsubscribe = message.header_raw("List-Unsubscribe").unwrap_or_default();
        Self {
            to: mail["to"][0].as_str().unwrap().to_owned(),
            over_tls: mail["tls"] == true,
            message_id: message.message_id().unwrap_or_default().to_owned(),
            subject: message.subject().unwrap_or_default().to_owned(),
            text: message.body_text(0).unwrap_or_default().into_owned(),
            html: message.body_html(0).unwrap_or_default().into_owned(),
            unsubscribe: unsubscribe.chars().filter(|c| !c.is_whitespace() && !"<>".contains(*c)).collect(),
        }
    }

    /// The path of the first link in the text that contains `part`.
    pub fn link(&self, part: &str) -> String {
        let link = self.text.split_whitespace().find(|word| word.contains(part));
        path_of(link.unwrap_or_else(|| panic!("no link with {part} in {}", self.text)))
    }
}

/// An address without scheme and host.
pub fn path_of(url: &str) -> String {
    let (_, rest) = url.split_once("://").expect("an address");
    rest[rest.find('/').expect("a path")..].to_owned()
}

impl MailServer {
    /// `mode` as the script says: `plain`, `starttls-auth`, …
    pub fn start(mode: &str) -> Self {
        let folder = TempDir::new();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("certificate.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        let python =
            std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../notifications/tests/it/smtp_server.py");
        let mut process = Command::new(python)
            .args([script, mode])
            .args([folder.join("certificate.pem"), folder.join("key.pem")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the mail server");
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        let port = port.trim().parse().expect("the mail server prints its port");
        let mails = Arc::new(Mutex::new(Vec::new()));
        let received = mails.clone();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let mail = serde_json::from_str(&line).expect("JSON");
                received.lock().unwrap().push(ReceivedMail::parse(&mail));
            }
        });
        Self { process, port, mails, folder }
    }

    pub fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    pub fn mails(&self) -> Vec<ReceivedMail> {
        self.mails.lock().unwrap().clone()
    }

    /// Waits until this many mails have come in all.
    pub async fn wait_for(&self, count: usize) -> Vec<ReceivedMail> {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let mails = self.mails();
            if mails.len() >= count {
                return mails;
            }
            assert!(Instant::now() < end, "{} of {count} mails: {mails:?}", mails.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
