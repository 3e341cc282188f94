//! Web search: the query and its operators, search providers behind one trait, their health and quotas, and
//! the fusion of their results into one list. This crate knows neither callers nor the store; the pages of
//! hits are scraped by the engine.
//!
//! A [`Question`] goes to a [`ProviderRouter`]. The router asks each healthy [`Provider`], in order or all at
//! once, applies the filters that a provider does not support, and fuses the lists. [`SearchResults`] holds
//! the hits, and for each provider that failed the reason.

mod category;
mod filter;
mod fusion;
mod health;
mod hit;
mod http;
mod operators;
mod provider;
mod provider_router;
pub mod providers;
mod question;
mod report;
mod settings;
mod time_range;

pub use category::{Category, is_within_site};
pub use health::{ProviderStatus, Quota};
pub use hit::{Hit, HitImage};
pub use http::ApiKey;
pub use operators::{QueryTerms, parse_site};
pub use provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
pub use provider_router::{ProviderMode, ProviderRouter};
pub use providers::LocalSearch;
pub use question::{Question, SourceKind, WEB_COLLECTION};
pub use report::{ProviderOutcome, ProviderReport, SearchResults};
pub use settings::{ApiKeys, ListedProvider, ProviderKind, SearchSettings, parse_quota};
pub use time_range::{TimeRange, TimeUnit};
