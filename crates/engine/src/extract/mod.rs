//! Extract: the older way to ask for structured data. It is an agent run over the pages of its request,
//! accepted, worked on, paid and kept as every run; only what is asked and how it is told differ.

mod plan;
mod status;

pub use plan::{EXTRACT_EVENTS, ExtractPlan};

use crate::Error;
use crate::agent::{Acceptance, Agents};
use access::Caller;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use store::agents::{RunKind, TurnOf};
use wire::Kind;
use wire::extract::{EXTRACT_REPLACEMENT, EXTRACT_WARNING, ExtractRequest, ExtractStarted};

/// The capability.
#[derive(Debug, Clone)]
pub struct Extractor(Arc<Agents>);

impl Extractor {
    pub fn new(agents: Arc<Agents>) -> Self {
        Self(agents)
    }

    /// Accepts an extraction: durable when this returns.
    pub fn start<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a ExtractRequest,
        idempotency_key: Option<String>,
    ) -> BoxFuture<'a, Result<ExtractStarted, Error>> {
        Box::pin(async move {
            if caller.zero_data_retention {
                return Err(Kind::AgentZeroRetention.into());
            }
            let ExtractPlan { order, invalid, audit } = plan::resolve(asked, self.0.allow())?;
            let (kind, turn_of) = (RunKind::Extract, TurnOf::Nothing);
            let acceptance =
                Acceptance { kind, turn_of, order, credits_asked: false, audit, idempotency_key };
            let started = self.0.accept(caller, acceptance).await?;
            Ok(ExtractStarted {
                success: true,
                id: started.id,
                invalid_urls: invalid,
                warnings: [EXTRACT_WARNING],
                replacement: EXTRACT_REPLACEMENT,
            })
        })
    }
}
