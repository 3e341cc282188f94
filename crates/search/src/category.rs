//! Categories that narrow a search by well-known sites or by file type.

use url::Url;

/// Sites that publish scholarly work.
const RESEARCH_SITES: [&str; 14] = [
    "arxiv.org",
    "biorxiv.org",
    "medrxiv.org",
    "pubmed.ncbi.nlm.nih.gov",
    "pmc.ncbi.nlm.nih.gov",
    "semanticscholar.org",
    "openalex.org",
    "nature.com",
    "science.org",
    "ieeexplore.ieee.org",
    "dl.acm.org",
    "link.springer.com",
    "plos.org",
    "openreview.net",
];

const GITHUB_SITES: [&str; 1] = ["github.com"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    Github,
    Research,
    Pdf,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Research => "research",
            Self::Pdf => "pdf",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Github, Self::Research, Self::Pdf].into_iter().find(|category| category.name() == name)
    }

    /// The sites of this category; empty if it is a file type.
    pub fn sites(self) -> &'static [&'static str] {
        match self {
            Self::Github => &GITHUB_SITES,
            Self::Research => &RESEARCH_SITES,
            Self::Pdf => &[],
        }
    }

    pub fn file_type(self) -> Option<&'static str> {
        (self == Self::Pdf).then_some("pdf")
    }

    /// Whether a URL belongs to the category, judged by the URL alone.
    pub fn contains_url(self, url: &Url) -> bool {
        match self.file_type() {
            Some(kind) => has_extension(url, kind),
            None => self.sites().iter().any(|site| is_within_site(url, site)),
        }
    }
}

/// Whether the path has this file extension.
pub fn has_extension(url: &Url, kind: &str) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case(kind))
}

/// Whether a URL belongs to a site, a subdomain of it, or a path below it. Paths are compared by whole
/// segments.
pub fn is_within_site(url: &Url, site: &str) -> bool {
    let (host, path) = site.split_once('/').map_or((site, ""), |(host, path)| (host, path));
    let own = match (url.host_str(), url.port()) {
        (Some(name), Some(port)) if host.contains(':') && !host.ends_with(']') => format!("{name}:{port}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => return false,
    };
    let own = own.strip_suffix('.').unwrap_or(&own);
    let below = own.strip_suffix(host).is_some_and(|front| front.is_empty() || front.ends_with('.'));
    if !below || path.is_empty() {
        return below;
    }
    let own_path = url.path().trim_start_matches('/');
    own_path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
