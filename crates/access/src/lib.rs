//! Who calls ([`callers`]), by which right ([`keys`], [`sign_ins`], [`registration`], [`authorization`],
//! [`keyless`]), and what the caller's plan allows ([`plans`], [`limits`], [`credits`], [`idempotency`]).
//! Errors are [`CallerError`].
//!
//! The HTTP server asks here before it does anything for a request; capabilities count and charge here what
//! they do. This crate knows no capability.

mod attempts;
pub mod audit_log;
pub mod authorization;
pub mod callers;
pub mod credits;
mod error;
pub mod idempotency;
pub mod keyless;
pub mod keys;
pub mod limits;
pub mod plans;
pub mod registration;
pub mod sign_ins;

pub use callers::{Caller, Callers};
pub use error::{CallerError, from_store, store_to_wire};
pub use limits::Limiter;
pub use plans::{Plan, Plans, RateGroup};
