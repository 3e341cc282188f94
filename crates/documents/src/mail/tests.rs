use std::io::{Cursor, Write};

use crate::fixtures::markdown;

#[test]
fn a_letter_with_its_head_body_and_attachments() {
    let letter = "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
        Date: Thu, 1 Aug 2024 10:00:00 +0200\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello Bob\r\n\
        --b\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n";
    assert_eq!(
        markdown(letter.as_bytes()),
        "# Grüße\n\n**From**: Ann (ann@example.org)  \n**To**: bob@example.org  \n\
         **Date**: 2024-08-01T10:00:00+02:00\n\nHello Bob\n\n## Attachments\n\n- a.pdf (application/pdf, 3 bytes)"
    );
}

#[test]
fn a_letter_of_outlook() {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
    file.create_storage("/__attach_version1.0_#00000000").expect("a storage");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let mut properties = vec![0; 32];
    properties.extend(0x0039_0040_u32.to_le_bytes());
    properties.extend([0; 4]);
    // 2024-08-01 08:00 UTC in steps of 100 nanoseconds since 1601.
    properties.extend(((1_722_499_200_u64 + 11_644_473_600) * 10_000_000).to_le_bytes());
    for (name, bytes) in [
        ("/__properties_version1.0", properties),
        ("/__substg1.0_0037001F", wide("Plans")),
        ("/__substg1.0_0C1A001F", wide("Ann")),
        ("/__substg1.0_0C1F001F", wide("ann@example.org")),
        ("/__substg1.0_0E04001F", wide("Bob")),
        ("/__substg1.0_1000001E", b"Hello\r\n\r\nBob".to_vec()),
        ("/__attach_version1.0_#00000000/__substg1.0_3707001F", wide("plan.docx")),
    ] {
        file.create_stream(name).expect("a stream").write_all(&bytes).expect("bytes");
    }
    file.flush().expect("a file");
    assert_eq!(
        markdown(&file.into_inner().into_inner()),
        "# Plans\n\n**From**: Ann (ann@example.org)  \n**To**: Bob  \n**Date**: 2024-08-01T08:00:00Z\n\n\
         Hello\n\nBob\n\n## Attachments\n\n- plan.docx"
    );
}

#[test]
fn an_html_body_keeps_headings_links_and_tables() {
    let letter = "From: ann@example.org\r\nTo: bob@example.org\r\nSubject: News\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nplain\r\n\
        --b\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
        <h2>Gr=FC=DFe</h2><style>p {color: red}</style><p>See <a href=3D\"https://example.org/a\">this</a> and \
        <a href=3D\"#top\">the top</a>.<img src=3D\"cid:logo\"></p><table><tr><th>Item</th><th>Price</th></tr>\
        <tr><td>Tea</td><td>3</td></tr></table>\r\n--b--\r\n";
    assert_eq!(
        markdown(letter.as_bytes()),
        "# News\n\n**From**: ann@example.org  \n**To**: bob@example.org\n\n## Grüße\n\n\
         See [this](https://example.org/a) and the top.\n\n| Item | Price |\n| --- | --- |\n| Tea | 3 |"
    );
}
