//! The lists that a site writes for language models: `llms.txt`, and the further ones it links to, such as
//! `llms-full.txt`. They are markdown; what is taken of them is their links.

use crate::cpu_pool::CpuJob;
use content::Limits as PageLimits;
use content::page::{Page, PageSource};
use content::sniff::ContentKind;
use net::{AtLimit, FetchError, FetchedResponse, Fetcher, Limits, Request};
use std::collections::VecDeque;
use url::Url;

const FIRST_FILE: &str = "/llms.txt";
/// Files read for one site.
const MAX_FILES: usize = 4;
/// Bytes read of one file; `llms-full.txt` may hold a whole manual.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// What the lists of a site hold.
#[derive(Debug, Default)]
pub struct LlmsLinks {
    /// Absolute, in order.
    pub urls: Vec<String>,
    /// There were more files than are read, or one was too long.
    pub cut: bool,
}

/// Reads the lists of the site of `start`. `may_read` says which of them the site's robots rules allow, and
/// that they are files of the site itself.
pub async fn read_llms_files(
    fetcher: &Fetcher,
    ask: &(dyn Fn(&Url) -> Result<Request, FetchError> + Sync),
    may_read: &(dyn Fn(&Url) -> bool + Sync),
    start: &Url,
    job: &CpuJob,
) -> LlmsLinks {
    let mut links = LlmsLinks::default();
    let mut waiting: VecDeque<Url> = start.join(FIRST_FILE).into_iter().filter(|url| may_read(url)).collect();
    let mut known: Vec<Url> = waiting.iter().cloned().collect();
    for _ in 0..MAX_FILES {
        let Some(url) = waiting.pop_front() else { return links };
        let Some((found, cut)) = read_file(fetcher, ask, &url, job).await else { continue };
        links.cut |= cut;
        for link in found {
            if let Ok(target) = Url::parse(&link)
                && is_llms_file(&target)
            {
                if may_read(&target) && !known.contains(&target) {
                    known.push(target.clone());
                    waiting.push_back(target);
                }
            } else {
                links.urls.push(link);
            }
        }
    }
    links.cut |= !waiting.is_empty();
    links
}

/// The links of one file and whether it was cut; none where there is no such file.
async fn read_file(
    fetcher: &Fetcher,
    ask: &(dyn Fn(&Url) -> Result<Request, FetchError> + Sync),
    url: &Url,
    job: &CpuJob,
) -> Option<(Vec<String>, bool)> {
    let limits = Limits {
        at_limit: AtLimit::Truncate,
        wire_bytes: MAX_FILE_BYTES,
        body_bytes: MAX_FILE_BYTES,
        ..Limits::default()
    };
    let file = fetcher.fetch(ask(url).ok()?.limits(limits), job.deadline()).await.ok()?;
    if !file.meta.head.status.is_success() {
        return None;
    }
    job.run(move || links_of(&file)).await.ok()?
}

fn links_of(file: &FetchedResponse) -> Option<(Vec<String>, bool)> {
    // Whatever the label is: many sites send these files as plain text, and many a page in HTML for a file
    // that they do not have.
    let content_type = Some("text/markdown; charset=utf-8");
    let source = PageSource { bytes: &file.body, content_type, url: Some(&file.meta.head.url), status: None };
    let page = Page::parse(&source, &PageLimits::default());
    let is_list = page.kind() == ContentKind::Markdown;
    let cut = file.meta.truncated.is_some() || page.truncated();
    is_list.then(|| (page.links().into_iter().map(|link| link.url).collect(), cut))
}

fn is_llms_file(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".txt").is_some_and(|name| name.starts_with("llms"))
}
