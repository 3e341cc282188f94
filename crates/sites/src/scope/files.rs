//! Names of files: which are pages, which have no text at all.

/// Endings of pages: a start address with one of these names a file in a folder.
const PAGES: [&str; 24] = [
    "html", "htm", "xhtml", "shtml", "phtml", "php", "php5", "asp", "aspx", "ashx", "jsp", "jspx", "jsf",
    "cfm", "cgi", "md", "mdx", "rst", "txt", "xml", "json", "pdf", "rss", "atom",
];

/// Endings of what a crawl for text does not fetch. Documents (pdf, docx, xlsx, epub…) are not here: they have text. Nor is
/// what also ends the names of things that pages are about, as `node.js`.
const NO_TEXT: [&str; 72] = [
    "3gp", "7z", "aac", "apk", "appimage", "avi", "avif", "bmp", "bz2", "cab", "crx", "css", "cur", "deb",
    "dmg", "dll", "eot", "eps", "exe", "flac", "flv", "gif", "glb", "gltf", "gz", "heic", "ico", "ics",
    "ipa", "iso", "jar", "jpe", "jpeg", "jpg", "lz4", "m3u8", "m4a", "m4v", "mid", "mkv", "mov", "mp3",
    "mp4", "mpeg", "mpg", "msi", "oga", "ogg", "ogv", "opus", "otf", "pkg", "png", "psd", "rar", "rpm",
    "scss", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "wav", "webm", "webp", "woff", "woff2",
    "xz", "zip",
];

/// Whether a path ends in the name of a page's file.
pub fn names_a_page(path: &str) -> bool {
    ending(path).is_some_and(|ending| is_one_of(ending, &PAGES))
}

/// Whether a path ends in the name of a file without text.
pub fn has_no_text(path: &str) -> bool {
    ending(path).is_some_and(|ending| is_one_of(ending, &NO_TEXT))
}

/// What follows the last dot of the last segment, where something stands before that dot. `File:Bird.png` is the page of a
/// wiki about a picture.
fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty() && !stem.contains(':')).then_some(ending)
}

fn is_one_of(ending: &str, list: &[&str]) -> bool {
    ending.len() <= 8 && list.iter().any(|known| known.eq_ignore_ascii_case(ending))
}
