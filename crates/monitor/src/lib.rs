//! What a monitor decides, without I/O.
//!
//! [`schedule`]: when it runs. [`page`]: whether a page that was read again has changed, what differs, and
//! what was ignored and why. [`noise`]: what changes without meaning anything. [`data`]: changes of structured
//! data. [`judge`]: what a change means for the goal of a monitor. `goal`: what a goal is about.
//!
//! Two promises hold by the types: [`page::Changed`] and [`data::DataChanges`] cannot be made without a
//! difference, and a page that was not read whole is [`page::PageChange::Unreadable`], never changed.

pub mod data;
mod goal;
pub mod judge;
pub mod noise;
pub mod page;
mod pattern;
pub mod schedule;
