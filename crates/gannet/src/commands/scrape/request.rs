//! The request that the options of `gannet scrape` make for one page.

use super::Scrape;
use std::collections::BTreeMap;
use std::path::PathBuf;
use wire::scrape::{FormatInput, FormatObject, LocationInput, ProfileInput, ScrapeRequest};
use wire::{Kind, WireError};

impl Scrape {
    pub(super) fn request(&self, url: &str) -> Result<ScrapeRequest, WireError> {
        let named = |name: &str| FormatInput::Plain(name.to_owned());
        let mut formats: Vec<_> = self.formats.iter().filter_map(|format| format.name()).map(named).collect();
        formats.extend(self.derived_formats()?);
        if formats.is_empty() {
            formats.push(named("markdown"));
        }
        if self.screenshot.is_some() {
            let shot = FormatObject {
                kind: Some("screenshot".to_owned()),
                full_page: Some(self.full_page),
                ..FormatObject::default()
            };
            formats.push(FormatInput::Object(Box::new(shot)));
        }
        let headers = parse_headers(&self.headers)?;
        let profile = self.profile.clone();
        let country = self.country.clone();
        Ok(ScrapeRequest {
            url: Some(url.to_owned()),
            formats: Some(formats),
            only_main_content: Some(!self.whole),
            wait_for: Some(self.wait_for),
            actions: (!self.actions.is_empty()).then(|| self.actions.clone()),
            profile: profile.map(|name| ProfileInput { name: Some(name), save_changes: Some(false) }),
            location: country.map(|country| LocationInput { country: Some(country), languages: None }),
            max_age: self.max_age,
            headers: (!headers.is_empty()).then(|| headers.into()),
            mobile: Some(self.mobile),
            fast_mode: Some(self.fast),
            timeout: Some(self.timeout),
            ..ScrapeRequest::default()
        })
    }

    /// Formats that are derived from the text: data and answers.
    fn derived_formats(&self) -> Result<Vec<FormatInput>, WireError> {
        let mut asked = Vec::new();
        let mut ask = |object: FormatObject| asked.push(FormatInput::Object(Box::new(object)));
        if self.schema.is_some() || self.prompt.is_some() {
            let read = |path: &PathBuf| {
                let shown = path.display();
                let text =
                    std::fs::read_to_string(path).map_err(|error| invalid(&format!("{shown}: {error}")))?;
                serde_json::from_str(&text).map_err(|error| invalid(&format!("{shown} is not JSON: {error}")))
            };
            let (kind, prompt) = (Some("json".to_owned()), self.prompt.clone());
            let schema = self.schema.as_ref().map(read).transpose()?;
            ask(FormatObject { kind, prompt, schema, ..FormatObject::default() });
        }
        if let Some(question) = self.question.clone() {
            let (kind, question) = (Some("question".to_owned()), Some(question));
            ask(FormatObject { kind, question, ..FormatObject::default() });
        }
        Ok(asked)
    }
}

fn parse_headers(given: &[String]) -> Result<BTreeMap<String, String>, WireError> {
    let mut headers = BTreeMap::new();
    for header in given {
        let Some((name, value)) = header.split_once(':') else {
            return Err(invalid(&format!("`{header}` must be `Name: value`")));
        };
        headers.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(headers)
}

fn invalid(why: &str) -> WireError {
    WireError::because(Kind::BadRequest, why)
}
