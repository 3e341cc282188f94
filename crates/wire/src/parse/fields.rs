//! Every field of a parse request and its effect. Rows that differ from those of a scrape stand here; the rest is taken
//! from there, so that an option is described once. The table in `docs/parse.md` is made from this.

use crate::scrape::{Effect, RequestField, SCRAPE_FIELDS, fields_table};

macro_rules! rows {
    ($($name:literal $effect:ident $note:literal;)+) => {
        &[$(RequestField { name: $name, effect: Effect::$effect, note: $note }),+]
    };
}

/// Fields that a scrape does not have.
const OWN_FIELDS: &[RequestField] = rows! {
    "uploadRef" Works "only in a JSON body: the file of `POST /v2/parse/upload-url`; once, within an hour";
};

/// Fields of a scrape that mean something else for a file.
const OTHER_EFFECTS: &[RequestField] = rows! {
    "formats: rawHtml" Works "of an HTML file as it came, of others the HTML that was made of them";
    "formats: html" Works "clean HTML";
    "formats: links" Works "in order, once each; relative ones of a file stay out, since a file has no address";
    "formats: images" Works "the same for images";
    "formats: screenshot" Refused "nothing is shown in a browser";
    "formats: screenshot@fullPage" Refused "nothing is shown in a browser";
    "formats: branding" Refused "nothing is shown in a browser";
    "formats: changeTracking" Refused "a file has no history";
    "formats: changeTracking json" Refused "a file has no history";
    "formats: rawBase64" Refused "you have the bytes";
    "formats: audio" Refused "";
    "formats: video" Refused "";
    "headers" Refused "nothing is fetched";
    "timeout" Works "1,000 to 300,000 ms; default 30,000. Counts from when the whole file is here";
    "waitFor" Refused "except 0";
    "mobile" Refused "except `false`";
    "parsers" Works "`pdf` with `mode` (`fast`, `auto`, `ocr`), `maxPages`, `pages`, `pageMarkers`, `blocks`, `password`; `image`; `[]` is refused";
    "actions" Refused "except an empty list";
    "location" Refused "";
    "profile" Refused "";
    "minAge" Refused "no stored pages are involved";
    "lockdown" Refused "except `false`";
    "maxAge" NoEffect "a file is parsed anew each time; clients send it";
    "storeInCache" NoEffect "a file is never stored in the cache; clients send it";
    "skipTlsVerification" NoEffect "nothing is fetched; clients send it";
    "safeMode" NoEffect "nothing is fetched";
    "fastMode" NoEffect "nothing is fetched; clients send it";
    "blockAds" NoEffect "nothing is fetched; clients send it";
    "proxy" NoEffect "`basic` or `auto`; others are refused";
    "threatProtection" NoEffect "nothing is fetched";
    "zeroDataRetention" Works "nothing of the file is stored, nor its name";
};

/// Fields of a scrape that a parse does not have, in whole or as parts of something refused.
fn is_left_out(name: &str) -> bool {
    ["url", "alexandria"].contains(&name)
        || name.starts_with("actions:")
        || name.starts_with("threatProtection:")
}

/// Every field with its effect.
pub fn fields() -> Vec<RequestField> {
    let shared = SCRAPE_FIELDS.iter().filter(|field| !is_left_out(field.name));
    let own = |field: &RequestField| OTHER_EFFECTS.iter().find(|other| other.name == field.name).copied();
    OWN_FIELDS.iter().copied().chain(shared.map(|field| own(field).unwrap_or(*field))).collect()
}

/// The table as markdown.
pub fn table() -> String {
    fields_table(&fields())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::ParseRequest;
    use utoipa::PartialSchema;

    #[test]
    fn every_field_of_the_request_is_in_the_table() {
        let schema = serde_json::to_value(ParseRequest::schema()).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        assert!(properties.len() > 25 && properties["timeout"]["default"] == 30_000, "{properties:?}");
        let fields = fields();
        for name in properties.keys() {
            assert!(fields.iter().any(|field| field.name == name), "{name} is not in the table");
        }
        for other in OTHER_EFFECTS {
            assert!(fields.iter().any(|field| field.name == other.name), "{} is no field", other.name);
        }
        assert!(!fields.iter().any(|field| field.name == "url"));
    }
}
