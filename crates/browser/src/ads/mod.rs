//! Ad blocking: which requests of a page are blocked (advertisements, trackers, consent dialogs) and which
//! elements are hidden. Owns the lists; never talks to a browser. Requests of a site to its own hosts always
//! pass: precision comes first, because nobody misses an advertisement and everybody misses an article.

mod hiding;

use adblock::Engine;
use adblock::lists::{FilterSet, ParseOptions};
use adblock::request::Request;
use adblock::url_parser::{ResolvesDomain, set_domain_resolver};
use hiding::HidingRules;
use sites::public_suffix::registrable_domain;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use url::Url;

const REQUESTS: &str = include_str!("requests.txt");
const HIDDEN: &str = include_str!("hiding.txt");
const UNLOCK: &str = include_str!("unlock.css");

/// The kind of resource a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// The page itself.
    Page,
    Frame,
    Script,
    Style,
    Image,
    Font,
    Media,
    Fetch,
    WebSocket,
    Ping,
    Other,
}

impl RequestKind {
    /// From the resource type of the DevTools protocol. The page and its frames are both a `Document` there.
    pub fn from_devtools(resource_type: &str, in_main_frame: bool) -> Self {
        match resource_type {
            "Document" if in_main_frame => Self::Page,
            "Document" => Self::Frame,
            "Script" => Self::Script,
            "Stylesheet" => Self::Style,
            "Image" => Self::Image,
            "Font" => Self::Font,
            "Media" | "TextTrack" => Self::Media,
            "XHR" | "Fetch" | "EventSource" | "Preflight" => Self::Fetch,
            "WebSocket" => Self::WebSocket,
            "Ping" | "CSPViolationReport" => Self::Ping,
            _ => Self::Other,
        }
    }

    /// The name used in filter lists.
    fn name(self) -> &'static str {
        match self {
            Self::Page => "document",
            Self::Frame => "subdocument",
            Self::Script => "script",
            Self::Style => "stylesheet",
            Self::Image => "image",
            Self::Font => "font",
            Self::Media => "media",
            Self::Fetch => "xmlhttprequest",
            Self::WebSocket => "websocket",
            Self::Ping => "ping",
            Self::Other => "other",
        }
    }
}

/// The compiled filter lists. Cheap to clone.
#[derive(Clone)]
pub struct Ads(Arc<Lists>);

struct Lists {
    requests: Engine,
    hiding: HidingRules,
}

impl Ads {
    /// The lists that come with the program, compiled on first use.
    pub fn bundled() -> Self {
        static BUNDLED: OnceLock<Ads> = OnceLock::new();
        BUNDLED.get_or_init(|| Self::from_lists(REQUESTS, HIDDEN, UNLOCK)).clone()
    }

    fn from_lists(requests: &str, hidden: &str, unlock: &str) -> Self {
        // Set once per process; later calls have no effect.
        let _ = set_domain_resolver(Box::new(PublicSuffixes));
        let mut filters = FilterSet::new(false);
        filters.add_filter_list(requests.to_owned(), ParseOptions::default());
        let requests = Engine::new_with_filter_set(filters);
        Self(Arc::new(Lists { requests, hiding: HidingRules::parse(hidden, unlock) }))
    }

    /// Whether the page at `source` should not load `url`.
    pub fn blocks(&self, url: &Url, source: &Url, kind: RequestKind) -> bool {
        // The requested page itself is always loaded, even an advertiser's.
        if kind == RequestKind::Page || !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            return false;
        }
        let request = Request::new(url.as_str(), source.as_str(), kind.name(), "get");
        request.is_ok_and(|request| self.0.requests.check_network_request(&request).should_block())
    }

    /// Whether a host serves advertisements or trackers to pages of others.
    pub fn is_advertising_host(&self, url: &Url) -> bool {
        static SOME_PAGE: OnceLock<Option<Url>> = OnceLock::new();
        let page = SOME_PAGE.get_or_init(|| Url::parse("https://page.invalid/").ok());
        page.as_ref().is_some_and(|page| self.blocks(url, page, RequestKind::Script))
    }

    /// The style sheet that hides banners in pages of `host`. Each rule has a single selector, so that one a
    /// browser does not support costs only itself.
    pub fn hiding_css(&self, host: &str) -> Cow<'_, str> {
        self.0.hiding.css(host)
    }
}

impl fmt::Debug for Ads {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ads").field("hiding", &self.0.hiding).finish_non_exhaustive()
    }
}

/// Finds the registrable domain in a host name: `b.co.uk` in `a.b.co.uk`.
struct PublicSuffixes;

impl ResolvesDomain for PublicSuffixes {
    fn get_host_domain(&self, host: &str) -> (usize, usize) {
        let site = registrable_domain(host).map_or(host.len(), str::len);
        (host.len() - site, host.len())
    }
}

#[cfg(test)]
mod tests;
