//! Pages that are asked for as markdown. A request that returns nothing but the page's text prefers
//! `text/markdown` over HTML: some sites write their pages as markdown too, in a tenth of the bytes, and there
//! is nothing to convert. It is a preference in the one request that is sent anyway, so a site that does not
//! know it sends its HTML and costs nothing more. A site that takes offence is asked again without it, once,
//! and is not asked for markdown for a day.

use super::fetched_page::ReadPage;
use content::verdict::VerdictKind;
use net::ResponseMeta;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Hosts that are remembered; when there are more, all are forgotten.
const MAX_HOSTS: usize = 4096;
const HOST_RETENTION: Duration = Duration::from_hours(24);

/// The hosts that do not want to be asked for markdown. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct MarkdownHosts(Arc<Mutex<HashMap<String, Instant>>>);

impl MarkdownHosts {
    pub fn may_ask(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        self.0.lock().get(host).is_none_or(|refused| refused.elapsed() > HOST_RETENTION)
    }

    pub fn note_refusal(&self, url: &Url) {
        let Some(host) = url.host_str() else { return };
        let mut hosts = self.0.lock();
        if hosts.len() >= MAX_HOSTS {
            hosts.clear();
        }
        hosts.insert(host.to_owned(), Instant::now());
    }
}

/// Whether the status may be due to the unusual header: the request was not understood, not acceptable or
/// not from a browser. What is not there is not there, and a busy site is not asked twice.
pub fn refuses(response: &ResponseMeta) -> bool {
    matches!(response.head.status.as_u16(), 400 | 403 | 406 | 415 | 500 | 501)
}

/// Whether a page may have been refused because of the unusual header: a wall, or an answer that is labelled
/// as markdown and is none. A shell that waits for scripts would come either way.
pub fn may_be_why(read: &ReadPage) -> bool {
    read.response.chosen_markdown || matches!(read.verdict.kind, VerdictKind::Blocked | VerdictKind::Captcha)
}

/// Whether a response has the label of markdown.
pub fn is_labelled_markdown(content_type: Option<&str>) -> bool {
    let label = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    label.eq_ignore_ascii_case("text/markdown") || label.eq_ignore_ascii_case("text/x-markdown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_refuses_is_not_asked_again() {
        let (hosts, url) = (MarkdownHosts::default(), Url::parse("https://a.example/x").unwrap());
        assert!(hosts.may_ask(&url));
        hosts.clone().note_refusal(&url);
        assert!(!hosts.may_ask(&url) && hosts.may_ask(&Url::parse("https://b.example/").unwrap()));
        for number in 0..=MAX_HOSTS {
            hosts.note_refusal(&Url::parse(&format!("https://h{number}.example/")).unwrap());
        }
        assert!(hosts.0.lock().len() <= MAX_HOSTS);
    }
}
