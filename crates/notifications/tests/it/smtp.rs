//! Mails through a real mail server: aiosmtpd with STARTTLS, TLS from the start, logins, greylisting and
//! refusals.

use crate::fixtures::message;
use net::{CertificateDer, Deadline, EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use notifications::email::{DigestOptions, EmailAddress, Mail, MailSender, digest};
use notifications::outcome::SendOutcome;
use notifications::smtp::{SmtpSender, SmtpSettings};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

pub const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

pub struct MailServer {
    process: Child,
    output: BufReader<ChildStdout>,
    pub port: u16,
    pub root: CertificateDer<'static>,
    _folder: tempfile::TempDir,
}

impl MailServer {
    pub fn start(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let python = std::env::var("GANNET_TEST_PYTHON")
            .expect("GANNET_TEST_PYTHON names the Python of `make test-env`, which has aiosmtpd");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/smtp_server.py");
        let mut process = Command::new(python)
            .args([script, mode])
            .args([&certificate, &key])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the mail server");
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        let port = port.trim().parse().expect("the mail server prints its port");
        Self { process, output, port, root: made.cert.der().clone(), _folder: folder }
    }

    /// The next mail that the server took.
    fn next_mail(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn sender(url: &str, roots: Vec<CertificateDer<'static>>, timeout: Duration) -> SmtpSender {
    let settings =
        SmtpSettings::parse(url).unwrap().with_hello_name("gannet.example").with_reply_timeout(timeout);
    let policy = EgressPolicy::new(settings.allow_in(EgressAllow::default()));
    let fetcher =
        Fetcher::new(FetcherSettings { extra_roots: roots, ..FetcherSettings::new(policy) }).unwrap();
    SmtpSender::new(settings, fetcher)
}

pub fn mail(to: &str) -> Mail {
    let from = MailSender::parse("Gannet <monitors@gannet.example>").unwrap();
    let options = DigestOptions { include_diffs: true, unsubscribe_url: "https://gannet.example/u" };
    digest(&from, &EmailAddress::parse(to).unwrap(), &message(), options).unwrap()
}

pub fn deadline() -> Deadline {
    Deadline::after(Duration::from_mins(1))
}

#[track_caller]
pub fn assert_temporary(outcome: &SendOutcome, reason: &str) {
    assert!(
        matches!(outcome, SendOutcome::Temporary { reason: found, .. } if found.contains(reason)),
        "{outcome:?}"
    );
}

#[track_caller]
fn assert_permanent(outcome: &SendOutcome, reason: &str) {
    assert!(
        matches!(outcome, SendOutcome::Permanent { reason: found } if found.contains(reason)),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_mail_arrives_over_starttls_with_a_login() {
    for mode in ["starttls-auth", "starttls-auth-login", "tls-auth"] {
        let mut server = MailServer::start(mode);
        let scheme = if mode == "tls-auth" { "smtps" } else { "smtp" };
        let url = format!("{scheme}://me%40a.example:pass%20word@localhost:{}", server.port);
        let sender = sender(&url, vec![server.root.clone()], REPLY_TIMEOUT);
        assert_eq!(sender.test_login(deadline()).await, Ok(()), "{mode}");
        let sent = mail("a@b.example");
        assert_eq!(
            sender.send(std::slice::from_ref(&sent), deadline()).await,
            [SendOutcome::Delivered],
            "{mode}"
        );
        let got = server.next_mail();
        assert_eq!(got["tls"], true, "{mode}");
        assert_eq!(got["login"], "me@a.example", "{mode}");
        assert_eq!(got["to"], serde_json::json!(["a@b.example"]));
        // The server ends lines as it likes; nothing else may differ.
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(got["data"].as_str().unwrap()), lines(std::str::from_utf8(&sent.bytes).unwrap()));
    }
}

#[tokio::test]
async fn each_recipient_has_an_outcome_of_its_own() {
    let mut server = MailServer::start("plain");
    let sender = sender(&format!("smtp://localhost:{}", server.port), Vec::new(), REPLY_TIMEOUT);
    let mails = [
        "first@b.example",
        "grey@b.example",
        "refused@b.example",
        "full@b.example",
        "spam@b.example",
        "last@b.example",
    ]
    .map(mail);
    let outcomes = sender.send(&mails, deadline()).await;
    assert_eq!(outcomes[0], SendOutcome::Delivered);
    assert_temporary(&outcomes[1], "451 4.7.1 Greylisted");
    assert_permanent(&outcomes[2], "550 5.1.1 No such user");
    assert_temporary(&outcomes[3], "452");
    assert_permanent(&outcomes[4], "554");
    assert_eq!(outcomes[5], SendOutcome::Delivered, "a refusal does not hold up the next mail");
    assert_eq!(sender.send(&mails[1..2], deadline()).await, [SendOutcome::Delivered], "greylisting is over");
    let got: Vec<Value> = (0..3).map(|_| server.next_mail()["to"][0].clone()).collect();
    assert_eq!(got, ["first@b.example", "last@b.example", "grey@b.example"]);
}

#[tokio::test]
async fn a_mail_is_not_sent_where_it_could_be_read() {
    let server = MailServer::start("starttls");
    let url = format!("smtp://localhost:{}", server.port);
    let untrusted = sender(&url, Vec::new(), REPLY_TIMEOUT).send(&[mail("a@b.example")], deadline()).await;
    assert_temporary(&untrusted[0], "certificate is from an unknown issuer");
}

#[tokio::test]
async fn a_wrong_login_may_be_put_right() {
    let server = MailServer::start("starttls-auth");
    let url = format!("smtp://me:wrong@localhost:{}", server.port);
    let outcomes =
        sender(&url, vec![server.root.clone()], REPLY_TIMEOUT).send(&[mail("a@b.example")], deadline()).await;
    assert_temporary(&outcomes[0], "refused the login: 535");
    let shown = format!("{outcomes:?}");
    assert!(!shown.contains("wrong") || shown.contains("went wrong"), "{shown}");
}

#[tokio::test]
async fn only_the_configured_server_is_reached() {
    let server = MailServer::start("plain");
    let settings = SmtpSettings::parse(&format!("smtp://localhost:{}", server.port)).unwrap();
    let fetcher = Fetcher::new(FetcherSettings::new(EgressPolicy::new(EgressAllow::default()))).unwrap();
    let outcomes = SmtpSender::new(settings, fetcher).send(&[mail("a@b.example")], deadline()).await;
    assert_temporary(&outcomes[0], "not allowed for mail");
}
