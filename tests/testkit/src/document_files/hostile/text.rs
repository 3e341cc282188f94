//! Texts, data and RTF that nest without end or have one endless line.

use super::package::LAUGHS;
use super::{DEEP, SampleFile};

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(name, bytes));
    push("empty.txt", Vec::new());
    push("white-space.txt", b" \r\n\t".repeat(1 << 20));
    push("one-line.txt", b"word ".repeat(4 << 20));
    push("zeros.txt", vec![0; 1 << 20]);
    push("lines.txt", b"a\n".repeat(2 << 20));
    push("lone-surrogates.txt", [b"\xff\xfe".to_vec(), b"\x00\xd8".repeat(100_000)].concat());
    push("invalid-utf8.txt", b"text \xc3\x28 \xf0\x28\x8c\x28 ".repeat(50_000));
    push("deep.json", b"[".repeat(DEEP * 10));
    push("deep-objects.json", format!("{}1{}", "{\"a\":".repeat(DEEP), "}".repeat(DEEP)).into_bytes());
    push("long-number.json", format!("[{}]", "9".repeat(1 << 20)).into_bytes());
    push("deep.ipynb", format!("{{\"nbformat\": 4, \"cells\": {}", "[".repeat(DEEP)).into_bytes());
    push("output.ipynb", format!("{{\"nbformat\": 4, \"cells\": [{{\"cell_type\": \"code\", \"source\": \"x\", \"outputs\": [{{\"output_type\": \"stream\", \"text\": \"{}\"}}]}}]}}", "a".repeat(4 << 20)).into_bytes());
    push("laughs.xml", format!("{LAUGHS}<x>&j;</x>").into_bytes());
    push("deep.xml", b"<a>".repeat(DEEP * 3));
    push("comment-open.xml", [b"<?xml version='1.0'?><!--".to_vec(), b"-".repeat(1 << 20)].concat());
    push("quotes-deep.md", [b">".repeat(DEEP), b" x".to_vec()].concat());
    push("brackets.md", [b"# a\n\n".to_vec(), b"[".repeat(DEEP), b"](".repeat(DEEP)].concat());
    push("emphasis.md", [b"# a\n\n".to_vec(), b"*a _b ".repeat(DEEP)].concat());
    push("groups-deep.rtf", [b"{\\rtf1 ".to_vec(), b"{".repeat(DEEP * 10)].concat());
    push("groups-closed.rtf", [b"{\\rtf1 ".to_vec(), b"}".repeat(DEEP)].concat());
    push("binary-huge.rtf", b"{\\rtf1 \\bin2147483647 x}".to_vec());
    push("binary-negative.rtf", b"{\\rtf1 \\bin-5 \\u-99999999999 ? \\'zz x}".to_vec());
    push(
        "cells.rtf",
        [b"{\\rtf1 \\trowd".to_vec(), b"\\cellx1 a\\cell ".repeat(100_000), b"\\row}".to_vec()].concat(),
    );
    push(
        "tables-deep.rtf",
        [
            b"{\\rtf1 ".to_vec(),
            b"\\trowd\\cellx9\\itap99999\\intbl a\\nestcell{\\*\\nesttableprops\\nestrow}".repeat(5_000),
            b"}".to_vec(),
        ]
        .concat(),
    );
    push("control-long.rtf", [b"{\\rtf1 \\".to_vec(), b"a".repeat(1 << 20), b" x}".to_vec()].concat());
    push("program.exe", b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff".repeat(1000));
}
