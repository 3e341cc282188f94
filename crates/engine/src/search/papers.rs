//! Papers of the research index among the results of the category `research`.

use crate::research::Research;
use search::{Category, Hit, Question};
use std::sync::Arc;
use wire::research::{PaperResult, SearchRequest};

/// Papers for a question, best first; none when the index is empty or cannot answer.
pub async fn find_papers(research: Arc<Research>, question: &Question) -> Vec<Hit> {
    let text = question.terms.text();
    if text.is_empty() {
        return Vec::new();
    }
    let asked = SearchRequest {
        query: Some(text),
        k: i64::try_from(question.limit).ok(),
        from: question.time_range.from.map(|day| day.to_string()),
        to: question.time_range.to.map(|day| day.to_string()),
        ..SearchRequest::default()
    };
    // The index lies on a disk.
    let found = tokio::task::spawn_blocking(move || research.search(&asked)).await;
    let papers = match found {
        Ok(Ok(found)) => found.results,
        // An index that is empty or being filled is no failure of this search.
        Ok(Err(_)) => return Vec::new(),
        Err(error) => {
            tracing::error!(%error, "papers could not be searched");
            return Vec::new();
        }
    };
    let wanted = |hit: &Hit| {
        let sites = &question.terms.sites;
        question.accepts_site(&hit.url)
            && (sites.is_empty() || sites.iter().any(|site| search::is_within_site(&hit.url, site)))
    };
    papers.iter().filter_map(hit).filter(wanted).collect()
}

fn hit(paper: &PaperResult) -> Option<Hit> {
    let mut hit = Hit::new(&address(paper)?, &paper.title, &paper.abstract_text)?;
    hit.category = Some(Category::Research.name());
    Some(hit)
}

/// Where a paper can be read, by the identifier it is known under.
fn address(paper: &PaperResult) -> Option<String> {
    let by = |namespace: &str, before: &str, after: &str| {
        let id = paper.ids.get(namespace)?.first()?;
        Some(format!("{before}{id}{after}"))
    };
    by("arxiv", "https://arxiv.org/abs/", "")
        .or_else(|| by("pmcid", "https://pmc.ncbi.nlm.nih.gov/articles/", "/"))
        .or_else(|| by("pmid", "https://pubmed.ncbi.nlm.nih.gov/", "/"))
        .or_else(|| by("doi", "https://doi.org/", ""))
}
