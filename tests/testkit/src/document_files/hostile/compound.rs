//! Compound files of the older office formats whose sectors, directories and records are wrong.

use std::io::{Cursor, Write as _};

use super::SampleFile;

const SECTOR_BYTES: usize = 512;

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(name, bytes));
    push("encrypted.docx", compound(&[("/EncryptedPackage", &[1; 5000]), ("/EncryptionInfo", &[4; 200])]));
    push(
        "pointers-outside.doc",
        compound(&[("/WordDocument", &word_header(0xff)), ("/1Table", &[0xff; 5000])]),
    );
    push("header-of-zeros.doc", compound(&[("/WordDocument", &[0; 5000]), ("/0Table", &[0; 5000])]));
    push("short.doc", compound(&[("/WordDocument", &[0xec, 0xa5])]));
    push("records-lie.xls", compound(&[("/Workbook", &records(0xffff))]));
    push("records-empty.xls", compound(&[("/Workbook", &records(0))]));
    push(
        "containers-deep.ppt",
        compound(&[("/PowerPoint Document", &deep_containers()), ("/Current User", &[0xff; 64])]),
    );
    push(
        "noise.ppt",
        compound(&[("/PowerPoint Document", &vec![0x0f; 100_000]), ("/Current User", &[0x0f; 64])]),
    );
    push("storages-deep.msg", deep_storages());
    push("attachments-many.msg", many_attachments());
    push("nothing-known.doc", compound(&[("/Unknown", b"x")]));
    let valid = compound(&[("/WordDocument", &word_header(0)), ("/1Table", &[0; 5000])]);
    push("sectors-loop.doc", with_sector_links(&valid, |sector| sector));
    push("sectors-to-the-first.doc", with_sector_links(&valid, |_| 0));
    push("sectors-outside.doc", with_sector_links(&valid, |_| 0x7fff_fff0));
    push("directory-loop.msg", with_header_word(&valid, 48, 0));
    push("directory-outside.doc", with_header_word(&valid, 48, 0x00ff_ffff));
    push("sector-shift-huge.doc", with_header_word(&valid, 30, 0x001f_001f));
    push("table-count-huge.doc", with_header_word(&valid, 44, 0xffff_ffff));
    push("difat-loop.doc", with_header_word(&with_header_word(&valid, 68, 0), 72, 0xffff_ffff));
    push("half-a-header.doc", valid[..100].to_vec());
}

fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
    for (name, bytes) in streams {
        file.create_stream(name).expect("a stream").write_all(bytes).expect("bytes");
    }
    file.flush().expect("a file");
    file.into_inner().into_inner()
}

/// The header of a text of Word, with every pointer made of this byte.
fn word_header(fill: u8) -> Vec<u8> {
    let mut bytes = vec![fill; 6000];
    bytes[..4].copy_from_slice(&[0xec, 0xa5, 0xc1, 0x00]);
    // The other table, not encrypted.
    bytes[10..12].copy_from_slice(&[0x00, 0x02]);
    bytes
}

/// Records of a workbook that begin well and then give this length.
fn records(length: u16) -> Vec<u8> {
    let mut bytes = vec![0x09, 0x08, 0x10, 0x00, 0x00, 0x06, 0x05, 0x00];
    bytes.resize(20, 0);
    for _ in 0..20_000 {
        bytes.extend([0xfc, 0x00]);
        bytes.extend(length.to_le_bytes());
    }
    bytes
}

fn deep_containers() -> Vec<u8> {
    let mut bytes = Vec::new();
    for level in (0..20_000_u32).rev() {
        bytes.extend([0x0f, 0x00, 0xe8, 0x03]);
        bytes.extend((level * 8).to_le_bytes());
    }
    bytes
}

fn deep_storages() -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
    file.create_stream("/__properties_version1.0").expect("a stream").write_all(&[0; 64]).expect("bytes");
    let mut path = String::new();
    for _ in 0..200 {
        path.push_str("/__attach_version1.0_#00000000");
        file.create_storage(&path).expect("a storage");
    }
    file.flush().expect("a file");
    file.into_inner().into_inner()
}

fn many_attachments() -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
    file.create_stream("/__properties_version1.0").expect("a stream").write_all(&[0; 64]).expect("bytes");
    for number in 0..1500 {
        file.create_storage(format!("/__attach_version1.0_#{number:08X}")).expect("a storage");
    }
    file.flush().expect("a file");
    file.into_inner().into_inner()
}

/// The file with every used entry of its first sector table changed.
fn with_sector_links(valid: &[u8], change: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    let Some(first) = bytes.get(76..80).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes) else {
        return bytes;
    };
    let start = (first as usize + 1) * SECTOR_BYTES;
    for index in 0..SECTOR_BYTES / 4 {
        let at = start + index * 4;
        let Some(entry) = bytes.get_mut(at..at + 4) else { break };
        // The table itself and free sectors keep their marks.
        if entry != [0xfd, 0xff, 0xff, 0xff] && entry != [0xff, 0xff, 0xff, 0xff] {
            let sector = u32::try_from(index).unwrap_or(0);
            entry.copy_from_slice(&change(sector).to_le_bytes());
        }
    }
    bytes
}

fn with_header_word(valid: &[u8], at: usize, value: u32) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    if let Some(word) = bytes.get_mut(at..at + 4) {
        word.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}
