//! The weights of the ranking.

use crate::schema::RANKED_FIELDS;

/// The weights of the ranking. The defaults were tuned on half of the queries of `bench/src/search` and measured
/// on the other half.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Of a word in host, path, title, headings, description and body.
    pub fields: [f32; RANKED_FIELDS],
    /// How much the length of a field counts against it (BM25's `b`).
    pub lengths: [f32; RANKED_FIELDS],
    /// How fast more of the same word stops counting (BM25's `k1`).
    pub saturation: f32,
    /// Another form of a word, relative to the word itself.
    pub forms: f32,
    /// Neighbours in the query that are neighbours in a field.
    pub pairs: [f32; RANKED_FIELDS],
    /// All words of the query close together in the body.
    pub span: f32,
    /// Words of the query at the beginning of the body.
    pub lead: f32,
    /// The query equals the title, or nearly; and the path.
    pub title: f32,
    pub path: f32,
    /// The query names the host and the page is its front page.
    pub front: f32,
    /// Newer pages, in general and when the query asks for news.
    pub fresh: f32,
    pub news: f32,
    /// Pages that others link to.
    pub links: f32,
    /// Pages in the requested language.
    pub language: f32,
    /// Hosts and pages that the team rated as valuable.
    pub valued: f32,
    /// The fourth and every further hit of one host.
    pub same_host: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            fields: [0.6, 6.3, 3.0, 1.0, 3.4, 1.0],
            lengths: [0.3, 0.4, 0.5, 0.75, 0.5, 0.85],
            saturation: 1.2,
            forms: 0.36,
            pairs: [0.0, 0.5, 1.4, 0.5, 0.7, 1.4],
            span: 0.84,
            lead: 0.3,
            title: 0.5,
            path: 1.4,
            front: 2.0,
            fresh: 0.05,
            news: 2.0,
            links: 0.04,
            language: 0.15,
            valued: 0.5,
            same_host: 0.95,
        }
    }
}
