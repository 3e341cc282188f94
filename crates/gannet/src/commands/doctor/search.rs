//! Who is asked when somebody searches. Nothing is sent: some of them count every question.

use super::{Finding, Verdict};
use crate::settings::Settings;
use ::search::{Make, Mode};

pub fn find(settings: &Settings) -> Finding {
    let listed = settings.search.listed();
    let names: Vec<&str> = listed.iter().map(|listed| listed.make.name()).collect();
    let web = listed.iter().any(|listed| listed.make != Make::Local);
    let how = match settings.search.mode {
        Mode::Fallback => "one after another",
        Mode::Parallel => "all at once",
    };
    let text = if web {
        format!("{}, {how}", names.join(", "))
    } else {
        "what this server has scraped or been given; no web provider (search_providers, docs/search.md)"
            .to_owned()
    };
    Finding { part: "search", verdict: if web { Verdict::Ok } else { Verdict::Missing }, text }
}
