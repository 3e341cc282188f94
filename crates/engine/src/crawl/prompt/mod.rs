//! Options of a crawl out of words: by a language model where there is one, else by rules that know how
//! people write about sites. What the caller set in so many words always wins.

mod by_model;
mod fee;
mod rules;

pub use fee::Fee;

use super::plan::{Asking, CrawlPlan};
use crate::Error;
use crate::models::{Models, Task};
use net::Deadline;
use std::time::Duration;
use wire::crawl::{CrawlOptions, CrawlRequest};

/// What understanding a prompt may take.
const MODEL_TIMEOUT: Duration = Duration::from_mins(1);

/// What was made of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompted {
    /// What the words say.
    pub generated: CrawlOptions,
    /// The same with what the caller set, every default filled in.
    pub options: CrawlOptions,
    pub warning: Option<String>,
    /// A language model read the words; rules did otherwise.
    pub by_model: bool,
}

/// Refuses a prompt or other options that make no sense.
pub fn check(asked: &CrawlRequest, who: Asking<'_>) -> Result<(), Error> {
    CrawlPlan::check_prompt(asked.prompt.as_deref())?;
    CrawlPlan::resolve(&CrawlRequest { prompt: None, ..asked.clone() }, who)?;
    Ok(())
}

/// Whether there is a model that prompts are shown to.
pub fn asks_model(models: &Models) -> bool {
    models.chat(Task::Extract).is_some()
}

/// Turns the prompt of a checked request into options of it.
pub async fn apply(
    models: &Models,
    asked: &CrawlRequest,
    who: Asking<'_>,
) -> (CrawlRequest, Option<Prompted>) {
    let plain = CrawlRequest { prompt: None, ..asked.clone() };
    let Some(prompt) = &asked.prompt else { return (plain, None) };
    let fits = |generated: &CrawlOptions| {
        let resolved = CrawlPlan::resolve(&merged(&plain, generated), who);
        resolved.map(|_| ()).map_err(|error: Error| error.text())
    };
    let url = asked.url.as_deref().map(net::without_login).unwrap_or_default();
    let (generated, warning) = understand(models, &url, prompt, &fits).await;
    let request = merged(&plain, &generated);
    let options = filled(&request);
    // What rules made of it always comes with a warning.
    let by_model = warning.is_none();
    (request, Some(Prompted { generated, options, warning, by_model }))
}

type Fits<'a> = dyn Fn(&CrawlOptions) -> Result<(), String> + Send + Sync + 'a;

async fn understand(
    models: &Models,
    url: &str,
    prompt: &str,
    fits: &Fits<'_>,
) -> (CrawlOptions, Option<String>) {
    let mut why = "there is no language model here";
    if let Some(chat) = models.chat(Task::Extract) {
        match by_model::ask_model(chat.as_ref(), url, prompt, fits, Deadline::after(MODEL_TIMEOUT)).await {
            Ok(options) => return (options, None),
            Err(error) => {
                tracing::warn!(%error, "the language model made no options of a prompt");
                why = "the language model gave no usable options";
            }
        }
    }
    let options = rules::parse_prompt(prompt);
    // Rules make nothing that a plan refuses; should they ever, the words are worth less than the crawl.
    let options = if fits(&options).is_ok() { options } else { CrawlOptions::default() };
    let read = if options == CrawlOptions::default() {
        "the prompt was read by rules, which found nothing in it; set the options themselves"
    } else {
        "the prompt was read by rules; see whether the options are what you meant"
    };
    (options, Some(format!("{why}: {read}")))
}

/// A request with the options of a prompt where it has none of its own.
fn merged(asked: &CrawlRequest, generated: &CrawlOptions) -> CrawlRequest {
    let generated = generated.clone();
    let mut request = asked.clone();
    request.include_paths = request.include_paths.or(generated.include_paths);
    request.exclude_paths = request.exclude_paths.or(generated.exclude_paths);
    request.max_discovery_depth = request.max_discovery_depth.or(generated.max_discovery_depth);
    request.sitemap = request.sitemap.or(generated.sitemap);
    request.ignore_query_parameters = request.ignore_query_parameters.or(generated.ignore_query_parameters);
    request.deduplicate_similar_urls =
        request.deduplicate_similar_urls.or(generated.deduplicate_similar_urls);
    request.limit = request.limit.or(generated.limit);
    request.crawl_entire_domain = request.crawl_entire_domain.or(generated.crawl_entire_domain);
    request.allow_external_links = request.allow_external_links.or(generated.allow_external_links);
    request.allow_subdomains = request.allow_subdomains.or(generated.allow_subdomains);
    request.delay = request.delay.or(generated.delay);
    request
}

/// The options of a request as they count.
fn filled(request: &CrawlRequest) -> CrawlOptions {
    let on = |switch: Option<bool>| Some(switch.unwrap_or(false));
    CrawlOptions {
        url: request.url.as_deref().map(net::without_login),
        include_paths: Some(request.include_paths.clone().unwrap_or_default()),
        exclude_paths: Some(request.exclude_paths.clone().unwrap_or_default()),
        max_discovery_depth: request.max_discovery_depth,
        sitemap: Some(request.sitemap.clone().unwrap_or_else(|| "include".to_owned())),
        ignore_query_parameters: on(request.ignore_query_parameters),
        deduplicate_similar_urls: Some(request.deduplicate_similar_urls.unwrap_or(true)),
        limit: Some(request.limit.unwrap_or(super::plan::DEFAULT_LIMIT)),
        crawl_entire_domain: on(request.crawl_entire_domain),
        allow_external_links: on(request.allow_external_links),
        allow_subdomains: on(request.allow_subdomains),
        ignore_robots_txt: on(request.ignore_robots_txt),
        robots_user_agent: request.robots_user_agent.clone(),
        delay: request.delay,
    }
}
