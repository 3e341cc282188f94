//! The short form of fuzzing: the seeds of `fuzz/corpus` and mutations of them go through the same checks as
//! the libFuzzer targets. The mutations are the same in every run. About a second for each parser; a minute
//! with `GANNET_TEST_SOAK=1`.

use gannet_fuzz_checks as checks;
use std::time::{Duration, Instant};
use testkit::mutations::Corpus;

/// Markup that changes the state of the HTML parser or of the markdown writer.
const HTML_FRAGMENTS: [&[u8]; 16] = [
    b"<table><tr><td>",
    b"</td></tr></table>",
    b"<pre><code>",
    b"```",
    b"<ul><li>",
    b"</ul>",
    b"<a href=x><img src=y alt=z>",
    b"</a>",
    b"<b><i>",
    b"<template>",
    b"<svg><title>",
    b"<select><option>",
    b"<noscript>",
    b"&#xD800;\0",
    b"\xff\xfe",
    b"<!--",
];

const SITEMAP_FRAGMENTS: [&[u8]; 16] = [
    b"<url><loc>",
    b"</loc></url>",
    b"<sitemap><loc>/more.xml",
    b"<item><link>",
    b"<entry><link href='",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&amp;&#0;&#x110000;&b;",
    b"https://ex.org/",
    b"http://[::1/",
    b"\xff\xfe<\0u\0",
    b"\xef\xbb\xbf",
    b"<html><body>",
];

const IMPORT_FRAGMENTS: [&[u8]; 24] = [
    b"{\"ids\":{\"doi\":[\"10.1/a\"]},\"title\":\"",
    b"\"}\n",
    b"[[[[[[[[",
    b"null",
    b"-1e999",
    b"\"\\ud800\"",
    b"18446744073709551616",
    b"2024-13-32",
    b"@article{",
    b"title = {{\\\"o\\'{e}",
    b"}}",
    b"\"",
    b" and ",
    b"TY  - JOUR\n",
    b"ER  - \n",
    b"<PubmedArticle>",
    b"</PubmedArticle>",
    b"<article><front><article-meta>",
    b"<![CDATA[",
    b"&#xD800;&unknown;",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    b"\xe2\x80\xa8",
];

const BODY_FRAGMENTS: [&[u8]; 16] = [
    b"{\"url\":\"https://ex.org\"}",
    b"[",
    b"{\"a\":",
    b"\"formats\":[{\"type\":\"json\",\"schema\":{",
    b"null",
    b"1e999",
    b"-1",
    b"18446744073709551616",
    b"\"\\ud800\"",
    b"\\u0000",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\"actions\":[{\"type\":\"wait\",",
    b"&limit=1&limit=2",
    b"%00%ff%",
    b"\"url\":\"x\",\"url\":\"y\",",
];

const HEAD_FRAGMENTS: [&[u8]; 24] = [
    b"\r\n",
    b"\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: ",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"Content-Length: 18446744073709551615\r\n",
    b"Content-Length: -1\r\n",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"ffffffffffffffff\r\n",
    b"0\r\n\r\n",
    b"Content-Encoding: gzip, br\r\n",
    b"Set-Cookie: a=b; Domain=.0.0.1; Path=/; Max-Age=9223372036854775807\r\n",
    b"Set-Cookie: a=b; Expires=Thu, 01-Jan-70 00:00:00 GMT\r\n",
    b"Retry-After: 18446744073709551615\r\n",
    b"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
    b"Location: //[::1\r\n",
    b"Location: /start\r\n",
    b"Location: http://name.example/\r\n",
    b"Content-Type: text/html; charset=\"\r\n",
    b"Connection: upgrade\r\nUpgrade: websocket\r\n",
    b"X: \xff\xfe\r\n",
    b" folded\r\n",
    b":\r\n",
    b"\0",
];

const COMPRESSED_FRAGMENTS: [&[u8]; 8] = [
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    b"\x1f\x8b\x08\x1e",
    b"\x78\x9c",
    b"\x28\xb5\x2f\xfd",
    b"\x50\x2a\x4d\x18\x00\x00\x00\x00",
    b"\x00\x00\x00\xff\xff",
    b"\xff\xff\xff\xff",
    b"\0",
];

const DNS_FRAGMENTS: [&[u8]; 10] = [
    b"\x81\x80\x00\x01\x00\x00\x00\x00",
    b"\x83\x80\xff\xff",
    b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x09\x00\x04\xc0\x00\x02\x07",
    b"\xc0\x0c\x00\x1c\x00\x01\x00\x00\x00\x09\x00\x10\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01",
    b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x09\x00\x02\xc0\x0c",
    b"\xc0\xff",
    b"\x3faaa",
    b"\x40",
    b"\xff\xff",
    b"\0",
];

#[test]
fn any_page_is_parsed_into_a_consistent_tree() {
    Corpus::load("parse", &HTML_FRAGMENTS).check(150, checks::parse_page);
}

#[test]
fn the_content_of_any_page_is_selected_and_judged() {
    Corpus::load("select", &HTML_FRAGMENTS).check(100, checks::select_content);
}

#[test]
fn any_page_is_written_in_every_format() {
    Corpus::load("write", &HTML_FRAGMENTS).check(100, checks::write_page);
}

#[test]
fn any_sitemap_or_feed_is_read_or_refused() {
    Corpus::load("sitemap", &SITEMAP_FRAGMENTS).check(400, checks::sitemap);
}

#[test]
fn any_file_is_imported_or_refused_by_every_importer() {
    Corpus::load("importers", &IMPORT_FRAGMENTS).check(200, checks::importers);
}

#[test]
fn any_request_body_is_read_or_refused_with_a_client_error() {
    Corpus::load("request_body", &BODY_FRAGMENTS).check(1000, checks::request_body);
}

#[test]
fn any_http_response_is_read_or_refused() {
    Corpus::load("http_response", &HEAD_FRAGMENTS).check(300, checks::http_response);
}

#[test]
fn any_compressed_body_is_decoded_within_the_limits_or_refused() {
    Corpus::load("response_body", &COMPRESSED_FRAGMENTS).check(60, checks::response_body);
}

#[test]
fn any_dns_response_is_read_or_passed_over() {
    Corpus::load("dns_response", &DNS_FRAGMENTS).check(200, checks::dns_response);
}

/// A gzip header may contain a file name. Searching it again for every byte that arrives would take minutes here.
#[test]
fn gzip_headers_with_long_names_take_linear_time() {
    let header = [b"\x1f\x8b\x08\x08\0\0\0\0\0\x03", "n".repeat(60_000).as_bytes(), b"\0"].concat();
    let empty_member = [&header[..], b"\x03\0", &[0; 8]].concat();
    let started = Instant::now();
    checks::response_body(&empty_member.repeat(14));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}
