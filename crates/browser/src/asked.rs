//! What a visit is asked to do.

use crate::state::StorageState;
use net::{Credentials, HopRule};
use std::fmt;
use std::time::Duration;
use url::Url;

/// One page to visit. [`Visit::new`] asks for nothing but its content.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // Each is one wish of the caller, independent of the others.
pub struct Visit {
    pub url: Url,
    /// How long to wait after the page is ready.
    pub wait_for: Duration,
    pub actions: Vec<Action>,
    /// A picture at the end.
    pub screenshot: Option<Screenshot>,
    /// Headers of the caller, sent where they are for and nowhere else.
    pub credentials: Credentials,
    /// As a phone sees it.
    pub mobile: bool,
    /// Language tags, most wanted first. Empty: American English.
    pub languages: Vec<String>,
    /// An IANA name, as `Europe/Berlin`.
    pub timezone: Option<String>,
    /// Without advertisements, trackers and cookie banners.
    pub block_ads: bool,
    pub check_certificate: bool,
    pub via: net::Via,
    /// Cookies and local storage to start from.
    pub state: Option<StorageState>,
    /// Whether to bring cookies and local storage back.
    pub keep_state: bool,
    /// An expression to evaluate at the end, out of reach of the page's own scripts. Its value comes back as
    /// JSON, or nothing if it throws.
    pub collect: Option<String>,
    /// Says of every address, the page's and those of its parts, whether it may be asked. Called for each request, so it
    /// must be quick. It stands above the egress guard and cannot loosen it.
    pub filter: Option<HopRule>,
    /// Says of every address that the page itself (its main frame) moves to whether the visit may go there, whatever the cause:
    /// redirects, scripts, `<meta>` refresh, forms, clicks. The parts of a page do not pass it. A move that it forbids ends the visit
    /// with [`crate::NavigationError::Filtered`] before anything is sent.
    pub page_filter: Option<HopRule>,
}

impl Visit {
    pub fn new(url: Url) -> Self {
        Self {
            url,
            wait_for: Duration::ZERO,
            actions: Vec::new(),
            screenshot: None,
            credentials: Credentials::none(),
            mobile: false,
            languages: Vec::new(),
            timezone: None,
            block_ads: false,
            check_certificate: true,
            via: net::Via::default(),
            state: None,
            keep_state: false,
            collect: None,
            filter: None,
            page_filter: None,
        }
    }

    /// Whether images and fonts must be there.
    pub(crate) fn needs_pictures(&self) -> bool {
        let pictured = |action: &Action| matches!(action, Action::Screenshot(_) | Action::Pdf { .. });
        self.screenshot.is_some() || self.actions.iter().any(pictured)
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers, cookies and texts to type are often secrets; they stay out of logs.
        out.debug_struct("Visit")
            .field("url", &self.url.as_str())
            .field("actions", &self.actions.len())
            .field("screenshot", &self.screenshot)
            .field("mobile", &self.mobile)
            .finish_non_exhaustive()
    }
}

/// A picture to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Screenshot {
    /// The whole page instead of what a window shows.
    pub full_page: bool,
    /// 1 to 100; given, the picture is a JPEG, otherwise a PNG.
    pub quality: Option<u8>,
    /// Width and height of the window.
    pub viewport: Option<(u32, u32)>,
}

/// One step on a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Wait {
        ms: u64,
    },
    /// Until an element is there and can be seen.
    WaitFor {
        selector: String,
    },
    Click {
        selector: String,
        all: bool,
    },
    /// Types into the element that has the focus.
    Write {
        text: String,
    },
    /// A key by its name, with modifiers before it: `Enter`, `a`, `Control+A`.
    Press {
        key: String,
    },
    /// By one window, or one height of an element.
    Scroll {
        up: bool,
        selector: Option<String>,
    },
    Screenshot(Screenshot),
    Scrape,
    ExecuteJavascript {
        script: String,
    },
    /// `scale` is between 0.1 and 2.
    Pdf {
        format: PaperFormat,
        landscape: bool,
        scale: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PaperFormat {
    A0,
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    #[default]
    Letter,
    Legal,
    Tabloid,
    Ledger,
}

impl PaperFormat {
    /// Width and height in inches.
    pub(crate) fn size(self) -> (f64, f64) {
        match self {
            Self::A0 => (33.1102, 46.811),
            Self::A1 => (23.3858, 33.1102),
            Self::A2 => (16.5354, 23.3858),
            Self::A3 => (11.6929, 16.5354),
            Self::A4 => (8.2677, 11.6929),
            Self::A5 => (5.8268, 8.2677),
            Self::A6 => (4.1339, 5.8268),
            Self::Letter => (8.5, 11.0),
            Self::Legal => (8.5, 14.0),
            Self::Tabloid => (11.0, 17.0),
            Self::Ledger => (17.0, 11.0),
        }
    }
}
