//! Mail addresses, also inside links and in the forms people use against collectors.

use super::{Entity, RedactMode, STEPS_PER_WORD, Span};
use memchr::{memchr_iter, memmem};

const MAX_LOCAL_BYTES: usize = 64;
const MAX_DOMAIN_BYTES: usize = 255;

/// Endings that make `logo@2x.png` a file.
const FILE_EXTENSIONS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "js", "mjs", "css", "json", "html", "php",
    "mp4", "pdf",
];

pub(super) fn find(text: &str, mode: RedactMode, found: &mut Vec<Span>) {
    for at in memchr_iter(b'@', text.as_bytes()) {
        found.extend(around(text, at, at + 1, mode));
    }
    if mode == RedactMode::Fast {
        return;
    }
    for sign in
        ["(at)", "[at]", "{at}", " [at] ", " (at) ", "\\[at\\]", " \\[at\\] ", "(AT)", "[AT]", "&#64;", "%40"]
    {
        for at in memmem::find_iter(text.as_bytes(), sign) {
            found.extend(around(text, at, at + sign.len(), mode));
        }
    }
    if mode == RedactMode::Aggressive {
        for at in memmem::find_iter(text.as_bytes(), " at ") {
            let end = at + " at ".len();
            let spelled = text[end..text.floor_char_boundary(text.len().min(end + 80))].contains(" dot ");
            found.extend(around(text, at, end, mode).filter(|_| spelled));
        }
    }
}

/// The email address whose `@` is here.
fn around(text: &str, sign: usize, after: usize, mode: RedactMode) -> Option<Span> {
    budget::spend(STEPS_PER_WORD);
    let start = local(text, sign)?;
    let end = domain(text, after)?;
    let (name, host) = (&text[start..sign], &text[after..end]);
    // `git@host:path` names a repository, `@name@host` a profile.
    let repository = name == "git" && text[end..].starts_with([':', '/']);
    let profile = text[..start].ends_with('@');
    let file = host
        .rsplit('.')
        .next()
        .is_some_and(|ending| FILE_EXTENSIONS.contains(&ending.to_ascii_lowercase().as_str()));
    if file || in_authority(text, start) || (mode != RedactMode::Aggressive && (repository || profile)) {
        return None;
    }
    Some(Span { start, end, entity: Entity::Email })
}

/// Whether a position is in the part of a URL that may have a user and a password.
fn in_authority(text: &str, start: usize) -> bool {
    let near = &text[text.floor_char_boundary(start.saturating_sub(MAX_LOCAL_BYTES))..start];
    near.rfind("://").is_some_and(|at| {
        !near[at + 3..].contains(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#'))
    })
}

/// Where the part before the sign starts. The markdown writer sets backslashes before underscores.
fn local(text: &str, sign: usize) -> Option<usize> {
    let mut start = sign;
    for (at, c) in text[..sign].char_indices().rev().take(MAX_LOCAL_BYTES) {
        let fits = c.is_alphanumeric()
            || matches!(c, '.' | '_' | '%' | '+' | '-')
            || (c == '\\' && text[at + 1..].starts_with(['_', '-', '+', '.']));
        if !fits {
            break;
        }
        start = at;
    }
    let trimmed = text[start..sign].trim_start_matches(['.', '-', '%', '+', '\\', '_']);
    start = sign - trimmed.len();
    (start < sign && !text[..sign].ends_with('.')).then_some(start)
}

/// Where the host after the sign ends: labels with at least one dot, the last of letters.
fn domain(text: &str, start: usize) -> Option<usize> {
    let window = &text[start..text.floor_char_boundary(text.len().min(start + MAX_DOMAIN_BYTES))];
    let mut end = 0;
    let mut labels = 0;
    let mut letters = false;
    let mut rest = window;
    loop {
        let len = rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len());
        let label = rest[..len].trim_end_matches('-');
        if label.is_empty() || label.starts_with('-') {
            break;
        }
        labels += 1;
        let punycode = label.starts_with("xn--");
        let sound = label.chars().count() >= 2 && (punycode || label.chars().all(char::is_alphabetic));
        if labels > 1 && sound {
            end = window.len() - rest.len() + label.len();
            letters = true;
        }
        if label.len() < len {
            break;
        }
        rest = &rest[len..];
        let dot = [".", " dot ", " [dot] ", "[dot]", "(dot)", " (dot) ", "[.]"]
            .iter()
            .find(|dot| rest.starts_with(**dot));
        match dot {
            Some(dot) => rest = &rest[dot.len()..],
            None => break,
        }
    }
    letters.then_some(start + end)
}
