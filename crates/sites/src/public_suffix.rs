//! Which hosts belong to one owner, by the public suffix list.
//!
//! The list is compiled into code, some 700 KB each time it is called from another crate, so this is its only caller.

/// The domain that an owner registers, with everything below it: `b.co.uk` for `a.b.co.uk`. `None` for a public
/// suffix itself.
pub fn registrable_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

/// Whether subdomains of `domain` belong to different owners: `com`, `co.uk`, `github.io`.
pub fn is_public_suffix(domain: &str) -> bool {
    psl::suffix_str(domain) == Some(domain)
}

#[cfg(test)]
mod tests {
    use super::{is_public_suffix, registrable_domain};

    #[test]
    fn owners_are_told_apart() {
        assert_eq!(registrable_domain("a.b.co.uk"), Some("b.co.uk"));
        assert_eq!(registrable_domain("a.github.io"), Some("a.github.io"));
        assert_eq!(registrable_domain("co.uk"), None);
        assert!(is_public_suffix("github.io") && is_public_suffix("com"));
        assert!(!is_public_suffix("github.com"));
    }
}
