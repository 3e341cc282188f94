//! File extensions: which are pages, and which have no text.

/// Extensions of pages: a start URL that ends with one names a file in a folder.
const PAGE_EXTENSIONS: [&str; 24] = [
    "html", "htm", "xhtml", "shtml", "phtml", "php", "php5", "asp", "aspx", "ashx", "jsp", "jspx", "jsf",
    "cfm", "cgi", "md", "mdx", "rst", "txt", "xml", "json", "pdf", "rss", "atom",
];

/// Extensions that a crawl for text does not fetch. Documents (pdf, docx, xlsx, epub…) are not in the list
/// because they have text, nor are extensions that occur in names of topics, such as `node.js`.
const TEXTLESS_EXTENSIONS: [&str; 72] = [
    "3gp", "7z", "aac", "apk", "appimage", "avi", "avif", "bmp", "bz2", "cab", "crx", "css", "cur", "deb",
    "dmg", "dll", "eot", "eps", "exe", "flac", "flv", "gif", "glb", "gltf", "gz", "heic", "ico", "ics",
    "ipa", "iso", "jar", "jpe", "jpeg", "jpg", "lz4", "m3u8", "m4a", "m4v", "mid", "mkv", "mov", "mp3",
    "mp4", "mpeg", "mpg", "msi", "oga", "ogg", "ogv", "opus", "otf", "pkg", "png", "psd", "rar", "rpm",
    "scss", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "wav", "webm", "webp", "woff", "woff2",
    "xz", "zip",
];

/// Whether a path ends with the name of a page file.
pub fn is_page_file(path: &str) -> bool {
    extension(path).is_some_and(|extension| is_one_of(extension, &PAGE_EXTENSIONS))
}

/// Whether a path ends with the name of a file without text.
pub fn has_no_text(path: &str) -> bool {
    extension(path).is_some_and(|extension| is_one_of(extension, &TEXTLESS_EXTENSIONS))
}

/// The part after the last dot of the last segment, if there is something before that dot. `File:Bird.png` is
/// a wiki page about a picture.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !stem.contains(':')).then_some(extension)
}

fn is_one_of(extension: &str, list: &[&str]) -> bool {
    extension.len() <= 8 && list.iter().any(|known| known.eq_ignore_ascii_case(extension))
}
