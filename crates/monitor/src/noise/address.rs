//! Addresses without what changes with every visit: tracking parameters, session ids, signatures of pictures.

use std::borrow::Cow;

/// Parameters that track readers, or that are made anew for every visit.
const VISIT_PARAMETERS: [&str; 40] = [
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "igshid",
    "ref_src",
    "ref_",
    "pf_rd_r",
    "pd_rd_r",
    "pd_rd_wg",
    "qid",
    "spm",
    "scm",
    "sid",
    "s_id",
    "sessionid",
    "session_id",
    "session",
    "phpsessid",
    "jsessionid",
    "aspsessionid",
    "cfid",
    "cftoken",
    "csrf",
    "csrf_token",
    "nonce",
    "cb",
    "cachebuster",
    "_",
    "rand",
    "rnd",
    "vid",
    "visitid",
];

fn is_visit_parameter(part: &str) -> bool {
    let name = part.split('=').next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_prefix("amp;").unwrap_or(&name);
    name.is_empty() || name.starts_with("utm_") || VISIT_PARAMETERS.contains(&name)
}

/// A line with its addresses cleaned; the addresses of pictures lose all parameters.
pub fn clean_addresses(line: &str) -> Cow<'_, str> {
    if !line.contains(['?', ';']) || !(line.contains("://") || line.contains("](/")) {
        return Cow::Borrowed(line);
    }
    let mut cleaned = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = address_start(rest) {
        let (before, after) = rest.split_at(at);
        // `![text](address)`: the text cannot hold a bracket without a backslash.
        let label = before.rfind('[').unwrap_or_default();
        let is_picture =
            before.ends_with("](") && label > 0 && before.as_bytes().get(label - 1) == Some(&b'!');
        cleaned.push_str(before);
        let end = after.find([')', '>', '"', ' ']).unwrap_or(after.len());
        let (address, tail) = after.split_at(end);
        push_clean(&mut cleaned, address, is_picture);
        rest = tail;
    }
    cleaned.push_str(rest);
    Cow::Owned(cleaned)
}

/// Where the first address begins: that of a link, or one in the text.
fn address_start(text: &str) -> Option<usize> {
    let (link, bare) = (text.find("](").map(|at| at + 2), text.find("://").map(|at| at + 3));
    link.into_iter().chain(bare).min()
}

fn push_clean(cleaned: &mut String, address: &str, is_picture: bool) {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let session = path.to_ascii_lowercase().find(";jsessionid=").filter(|at| path.is_char_boundary(*at));
    cleaned.push_str(session.map_or(path, |at| &path[..at]));
    if is_picture {
        return;
    }
    let (query, anchor) = match query.split_once('#') {
        Some((query, anchor)) => (query, Some(anchor)),
        None => (query, None),
    };
    let mut mark = '?';
    for part in query.split('&').filter(|part| !is_visit_parameter(part)) {
        cleaned.push(mark);
        cleaned.push_str(part);
        mark = '&';
    }
    if let Some(anchor) = anchor {
        cleaned.push('#');
        cleaned.push_str(anchor);
    }
}

#[cfg(test)]
mod tests {
    use super::clean_addresses;

    #[test]
    fn what_changes_with_a_visit_is_left_out() {
        let cases = [
            ("[a](https://e.org/p?id=1&utm_source=x&fbclid=2)", "[a](https://e.org/p?id=1)"),
            ("[a](https://e.org/p?sid=8f2&id=1#top) b", "[a](https://e.org/p?id=1#top) b"),
            ("[a](/p;jsessionid=0A1B?x=1)", "[a](/p?x=1)"),
            ("![a](https://e.org/i.png?w=100&sig=abc)", "![a](https://e.org/i.png)"),
            ("see https://e.org/?q=1&_=99 now?", "see https://e.org/?q=1 now?"),
            ("is it [so](https://e.org/)? yes", "is it [so](https://e.org/)? yes"),
        ];
        for (line, cleaned) in cases {
            assert_eq!(clean_addresses(line), cleaned);
        }
    }
}
