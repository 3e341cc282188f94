//! The commands on a real Chromium, over a local site.

mod browser;
mod fixture;
mod site;

mod capture;
mod elements;
mod forms;
mod hostile;
mod navigation;
mod network;
mod prompts;
mod protocol;
mod reading;
mod settings;
mod snapshots;
mod tabs;
