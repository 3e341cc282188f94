//! How people are told what a check of a monitor found, and what they look at.
//!
//! [`alerts`] decides whether and when there is something to tell. A [`message::CheckMessage`] is what is
//! told; [`channel`] turns it into one HTTP request for a chat service, [`email`] into a mail, [`smtp`] sends
//! mails, [`feed`] makes an Atom feed. [`pages`] are the HTML pages that messages link to, [`links`] their
//! signed addresses. [`unified`] reads the diffs that checks keep, [`shown_line`] their markdown. [`outcome`] is what became of an attempt
//! to send.
//!
//! Only [`smtp`] does I/O, over the guarded connections of `net`. All text of pages and of callers is escaped
//! for the place it is shown in; see [`html`] and [`text`].

pub mod alerts;
pub mod channel;
pub mod email;
pub mod feed;
pub mod html;
pub mod links;
pub mod message;
pub mod outcome;
pub mod pages;
mod shown_line;
pub mod smtp;
pub mod text;
pub mod unified;
