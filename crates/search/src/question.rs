//! A search as providers receive it: the parsed query and all filters.

use crate::category::{Category, is_within_site};
use crate::operators::QueryTerms;
use crate::time_range::TimeRange;
use url::Url;
use uuid::Uuid;

/// The kind of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    Web,
    News,
    Images,
}

impl SourceKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::News => "news",
            Self::Images => "images",
        }
    }
}

/// The collection of web pages. Other collections are imported by an operator, and only the local index has
/// them.
pub const WEB_COLLECTION: &str = "web";

/// One search, with every default filled in. All strings are untrusted.
#[derive(Debug, Clone)]
pub struct Question {
    pub terms: QueryTerms,
    pub kind: SourceKind,
    /// [`WEB_COLLECTION`], or a collection that an operator imported.
    pub collection: &'static str,
    pub limit: usize,
    /// Only results of these hosts (with their subdomains), or below these paths.
    pub sites: Vec<String>,
    pub without_sites: Vec<String>,
    /// Only results of one of these categories.
    pub categories: Vec<Category>,
    pub time_range: TimeRange,
    /// ISO 3166-1 alpha-2, upper case.
    pub country: Option<String>,
    /// ISO 639-1, lower case.
    pub language: Option<String>,
    /// A location in words, such as `Berlin`.
    pub location: Option<String>,
    pub safe: Option<bool>,
    /// The team that searches: pages scraped for other teams are not shown to it.
    pub team: Uuid,
    /// Hosts and URLs that the team rated as valuable, with a weight from 0 to 1.
    pub valued: Vec<(String, f32)>,
    /// Descriptions are passages of the page that match the query.
    pub highlights: bool,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

impl Question {
    /// A web search with default options.
    pub fn new(query: &str, limit: usize, team: Uuid) -> Self {
        Self {
            terms: QueryTerms::parse(query),
            kind: SourceKind::Web,
            collection: WEB_COLLECTION,
            limit,
            sites: Vec::new(),
            without_sites: Vec::new(),
            categories: Vec::new(),
            time_range: TimeRange::default(),
            country: None,
            language: None,
            location: None,
            safe: None,
            team,
            valued: Vec::new(),
            highlights: true,
            now: jiff::Timestamp::now().as_millisecond(),
        }
    }

    /// The query with its filters written as operators, for providers that support them. Sites that would
    /// make it longer than `max_chars` characters are left out; the second value is their number, and the
    /// results must be filtered by them afterwards.
    pub fn query_with_operators(&self, max_chars: usize) -> (String, usize) {
        let mut text = self.terms.written.clone();
        let kinds: Vec<String> = self
            .categories
            .iter()
            .flat_map(|category| {
                let sites = category.sites().iter().map(|site| format!("site:{site}"));
                sites.chain(category.file_type().map(|kind| format!("filetype:{kind}")))
            })
            .collect();
        let sites: Vec<String> = self.sites.iter().map(|site| format!("site:{site}")).collect();
        let mut left_out = 0;
        for group in [&sites, &kinds] {
            let room = max_chars.saturating_sub(text.chars().count() + 1);
            let (clause, taken) = or_clause(group, room);
            if taken > 0 {
                text.push(' ');
                text.push_str(&clause);
            }
            left_out += group.len() - taken;
        }
        for site in &self.without_sites {
            let clause = format!(" -site:{site}");
            if text.chars().count() + clause.chars().count() <= max_chars {
                text.push_str(&clause);
            } else {
                left_out += 1;
            }
        }
        (text.trim().to_owned(), left_out)
    }

    /// All sites that results must be of, for providers that take a list; empty if a category is a file type,
    /// which a list of sites cannot express.
    pub fn site_list(&self) -> Vec<String> {
        let categories: Vec<&str> =
            self.categories.iter().flat_map(|category| category.sites()).copied().collect();
        let by_file = self.categories.iter().any(|category| category.file_type().is_some());
        let asked: Vec<String> = self.sites.iter().chain(&self.terms.sites).cloned().collect();
        match (asked.is_empty(), categories.is_empty() || by_file) {
            (true, true) => Vec::new(),
            (false, true) => asked,
            (true, false) => categories.into_iter().map(str::to_owned).collect(),
            (false, false) => intersect_sites(&asked, &categories),
        }
    }

    /// Whether the site filters accept a URL.
    pub fn accepts_site(&self, url: &Url) -> bool {
        let within = |sites: &[String]| sites.iter().any(|site| is_within_site(url, site));
        (self.sites.is_empty() || within(&self.sites))
            && !within(&self.without_sites)
            && !within(&self.terms.without_sites)
    }

    /// How many results to request, so that enough are left after filtering.
    pub fn wanted(&self, filtered: bool, most: usize) -> usize {
        let wanted = if filtered { self.limit.saturating_mul(2).max(10) } else { self.limit };
        wanted.clamp(1, most)
    }
}

/// `(a OR b)` of as many terms as fit, and their number.
fn or_clause(terms: &[String], room: usize) -> (String, usize) {
    let mut fit = Vec::new();
    let mut length = 2;
    for term in terms {
        length += term.chars().count() + if fit.is_empty() { 0 } else { 4 };
        if length > room {
            break;
        }
        fit.push(term.as_str());
    }
    let taken = fit.len();
    let clause = if taken == 1 { fit.concat() } else { format!("({})", fit.join(" OR ")) };
    (clause, taken)
}

/// The intersection of two lists of sites.
pub fn intersect_sites(asked: &[String], others: &[&str]) -> Vec<String> {
    let within = |inner: &str, outer: &str| {
        Url::parse(&format!("http://{inner}/")).is_ok_and(|url| is_within_site(&url, outer))
    };
    let mut both = Vec::new();
    for one in asked {
        for other in others {
            if within(one, other) {
                both.push(one.clone());
            } else if within(other, one) {
                both.push((*other).to_owned());
            }
        }
    }
    both.sort_unstable();
    both.dedup();
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(query: &str) -> Question {
        Question::new(query, 10, Uuid::nil())
    }

    #[test]
    fn lists_become_operators_and_fit() {
        let mut asked = question("cats \"big cats\" -dogs");
        asked.sites = vec!["a.example".into(), "b.example".into()];
        asked.categories = vec![Category::Github, Category::Pdf];
        asked.without_sites = vec!["x.example".into()];
        let (text, left_out) = asked.query_with_operators(500);
        assert_eq!(
            text,
            "cats \"big cats\" -dogs (site:a.example OR site:b.example) (site:github.com OR filetype:pdf) -site:x.example"
        );
        assert_eq!(left_out, 0);
        let (text, left_out) = asked.query_with_operators(50);
        assert!(text.chars().count() <= 50 && left_out > 0, "{text}");
    }

    #[test]
    fn a_site_includes_subdomains_and_paths_below_it() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(is_within_site(&url("https://a.docs.rs/x"), "docs.rs"));
        assert!(is_within_site(&url("https://docs.rs/tokio/latest"), "docs.rs/tokio"));
        assert!(!is_within_site(&url("https://docs.rs/tokio-util"), "docs.rs/tokio"));
        assert!(!is_within_site(&url("https://notdocs.rs/"), "docs.rs"));
        assert!(is_within_site(&url("http://127.0.0.1:8000/x"), "127.0.0.1:8000"));
        assert!(is_within_site(&url("http://127.0.0.1:8000/x"), "127.0.0.1"));
    }

    #[test]
    fn lists_of_sites_meet_those_of_categories() {
        let mut asked = question("x site:nature.com/articles");
        asked.categories = vec![Category::Research];
        assert_eq!(asked.site_list(), ["nature.com/articles"]);
        asked.terms.sites.clear();
        assert_eq!(asked.site_list().len(), 14);
        asked.categories.push(Category::Pdf);
        assert!(asked.site_list().is_empty(), "a file may be on any site");
    }
}
