//! Categories that narrow a search: by sites that are known for them, or by kind of file.

use crate::question::lies_within;
use url::Url;

/// Where scholarly work is found on the open web.
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

    /// The sites it is made of; none where it is a kind of file.
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

    /// Whether an address belongs to it, as far as addresses show.
    pub fn holds(self, url: &Url) -> bool {
        match self.file_type() {
            Some(kind) => ends_in(url, kind),
            None => self.sites().iter().any(|site| lies_within(url, site)),
        }
    }
}

/// Whether the path ends in this kind of file.
pub fn ends_in(url: &Url, kind: &str) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case(kind))
}
