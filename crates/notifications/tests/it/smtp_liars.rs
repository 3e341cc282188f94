//! Mail servers that hang, lie, and never stop talking. None of them holds a sender for longer than a reply
//! may take, or makes it believe that a mail was delivered.

use crate::smtp::{assert_temporary, deadline, mail, sender};
use notifications::outcome::SendOutcome;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const REPLY_TIMEOUT: Duration = Duration::from_millis(700);

/// A server that sends these replies, one for each line it gets, the first at once. `None` closes the
/// connection.
async fn serve(replies: Vec<Option<&'static str>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk(stream, replies.clone()));
        }
    });
    port
}

async fn talk(mut stream: TcpStream, replies: Vec<Option<&'static str>>) {
    let mut buffer = vec![0; 65_536];
    for reply in replies {
        match reply {
            None => return,
            Some("forever") => loop {
                if stream.write_all(&[b'2'; 4_096]).await.is_err() {
                    return;
                }
            },
            Some("lines") => loop {
                if stream.write_all("250-and more\r\n".repeat(100).as_bytes()).await.is_err() {
                    return;
                }
            },
            Some("hang") => tokio::time::sleep(Duration::from_mins(10)).await,
            Some("slow") => {
                for byte in b"220 a banner, byte by byte, forever and a day\r\n".iter().cycle() {
                    if stream.write_all(&[*byte]).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            Some(text) => {
                let _ = stream.write_all(text.as_bytes()).await;
            }
        }
        if stream.read(&mut buffer).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

async fn send_to(replies: Vec<Option<&'static str>>) -> Vec<SendOutcome> {
    let port = serve(replies).await;
    let started = Instant::now();
    let url = format!("smtp://localhost:{port}");
    let outcomes = sender(&url, Vec::new(), REPLY_TIMEOUT)
        .send(&[mail("a@b.example"), mail("c@b.example")], deadline())
        .await;
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(outcomes.len(), 2);
    outcomes
}

const HELLO: &str = "220 mail.test\r\n";
const EHLO: &str = "250 mail.test\r\n";
const OK: &str = "250 OK\r\n";
const DATA: &str = "354 go on\r\n";

#[tokio::test]
async fn liars_deliver_nothing_and_hold_up_nobody() {
    let cases: [(&str, Vec<Option<&'static str>>, &str); 14] = [
        ("hangs at once", vec![Some("hang")], "did not reply"),
        ("a banner without end", vec![Some("forever")], "a line that is too long"),
        ("lines without end", vec![Some("lines")], "too many lines"),
        ("a banner byte by byte", vec![Some("slow")], "did not reply"),
        ("speaks HTTP", vec![Some("HTTP/1.1 200 OK\r\n\r\n")], "is not SMTP"),
        ("refuses everybody", vec![Some("554 go away\r\n")], "refused the connection: 554"),
        ("EHLO without end", vec![Some(HELLO), Some("lines")], "too many lines"),
        (
            "offers TLS and speaks none",
            vec![Some(HELLO), Some("250-m\r\n250 STARTTLS\r\n"), Some("220 go\r\n"), Some("nonsense\r\n")],
            "TLS",
        ),
        (
            "slips replies in before TLS",
            vec![Some(HELLO), Some("250-m\r\n250 STARTTLS\r\n"), Some("220 go\r\n250 m\r\n250 OK\r\n")],
            "before TLS",
        ),
        (
            "closes before the last reply",
            vec![Some(HELLO), Some(EHLO), Some(OK), Some(OK), Some(DATA), None],
            "closed the connection",
        ),
        (
            "hangs before the last reply",
            vec![Some(HELLO), Some(EHLO), Some(OK), Some(OK), Some(DATA), Some("hang")],
            "did not reply",
        ),
        (
            "takes the mail before it was sent",
            vec![Some(HELLO), Some(EHLO), Some(OK), Some(OK), Some(OK), Some(OK)],
            "refused the mail: 250",
        ),
        (
            "asks for more after the mail",
            vec![Some(HELLO), Some(EHLO), Some(OK), Some(OK), Some(DATA), Some(DATA)],
            "refused the mail: 354",
        ),
        (
            "closes politely",
            vec![Some(HELLO), Some(EHLO), Some(OK), Some("421 closing\r\n"), None],
            "421 closing",
        ),
    ];
    for (name, replies, reason) in cases {
        let outcomes = send_to(replies).await;
        eprintln!("{name}: {:?}", outcomes[0]);
        assert_temporary(&outcomes[0], reason);
        assert!(matches!(outcomes[1], SendOutcome::Temporary { .. }), "{name}: {:?}", outcomes[1]);
    }
}

#[tokio::test]
async fn replies_after_the_last_one_are_not_taken_for_the_next_mail() {
    // The second mail is refused; a spare 250 in the first reply must not deliver it.
    let refuse = "250 OK\r\n250 OK\r\n250 OK\r\n354 go\r\n250 OK\r\n";
    let outcomes = send_to(vec![
        Some(HELLO),
        Some(EHLO),
        Some(OK),
        Some(OK),
        Some(DATA),
        Some(refuse),
        Some("550 no\r\n"),
    ])
    .await;
    assert_eq!(outcomes[0], SendOutcome::Delivered);
    assert_temporary(&outcomes[1], "was not asked for");
}
