//! The diff page that was drawn last. Drawing one takes half a second of a core, and whoever has its link may ask for it
//! as often as they like.

use notifications::pages::HtmlPage;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long it is shown; the check may go on.
const SHOWN_FOR: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub struct DrawnDiff(Option<Drawn>);

#[derive(Debug)]
struct Drawn {
    check: Uuid,
    /// Its links begin with this.
    base_url: String,
    /// Shared by all readers, who may take their time.
    page: Arc<HtmlPage>,
    until: Instant,
}

impl DrawnDiff {
    pub fn page_of(&self, check: Uuid, base_url: &str) -> Option<Arc<HtmlPage>> {
        let drawn = self.0.as_ref()?;
        let is_it = drawn.check == check && drawn.base_url == base_url && drawn.until > Instant::now();
        is_it.then(|| drawn.page.clone())
    }

    pub fn keep(&mut self, check: Uuid, base_url: &str, page: &Arc<HtmlPage>) {
        let (base_url, until) = (base_url.to_owned(), Instant::now() + SHOWN_FOR);
        self.0 = Some(Drawn { check, base_url, page: page.clone(), until });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_again_for_its_check_and_address_only() {
        let page = HtmlPage { html: "<p>diff</p>".to_owned(), content_security_policy: String::new() };
        let page = Arc::new(page);
        let (mut drawn, check) = (DrawnDiff::default(), Uuid::from_u128(1));
        assert!(drawn.page_of(check, "http://a").is_none());
        drawn.keep(check, "http://a", &page);
        assert_eq!(drawn.page_of(check, "http://a"), Some(page));
        assert!(drawn.page_of(check, "http://b").is_none());
        assert!(drawn.page_of(Uuid::from_u128(2), "http://a").is_none());
    }
}
