//! Keys, tokens, passwords and private keys: by their formats, or by the name before them.

use super::scan::{before, has_word, joined_before};
use super::{Entity, RedactMode, STEPS_PER_WORD, Span};
use memchr::memmem;

/// Forms of keys: how they begin, and how many characters at least follow.
const KEY_PREFIXES: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("xoxs-", 20),
    ("xapp-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("pk_live_", 16),
    ("whsec_", 20),
    ("sk-ant-", 20),
    ("sk-proj-", 20),
    ("sk-or-", 20),
    ("sk-", 32),
    ("AIza", 30),
    ("ya29.", 20),
    ("SG.", 40),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 28),
    ("dop_v1_", 40),
    ("shpat_", 28),
    ("shpss_", 28),
    ("fc-", 32),
    ("key-", 32),
    ("glsa_", 30),
    ("lin_api_", 30),
    ("sq0atp-", 20),
    ("EAAC", 60),
    ("r8_", 30),
    ("gsk_", 40),
    ("xai-", 40),
    ("pplx-", 40),
    ("tvly-", 24),
    ("AGE-SECRET-KEY-1", 40),
];

/// Names whose values are secret.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "passwort",
    "kennwort",
    "mot de passe",
    "contraseña",
    "wachtwoord",
    "пароль",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "api key",
    "access_key",
    "access-key",
    "secret_key",
    "secret-key",
    "secretkey",
    "accesskey",
    "token",
    "auth_token",
    "client_secret",
    "private_key",
    "credential",
    "credentials",
    "encryption_key",
    "signing_key",
];

/// Placeholder values.
const PLACEHOLDERS: &[&str] = &[
    "your",
    "xxx",
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "redacted",
    "todo",
    "insert",
    "null",
    "none",
    "undefined",
    "true",
    "false",
    "string",
    "required",
    "optional",
    "process.env",
    "os.environ",
    "env.",
    "secrets.",
    "getenv",
    "<",
    "{",
    "$",
    "%",
    "...",
    "***",
    "•••",
    "must",
    "should",
    "invalid",
    "incorrect",
    "expired",
    "missing",
    "value",
    "forgot",
    "reset",
    "type",
    "text",
    "hash",
];

const MAX_BYTES: usize = 4_096;
/// A private key and its frame.
const MAX_PRIVATE_KEY_BYTES: usize = 16 << 10;

pub(super) fn find(text: &str, mode: RedactMode, found: &mut Vec<Span>) {
    private_keys(text, found);
    tokens(text, mode, found);
    in_addresses(text, found);
    if mode != RedactMode::Fast {
        named(text, mode, found);
    }
}

fn secret(start: usize, end: usize) -> Span {
    Span { start, end, entity: Entity::Secret }
}

fn private_keys(text: &str, found: &mut Vec<Span>) {
    let mut past = 0;
    for start in memmem::find_iter(text.as_bytes(), "-----BEGIN ") {
        if start < past {
            continue;
        }
        let window = &text[start..text.floor_char_boundary(text.len().min(start + MAX_PRIVATE_KEY_BYTES))];
        let head = window.lines().next().unwrap_or_default();
        if !head.contains("PRIVATE KEY") {
            continue;
        }
        let body = 11;
        let len = window[body..]
            .find("-----END ")
            .and_then(|at| window[body + at + 9..].find("-----").map(|more| body + at + 9 + more + 5))
            .unwrap_or(head.len());
        found.push(secret(start, start + len));
        past = start + len;
    }
}

fn is_key_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~' | b'\\')
}

/// Words of the characters keys are made of.
fn tokens(text: &str, mode: RedactMode, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let len = bytes[at..].iter().take_while(|byte| is_key_char(**byte)).count();
        budget::spend(STEPS_PER_WORD);
        let whole = &text[at..at + len];
        // Names and values may share a word (`key=sk-…`); the value is what follows the last sign of
        // equality.
        let from = whole.trim_end_matches('=').rfind('=').map_or(0, |sign| sign + 1);
        let word = whole[from..].trim_end_matches(['.', '-', '/', '\\']);
        let start = at + from;
        if word.len() >= 16 && word.len() <= MAX_BYTES && is_key(text, start, word, mode) {
            found.push(secret(start, start + word.len()));
        }
        at += len;
    }
}

fn is_key(text: &str, start: usize, word: &str, mode: RedactMode) -> bool {
    let plain: String = word.chars().filter(|c| *c != '\\').collect();
    let formed = KEY_PREFIXES.iter().any(|(form, least)| {
        plain.strip_prefix(form).is_some_and(|rest| {
            let body = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
                .count();
            body >= *least && rest.bytes().any(|byte| byte.is_ascii_digit()) && !is_stand_in(rest)
        })
    });
    if formed || is_jwt(&plain) {
        return true;
    }
    if mode == RedactMode::Fast
        || plain.contains('.')
        || (plain.contains('/') && text[..start].ends_with('/'))
    {
        return false;
    }
    let near = before(text, start, 40);
    let bearer = near.ends_with("bearer ") || near.ends_with("basic ");
    let cued = ["key", "secret", "token", "credential", "password", "bearer", "authorization"]
        .iter()
        .any(|cue| has_word(&near, cue) || near.contains(&format!("_{cue}")));
    let random = is_random(&plain);
    (bearer && plain.len() >= 16 && random)
        || (cued && plain.len() >= 20 && random && !near.contains("public key") && !near.contains("commit"))
        || (mode == RedactMode::Aggressive
            && plain.len() >= 32
            && random
            && plain.bytes().any(|byte| byte.is_ascii_uppercase())
            && !near.contains("://"))
}

/// Three parts in base 64, the first an object.
fn is_jwt(word: &str) -> bool {
    let mut parts = word.split('.');
    word.starts_with("eyJ")
        && parts.clone().count() == 3
        && parts.all(|part| {
            part.len() >= 10
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        })
}

/// Whether characters look random: digits among letters, and many different ones.
fn is_random(word: &str) -> bool {
    let mut counts = [0_u32; 128];
    let mut length = 0_u32;
    for byte in word.bytes().filter(u8::is_ascii_alphanumeric) {
        counts[usize::from(byte)] += 1;
        length += 1;
    }
    if length < 14 {
        return false;
    }
    let total = f64::from(length);
    let entropy: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum();
    let digits: u32 = counts[usize::from(b'0')..=usize::from(b'9')].iter().sum();
    let hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parted = word
        .split(['-', '_', '/'])
        .filter(|part| part.len() > 2 && part.bytes().all(|byte| byte.is_ascii_lowercase()))
        .count();
    // Words joined by hyphens are names, not keys.
    digits >= 2 && parted < 2 && entropy >= if hexadecimal { 3.0 } else { 3.6 }
}

/// `scheme://user:password@host`.
fn in_addresses(text: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    for sign in memmem::find_iter(bytes, "://") {
        budget::spend(1);
        let start = sign + 3;
        let len = bytes[start..]
            .iter()
            .take(256)
            .take_while(|byte| {
                byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b')' | b'>' | b'"' | b'|')
            })
            .count();
        if let Some(at) = text[start..start + len].rfind('@')
            && let Some((_, password)) = text[start..start + at].split_once(':')
            && password.len() >= 3
            && !is_stand_in(password)
            && !password.eq_ignore_ascii_case("pass")
            && !password.eq_ignore_ascii_case("password")
        {
            found.push(secret(start, start + at));
        }
    }
}

fn is_stand_in(value: &str) -> bool {
    let lower = value.to_lowercase();
    let dull =
        value.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'0' | b'#'));
    dull || PLACEHOLDERS
        .iter()
        .any(|word| lower.starts_with(word) || (word.len() > 4 && lower.contains(word)))
}

/// `name = value`, `name: value`, `"name": "value"`.
fn named(text: &str, mode: RedactMode, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    for sign in memchr::memchr2_iter(b'=', b':', bytes) {
        budget::spend(STEPS_PER_WORD);
        let near = before(text, sign, 32);
        let near = near.trim_end_matches([' ', '"', '\'', '*', '`', ']', '\\']);
        let Some(name) = SECRET_NAMES.iter().find(|name| near.ends_with(**name)) else { continue };
        // The name must end the word it stands in, and `tokens:` or `?token=` in an address are fine either
        // way.
        let Some(value) = value_after(text, sign + 1) else { continue };
        let (start, end) = value;
        let said = &text[start..end];
        let colon = bytes[sign] == b':';
        let pass = name.starts_with("pass")
            || ["pwd", "kennwort", "mot de passe", "contraseña", "wachtwoord", "пароль"].contains(name);
        let strong =
            said.bytes().any(|byte| byte.is_ascii_digit()) || said.contains(['!', '#', '@', '&', '^', '~']);
        let mixed = said.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
            && said.bytes().any(|byte| byte.is_ascii_lowercase());
        let fits = match (pass, mode) {
            (_, RedactMode::Aggressive) => said.len() >= 4,
            (true, _) => said.len() >= 5 && (!colon || strong || mixed),
            (false, _) => said.len() >= 12 && strong && !said.contains('('),
        };
        if fits && !is_stand_in(said) && !said.starts_with("//") && !joined_before(text, start) {
            found.push(secret(start, end));
        }
    }
}

/// The value after a sign: past quotes and spaces, up to the next of them.
fn value_after(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &text[at..text.floor_char_boundary(text.len().min(at + 300))];
    let trimmed = rest.trim_start_matches([' ', '"', '\'', '`', '*']);
    if rest.len() - trimmed.len() > 4 {
        return None;
    }
    let start = at + rest.len() - trimmed.len();
    let len = trimmed
        .find(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | ')' | '|' | '<' | '&' | '}' | ']')
        })
        .unwrap_or(trimmed.len());
    let value = trimmed[..len].trim_end_matches(['.', '*', ':', '\\']);
    (!value.is_empty()).then_some((start, start + value.len()))
}
