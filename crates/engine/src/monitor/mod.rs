//! Monitors: pages, sites and searches that are checked by a schedule, and who is told of changes.
//!
//! [`plan`] says what a request means, [`Monitors`] accepts and changes monitors and shows their checks, and
//! [`MonitorWorker`] turns firings into checks and works on them. What is a change is decided in the crate
//! `monitor`, without I/O.

mod attempt;
mod context;
mod crawl_target;
mod drawn_diff;
mod judging;
mod link_pages;
mod manage;
mod notification;
mod page_check;
mod page_options;
mod plan;
mod read_page;
mod search_target;
mod stored_page;
mod targets;
mod tell;
mod told;
mod view;
mod watch_again;
mod worker;

pub use link_pages::{LinkedPage, Subscription};
pub use manage::{MailPolicy, MonitorParts, Monitors};
pub use notifications::links::NotificationLink;
pub use worker::{MonitorTools, MonitorWorker};
