//! A question as it is put to providers: the query in its parts, and everything that narrows it.

use crate::category::Category;
use crate::operators::Terms;
use crate::window::Window;
use url::Url;
use uuid::Uuid;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Web,
    News,
    Images,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::News => "news",
            Self::Images => "images",
        }
    }
}

/// The collection of pages of the web. Others are an operator's own, and only the local index has them.
pub const WEB: &str = "web";

/// One question. Every default is filled in; nothing in it is trusted to be more than text.
#[derive(Debug, Clone)]
pub struct Question {
    pub terms: Terms,
    pub kind: Kind,
    /// [`WEB`], or what an operator imported.
    pub collection: &'static str,
    pub limit: usize,
    /// Only what lies in one of these: hosts with all below them, paths where given.
    pub sites: Vec<String>,
    pub without_sites: Vec<String>,
    /// Only what belongs to one of these.
    pub categories: Vec<Category>,
    pub window: Window,
    /// ISO 3166-1 alpha-2, upper case; when it was asked for.
    pub country: Option<String>,
    /// ISO 639-1, lower case.
    pub language: Option<String>,
    /// A place in words.
    pub location: Option<String>,
    pub safe: Option<bool>,
    /// Whose question it is: what was scraped for others is not for them.
    pub team: Uuid,
    /// Hosts and addresses that the team found valuable, with how much (0 to 1).
    pub valued: Vec<(String, f32)>,
    /// Descriptions say what the page has to say to the query.
    pub highlights: bool,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

impl Question {
    /// A question for the web and nothing else said.
    pub fn new(query: &str, limit: usize, team: Uuid) -> Self {
        Self {
            terms: Terms::read(query),
            kind: Kind::Web,
            collection: WEB,
            limit,
            sites: Vec::new(),
            without_sites: Vec::new(),
            categories: Vec::new(),
            window: Window::default(),
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

    /// The query with what narrows it written as operators, for providers that understand them. Sites that would make it longer
    /// than `longest` characters are left out, and how many is the second value; whoever asks filters by them afterwards.
    pub fn with_operators(&self, longest: usize) -> (String, usize) {
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
            let room = longest.saturating_sub(text.chars().count() + 1);
            let (clause, taken) = one_of(group, room);
            if taken > 0 {
                text.push(' ');
                text.push_str(&clause);
            }
            left_out += group.len() - taken;
        }
        for site in &self.without_sites {
            let clause = format!(" -site:{site}");
            if text.chars().count() + clause.chars().count() <= longest {
                text.push_str(&clause);
            } else {
                left_out += 1;
            }
        }
        (text.trim().to_owned(), left_out)
    }

    /// All sites that are asked for by lists, for providers that take lists; none when a category is a kind of file, which no list
    /// of sites can say.
    pub fn site_list(&self) -> Vec<String> {
        let categories: Vec<&str> =
            self.categories.iter().flat_map(|category| category.sites()).copied().collect();
        let by_file = self.categories.iter().any(|category| category.file_type().is_some());
        let asked: Vec<String> = self.sites.iter().chain(&self.terms.sites).cloned().collect();
        match (asked.is_empty(), categories.is_empty() || by_file) {
            (true, true) => Vec::new(),
            (false, true) => asked,
            (true, false) => categories.into_iter().map(str::to_owned).collect(),
            (false, false) => common(&asked, &categories),
        }
    }

    /// Whether an address is where the question wants it.
    pub fn wants(&self, url: &Url) -> bool {
        let within = |sites: &[String]| sites.iter().any(|site| lies_within(url, site));
        (self.sites.is_empty() || within(&self.sites))
            && !within(&self.without_sites)
            && !within(&self.terms.without_sites)
    }

    /// How many results to ask for, so that enough are left when some are filtered out.
    pub fn wanted(&self, filtered: bool, most: usize) -> usize {
        let wanted = if filtered { self.limit.saturating_mul(2).max(10) } else { self.limit };
        wanted.clamp(1, most)
    }
}

/// `(a OR b)` of as many as fit, and how many those are.
fn one_of(terms: &[String], room: usize) -> (String, usize) {
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

/// The sites that lie in both lists.
pub fn common(asked: &[String], others: &[&str]) -> Vec<String> {
    let within = |inner: &str, outer: &str| {
        Url::parse(&format!("http://{inner}/")).is_ok_and(|url| lies_within(&url, outer))
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

/// Whether an address is of a site or of what lies below it. A path counts by whole segments.
pub fn lies_within(url: &Url, site: &str) -> bool {
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
        let (text, left_out) = asked.with_operators(500);
        assert_eq!(
            text,
            "cats \"big cats\" -dogs (site:a.example OR site:b.example) (site:github.com OR filetype:pdf) -site:x.example"
        );
        assert_eq!(left_out, 0);
        let (text, left_out) = asked.with_operators(50);
        assert!(text.chars().count() <= 50 && left_out > 0, "{text}");
    }

    #[test]
    fn sites_hold_what_lies_below_them_and_nothing_beside() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(lies_within(&url("https://a.docs.rs/x"), "docs.rs"));
        assert!(lies_within(&url("https://docs.rs/tokio/latest"), "docs.rs/tokio"));
        assert!(!lies_within(&url("https://docs.rs/tokio-util"), "docs.rs/tokio"));
        assert!(!lies_within(&url("https://notdocs.rs/"), "docs.rs"));
        assert!(lies_within(&url("http://127.0.0.1:8000/x"), "127.0.0.1:8000"));
        assert!(lies_within(&url("http://127.0.0.1:8000/x"), "127.0.0.1"));
    }

    #[test]
    fn lists_of_sites_meet_those_of_categories() {
        let mut asked = question("x site:nature.com/articles");
        asked.categories = vec![Category::Research];
        assert_eq!(asked.site_list(), ["nature.com/articles"]);
        asked.terms.sites.clear();
        assert_eq!(asked.site_list().len(), 14);
        asked.categories.push(Category::Pdf);
        assert!(asked.site_list().is_empty(), "a file may lie anywhere");
    }
}
