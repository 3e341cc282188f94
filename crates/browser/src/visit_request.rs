//! What a visit should do.

use crate::storage_state::StorageState;
use net::{Credentials, UrlRule};
use std::fmt;
use std::time::Duration;
use url::Url;

/// One page to visit. [`Visit::new`] only loads its content.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // Each is an independent option of the caller.
pub struct Visit {
    pub url: Url,
    /// How long to wait after the page is ready.
    pub wait_for: Duration,
    pub actions: Vec<Action>,
    /// Takes a screenshot at the end.
    pub screenshot: Option<Screenshot>,
    /// Headers of the caller, sent only to the origins they are for.
    pub credentials: Credentials,
    /// Emulates a phone.
    pub mobile: bool,
    /// Language tags, most preferred first. Empty: American English.
    pub languages: Vec<String>,
    /// An IANA time zone name such as `Europe/Berlin`.
    pub timezone: Option<String>,
    /// Blocks advertisements, trackers and cookie banners.
    pub block_ads: bool,
    pub check_certificate: bool,
    pub via: net::Via,
    /// Cookies and local storage to start from.
    pub state: Option<StorageState>,
    /// Whether to return cookies and local storage.
    pub keep_state: bool,
    /// A JavaScript expression to evaluate at the end, isolated from the page's own scripts. Its value is
    /// returned as JSON, or nothing if it throws.
    pub collect: Option<String>,
    /// Decides for every URL, of the page and its resources, whether it may be requested. Called for each
    /// request, so it must be fast. It is checked in addition to the egress guard and cannot widen it.
    pub filter: Option<UrlRule>,
    /// Decides for every URL that the main frame navigates to (by redirects, scripts, `<meta>` refresh,
    /// forms, clicks) whether the visit may go there. Resources of a page are not checked. A forbidden
    /// navigation ends the visit with [`crate::NavigationError::Filtered`] before anything is sent.
    pub page_filter: Option<UrlRule>,
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

    /// Whether images and fonts must be loaded.
    pub(crate) fn needs_images(&self) -> bool {
        let pictured = |action: &Action| matches!(action, Action::Screenshot(_) | Action::Pdf { .. });
        self.screenshot.is_some() || self.actions.iter().any(pictured)
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers, cookies and typed texts are often secrets; they stay out of logs.
        out.debug_struct("Visit")
            .field("url", &self.url.as_str())
            .field("actions", &self.actions.len())
            .field("screenshot", &self.screenshot)
            .field("mobile", &self.mobile)
            .finish_non_exhaustive()
    }
}

/// A screenshot to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Screenshot {
    /// The whole page instead of the viewport.
    pub full_page: bool,
    /// 1 to 100. If set, the screenshot is a JPEG, otherwise a PNG.
    pub quality: Option<u8>,
    /// Width and height of the viewport.
    pub viewport: Option<(u32, u32)>,
}

/// One action on a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Wait {
        ms: u64,
    },
    /// Waits until an element exists and is visible.
    WaitFor {
        selector: String,
    },
    Click {
        selector: String,
        all: bool,
    },
    /// Types into the focused element.
    Write {
        text: String,
    },
    /// A key by its name, with optional modifiers: `Enter`, `a`, `Control+A`.
    Press {
        key: String,
    },
    /// By one viewport height, or by the height of an element.
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
