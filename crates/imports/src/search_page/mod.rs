//! A page as it is stored for search, wherever it comes from: a scrape, a crawl or an import. Every index of
//! this service is fed from such pages.

pub mod plain_text;

use index::Document;
use siphasher::sip128::{Hasher128, SipHasher13};
use sites::{PageUrl, UrlEquivalence};
use std::hash::Hasher;
use store::search::{NewSearchPage, SearchKey};
use stored_data::hashed_keys::entry_key;
use stored_data::stored_json;
use url::Url;

/// The collection that scraped and crawled pages go into.
pub const WEB: &str = "web";
/// What errors about a stored [`Document`] call it.
const DOCUMENT: &str = "a document for search";

/// A document in the form that the store keeps; none when there is nothing to find in it.
pub fn to_new_search_page(collection: &str, key: &SearchKey, document: Document) -> Option<NewSearchPage> {
    let document = document.bounded();
    if document.body.trim().is_empty() && document.title.trim().is_empty() {
        return None;
    }
    let packed = stored_json::or_log(stored_json::pack(DOCUMENT, &document))?;
    Some(NewSearchPage {
        collection: collection.to_owned(),
        key: *key,
        hash: content_hash(&document),
        url: document.url,
        document: packed,
    })
}

/// Tells whether a page is as it was. It is compared with that page's own last hash only, so it need not withstand
/// someone who looks for two texts with one hash: all that would come of it is that their page is not read again.
fn content_hash(document: &Document) -> [u8; 16] {
    let mut hash = SipHasher13::new();
    let mut add = |part: &str| {
        hash.write(&(part.len() as u64).to_le_bytes());
        hash.write(part.as_bytes());
    };
    for part in [&document.url, &document.title, &document.description, &document.body] {
        add(part);
    }
    for (name, value) in &document.attributes {
        add(name);
        add(value);
    }
    hash.finish128().as_bytes()
}

/// What the store kept, as the index takes it.
pub fn unpacked(packed: &[u8]) -> Option<Document> {
    stored_json::or_log(stored_json::unpack(DOCUMENT, packed))
}

/// One page has one key, however its address is written.
pub fn key_of(url: &Url) -> Option<SearchKey> {
    PageUrl::from_url(url.clone(), UrlEquivalence { ignore_query: false, similar: true })
        .ok()
        .map(|one| entry_key(&one))
}

/// `en` of `en-GB`.
pub fn primary_language(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// A date as pages and exports write it, in milliseconds since the Unix epoch. Without a zone it is UTC.
pub fn moment(written: &str) -> Option<i64> {
    let written = written.trim();
    if let Ok(stamp) = written.parse::<jiff::Timestamp>() {
        return Some(stamp.as_millisecond());
    }
    let civil = written.parse::<jiff::civil::DateTime>().or_else(|_| {
        written.parse::<jiff::civil::Date>().map(|date| date.to_datetime(jiff::civil::Time::midnight()))
    });
    let zoned = civil.ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_pages_write_them() {
        assert_eq!(moment("1970-01-02"), Some(86_400_000));
        assert_eq!(moment("1970-01-01T00:00:01Z"), Some(1_000));
        assert_eq!(moment("1970-01-01T01:00:01+01:00"), Some(1_000));
        assert_eq!(moment(" 1970-01-01T00:00:01 "), Some(1_000));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn what_is_kept_comes_out_again_and_the_same_has_the_same_hash() {
        let document = Document { title: "Gannets".into(), body: "They dive.".into(), ..Document::default() };
        let page = to_new_search_page(WEB, &[1; 16], document.clone()).unwrap();
        assert_eq!(unpacked(&page.document), Some(document.clone()));
        assert_eq!(page, to_new_search_page(WEB, &[1; 16], document.clone()).unwrap());
        let other = Document { body: "They swim.".into(), ..document };
        assert_ne!(to_new_search_page(WEB, &[1; 16], other).unwrap().hash, page.hash);
        assert_eq!(to_new_search_page(WEB, &[1; 16], Document::default()), None);
        let key = |url: &str| key_of(&Url::parse(url).unwrap());
        assert_eq!(key("http://www.a.test/x/"), key("https://a.test/x"));
        assert_ne!(key("https://a.test/x"), key("https://a.test/x?p=2"));
    }
}
