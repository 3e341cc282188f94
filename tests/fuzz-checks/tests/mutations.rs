//! The short form of fuzzing: the seeds of `fuzz/corpus` and mutations of them go through the same checks as
//! the libFuzzer targets. The mutations are the same in every run. About a second for each parser; a minute
//! with `GANNET_TEST_SOAK=1`.

use gannet_fuzz_checks as checks;
use std::path::Path;
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

const COMMAND_FRAGMENTS: [&[u8]; 24] = [
    b"\n{\"id\":1,\"method\":\"",
    b"\",\"params\":{",
    b"\",\"sessionId\":\"",
    b"\"url\":\"file:///etc/passwd\"",
    b"\"url\":\" \\tFILE:/etc\"",
    b"\"\\u0075rl\":\"chrome://version\"",
    b"\"files\":[\"{FILES}/link\"]",
    b"\"files\":[\"{FILES}/../secret\"]",
    b"\"data\":{\"files\":[\"/etc/passwd\"]}",
    b"\"behavior\":\"default\"",
    b"\"downloadPath\":\"/etc\"",
    b"\"proxyServer\":\"http://1.2.3.4\"",
    b"\"tracingBackend\":\"system\"",
    b"\"transferMode\":\"ReturnAsStream\"",
    b"Page.navigate",
    b"Browser.setDownloadBehavior",
    b"Target.createBrowserContext",
    b"DOM.setFileInputFiles",
    b"\\ud800",
    b"\\u0000",
    b"[[[[[[[[[[[[[[[[",
    b"9223372036854775808",
    b"null",
    b"\xff",
];

const OFFICE_FRAGMENTS: [&[u8]; 24] = [
    b"\n@ xl/worksheets/sheet1.xml\n",
    b"\n@ word/document.xml\n",
    b"\n@ content.xml\n",
    b"<mergeCell ref='A20:XFD1048576'/>",
    b"<mergeCell ref='C3:A1'/>",
    b"<c r='XFD1048576'><v>1</v></c>",
    b"<c r='A0' t='s'><v>-1</v></c>",
    b"<w:gridSpan w:val='4294967295'/>",
    b"<w:vMerge/>",
    b"<w:tbl><w:tr><w:tc>",
    b"</w:tc></w:tr></w:tbl>",
    b"<a:tc gridSpan='99999' rowSpan='-1'>",
    b" table:number-columns-repeated='4294967295'",
    b" table:number-rows-spanned='4294967295'",
    b"<text:list><text:list-item>",
    b"<m:oMath><m:f><m:num>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>&b;",
    b"&#xD800;&#0;",
    b"Target='../../../word/document.xml'",
    b"xml:space='preserve'",
    b"\xff\xfe<\0",
    b"\xff\xff\xff\xff",
    b"{\\rtf1\\u-1\\bin99999999 ",
    b"2147483648",
];

const CALL_FRAGMENTS: [&[u8]; 12] = [
    &[0; 27],
    &[0xff; 27],
    // mmap, clone, socketpair, sendto, setsockopt, fcntl, ioctl, prctl, prlimit64, setpriority.
    &[9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0x21, 0, 0, 0],
    &[56, 0, 0, 0, 0, 2, 0x10],
    &[53, 0, 0, 1, 0, 0, 0, 2, 0, 8, 0],
    &[44, 0, 0x10, 1, 0, 0, 0],
    &[54, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0],
    &[72, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0],
    &[16, 0, 0x7f, 1, 0, 0, 0, 0x12, 0x54, 0, 0],
    &[157, 0, 0, 4, 0, 0, 0],
    &[0x2e, 1, 0, 1, 0, 0, 0],
    &[141, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
];

const TIMELINE_FRAGMENTS: [&[u8]; 21] = [
    b"\x1d",
    b"\x1e",
    b"\x1f",
    b"\n## Heading\n\n",
    b"\n- item\n",
    b"\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    b"```\n",
    b"[text](https://ex.org/?token=1)",
    b"![](x)",
    b"Updated 5 minutes ago",
    b"2026-02-30",
    b"12,345 views",
    b"$ 49.99",
    b"\xe2\x82\xac 1.234,56",
    b"99999999999999999999999999999999999",
    b"-0.0000001",
    b"We use cookies. Accept",
    b"504 Gateway Timeout",
    b"\xe2\x80\x8b\xe2\x80\xae",
    b"\xff",
    b"when the price drops below 45",
];

/// Runs the seeds of a target and mutations of them.
fn mutate(target: &str, fragments: &[&[u8]], inputs: usize) {
    Corpus::load(target, fragments).check(inputs, checks::find_check(target));
}

/// What `fuzz/run` knows, `fuzz/README.md` explains and these tests mutate are the same.
#[test]
fn every_target_has_seeds_a_test_and_a_line_in_the_readme() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("the README");
    let seeds = std::fs::read_dir(folder.join("corpus")).expect("the seeds");
    let mut seeds: Vec<String> =
        seeds.map(|entry| entry.expect("a folder").file_name().into_string().expect("a name")).collect();
    seeds.sort();
    let targets: Vec<&str> = checks::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(seeds, targets);
    for target in targets {
        assert!(readme.contains(&format!("`{target}`")), "{target} is not in the README");
        let test = format!("mutate(\"{target}\",");
        assert!(include_str!("mutations.rs").contains(&test), "{target} has no test");
    }
}

#[test]
fn any_page_is_parsed_into_a_consistent_tree() {
    mutate("parse", &HTML_FRAGMENTS, 150);
}

#[test]
fn the_content_of_any_page_is_selected_and_judged() {
    mutate("select", &HTML_FRAGMENTS, 100);
}

#[test]
fn any_page_is_written_in_every_format() {
    mutate("write", &HTML_FRAGMENTS, 100);
}

#[test]
fn any_sitemap_or_feed_is_read_or_refused() {
    mutate("sitemap", &SITEMAP_FRAGMENTS, 400);
}

#[test]
fn any_file_is_imported_or_refused_by_every_importer() {
    mutate("importers", &IMPORT_FRAGMENTS, 200);
}

#[test]
fn any_request_body_is_read_or_refused_with_a_client_error() {
    mutate("request_body", &BODY_FRAGMENTS, 1000);
}

#[test]
fn any_http_response_is_read_or_refused() {
    mutate("http_response", &HEAD_FRAGMENTS, 300);
}

#[test]
fn any_compressed_body_is_decoded_within_the_limits_or_refused() {
    mutate("response_body", &COMPRESSED_FRAGMENTS, 60);
}

#[test]
fn any_dns_response_is_read_or_passed_over() {
    mutate("dns_response", &DNS_FRAGMENTS, 200);
}

#[test]
fn any_office_file_is_read_or_refused() {
    mutate("office", &OFFICE_FRAGMENTS, 600);
}

#[test]
fn any_command_of_a_client_is_answered_or_sent_within_its_session() {
    mutate("browser_command", &COMMAND_FRAGMENTS, 3000);
}

#[test]
fn any_system_call_is_answered_as_its_lists_say() {
    mutate("system_calls", &CALL_FRAGMENTS, 3000);
}

#[test]
fn any_versions_of_a_page_are_compared_or_refused() {
    mutate("timeline", &TIMELINE_FRAGMENTS, 100);
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
