//! The providers, one module each: how a question is written as a request and how the response is parsed.
//! Responses are read field by field; a field that is missing, null or of another type loses that field only.
//!
//! | | `SearXNG` | Brave | Serper | Tavily | Wikipedia | local |
//! |---|---|---|---|---|---|---|
//! | sources | all | all | all | all | web | all: news are pages with a date, images those of pages |
//! | `-word`, phrases, `intitle:`, `OR` | passed on and checked | passed on | passed on | checked | in its own syntax | supported |
//! | `site:`, lists of domains | passed on and checked | passed on and checked | passed on and checked | lists and checked | checked | supported |
//! | `inurl:` | checked | passed on and checked | passed on and checked | checked | checked | supported |
//! | `filetype:`, `pdf` | passed on | passed on | passed on | checked by URL | has none | by URL |
//! | `tbs` | by range, and checked | by days, and checked | passed on | by range or days, and checked | checked | supported |
//! | `country`, `lang` | both | both | both | neither | edition by `lang` | `lang` |
//! | `location` | no | no | yes | no | no | no |
//! | `safe` | yes | yes | no | no | no | no |
//! | results | 10 a page, 5 pages | 20 a page, 5 pages (news 50, images 100) | 100 | 20 | 50 | 200 |
//!
//! *Checked* means that results which do not match are left out here. Options that are ignored are named in
//! the warning.

mod brave;
mod local;
mod searxng;
mod serper;
mod tavily;
mod wikipedia;

pub use brave::Brave;
pub use local::{LocalProvider, LocalSearch};
pub use searxng::Searxng;
pub use serper::Serper;
pub use tavily::Tavily;
pub use wikipedia::Wikipedia;

use url::Url;

/// A path below a base URL, which may itself have a path.
fn url_below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let joined = format!("{}/{}", base.path().trim_end_matches('/'), path.trim_start_matches('/'));
    url.set_path(&joined);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// A remark about domains that did not fit into the query.
fn omitted_domains_note(left_out: usize, provider: &str) -> Vec<String> {
    if left_out == 0 {
        return Vec::new();
    }
    vec![format!(
        "{left_out} domains did not fit into the query for {provider}; its results were filtered instead"
    )]
}
