//! What a caller sends that nobody else may see: headers, often a token or a cookie, and passwords.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Names and values. `Debug` shows the names only, so that no log line or panic message contains a value.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct SecretHeaders(BTreeMap<String, String>);

/// A password. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[redacted]")
    }
}

impl From<BTreeMap<String, String>> for SecretHeaders {
    fn from(headers: BTreeMap<String, String>) -> Self {
        Self(headers)
    }
}

impl Deref for SecretHeaders {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for SecretHeaders {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> IntoIterator for &'a SecretHeaders {
    type Item = (&'a String, &'a String);
    type IntoIter = std::collections::btree_map::Iter<'a, String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Debug for SecretHeaders {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::batch::BatchRequest;
    use crate::crawl::CrawlRequest;
    use crate::map::MapRequest;
    use crate::scrape::ScrapeRequest;
    use serde_json::json;

    #[test]
    fn requests_show_no_secrets_when_they_are_logged() {
        let headers = json!({ "Authorization": "s3cret" });
        let actions = json!([
            { "type": "write", "text": "s3cret" },
            { "type": "executeJavascript", "script": "login('s3cret')" },
        ]);
        let parsers = json!([{ "type": "pdf", "password": "s3cret" }]);
        let options = json!({ "headers": headers, "actions": actions, "parsers": parsers });
        let webhook = json!({ "url": "https://hook.example/", "headers": headers });
        let scrape: ScrapeRequest = serde_json::from_value(options.clone()).unwrap();
        let batch: BatchRequest = serde_json::from_value(options.clone()).unwrap();
        let map: MapRequest = serde_json::from_value(json!({ "headers": headers })).unwrap();
        let crawl = json!({ "scrapeOptions": options, "webhook": webhook });
        let crawl: CrawlRequest = serde_json::from_value(crawl).unwrap();
        for shown in [format!("{scrape:?}"), format!("{batch:?}"), format!("{map:?}"), format!("{crawl:?}")] {
            assert!(!shown.contains("s3cret"), "{shown}");
            assert!(shown.contains("Authorization"), "{shown}");
        }
        let written = serde_json::to_value(&scrape).unwrap();
        assert_eq!(written["headers"], headers, "what is written is whole");
        assert_eq!(written["parsers"][0]["password"], "s3cret");
    }
}
