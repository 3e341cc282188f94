//! What requests about sessions mean.

use super::code::Language;
use crate::Error;
use crate::allowed_urls::AllowedUrls;
use crate::scrape::plan::{Access, PageLocale, Profile, resolve_profile};
use access::Caller;
use browser::Visit;
use serde_json::Value;
use std::time::Duration;
use url::Url;
use wire::Issues;
use wire::interact::{BrowserRequest, ExecuteRequest, InteractRequest};

const DEFAULT_TTL: i64 = 600;
const DEFAULT_ACTIVITY_TTL: i64 = 300;
const DEFAULT_TIMEOUT: i64 = 30;
const MAX_CODE_CHARS: usize = 100_000;
const MAX_PROMPT_CHARS: usize = 10_000;

/// A session to begin.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the request")]
pub(super) struct SessionPlan {
    pub(super) ttl: Duration,
    pub(super) activity_ttl: Duration,
    pub(super) stream: bool,
    pub(super) block_ads: bool,
    /// Whether it can be played back afterwards.
    pub(super) record: bool,
    /// Whether it is charged by the minute. One of an agent run is not.
    pub(super) is_charged: bool,
    /// What its pages claim to be, as commands for each of them.
    pub(super) emulation: Vec<(&'static str, Value)>,
    pub(super) profile: Option<Profile>,
    /// Which hosts its pages may reach.
    pub(super) allowed: AllowedUrls,
}

impl SessionPlan {
    /// `record` is what holds where the caller says nothing.
    pub(super) fn resolve(asked: &BrowserRequest, caller: &Caller, record: bool) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let mut seconds = |field: &str, value: Option<i64>, default: i64, min: i64| {
            let value = value.unwrap_or(default);
            issues.range(field, value, &(min..=3600));
            Duration::from_secs(u64::try_from(value).unwrap_or_default())
        };
        let ttl = seconds("ttl", asked.ttl, DEFAULT_TTL, 30);
        let activity_ttl = seconds("activityTtl", asked.activity_ttl, DEFAULT_ACTIVITY_TTL, 10);
        let profile = resolve_profile(asked.profile.as_ref(), &mut issues);
        if caller.zero_data_retention && profile.as_ref().is_some_and(|profile| profile.save) {
            issues.add("profile", "is stored, and zero data retention stores nothing", "custom");
        }
        if caller.zero_data_retention && asked.record_session == Some(true) {
            issues.add("recordSession", "is stored, and zero data retention stores nothing", "custom");
        }
        let locale = crate::scrape::plan::resolve_locale(asked.location.as_ref(), &mut issues);
        issues.finish()?;
        Ok(Self {
            ttl,
            activity_ttl,
            stream: asked.stream_web_view.unwrap_or(true),
            block_ads: asked.block_ads.unwrap_or(true),
            record: record && asked.record_session.unwrap_or(true) && !caller.zero_data_retention,
            is_charged: true,
            emulation: emulation(asked.location.is_some().then_some(&locale), false)?,
            profile,
            allowed: AllowedUrls::default(),
        })
    }

    /// The session of a scrape that was asked for in this way.
    pub(super) fn of_scrape(access: &Access, caller: &Caller, record: bool) -> Result<Self, Error> {
        let locale = (access.locale != PageLocale::default()).then_some(&access.locale);
        let emulation = emulation(locale, access.mobile)?;
        let seconds = |value: i64| Duration::from_secs(value.unsigned_abs());
        Ok(Self {
            ttl: seconds(DEFAULT_TTL),
            activity_ttl: seconds(DEFAULT_ACTIVITY_TTL),
            stream: true,
            block_ads: access.block_ads,
            record: record && !caller.zero_data_retention,
            is_charged: true,
            emulation,
            profile: access.profile.clone(),
            allowed: access.allowed.clone(),
        })
    }

    /// A session that an agent run uses for as long: it can be watched, and leaves nothing behind.
    pub(super) fn of_run(access: &Access, caller: &Caller, ttl: Duration) -> Result<Self, Error> {
        Ok(Self { ttl, is_charged: false, ..Self::of_scrape(access, caller, false)? })
    }
}

/// What pages are told to claim, where it is not what the browser claims by itself.
fn emulation(locale: Option<&PageLocale>, mobile: bool) -> Result<Vec<(&'static str, Value)>, Error> {
    let nowhere = Url::parse("about:blank").map_err(Error::internal)?;
    let visit = Visit {
        mobile,
        languages: locale.map(PageLocale::tags).unwrap_or_default(),
        timezone: locale.and_then(PageLocale::timezone).map(str::to_owned),
        ..Visit::new(nowhere)
    };
    browser::emulation_commands(&visit).map_err(Error::internal)
}

/// What to do in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    Code { language: Language, code: String },
    Prompt(String),
}

/// Something to do in a session, and for how long at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskPlan {
    pub(super) task: Task,
    pub(super) timeout: Duration,
}

impl TaskPlan {
    pub(super) fn from_execute(asked: &ExecuteRequest) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let code = asked.code.clone().unwrap_or_default();
        let plan = Self::resolve(Some(code), None, asked.language.as_deref(), asked.timeout, &mut issues);
        issues.finish()?;
        Ok(plan)
    }

    pub(super) fn from_interact(asked: &InteractRequest) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let (code, prompt) = (asked.code.clone(), asked.prompt.clone());
        if code.is_some() && prompt.is_some() {
            issues.add("prompt", "cannot be combined with `code`", "custom");
        }
        let plan = Self::resolve(code, prompt, asked.language.as_deref(), asked.timeout, &mut issues);
        issues.finish()?;
        Ok(plan)
    }

    fn resolve(
        code: Option<String>,
        prompt: Option<String>,
        language: Option<&str>,
        timeout: Option<i64>,
        issues: &mut Issues,
    ) -> Self {
        let language = Language::parse(language.unwrap_or("node")).unwrap_or_else(|| {
            issues.add("language", "must be node, python or bash", "invalid_value");
            Language::Node
        });
        let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
        issues.range("timeout", timeout, &(1..=300));
        let task = match (code, prompt) {
            (None, Some(prompt)) => {
                issues.length("prompt", &prompt, &(1..=MAX_PROMPT_CHARS));
                Task::Prompt(prompt)
            }
            (code, _) => {
                let code = code.unwrap_or_default();
                issues.length("code", &code, &(1..=MAX_CODE_CHARS));
                Task::Code { language, code }
            }
        };
        Self { task, timeout: Duration::from_secs(timeout.unsigned_abs()) }
    }
}
