//! Addresses that a file names, made safe to be written into markdown and HTML.

/// An address as it may stand between parentheses; `None` for one that must not be followed.
pub(crate) fn link_target(target: &str) -> Option<String> {
    use std::fmt::Write as _;
    const MAX_TARGET_BYTES: usize = 8 * 1024;
    let target = target.trim();
    if target.is_empty() || target.len() > MAX_TARGET_BYTES || !is_safe_scheme(target) {
        return None;
    }
    let mut out = String::with_capacity(target.len());
    for c in target.chars() {
        if c.is_control() || c.is_whitespace() || "()<>\"\\`|".contains(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    Some(out)
}

/// Relative addresses and the schemes that open a page, a file to fetch, a letter or a call.
fn is_safe_scheme(target: &str) -> bool {
    let Some(colon) = target.find(':') else { return true };
    let scheme = &target[..colon];
    if scheme.contains(['/', '?', '#']) {
        return true;
    }
    let scheme: String = scheme.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    ["http", "https", "mailto", "tel", "ftp", "ftps", "doi"]
        .iter()
        .any(|safe| scheme.eq_ignore_ascii_case(safe))
}
