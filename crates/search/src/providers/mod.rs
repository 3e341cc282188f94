//! Those who can be asked, one module each: how a question is put in their words, and how their answer is read. What an answer
//! holds is looked for field by field; a field that is missing, null or of another type costs that field, not the answer.
//!
//! | | `SearXNG` | Brave | Serper | Tavily | Wikipedia | local |
//! |---|---|---|---|---|---|---|
//! | sources | all | all | all | all | web | all: news are pages with a date, pictures those of pages |
//! | `-word`, phrases, `intitle:`, `OR` | passed on and checked | passed on | passed on | checked | in its own words | known |
//! | `site:`, lists of domains | passed on and checked | passed on and checked | passed on and checked | lists and checked | checked | known |
//! | `inurl:` | checked | passed on and checked | passed on and checked | checked | checked | known |
//! | `filetype:`, `pdf` | passed on | passed on | passed on | checked by address | has none | by address |
//! | `tbs` | by range, and checked | by days, and checked | passed on | by range or days, and checked | checked | known |
//! | `country`, `lang` | both | both | both | neither | edition by `lang` | `lang` |
//! | `location` | no | no | yes | no | no | no |
//! | `safe` | yes | yes | no | no | no | no |
//! | results | 10 a page, 5 pages | 20 a page, 5 pages (news 50, pictures 100) | 100 | 20 | 50 | 200 |
//!
//! *Checked* means that results which do not fit are left out here. What nobody does for a provider is named in the warning.

mod brave;
mod local;
mod searxng;
mod serper;
mod tavily;
mod wikipedia;

pub use brave::Brave;
pub use local::{Local, LocalProvider};
pub use searxng::Searxng;
pub use serper::Serper;
pub use tavily::Tavily;
pub use wikipedia::Wikipedia;

use url::Url;

/// A path below a base address, whatever path the base has.
fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let joined = format!("{}/{}", base.path().trim_end_matches('/'), path.trim_start_matches('/'));
    url.set_path(&joined);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// How many domains of the lists did not fit, for people.
fn note_left_out(left_out: usize, provider: &str) -> Vec<String> {
    if left_out == 0 {
        return Vec::new();
    }
    vec![format!(
        "{left_out} of the domains did not fit into the query of {provider}; its results were filtered instead"
    )]
}
