//! Starting the browser of a session. One that waited for a session, or has just been started, may have been killed
//! meanwhile: then another one is started.

use super::plan::SessionPlan;
use super::sessions::HOLD_FOR;
use super::settings::InteractSettings;
use crate::Error;
use crate::scrape::profile::OpenProfile;
use browser::VisitError;
use interact::{CdpError, Session, SessionBrowsers, SessionRules, StartError, emulation};
use net::{Deadline, Via};
use std::sync::Arc;
use wire::Kind;

/// Browsers that are tried before a caller is told that there is none.
const MAX_BROWSERS: u32 = 3;

/// Why a session did not start with one browser.
struct Failure {
    reason: String,
    is_dead_browser: bool,
}

/// Starts a session as its plan says.
pub(super) async fn start_session(
    browsers: &SessionBrowsers,
    settings: &InteractSettings,
    plan: &SessionPlan,
    profile: &OpenProfile,
) -> Result<Arc<Session>, Error> {
    let mut tried = 1;
    loop {
        match start_with_one(browsers, settings, plan, profile).await {
            Ok(session) => return Ok(session),
            Err(failure) if failure.is_dead_browser && tried < MAX_BROWSERS => {
                tracing::info!(
                    reason = failure.reason,
                    "a browser died before its session began; another one is started"
                );
                tried += 1;
            }
            Err(failure) => return Err(Error::because(Kind::BrowserFailed, &failure.reason)),
        }
    }
}

async fn start_with_one(
    browsers: &SessionBrowsers,
    settings: &InteractSettings,
    plan: &SessionPlan,
    profile: &OpenProfile,
) -> Result<Arc<Session>, Failure> {
    let browser = browsers.take().await?;
    let rules = SessionRules {
        via: Via::Settings,
        deadline: Deadline::after(plan.ttl + HOLD_FOR),
        max_bytes: settings.max_bytes,
        max_memory: settings.max_memory,
        max_disk: settings.max_disk,
        max_pages: settings.max_pages,
        max_clients: settings.max_clients,
        shared_files: settings.shared_files.clone(),
        allowed_hosts: plan.allowed.resource_rule(),
        block_ads: plan.block_ads,
    };
    let session = Arc::new(Session::start(browser, rules, profile.state()).await?);
    if !plan.emulation.is_empty()
        && let Err(error) = emulation::emulate(&session, plan.emulation.clone()).await
    {
        session.end().await;
        return Err(error.into());
    }
    Ok(session)
}

impl From<VisitError> for Failure {
    fn from(error: VisitError) -> Self {
        Self { is_dead_browser: error == VisitError::Died, reason: error.to_string() }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self { is_dead_browser: error.is_dead_browser(), reason: error.to_string() }
    }
}

impl From<CdpError> for Failure {
    fn from(error: CdpError) -> Self {
        Self { is_dead_browser: error == CdpError::Over, reason: error.to_string() }
    }
}
