//! The files of the dashboard: those of the folder `web`, embedded when this crate is built, or read from disk
//! while somebody works on them. Embedded files have addresses that contain a hash of all of them, so browsers
//! may keep them for good; each is compressed once. The routes are in `server`.

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// What pages of the dashboard may load and do: nothing of another host, no inline script, no `eval`.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; \
    frame-ancestors 'none'";

/// Stands in the page for the address of the files.
const ASSETS_PLACEHOLDER: &str = "{{assets}}";
const PAGE: &str = "index.html";
const ICON: &str = "icon.svg";
/// Instead of a hash in the addresses of files that are read from disk.
const DEVELOPMENT: &str = "dev";
/// Smaller files are not worth compressing.
const MIN_COMPRESSED_BYTES: usize = 512;
/// A file of a folder that is larger is not one of the dashboard's.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// A file as it is sent.
#[derive(Debug, Clone)]
pub struct Asset {
    pub content_type: &'static str,
    pub plain: Bytes,
    /// The same compressed, where that is smaller.
    pub gzip: Option<Bytes>,
    pub etag: String,
    /// Whether its address changes when it does.
    pub immutable: bool,
}

/// Where the files are.
#[derive(Debug)]
pub struct Dashboard {
    source: Source,
    /// The part of addresses that changes with the files.
    version: String,
}

#[derive(Debug)]
enum Source {
    Embedded(HashMap<&'static str, Asset>),
    Folder(PathBuf),
}

impl Dashboard {
    /// The files in this binary.
    pub fn embedded() -> Self {
        let mut all = Sha256::new();
        for (name, content) in files::FILES {
            all.update(name.as_bytes());
            all.update(Sha256::digest(content));
        }
        let version = hex(&all.finalize(), 8);
        let build = |(name, content): &(&'static str, &'static [u8])| {
            let content =
                if *name == PAGE { fill_page(content, &version) } else { Bytes::from_static(content) };
            (*name, Asset::new(name, content, *name != PAGE))
        };
        let assets = files::FILES.iter().map(build).collect();
        Self { source: Source::Embedded(assets), version }
    }

    /// The files of a folder, read again for every request.
    pub fn from_folder(folder: PathBuf) -> Self {
        Self { source: Source::Folder(folder), version: DEVELOPMENT.to_owned() }
    }

    /// The page that everything else is loaded from.
    pub fn page(&self) -> Option<Asset> {
        self.find(PAGE)
    }

    /// The icon at an address of its own, which does not change with it: for pages that name none.
    pub fn icon(&self) -> Option<Asset> {
        self.find(ICON).map(|icon| Asset { immutable: false, ..icon })
    }

    /// A file by the two parts of its address: `/assets/{version}/{path}`. A file of another version is not
    /// there: a page of an older server must not be mixed with files of this one.
    pub fn asset(&self, version: &str, path: &str) -> Option<Asset> {
        (version == self.version && path != PAGE).then(|| self.find(path)).flatten()
    }

    fn find(&self, path: &str) -> Option<Asset> {
        match &self.source {
            Source::Embedded(assets) => assets.get(path).cloned(),
            Source::Folder(folder) => {
                if !path.split('/').all(is_plain_name) {
                    return None;
                }
                let file = folder.join(path);
                let fits = file.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_FILE_BYTES);
                let content = std::fs::read(file).ok().filter(|_| fits)?;
                let content =
                    if path == PAGE { fill_page(&content, &self.version) } else { Bytes::from(content) };
                Some(Asset::new(path, content, false))
            }
        }
    }
}

impl Asset {
    fn new(name: &str, plain: Bytes, immutable: bool) -> Self {
        let gzip =
            compress(&plain).filter(|gzip| plain.len() >= MIN_COMPRESSED_BYTES && gzip.len() < plain.len());
        let etag = format!("\"{}\"", hex(&Sha256::digest(&plain), 12));
        Self { content_type: content_type(name), plain, gzip, etag, immutable }
    }
}

fn fill_page(page: &[u8], version: &str) -> Bytes {
    String::from_utf8_lossy(page).replace(ASSETS_PLACEHOLDER, &format!("/assets/{version}")).into()
}

fn compress(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// A name without separators that cannot lead out of the folder or to a hidden file.
fn is_plain_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(legal)
}

fn hex(bytes: &[u8], take: usize) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)]));
    bytes.iter().take(take).flat_map(digits).collect()
}

#[cfg(test)]
mod tests;
