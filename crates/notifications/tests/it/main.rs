//! How messages look to the services and people that get them: real mail servers, a real browser, hostile
//! text.

mod browser;
mod channels;
mod feed;
mod fixtures;
mod mail;
mod pages;
mod smtp;
mod smtp_liars;
