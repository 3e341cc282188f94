//! Letters with endless parts, headers and attachments.

use std::fmt::Write as _;

use super::{DEEP, SampleFile};

const HEAD: &str = "From: a@example.org\r\nTo: b@example.org\r\nSubject: x\r\nMIME-Version: 1.0\r\n";

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, text: String| files.push(SampleFile::new(format!("{name}.eml"), text));
    push("parts-deep", deep_parts(10_000));
    push("messages-deep", deep_messages(5_000));
    push(
        "boundary-open",
        format!("{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nnever closed"),
    );
    push(
        "boundary-empty",
        format!("{HEAD}Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n--\r\n\r\nx\r\n----\r\n"),
    );
    push("attachments-many", many_parts(50_000));
    push("headers-many", format!("{}\r\n\r\nx", "X-Header: value\r\n".repeat(200_000) + HEAD));
    push("header-long", format!("{HEAD}X-Long: {}\r\n\r\nx", "a ".repeat(4 << 20)));
    push(
        "addresses-many",
        format!("{HEAD}Cc: {}z@example.org\r\n\r\nx", "Name <a@example.org>, ".repeat(100_000)),
    );
    push("addresses-nested", format!("{HEAD}Cc: {}\r\n\r\nx", "(".repeat(DEEP)));
    push("encoded-words", format!("Subject: {}\r\n{HEAD}\r\nx", "=?utf-8?q?=C3=BC?= ".repeat(100_000)));
    push(
        "base64-broken",
        format!(
            "{HEAD}Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
            "!*&^%".repeat(100_000)
        ),
    );
    push("charset-unknown", format!("{HEAD}Content-Type: text/plain; charset=no-such-thing\r\n\r\ntext"));
    push("html-deep", format!("{HEAD}Content-Type: text/html\r\n\r\n{}", "<div><b>".repeat(DEEP)));
    push(
        "html-tables-deep",
        format!("{HEAD}Content-Type: text/html\r\n\r\n{}x", "<table><tr><td>".repeat(5_000)),
    );
    push(
        "html-entities",
        format!("{HEAD}Content-Type: text/html\r\n\r\n{}", "&amp;&#99999999999;&nosuch;".repeat(100_000)),
    );
    push(
        "html-spans",
        format!(
            "{HEAD}Content-Type: text/html\r\n\r\n<table>{}</table>",
            "<tr><td colspan=99999 rowspan=99999>x</td></tr>".repeat(2_000)
        ),
    );
    push(
        "quoted-printable-broken",
        format!(
            "{HEAD}Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{}",
            "=ZZ=\r".repeat(100_000)
        ),
    );
}

fn deep_parts(levels: usize) -> String {
    let mut out = String::from(HEAD);
    for level in 0..levels {
        let _ = write!(out, "Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n");
    }
    out.push_str("Content-Type: text/plain\r\n\r\ndeep\r\n");
    out
}

fn deep_messages(levels: usize) -> String {
    format!("{}{HEAD}\r\ndeep", format!("{HEAD}Content-Type: message/rfc822\r\n\r\n").repeat(levels))
}

fn many_parts(count: usize) -> String {
    let part = "--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"../../../etc/passwd\"\r\n\r\nx\r\n";
    format!("{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b--\r\n", part.repeat(count))
}
