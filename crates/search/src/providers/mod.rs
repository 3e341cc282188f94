//! Those who can be asked, one module each: how a question is put in their words, and how their answer is read. What an answer
//! holds is looked for field by field; a field that is missing, null or of another type costs that field, not the answer.

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
