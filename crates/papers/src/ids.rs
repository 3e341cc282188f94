//! Paper identifiers: normalises the many spellings that are in use. Works on text only, without an index.

use std::borrow::Cow;

use crate::hash::stable_hash;

/// Longer texts cannot be identifiers.
pub const MAX_IDENTIFIER_BYTES: usize = 512;

/// Namespaces in which a work has at most one identifier.
pub(crate) const WELL_KNOWN: [&str; 6] = ["doi", "pmid", "pmcid", "arxiv", "openalex", "s2"];

/// An identifier of a work: a namespace (`doi`, `arxiv`, `pmid`, `pmcid`, `openalex`, or any word) and a
/// value in the normalised spelling of that namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier {
    namespace: Cow<'static, str>,
    value: String,
}

/// How a caller may name a paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaperRef {
    /// The canonical number, `paperId` in the API.
    Number(u64),
    /// An external identifier.
    Named(Identifier),
}

impl Identifier {
    /// Normalises `value` in `namespace`; `None` if it is not a valid identifier there.
    pub fn new(namespace: &str, value: &str) -> Option<Self> {
        let value = value.trim();
        if value.is_empty() || value.len() > MAX_IDENTIFIER_BYTES {
            return None;
        }
        let namespace = namespace.trim();
        let lower = if namespace.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(namespace.to_ascii_lowercase())
        } else {
            Cow::Borrowed(namespace)
        };
        let namespace = match &*lower {
            "pubmed" | "medline" => "pmid",
            "pmc" | "pubmedcentral" => "pmcid",
            "eprint" => "arxiv",
            "corpusid" | "s2corpusid" => "s2",
            other => other,
        };
        let is_word = !namespace.is_empty()
            && namespace.len() <= 32
            && namespace
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        if !is_word || matches!(namespace, "http" | "https" | "web") {
            return None;
        }
        match namespace {
            "doi" => normalize_doi(value),
            "arxiv" => normalize_arxiv(value).map(|value| Self { namespace: "arxiv".into(), value }),
            "pmid" => digits(value).map(|value| Self { namespace: "pmid".into(), value: value.to_owned() }),
            "pmcid" => {
                let number = strip_prefix_ignore_case(value, "pmc").unwrap_or(value);
                let number = number.split('.').next().unwrap_or(number);
                digits(number)
                    .map(|number| Self { namespace: "pmcid".into(), value: ["PMC", number].concat() })
            }
            "openalex" => {
                let last = value.rsplit('/').next().unwrap_or(value);
                let number = strip_prefix_ignore_case(last, "w")?;
                digits(number)
                    .map(|number| Self { namespace: "openalex".into(), value: ["W", number].concat() })
            }
            _ => Some(Self::from_stored(namespace, value)),
        }
    }

    /// Namespace, lower case.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The normalised value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The hash of this identifier in the index; for the preferred one also the `paperId`.
    pub fn number(&self) -> u64 {
        stable_hash(&[self.namespace.as_bytes(), b":", self.value.as_bytes()])
    }

    /// Rank in the order of preference for citing and retrieving; smaller is better.
    pub fn preference(&self) -> u8 {
        match &*self.namespace {
            "arxiv" => 0,
            "pmid" => 1,
            "pmcid" => 2,
            "doi" => 3,
            "openalex" => 4,
            _ => 5,
        }
    }

    pub(crate) fn from_stored(namespace: &str, value: &str) -> Self {
        // Common namespaces need no allocation.
        let known = WELL_KNOWN.iter().find(|known| **known == namespace);
        let namespace = known.map_or_else(|| Cow::Owned(namespace.to_owned()), |known| Cow::Borrowed(*known));
        Self { namespace, value: value.to_owned() }
    }
}

impl std::fmt::Display for Identifier {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}", self.namespace, self.value)
    }
}

impl PaperRef {
    /// Parses any spelling: a canonical number, `namespace:value` in any case, a bare DOI, arXiv, PMC or
    /// OpenAlex identifier, or the URL of a paper on one of their sites.
    pub fn parse(raw: &str) -> Option<Self> {
        let raw = raw.trim();
        if raw.is_empty() || raw.len() > MAX_IDENTIFIER_BYTES {
            return None;
        }
        if raw.bytes().all(|byte| byte.is_ascii_digit()) {
            return raw.parse().ok().map(Self::Number);
        }
        Self::parse_identifier(raw).map(Self::Named)
    }

    fn parse_identifier(raw: &str) -> Option<Identifier> {
        if let Some(rest) =
            strip_prefix_ignore_case(raw, "https://").or_else(|| strip_prefix_ignore_case(raw, "http://"))
        {
            return parse_url(rest);
        }
        if let Some(identifier) = parse_bare(raw) {
            return Some(identifier);
        }
        if let Some((namespace, value)) = raw.split_once(':') {
            // `doi:https://doi.org/10.1/x` occurs in practice.
            let named = Identifier::new(namespace, value)?;
            return Some(named);
        }
        parse_url(raw)
    }
}

fn parse_bare(raw: &str) -> Option<Identifier> {
    if raw.starts_with("10.") && raw.contains('/') {
        return Identifier::new("doi", raw);
    }
    if let Some(value) = normalize_arxiv(raw).filter(|_| !raw.contains(':')) {
        return Some(Identifier { namespace: "arxiv".into(), value });
    }
    let bytes = raw.as_bytes();
    match bytes.first()? {
        b'P' | b'p' if strip_prefix_ignore_case(raw, "pmc").is_some_and(|rest| digits(rest).is_some()) => {
            Identifier::new("pmcid", raw)
        }
        b'W' | b'w' if digits(&raw[1..]).is_some() => Identifier::new("openalex", raw),
        _ => None,
    }
}

/// `rest` is a URL without its scheme.
fn parse_url(rest: &str) -> Option<Identifier> {
    let rest = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
    let (host, path) = rest.split_once('/')?;
    let host = host.to_ascii_lowercase();
    match host.strip_prefix("www.").unwrap_or(&host) {
        "doi.org" | "dx.doi.org" => Identifier::new("doi", path),
        "arxiv.org" | "export.arxiv.org" => {
            let (kind, id) = path.split_once('/')?;
            matches!(kind, "abs" | "pdf" | "html" | "format").then(|| Identifier::new("arxiv", id))?
        }
        "pubmed.ncbi.nlm.nih.gov" => Identifier::new("pmid", path),
        "ncbi.nlm.nih.gov" | "pmc.ncbi.nlm.nih.gov" | "europepmc.org" => {
            let last = path.rsplit('/').next()?;
            if strip_prefix_ignore_case(last, "pmc").is_some() {
                Identifier::new("pmcid", last)
            } else if path.starts_with("pubmed/") {
                Identifier::new("pmid", last)
            } else {
                None
            }
        }
        "openalex.org" | "api.openalex.org" => Identifier::new("openalex", path),
        _ => None,
    }
}

fn normalize_doi(value: &str) -> Option<Identifier> {
    let lower = value.to_lowercase();
    let mut value = lower.as_str();
    for prefix in ["https://", "http://", "www.", "dx.", "doi.org/", "doi:"] {
        if let Some(rest) = value.strip_prefix(prefix) {
            value = rest.trim_start();
        }
    }
    let value = value.trim_end_matches(['.', ',', ';', ' ', '"', '\'']);
    let (registrant, suffix) = value.split_once('/')?;
    if !registrant.starts_with("10.")
        || registrant.len() < 4
        || suffix.is_empty()
        || value.contains(char::is_whitespace)
    {
        return None;
    }
    if let Some(id) = value.strip_prefix("10.48550/arxiv.") {
        return normalize_arxiv(id).map(|value| Identifier { namespace: "arxiv".into(), value });
    }
    Some(Identifier { namespace: "doi".into(), value: without_version(value).to_owned() })
}

/// eLife gives each version of an article its own DOI (`10.7554/elife.12345.3`); they are one work.
fn without_version(doi: &str) -> &str {
    let Some(rest) = doi.strip_prefix("10.7554/elife.") else { return doi };
    match rest.split_once('.') {
        Some((number, version))
            if digits(number).is_some() && version.len() <= 2 && digits(version).is_some() =>
        {
            &doi[..doi.len() - version.len() - 1]
        }
        _ => doi,
    }
}

/// `2105.05233`, `hep-th/9901001`, `math.GT/0309136`, each with or without `arXiv:` before and `v3` or `.pdf`
/// after.
fn normalize_arxiv(value: &str) -> Option<String> {
    let value = strip_prefix_ignore_case(value, "arxiv:").unwrap_or(value).trim().to_ascii_lowercase();
    let value = value.strip_suffix(".pdf").unwrap_or(&value);
    let value = match value.rfind('v') {
        Some(at)
            if at > 0
                && at + 1 < value.len()
                && value[at + 1..].bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            &value[..at]
        }
        _ => value,
    };
    if let Some((month, number)) = value.split_once('.')
        && month.len() == 4
        && (number.len() == 4 || number.len() == 5)
        && all_digits(month)
        && all_digits(number)
    {
        return Some(value.to_owned());
    }
    let (archive, number) = value.split_once('/')?;
    let (archive, subject) = archive.split_once('.').unwrap_or((archive, ""));
    let is_archive = (2..=12).contains(&archive.len())
        && archive.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_subject =
        subject.is_empty() || (subject.len() == 2 && subject.bytes().all(|byte| byte.is_ascii_lowercase()));
    // The subject class is not part of the identity: math.GT/0309136 is math/0309136.
    (is_archive && is_subject && number.len() == 7 && all_digits(number))
        .then(|| format!("{archive}/{number}"))
}

fn all_digits(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn digits(value: &str) -> Option<&str> {
    let value = value.trim().rsplit('/').next().unwrap_or(value);
    (all_digits(value) && value.len() <= 20).then(|| {
        let stripped = value.trim_start_matches('0');
        if stripped.is_empty() { "0" } else { stripped }
    })
}

fn strip_prefix_ignore_case<'a>(value: &'a str, prefix: &str) -> Option<&'a str> {
    let head = value.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &value[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(raw: &str) -> String {
        match PaperRef::parse(raw) {
            Some(PaperRef::Named(identifier)) => identifier.to_string(),
            Some(PaperRef::Number(number)) => format!("number {number}"),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn all_spellings_of_an_arxiv_id_are_equal() {
        for raw in [
            "2105.05233",
            "2105.05233v3",
            "arXiv:2105.05233",
            "ARXIV:2105.05233V2",
            "arxiv:arXiv:2105.05233",
            "https://arxiv.org/abs/2105.05233v1",
            "http://arxiv.org/pdf/2105.05233.pdf",
            "arxiv.org/abs/2105.05233",
            "10.48550/arXiv.2105.05233",
            "https://doi.org/10.48550/arxiv.2105.05233",
        ] {
            assert_eq!(named(raw), "arxiv:2105.05233", "{raw}");
        }
        assert_eq!(named("hep-th/9901001v2"), "arxiv:hep-th/9901001");
        assert_eq!(named("math.GT/0309136"), "arxiv:math/0309136");
    }

    #[test]
    fn dois_lose_their_resolver_case_and_version() {
        for raw in [
            "10.7554/eLife.00003",
            "doi:10.7554/ELIFE.00003.",
            "https://dx.doi.org/10.7554/eLife.00003.2",
            "DOI:https://doi.org/10.7554/elife.00003",
        ] {
            assert_eq!(named(raw), "doi:10.7554/elife.00003", "{raw}");
        }
        assert_eq!(named("10.1000/a/b(1)c"), "doi:10.1000/a/b(1)c");
    }

    #[test]
    fn medical_and_other_namespaces() {
        assert_eq!(named("PMID:0012345"), "pmid:12345");
        assert_eq!(named("https://pubmed.ncbi.nlm.nih.gov/12345/"), "pmid:12345");
        assert_eq!(named("pmc:3508712"), "pmcid:PMC3508712");
        assert_eq!(named("PMC3508712"), "pmcid:PMC3508712");
        assert_eq!(named("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC3508712/"), "pmcid:PMC3508712");
        assert_eq!(named("https://openalex.org/W2741809807"), "openalex:W2741809807");
        assert_eq!(named("shelf:A 17"), "shelf:A 17");
        assert_eq!(named("18446744073709551615"), "number 18446744073709551615");
    }

    #[test]
    fn invalid_identifiers_are_rejected() {
        for raw in [
            "",
            "   ",
            "doi:",
            "doi:abc",
            "pmid:12a",
            "arxiv:banana",
            "99999999999999999999999",
            "https://example.org/x",
            "web:https://x.org/a",
            "a\u{0}b",
            "::",
            "no namespace",
        ] {
            assert_eq!(named(raw), "none", "{raw:?}");
        }
        assert_eq!(named(&"1".repeat(600)), "none");
        assert_eq!(named("ŵ12"), "none");
    }
}
