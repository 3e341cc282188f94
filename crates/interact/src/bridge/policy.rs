//! What a client may ask of the browser of its session. Decides from the text of a command alone, but for paths of files,
//! which are resolved on disk.
//!
//! Domains that act on pages are open unless named here: new versions of Chromium add methods that people want. Domains
//! that act on the whole browser are closed unless named here, because their new methods reach outside of it.

mod methods;
#[cfg(test)]
mod tests;

use super::uploads::Uploads;
use methods::{BROWSER_METHODS, CLOSED_CONTEXT_PARAMETERS, CLOSED_DOMAINS, STORAGE_METHODS, TARGET_METHODS};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::Url;

/// What happens to a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Forward,
    /// Forwarded with these parameters: what was judged, and not how it was written.
    ForwardWith(String),
    /// Answered with an error.
    Refuse(String),
    /// The session ends.
    EndSession,
}

/// The rules of one session.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) uploads: Uploads,
}

#[derive(Deserialize)]
struct WithUrl {
    url: Option<String>,
}

impl Policy {
    pub(super) fn decide(&self, method: &str, params: Option<&RawValue>) -> Decision {
        let (domain, name) = method.split_once('.').unwrap_or((method, ""));
        let is_allowed = match domain {
            "Browser" if name == "close" => return Decision::EndSession,
            "Browser" => BROWSER_METHODS.contains(&name),
            "Target" => TARGET_METHODS.contains(&name),
            "Storage" => STORAGE_METHODS.contains(&name),
            domain => !CLOSED_DOMAINS.contains(&domain),
        };
        if !is_allowed {
            return Decision::Refuse(format!("{method} is not allowed in this session"));
        }
        match method {
            "Page.navigate"
            | "Target.createTarget"
            | "Fetch.continueRequest"
            | "Network.continueInterceptedRequest"
            | "Network.loadNetworkResource" => decide_url(params),
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => self.redirect_downloads(params),
            "Target.createBrowserContext" => decide_context(params),
            "Tracing.start" => decide_tracing(params),
            "DOM.setFileInputFiles" | "Page.handleFileChooser" | "Input.dispatchDragEvent" => {
                self.replace_files(params)
            }
            _ => Decision::Forward,
        }
    }

    /// Whatever folder the client names, downloads go to the session's own.
    fn redirect_downloads(&self, params: Option<&RawValue>) -> Decision {
        let mut params: Map<String, Value> = match parse(params) {
            Ok(params) => params,
            Err(refusal) => return refusal,
        };
        if params.get("behavior").and_then(Value::as_str) != Some("deny") {
            // The default of the browser is a folder of the account it runs under.
            if params.get("behavior").and_then(Value::as_str) == Some("default") {
                params.insert("behavior".to_owned(), "allow".into());
            }
            params.insert("downloadPath".to_owned(), self.uploads.files.to_string_lossy().into());
        }
        Decision::ForwardWith(Value::Object(params).to_string())
    }

    /// Files are those of the session; the browser is told where it can read them.
    fn replace_files(&self, params: Option<&RawValue>) -> Decision {
        let mut params: Map<String, Value> = match parse(params) {
            Ok(params) => params,
            Err(refusal) => return refusal,
        };
        for list in [FileList::Files, FileList::DraggedFiles] {
            let files = match list {
                FileList::Files => params.get_mut("files"),
                FileList::DraggedFiles => params.get_mut("data").and_then(|data| data.get_mut("files")),
            };
            let Some(files) = files.filter(|files| !files.is_null()) else { continue };
            let Value::Array(files) = files else {
                return Decision::Refuse("Invalid parameters: files must be a list".to_owned());
            };
            for file in files {
                let Some(named) = file.as_str() else {
                    return Decision::Refuse("Invalid parameters: files must be paths".to_owned());
                };
                match self.uploads.resolve(named) {
                    Ok(path) => *file = path.to_string_lossy().into(),
                    Err(reason) => return Decision::Refuse(reason),
                }
            }
        }
        Decision::ForwardWith(Value::Object(params).to_string())
    }
}

/// Where commands name files.
#[derive(Clone, Copy)]
enum FileList {
    Files,
    DraggedFiles,
}

/// Parameters as a structure; what cannot be read is refused, since the browser might read it differently.
fn parse<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, Decision> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| Decision::Refuse(format!("Invalid parameters: {error}")))
}

fn decide_url(params: Option<&RawValue>) -> Decision {
    let wanted = match parse::<WithUrl>(params) {
        Ok(WithUrl { url: Some(wanted) }) if !wanted.is_empty() => wanted,
        // A request continues to where it was going, or the browser says what is missing.
        Ok(_) => return Decision::Forward,
        Err(refusal) => return refusal,
    };
    match Url::parse(&wanted) {
        Ok(url) if is_allowed(&url) => Decision::Forward,
        Ok(url) => Decision::Refuse(format!("URLs of the scheme {}: are not allowed", url.scheme())),
        // The words of Chromium, which clients know.
        Err(_) => Decision::Refuse("Cannot navigate to invalid URL".to_owned()),
    }
}

/// Whether pages of a session may be at this URL.
pub(crate) fn is_allowed(url: &Url) -> bool {
    match url.scheme() {
        "http" | "https" | "data" | "blob" => true,
        "about" => matches!(url.path(), "blank" | "srcdoc"),
        _ => false,
    }
}

fn decide_context(params: Option<&RawValue>) -> Decision {
    let params: Map<String, Value> = match parse(params) {
        Ok(params) => params,
        Err(refusal) => return refusal,
    };
    let is_set = |name: &&&str| params.get(**name).is_some_and(|value| !value.is_null() && value != "");
    match CLOSED_CONTEXT_PARAMETERS.iter().find(is_set) {
        None => Decision::ForwardWith(Value::Object(params).to_string()),
        Some(name) => {
            Decision::Refuse(format!("{name} is not allowed: all traffic passes the proxy of this session"))
        }
    }
}

/// Traces come back as a stream; anything else would be a file or a pipe of the machine.
fn decide_tracing(params: Option<&RawValue>) -> Decision {
    let params: Map<String, Value> = match parse(params) {
        Ok(params) => params,
        Err(refusal) => return refusal,
    };
    let mode = params.get("transferMode").and_then(Value::as_str).unwrap_or("ReportEvents");
    let backend = params.get("tracingBackend").and_then(Value::as_str).unwrap_or("auto");
    if matches!(mode, "ReturnAsStream" | "ReportEvents") && backend != "system" {
        Decision::ForwardWith(Value::Object(params).to_string())
    } else {
        Decision::Refuse("Tracing.start is allowed with transferMode ReturnAsStream only".to_owned())
    }
}
