//! The HTML pages that messages link to: the diff of a check, the timeline of a monitor, and the pages on
//! which a recipient confirms or ends a subscription. No scripts; all text of pages and callers is escaped
//! ([`crate::html`]).

mod diff;
mod frame;
mod subscription;
mod timeline;
mod words;

pub use diff::{
    CheckDiff, MAX_BYTES as MAX_DIFF_BYTES, MAX_PAGES as MAX_DIFF_PAGES, PageDiff, ScreenshotPair, diff_page,
    page_anchor,
};
pub use frame::HtmlPage;
pub use subscription::{SubscriptionPage, is_one_click, subscription_page};
pub use timeline::{CheckOutcome, MonitorTimeline, TimelineCheck, timeline_page};
