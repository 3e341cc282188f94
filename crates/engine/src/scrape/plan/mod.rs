//! From what was asked to what is meant: every default filled in, every conflict refused. All mistakes of a
//! request are reported at once, except those that make the rest meaningless.

mod actions;
mod formats;
mod json_format;
mod locale;
mod page;
mod parsers;
mod redaction;
#[cfg(test)]
mod tests;

pub use formats::{AnswerFormat, Formats, TrackingFormat};
pub use json_format::JsonFormat;
pub use locale::PageLocale;
pub use locale::resolve as resolve_locale;
pub use page::{NamedLogins, NamedPage};
pub use parsers::{ParserPlan, PdfParser};

use crate::allowed_urls::AllowedUrls;
use crate::models::Task;
use crate::{Error, host_rules};
use browser::Action;
use net::{CredentialScope, Credentials, Login};
use std::time::Duration;
use text::redact::RedactOptions;
use url::Url;
use wire::scrape::{ProfileInput, ScrapeOptions, ScrapeRequest};
use wire::{Issue, Issues, PathPart};

const DEFAULT_TIMEOUT_MS: i64 = 60_000;
const DEFAULT_MAX_AGE_MS: i64 = 2 * 24 * 3_600_000;
/// Lockdown takes what it can get: two years.
const LOCKDOWN_MAX_AGE_MS: i64 = 2 * 365 * 24 * 3_600_000;
const MAX_WAIT_MS: i64 = 60_000;
/// Credits of a page.
const PAGE_CREDITS: i64 = 1;
const MAX_SELECTORS: usize = 100;
const MAX_SELECTOR_BYTES: usize = 2_000;

/// What a request means.
#[derive(Debug, Clone)]
pub struct ScrapePlan {
    /// Without a login.
    pub url: Url,
    /// The address exactly as the caller wrote it, but for a login.
    pub written_url: String,
    pub formats: Formats,
    pub parts: Parts,
    pub access: Access,
    pub cache: CachePlan,
    pub timeout: Duration,
    /// Nothing of the page is kept.
    pub private: bool,
    pub check_injection: bool,
    pub redact: Option<RedactOptions>,
    /// Who stands behind the request, for the activity.
    pub audit: Option<String>,
    /// Which files are read, and how.
    pub parsers: ParserPlan,
}

/// Which parts of the page are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    pub only_main_content: bool,
    pub include_tags: Vec<String>,
    pub exclude_tags: Vec<String>,
    pub remove_base64_images: bool,
    /// A model takes out of the markdown what is not content.
    pub clean: bool,
}

impl Parts {
    /// Whether the request names elements to keep or to leave out.
    pub fn names_elements(&self) -> bool {
        !self.include_tags.is_empty() || !self.exclude_tags.is_empty()
    }
}

/// How the page is asked for.
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the request")]
#[derive(Debug, Clone)]
pub struct Access {
    /// Headers and a login of the caller, and for which origins they are.
    pub credentials: Credentials,
    pub mobile: bool,
    pub locale: PageLocale,
    pub check_certificate: bool,
    pub block_ads: bool,
    pub wait_for: Duration,
    pub actions: Vec<Action>,
    pub profile: Option<Profile>,
    /// Where the page may come from.
    pub allowed: AllowedUrls,
    /// Only go to the browser when something asks for it.
    pub fast: bool,
    /// Hold to robots.txt, and leave a block page or a captcha at that.
    pub safe_mode: bool,
    /// One page of many waits for a browser of its team; a single request is told that they are busy.
    pub waits_for_browser: bool,
    /// Whether only the text of the page matters, so that the site's own markdown will do: links are not
    /// followed, and nothing is looked for in its elements.
    pub takes_markdown: bool,
}

/// A named browser state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub name: String,
    pub save: bool,
}

/// What stored pages may be used, and whether this one is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachePlan {
    /// A stored page no older than this will do; `None`: no stored page will.
    pub max_age: Option<Duration>,
    /// Only a stored page will do, and one at least this old.
    pub min_age: Option<Duration>,
    /// Only a stored page will do.
    pub lockdown: bool,
    pub store: bool,
}

impl CachePlan {
    /// Whether the web may be asked.
    pub fn may_fetch(&self) -> bool {
        self.min_age.is_none() && !self.lockdown
    }
}

impl ScrapePlan {
    /// Resolves a request. `names_host` tells whether the operator opened a host by its name, dots or not.
    pub fn resolve(
        asked: &ScrapeRequest,
        team_keeps_nothing: bool,
        names_host: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        if asked.alexandria.is_some() {
            return Err(refused("alexandria", "there is no catalogue of tools here"));
        }
        let written = asked.url.as_deref().unwrap_or_default();
        let page = NamedPage::parse(written, names_host)?;
        let private = team_keeps_nothing || asked.zero_data_retention == Some(true);
        let mut plan = Self::build(page, &asked.options(), private, None)?;
        plan.access.takes_markdown = true;
        Ok(plan)
    }

    /// The same for a caller who is known by an address only: nothing is stored for others to find. A screenshot
    /// may be, as its address cannot be guessed.
    pub fn of_nobody(mut self) -> Result<Self, Error> {
        if self.formats.change_tracking.is_some() {
            let why = "changeTracking remembers pages, and nothing is remembered of callers without a key";
            return Err(refused("formats", why));
        }
        self.private = true;
        (self.cache.store, self.cache.max_age) = (false, None);
        Ok(self)
    }

    /// How the pages of a capability are scraped that reads many: of no page yet. `scope` is what the request
    /// itself names; headers are for these origins.
    pub fn template(asked: &ScrapeOptions, private: bool, scope: CredentialScope) -> Result<Self, Error> {
        let page = NamedPage::parse("http://localhost/", &|_| true)?;
        Self::build(page, asked, private, Some(scope))
    }

    /// The same for a page.
    #[must_use]
    pub fn for_page(&self, mut url: Url, written: &str) -> Self {
        // A page or a search may name an address with a login in it; that login is nobody's here.
        let _ = net::take_login(&mut url);
        Self { url, written_url: net::without_login(written), ..self.clone() }
    }

    /// The same with these credentials. A page that was fetched with credentials is for who gave them: it is
    /// neither stored nor taken from what is stored.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        if !credentials.is_empty() {
            self.cache.max_age = None;
            self.cache.store = false;
        }
        self.access.check_certificate |=
            credentials.covers(&self.url) && credentials.need_checked_certificate();
        self.access.credentials = credentials;
        self
    }

    /// `scope`: what the headers are for, where that is not the page itself.
    fn build(
        page: NamedPage,
        asked: &ScrapeOptions,
        private: bool,
        scope: Option<CredentialScope>,
    ) -> Result<Self, Error> {
        let mut issues = Issues::default();
        if asked.use_mock.is_some() {
            issues.add("useMock", "is a test hook of another server", "invalid_value");
        }
        if asked
            .proxy
            .as_deref()
            .is_some_and(|name| !["basic", "enhanced", "stealth", "auto"].contains(&name))
        {
            issues.add("proxy", "must be basic, enhanced, stealth or auto", "invalid_value");
        }
        let detail = asked.tool_detail.as_deref();
        if detail.is_some_and(|detail| !["compact", "summary", "full"].contains(&detail)) {
            issues.add("toolDetail", "must be compact, summary or full", "invalid_value");
        }
        let formats = formats::resolve(asked, &mut issues)?;
        let timeout = bounded(&mut issues, "timeout", asked.timeout, DEFAULT_TIMEOUT_MS, 1_000, 300_000);
        let wait_for = bounded(&mut issues, "waitFor", asked.wait_for, 0, 0, MAX_WAIT_MS);
        if wait_for > 0 && wait_for * 2 >= timeout {
            issues.add("waitFor", "must not exceed half of timeout", "too_big");
        }
        let actions = actions::resolve(asked.actions.as_deref().unwrap_or_default(), &mut issues);
        let profile = resolve_profile(asked.profile.as_ref(), &mut issues);
        let scope = scope.unwrap_or_else(|| page.scope());
        let credentials = credentials(asked, page.login.as_ref(), scope, &mut issues);
        let own_ways = !credentials.is_empty() || !actions.is_empty() || profile.is_some();
        let parsers = parsers::resolve(asked, &mut issues);
        // What a password opens is only for who knows it.
        let own_page = own_ways || parsers.password().is_some();
        if private && formats.screenshot.is_some() {
            issues.add("formats", "a screenshot is stored, and zero data retention stores nothing", "custom");
        }
        if private
            && actions.iter().any(|action| matches!(action, Action::Screenshot(_) | Action::Pdf { .. }))
        {
            issues.add("actions", "files are stored, and zero data retention stores nothing", "custom");
        }
        if private && profile.as_ref().is_some_and(|profile| profile.save) {
            issues.add("profile", "is stored, and zero data retention stores nothing", "custom");
        }
        if private && formats.change_tracking.is_some() {
            issues.add(
                "formats",
                "changeTracking is stored, and zero data retention stores nothing",
                "custom",
            );
        }
        let access = Access {
            credentials,
            mobile: asked.mobile.unwrap_or(false),
            locale: locale::resolve(asked.location.as_ref(), &mut issues),
            check_certificate: !asked.skip_tls_verification.unwrap_or(!own_ways),
            block_ads: asked.block_ads.unwrap_or(true),
            wait_for: millis(wait_for),
            actions,
            profile,
            allowed: AllowedUrls::from_hosts(host_rules::resolve(
                asked.threat_protection.as_ref(),
                &mut issues,
            )),
            fast: asked.fast_mode.unwrap_or(false),
            safe_mode: asked.safe_mode.unwrap_or(false),
            waits_for_browser: false,
            takes_markdown: false,
        };
        let fresh =
            own_page || formats.change_tracking.is_some() || formats.screenshot.is_some() || formats.branding;
        let plan = Self {
            url: page.url,
            written_url: page.written,
            parts: Parts {
                only_main_content: asked.only_main_content.unwrap_or(true),
                include_tags: selectors(&mut issues, "includeTags", asked.include_tags.as_ref()),
                exclude_tags: selectors(&mut issues, "excludeTags", asked.exclude_tags.as_ref()),
                remove_base64_images: asked.remove_base64_images.unwrap_or(true),
                clean: asked.only_clean_content.unwrap_or(false),
            },
            cache: cache(asked, fresh, own_page || private, &mut issues),
            timeout: millis(timeout),
            private,
            check_injection: asked.check_prompt_injection.unwrap_or(false) || formats.check_injection,
            redact: redaction::resolve(asked.redact_pii.as_ref(), &mut issues),
            audit: audit(asked, &mut issues),
            parsers,
            formats,
            access,
        };
        if !plan.cache.may_fetch() && (own_page || plan.formats.screenshot.is_some() || plan.formats.branding)
        {
            issues.add("formats", "what needs a visit cannot be had from stored pages", "custom");
        }
        issues.finish()?;
        Ok(plan)
    }

    /// What only a language model can do of this, each with whose task it is.
    pub fn needs_models(&self) -> Vec<(&'static str, Task)> {
        let mut needs = self.formats.needs_models();
        needs.extend(self.parts.clean.then_some(("onlyCleanContent", Task::Summary)));
        needs
    }

    /// What it costs when it comes to a document.
    pub fn credits(&self) -> i64 {
        PAGE_CREDITS + self.formats.credits()
    }

    /// Whether every file is wanted as it is.
    pub fn takes_all_files(&self) -> bool {
        self.formats.raw_base64 || self.parsers.nothing
    }

    /// Whether the browser must not be used, whatever plain HTTP brings.
    pub fn forbids_browser(&self) -> bool {
        self.access.fast && self.wants_browser().is_none()
    }

    /// Whether the site is asked to send markdown where it has some.
    pub fn asks_for_markdown(&self) -> bool {
        self.access.takes_markdown
            && self.formats.only_text()
            && self.parts.only_main_content
            && !self.parts.names_elements()
            && !self.parsers.nothing
            && !self.access.credentials.sets_header("accept")
            && self.wants_browser().is_none()
    }

    /// Why plain HTTP will not do, when it will not.
    pub fn wants_browser(&self) -> Option<&'static str> {
        if !self.access.actions.is_empty() {
            Some("actions")
        } else if self.formats.screenshot.is_some() {
            Some("screenshot")
        } else if !self.access.wait_for.is_zero() {
            Some("waitFor")
        } else if self.formats.branding {
            Some("branding")
        } else if self.access.profile.is_some() {
            Some("profile")
        } else {
            None
        }
    }
}

fn cache(asked: &ScrapeOptions, fresh: bool, never_store: bool, issues: &mut Issues) -> CachePlan {
    let lockdown = asked.lockdown.unwrap_or(false);
    let default = if lockdown { LOCKDOWN_MAX_AGE_MS } else { DEFAULT_MAX_AGE_MS };
    let max_age = bounded(issues, "maxAge", asked.max_age, default, 0, i64::MAX);
    let min_age = asked.min_age.map(|_| millis(bounded(issues, "minAge", asked.min_age, 0, 0, i64::MAX)));
    CachePlan {
        max_age: (!fresh && max_age > 0).then(|| millis(max_age)),
        min_age,
        lockdown,
        store: asked.store_in_cache.unwrap_or(true) && !never_store && !lockdown,
    }
}

fn credentials(
    asked: &ScrapeOptions,
    login: Option<&Login>,
    scope: CredentialScope,
    issues: &mut Issues,
) -> Credentials {
    let headers = asked.headers.iter().flatten().map(|(name, value)| (name.as_str(), value.as_str()));
    let credentials = Credentials::new(headers, scope).unwrap_or_else(|error| {
        issues.add("headers", &error.to_string(), "invalid_value");
        Credentials::none()
    });
    credentials.with_login(login).accepting_any_certificate(asked.skip_tls_verification == Some(true))
}

/// Refuses credentials where a request names no page that they could be for.
pub fn require_page_for_credentials(credentials: &Credentials, path: &str) -> Result<(), Error> {
    if !credentials.contain_secrets() {
        return Ok(());
    }
    let why = format!(
        "the request names no page these could be for; without one, only headers that any host may see are sent: {}",
        net::HEADERS_FOR_ANY_HOST.join(", ")
    );
    Err(Error::invalid(&[Issue::at(path, &why, "invalid_value")]))
}

/// The profile that a request names.
pub fn resolve_profile(asked: Option<&ProfileInput>, issues: &mut Issues) -> Option<Profile> {
    let asked = asked?;
    let name = asked.name.clone().unwrap_or_default();
    issues.length("profile.name", &name, &(1..=128));
    Some(Profile { name, save: asked.save_changes.unwrap_or(true) })
}

fn audit(asked: &ScrapeOptions, issues: &mut Issues) -> Option<String> {
    let name = asked.audit_metadata.as_ref()?.username.clone()?;
    issues.length("auditMetadata.username", &name, &(0..=1024));
    Some(name)
}

fn selectors(issues: &mut Issues, field: &str, asked: Option<&Vec<String>>) -> Vec<String> {
    let list = asked.cloned().unwrap_or_default();
    if list.len() > MAX_SELECTORS {
        issues.add(field, &format!("must have at most {MAX_SELECTORS} selectors"), "too_big");
        return Vec::new();
    }
    for (index, selector) in list.iter().enumerate() {
        let wrong = if selector.len() > MAX_SELECTOR_BYTES {
            Some(format!("must have at most {MAX_SELECTOR_BYTES} characters"))
        } else if selector.trim().is_empty() {
            None
        } else {
            html::css::Selector::parse(selector).err().map(|error| error.to_string())
        };
        if let Some(wrong) = wrong {
            let path = vec![PathPart::Key(field.to_owned()), PathPart::Index(index)];
            issues.push(Issue::new(path, &wrong, "invalid_value"));
        }
    }
    list
}

fn bounded(issues: &mut Issues, field: &str, asked: Option<i64>, default: i64, least: i64, most: i64) -> i64 {
    let value = asked.unwrap_or(default);
    issues.range(field, value, &(least..=most));
    value.clamp(least, most)
}

fn millis(value: i64) -> Duration {
    Duration::from_millis(u64::try_from(value).unwrap_or(0))
}

/// A mistake in the `index`-th entry of a list.
fn nested(field: &str, index: usize, key: &str, why: &str) -> Issue {
    let path = vec![PathPart::Key(field.to_owned()), PathPart::Index(index), PathPart::Key(key.to_owned())];
    Issue::new(path, why, "invalid_value")
}

fn refused(field: &str, why: &str) -> Error {
    Error::invalid(&[Issue::at(field, why, "invalid_value")])
}
