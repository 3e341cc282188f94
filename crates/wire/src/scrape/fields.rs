//! Every field of a scrape request and its effect. The table in `docs/scrape.md` is made from this, and a
//! test refuses a request field that is not in it.

use std::fmt::Write;

/// The effect of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Works,
    /// Refused with a 400 that says why.
    Refused,
    /// Accepted without effect.
    NoEffect,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct RequestField {
    /// The name in the request; `formats: markdown` for a value of a field.
    pub name: &'static str,
    pub effect: Effect,
    pub note: &'static str,
}

macro_rules! fields {
    ($($name:literal $effect:ident $note:literal;)+) => {
        pub const SCRAPE_FIELDS: &[RequestField] = &[$(RequestField { name: $name, effect: Effect::$effect, note: $note }),+];
    };
}

fields! {
    "url" Works "http and https; `http://` is added when there is no scheme. A login in it counts like `headers` and is shown nowhere";
    "formats" Works "names and objects, mixed; default `markdown`";
    "formats: markdown" Works "";
    "formats: html" Works "clean, with absolute addresses";
    "formats: rawHtml" Works "as it came; from the browser, as it stood";
    "formats: links" Works "absolute, in order, once each";
    "formats: images" Works "absolute, in order, once each";
    "formats: screenshot" Works "`fullPage`, `quality` (JPEG; PNG without it), `viewport`; an address that works for 24 hours";
    "formats: screenshot@fullPage" Works "the old name of `screenshot` with `fullPage`";
    "formats: attributes" Works "`selectors` of `selector` and `attribute`";
    "formats: branding" Works "from computed styles in the browser; `tone` and `personality` are left out";
    "formats: product" Works "from JSON-LD, microdata, OpenGraph and page structure; left out when the page is none";
    "formats: menu" Works "from JSON-LD, microdata and page structure";
    "formats: changeTracking" Works "`git-diff`, per team, address and `tag`; needs `markdown`";
    "formats: changeTracking json" Works "`schema`, `prompt`: changes of the data taken from the page, by place (`plans[0].price`); 4 credits";
    "formats: highlights" Works "passages of the page, never new words";
    "formats: rawBase64" Works "the bytes as they came; alone";
    "formats: json" Works "`prompt`, `schema` (any draft); always conforms, else 422; 4 credits. Without a language model: with a schema, from what the page states";
    "formats: deterministicJson" Works "`schema`, `prompt`: from what the page states, never by a model; 4 credits";
    "formats: summary" Works "needs a language model: `MODEL_NOT_CONFIGURED` without one";
    "formats: question" Works "`question`; needs a language model; 4 credits";
    "formats: query" Works "`prompt`, `mode`: `freeform` needs a language model, `directQuote` quotes the page without one; 4 credits";
    "formats: audio" Refused "`SCRAPE_AUDIO_UNSUPPORTED_URL`";
    "formats: video" Refused "`SCRAPE_VIDEO_UNSUPPORTED_URL`";
    "onlyMainContent" Works "default `true`";
    "onlyCleanContent" Works "a language model names the blocks of the markdown that are not content; default `false`";
    "includeTags" Works "CSS selectors";
    "excludeTags" Works "CSS selectors";
    "headers" Works "sent to the page's own origin and its redirects on the same site, over TLS that was checked; turns the cache off";
    "timeout" Works "1,000 to 300,000 ms; default 60,000";
    "waitFor" Works "0 to 60,000 ms, less than half of `timeout`; uses the browser";
    "mobile" Works "";
    "parsers" Works "default `[\"pdf\", \"image\"]`. `[]` returns all files as base64, a list without `pdf` PDFs; without `image`, or without OCR, pictures are refused. Office files, e-books, mails and CSV are read with every other list. Of `{type: \"pdf\"}`: `mode`, `maxPages`, `pages`, `blocks`, `pageMarkers`, `password`; spans of blocks count characters (code points)";
    "actions" Works "at most 50, waits of 60 s in all; uses the browser";
    "actions: wait" Works "`milliseconds` or `selector`";
    "actions: click" Works "`selector`, `all`";
    "actions: write" Works "into what has the focus";
    "actions: press" Works "key names, and combinations such as `Control+a`";
    "actions: scroll" Works "`direction`, `selector`";
    "actions: screenshot" Works "`fullPage`, `quality`, `viewport`";
    "actions: scrape" Works "";
    "actions: executeJavascript" Works "";
    "actions: pdf" Works "`format`, `landscape`, `scale`";
    "location" Works "`languages` and `country` set the language asked for and, in the browser, the time zone; where the request comes from is up to your proxies";
    "skipTlsVerification" Works "default `true`, `false` with `headers`, `actions` or `profile`";
    "removeBase64Images" Works "default `true`; markdown only";
    "fastMode" Works "no browser unless something asks for one";
    "useMock" Refused "a test hook of another server";
    "blockAds" Works "default `true`; in the browser";
    "proxy" NoEffect "`basic`, `enhanced`, `stealth`, `auto`; the proxies of the configuration are always used";
    "maxAge" Works "default 172,800,000 ms (2 days); 0 asks anew";
    "minAge" Works "stored pages only; a miss is `SCRAPE_NO_CACHED_DATA`";
    "storeInCache" Works "default `true`; off with `headers`, `actions`, `profile` and `zeroDataRetention`";
    "lockdown" Works "stored pages only, up to two years old; a miss is `SCRAPE_LOCKDOWN_CACHE_MISS`";
    "safeMode" Works "robots.txt decides (also about the page that redirects lead to), and a block page or a captcha is not tried again in the browser: `SCRAPE_SITE_RESTRICTION_BLOCKED`. Stored pages of other requests are not used. With `lockdown` nobody is asked";
    "checkPromptInjection" Works "by rules, not by a model; a finding is a 403";
    "redactPII" Works "`EMAIL`, `PHONE`, `FINANCIAL`, `SECRET` by rules and check digits; `PERSON`, `LOCATION` best effort";
    "threatProtection" Works "`blacklist`, `whitelist`, `blockedTlds`; also on redirects, in the browser and for stored pages";
    "threatProtection: riskScoreThreshold" NoEffect "there is no risk score here";
    "threatProtection: failurePolicy" NoEffect "lists cannot fail";
    "threatProtection: mode zscaler" Refused "an outside service";
    "auditMetadata" Works "`username` is kept with the activity";
    "profile" Works "cookies and local storage by name; one writer at a time (409)";
    "domainTools" NoEffect "there is no catalogue here";
    "toolDetail" NoEffect "there is no catalogue here";
    "alexandria" Works "instead of a page; the catalogue is empty here";
    "zeroDataRetention" Works "nothing of the page is stored, nor its address";
    "origin" NoEffect "set by the clients";
    "integration" NoEffect "set by the clients";
}

/// The table as markdown.
pub fn table() -> String {
    fields_table(SCRAPE_FIELDS)
}

/// A table of fields as markdown, the same for every endpoint.
pub(crate) fn fields_table(fields: &[RequestField]) -> String {
    let mut text = String::from("| field | | note |\n| --- | --- | --- |\n");
    for field in fields {
        let effect = match field.effect {
            Effect::Works => "works",
            Effect::Refused => "refused",
            Effect::NoEffect => "accepted without effect",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {effect} | {} |", field.name, field.note);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrape::ScrapeRequest;
    use utoipa::PartialSchema;

    #[test]
    fn every_field_of_the_request_is_in_the_table() {
        let schema = serde_json::to_value(ScrapeRequest::schema()).unwrap();
        let fields = schema["properties"].as_object().unwrap();
        assert!(fields.len() > 25, "{}", fields.len());
        for name in fields.keys() {
            assert!(SCRAPE_FIELDS.iter().any(|field| field.name == name), "{name} is not in the table");
        }
        for field in SCRAPE_FIELDS.iter().filter(|field| !field.name.contains(':')) {
            let known = fields.contains_key(field.name) || crate::read::ALWAYS_ACCEPTED.contains(&field.name);
            assert!(known, "{} is in the table but not in the request", field.name);
        }
    }
}
