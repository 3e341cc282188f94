//! Providers against servers on loopback that imitate the real APIs and their errors.

mod failures;
mod local;
mod provider_formats;
mod provider_router;
mod server;
