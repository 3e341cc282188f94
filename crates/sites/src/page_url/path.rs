//! Normalizes paths: removes session ids, and similar paths share one form.

use std::borrow::Cow;

const INDEX_NAMES: [&str; 2] = ["index", "default"];
const INDEX_EXTENSIONS: [&str; 13] =
    ["html", "htm", "xhtml", "shtml", "php", "php5", "asp", "aspx", "jsp", "jspx", "cfm", "cgi", "do"];

/// Removes the session ids that Java and PHP servers append to path segments (`/cart;jsessionid=1A2B`).
pub fn without_session(path: &str) -> Cow<'_, str> {
    const SESSION_PREFIXES: [&str; 2] = ["jsessionid=", "phpsessid="];
    let carries = |parameter: &str| {
        SESSION_PREFIXES.iter().any(|prefix| {
            parameter.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        })
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

/// Appends the form of a path that similar ones share: no double slashes, no index file, no trailing slash.
pub fn push_normalized(key: &mut String, path: &str) {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty()).peekable();
    while let Some(segment) = segments.next() {
        if segments.peek().is_some() || !is_index(segment) {
            key.push('/');
            key.push_str(segment);
        }
    }
}

/// Whether a file is the index of its folder.
pub fn is_index(segment: &str) -> bool {
    segment.split_once('.').is_some_and(|(name, extension)| {
        INDEX_NAMES.iter().any(|index| name.eq_ignore_ascii_case(index))
            && INDEX_EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}
