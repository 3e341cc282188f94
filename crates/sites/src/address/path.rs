//! Paths: session ids taken out, and the folding of similar ones.

use std::borrow::Cow;

const INDEX_NAMES: [&str; 2] = ["index", "default"];
const INDEX_ENDINGS: [&str; 13] =
    ["html", "htm", "xhtml", "shtml", "php", "php5", "asp", "aspx", "jsp", "jspx", "cfm", "cgi", "do"];

/// A path without the session ids that Java and PHP servers hang on its segments (`/cart;jsessionid=1A2B`).
pub fn without_session(path: &str) -> Cow<'_, str> {
    const MARKS: [&str; 2] = ["jsessionid=", "phpsessid="];
    let carries = |parameter: &str| {
        MARKS
            .iter()
            .any(|mark| parameter.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark)))
    };
    if !path.split(';').skip(1).any(carries) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for (number, piece) in path.split(';').enumerate() {
        if number > 0 && carries(piece) {
            out.push_str(piece.find('/').map_or("", |slash| &piece[slash..]));
        } else {
            out.push_str(if number > 0 { ";" } else { "" });
            out.push_str(piece);
        }
    }
    Cow::Owned(out)
}

/// Writes a path as similar ones share it: no doubled slashes, no index file, no final slash.
pub fn push_similar(key: &mut String, path: &str) {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty()).peekable();
    while let Some(segment) = segments.next() {
        if segments.peek().is_some() || !is_index(segment) {
            key.push('/');
            key.push_str(segment);
        }
    }
}

/// Whether a file stands for its folder.
pub fn is_index(segment: &str) -> bool {
    segment.split_once('.').is_some_and(|(name, ending)| {
        INDEX_NAMES.iter().any(|index| name.eq_ignore_ascii_case(index))
            && INDEX_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
    })
}
