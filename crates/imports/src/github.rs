//! Issues, pull requests and READMEs as GitHub's REST API writes them. Comments are folded into what they
//! speak of, and what is known of a repository is given to everything in it.

use crate::search_page::moment;
use crate::{Body, Piece};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// Bytes of comments kept for one issue, and for all of a file.
const MAX_ISSUE_COMMENT_BYTES: usize = 64 << 10;
const MAX_FILE_COMMENT_BYTES: usize = 256 << 20;
const MAX_LABELS: usize = 50;

type Row = Map<String, Value>;

/// What stands in rows of its own and belongs to others.
#[derive(Debug, Default)]
pub struct Annex {
    /// By the number within its repository: `owner/name#1`, in small letters.
    comments: HashMap<String, String>,
    /// By `owner/name`, in small letters.
    repositories: HashMap<String, BTreeMap<String, String>>,
    /// Of all comments.
    bytes: usize,
}

impl Annex {
    /// Takes what belongs to others; all rows are shown to it before the first is read for itself.
    pub fn take_in(&mut self, row: &Value) -> Result<(), &'static str> {
        let Value::Object(row) = row else { return Ok(()) };
        if is_comment(row) {
            let Some(id) = row.get("issue_url").or(row.get("pull_request_url")).and_then(numbered) else {
                return Ok(());
            };
            let said = self.comments.entry(id).or_default();
            let before = said.len();
            add_comment(said, row);
            self.bytes += said.len() - before;
            if self.bytes > MAX_FILE_COMMENT_BYTES {
                return Err("has more than 256 MB of comments; split it by repository");
            }
        } else if is_repository(row)
            && let Some(name) = text(row, "full_name")
        {
            self.repositories.insert(name.to_lowercase(), of_repository(row));
        }
        Ok(())
    }
}

/// Rows that [`Annex::take_in`] has taken.
pub fn belongs_to_another(row: &Row) -> bool {
    is_comment(row) || is_repository(row)
}

fn is_comment(row: &Row) -> bool {
    (row.contains_key("issue_url") || row.contains_key("pull_request_url"))
        && row.contains_key("body")
        && !row.contains_key("number")
}

fn is_repository(row: &Row) -> bool {
    row.contains_key("full_name") && row.contains_key("stargazers_count")
}

/// An issue, a pull request or a README; none when a row is none of them.
pub fn piece(row: &Row, annex: &Annex) -> Option<Piece> {
    let url = text(row, "html_url")?;
    let repo = repository_of(url)?;
    let (kind, mut piece) = if row.get("encoding").and_then(Value::as_str) == Some("base64") {
        ("readme", readme(row, &repo)?)
    } else {
        row.get("number")?.as_u64()?;
        let is_pull = url.contains("/pull/") || row.get("pull_request").is_some_and(|one| !one.is_null());
        (if is_pull { "pull_request" } else { "issue" }, issue(row, url, annex)?)
    };
    url.clone_into(&mut piece.url);
    piece.kind = Some(kind.to_owned());
    let of_row = row.get("repository").or_else(|| row.get("base")?.get("repo")).and_then(Value::as_object);
    let known = annex.repositories.get(&repo.to_lowercase()).cloned();
    piece.attributes.extend(of_row.map(of_repository).or(known).unwrap_or_default());
    piece.attributes.insert("repo".to_owned(), repo);
    Some(piece)
}

fn issue(row: &Row, url: &str, annex: &Annex) -> Option<Piece> {
    let title = text(row, "title")?;
    let number = row.get("number")?.as_u64()?;
    let mut words = text(row, "body").unwrap_or_default().to_owned();
    for name in ["comments", "comments_list", "comments_data"] {
        let inside = row.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for comment in inside.iter().filter_map(Value::as_object) {
            add_comment(&mut words, comment);
        }
    }
    if let Some(id) = numbered(&Value::from(url))
        && let Some(comments) = annex.comments.get(&id)
    {
        words.push_str(comments);
    }
    let mut attributes = BTreeMap::from([("number".to_owned(), number.to_string())]);
    if let Some(state) = text(row, "state") {
        attributes.insert("state".to_owned(), state.to_owned());
    }
    if let Some(author) = row.get("user").and_then(|user| user.get("login")?.as_str()) {
        attributes.insert("author".to_owned(), author.to_owned());
    }
    let labels = row.get("labels").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let labels: Vec<&str> = labels
        .iter()
        .filter_map(|label| label.as_str().or_else(|| label.get("name")?.as_str()))
        .take(MAX_LABELS)
        .collect();
    if !labels.is_empty() {
        attributes.insert("label".to_owned(), labels.join("\n"));
    }
    let changed = text(row, "updated_at").or(text(row, "created_at")).and_then(moment);
    let (title, body) = (Some(title.to_owned()), Body::Markdown(words));
    Some(Piece { title, body, published: changed, attributes, ..Piece::default() })
}

fn readme(row: &Row, repo: &str) -> Option<Piece> {
    let content: String = text(row, "content")?.chars().filter(|c| !c.is_whitespace()).collect();
    let bytes = STANDARD.decode(content).ok()?;
    let body = Body::Markdown(String::from_utf8_lossy(&bytes).into_owned());
    Some(Piece { title: Some(repo.to_owned()), body, ..Piece::default() })
}

fn add_comment(words: &mut String, comment: &Row) {
    let Some(said) = text(comment, "body") else { return };
    let room = MAX_ISSUE_COMMENT_BYTES.saturating_sub(words.len());
    words.push_str("\n\n");
    words.push_str(&said[..said.floor_char_boundary(room)]);
}

/// What filters ask of a repository.
fn of_repository(row: &Row) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            known.insert(name.to_owned(), value);
        }
    };
    put("stars", row.get("stargazers_count").and_then(Value::as_u64).map(|stars| stars.to_string()));
    put("language", text(row, "language").map(str::to_owned));
    put("archived", row.get("archived").and_then(Value::as_bool).map(|flag| flag.to_string()));
    put("fork", row.get("fork").and_then(Value::as_bool).map(|flag| flag.to_string()));
    put(
        "license",
        row.get("license").and_then(|license| license.get("spdx_id")?.as_str()).map(str::to_owned),
    );
    let topics = row.get("topics").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let topics: Vec<&str> = topics.iter().filter_map(Value::as_str).take(MAX_LABELS).collect();
    put("topic", (!topics.is_empty()).then(|| topics.join("\n")));
    known
}

fn text<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    row.get(name)?.as_str()
}

/// `owner/name` of the address of something in a repository.
fn repository_of(url: &str) -> Option<String> {
    let path = url.strip_prefix("https://github.com/").or_else(|| {
        // An installation of one's own: whatever its host, the path is the same.
        url.split_once("://")?.1.split_once('/').map(|(_, path)| path)
    })?;
    let mut parts = path.split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    let word = |part: &str| !part.is_empty() && part.len() <= 100 && !part.contains(['?', '#', ' ']);
    (word(owner) && word(name)).then(|| format!("{owner}/{name}"))
}

/// `owner/name#1` of the address of an issue, of the site or of the API.
fn numbered(url: &Value) -> Option<String> {
    let parts: Vec<&str> = url.as_str()?.trim_end_matches('/').rsplit('/').take(4).collect();
    let [number, _, name, owner] = parts[..] else { return None };
    number.parse::<u64>().ok()?;
    Some(format!("{owner}/{name}#{number}").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_pieces(rows: &Value) -> Vec<Piece> {
        let rows = rows.as_array().unwrap();
        let mut annex = Annex::default();
        rows.iter().try_for_each(|row| annex.take_in(row)).unwrap();
        let rows = rows.iter().filter_map(Value::as_object).filter(|row| !belongs_to_another(row));
        rows.filter_map(|row| piece(row, &annex)).collect()
    }

    #[test]
    fn an_issue_has_its_comments_and_its_repository() {
        let read = read_pieces(&json!([
            {"html_url": "https://github.com/Sea/birds/issues/7", "number": 7, "title": "Dive fails", "body": "It *fails*.",
             "state": "open", "user": {"login": "ada"}, "labels": [{"name": "bug"}, {"name": "depth"}], "comments": 2,
             "updated_at": "1970-01-02T00:00:00Z"},
            {"issue_url": "https://api.github.com/repos/sea/birds/issues/7", "body": "Same here.", "html_url": "x"},
            {"issue_url": "https://api.github.com/repos/sea/birds/issues/7", "body": "Fixed in 2.0."},
            {"full_name": "sea/Birds", "stargazers_count": 120, "language": "Rust", "topics": ["ocean", "dive"],
             "license": {"spdx_id": "MIT"}, "archived": false, "fork": false},
        ]));
        assert_eq!(read.len(), 1);
        let issue = &read[0];
        assert_eq!((issue.kind.as_deref(), issue.title.as_deref()), (Some("issue"), Some("Dive fails")));
        assert_eq!(issue.body, Body::Markdown("It *fails*.\n\nSame here.\n\nFixed in 2.0.".into()));
        let known = |name: &str| issue.attributes[name].as_str();
        assert_eq!((known("repo"), known("number"), known("state")), ("Sea/birds", "7", "open"));
        assert_eq!((known("stars"), known("license"), known("topic")), ("120", "MIT", "ocean\ndive"));
        assert_eq!(
            (known("label"), known("archived"), issue.published),
            ("bug\ndepth", "false", Some(86_400_000))
        );
    }

    #[test]
    fn pull_requests_and_readmes_are_told_apart() {
        let read = read_pieces(&json!([
            {"html_url": "https://github.com/sea/birds/pull/8", "number": 8, "title": "Dive deeper", "body": null,
             "comments": [{"body": "Nice"}], "base": {"repo": {"full_name": "sea/birds", "stargazers_count": 5}}},
            {"html_url": "https://github.com/sea/birds/issues/9", "number": 9, "title": "t", "pull_request": {"url": "x"}},
            {"name": "README.md", "html_url": "https://github.com/sea/birds/blob/main/README.md", "encoding": "base64",
             "content": "IyBCaXJkcwpkaXZl\n"},
        ]));
        let kinds: Vec<_> = read.iter().map(|piece| piece.kind.as_deref().unwrap()).collect();
        assert_eq!(kinds, ["pull_request", "pull_request", "readme"]);
        assert_eq!(read[0].attributes["stars"], "5");
        assert_eq!(read[0].body, Body::Markdown("\n\nNice".into()));
        assert_eq!(
            (&read[2].body, &*read[2].attributes["repo"]),
            (&Body::Markdown("# Birds\ndive".into()), "sea/birds")
        );
    }

    #[test]
    fn what_is_something_else_is_left_to_others() {
        for row in [
            json!({"url": "https://a.test/"}),
            json!({"html_url": "x", "number": 1, "title": "t"}),
            json!({"html_url": 7}),
        ] {
            assert!(piece(row.as_object().unwrap(), &Annex::default()).is_none(), "{row}");
        }
    }
}
