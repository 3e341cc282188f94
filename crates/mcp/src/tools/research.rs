//! Papers and developer sources, written for a reader: the text is markdown, the data is beside it.

use crate::call::{Call, encode};
use crate::output::{Failure, Output};
use serde_json::{Value, json};
use std::fmt::Write as _;

const PAPERS: &str = "/v2/search/research/papers";
const MAX_AUTHORS: usize = 15;
const MAX_ABSTRACT_CHARS: usize = 600;
const MAX_AUTHORS_LINE_CHARS: usize = 400;

pub async fn search_papers(call: &Call) -> Result<Output, Failure> {
    let names = ["query", "k", "authors", "categories", "from", "to"].map(|name| (name, name));
    let answer = call.get(&format!("{PAPERS}{}", call.query(&names))).await?;
    let results = list(&answer, "results");
    Ok(Output::text(papers_text(&results), json!({ "results": results })))
}

pub async fn inspect_paper(call: &Call) -> Result<Output, Failure> {
    let answer = call.get(&format!("{PAPERS}/{}", call.segment("paperId")?)).await?;
    let Some(paper) = answer.get("paper").filter(|paper| paper.is_object()) else {
        return Ok(Output::text("(paper not found)", json!({})));
    };
    Ok(Output::text(paper_text(paper), json!({ "paper": paper })))
}

pub async fn related_papers(call: &Call) -> Result<Output, Failure> {
    let seeds = list(&Value::Object(call.arguments.clone()), "seed_ids");
    let mut seeds = seeds.iter().filter_map(Value::as_str);
    let first = encode(seeds.next().unwrap_or_default());
    let names = ["intent", "mode", "k", "rerank"].map(|name| (name, name));
    let mut query = call.query(&names);
    for anchor in seeds {
        let _ = write!(query, "&anchor={}", encode(anchor));
    }
    let answer = call.get(&format!("{PAPERS}/{first}/similar{query}")).await?;
    let results = list(&answer, "results");
    let pool = answer["poolSize"].as_u64().unwrap_or_default();
    let mut text = format!("{}\n(poolSize={pool})", papers_text(&results));
    let mut data = json!({ "results": results, "poolSize": pool });
    if let Some(note) = answer["note"].as_str().filter(|note| !note.is_empty()) {
        let _ = write!(text, "\nnote: {note}");
        data["note"] = note.into();
    }
    Ok(Output::text(text, data))
}

pub async fn read_paper(call: &Call) -> Result<Output, Failure> {
    let query = call.query(&[("question", "query"), ("k", "k")]);
    let answer = call.get(&format!("{PAPERS}/{}{query}", call.segment("paperId")?)).await?;
    let passages = list(&answer, "passages");
    let texts: Vec<_> = passages.iter().map(|passage| field(passage, "text")).collect();
    let text = if texts.is_empty() {
        "(no full-text passages available for this paper)".to_owned()
    } else {
        texts.join("\n---\n")
    };
    Ok(Output::text(text, json!({ "passages": passages })))
}

pub async fn developer_search(call: &Call) -> Result<Output, Failure> {
    let query = call.query(&[("query", "query"), ("k", "k"), ("skills", "skills")]);
    let answer = call.get(&format!("/v2/search/developer{query}")).await?;
    let results = list(&answer, "results");
    let texts: Vec<_> = results.iter().map(developer_text).collect();
    let text = if texts.is_empty() { "(no results)".to_owned() } else { texts.join("\n\n") };
    Ok(Output::text(text, json!({ "results": results })))
}

fn list(answer: &Value, name: &str) -> Vec<Value> {
    answer[name].as_array().cloned().unwrap_or_default()
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

fn papers_text(papers: &[Value]) -> String {
    if papers.is_empty() {
        return "(no results)".to_owned();
    }
    let texts = papers.iter().map(|paper| {
        let id = or(field(paper, "primaryId"), "missing-primary-id");
        let mut lines = vec![format!("## [{id}] {}", or(field(paper, "title"), "(untitled)"))];
        lines.extend(authors_line(&paper["authors"]));
        lines.push(
            one_line(or(field(paper, "abstract"), "(no abstract)"))
                .chars()
                .take(MAX_ABSTRACT_CHARS)
                .collect(),
        );
        lines.join("\n")
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn paper_text(paper: &Value) -> String {
    let mut lines = vec![format!("# {}", or(field(paper, "title"), "(untitled)")), String::new()];
    lines.push(format!("Paper ID: {}", or(field(paper, "paperId"), "?")));
    let ids = paper["ids"].as_object().into_iter().flatten().flat_map(|(namespace, values)| {
        let values = values.as_array().cloned().unwrap_or_default();
        let named =
            values.into_iter().filter_map(|value| value.as_str().map(|id| format!("{namespace}:{id}")));
        named.collect::<Vec<_>>()
    });
    let ids = ids.collect::<Vec<_>>().join(", ");
    if !ids.is_empty() {
        lines.push(format!("IDs: {ids}"));
    }
    lines.extend(authors_line(&paper["authors"]));
    let categories: Vec<_> =
        paper["categories"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !categories.is_empty() {
        lines.push(format!("Categories: {}", categories.join(", ")));
    }
    let dates = [("created", "createdDate"), ("updated", "updateDate")];
    let dates = dates.into_iter().filter(|(_, name)| !field(paper, name).is_empty());
    let dates: Vec<_> = dates.map(|(word, name)| format!("{word} {}", field(paper, name))).collect();
    if !dates.is_empty() {
        lines.push(format!("Dates: {}", dates.join("; ")));
    }
    lines.extend([String::new(), "## Abstract".to_owned()]);
    lines.push(one_line(or(field(paper, "abstract"), "(no abstract)")));
    lines.join("\n")
}

fn authors_line(authors: &Value) -> Option<String> {
    let names: Vec<_> = authors.as_str()?.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return None;
    }
    let mut line = format!("Authors: {}", names[..names.len().min(MAX_AUTHORS)].join("; "));
    if names.len() > MAX_AUTHORS {
        let _ = write!(line, "; +{} more", names.len() - MAX_AUTHORS);
    }
    Some(line.chars().take(MAX_AUTHORS_LINE_CHARS).collect())
}

/// Each run of white space as one space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() {
            line.push(c);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line
}

fn developer_text(result: &Value) -> String {
    let (id, url) = (or(field(result, "id"), "?"), field(result, "url"));
    let kind = id.split_once(':').map(|(kind, _)| format!(" ({kind})")).unwrap_or_default();
    let mut lines = vec![format!("## [{id}]{kind} {}", or(field(result, "title"), "(untitled)"))];
    if !url.is_empty() && id != url && !id.ends_with(&format!(":{url}")) {
        lines.push(url.to_owned());
    }
    let passages = list(result, "passages");
    let passages =
        passages.iter().map(|passage| field(passage, "text")).filter(|text| !text.trim().is_empty());
    let body = passages.collect::<Vec<_>>().join("\n---\n");
    lines.push(or(body.trim(), "(no content)").to_owned());
    lines.join("\n")
}
