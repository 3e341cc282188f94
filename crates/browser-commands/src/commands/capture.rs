//! Files out of a page: `screenshot`, `pdf`, `download`.

use super::{CommandResult, Context, act};
use crate::arguments::Arguments;
use crate::error::CommandError;
use crate::page::CommandPage;
use crate::reply::Outcome;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, timeout_at};

/// The height of a picture of a whole page at most; beyond it browsers draw nothing.
const MAX_PICTURE_PIXELS: f64 = 16_384.0;
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(30);
const DOWNLOAD_START_TIMEOUT: Duration = Duration::from_secs(10);
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(2);

pub(super) async fn screenshot(context: &Context, arguments: &Arguments) -> CommandResult {
    let format = arguments.flag("--screenshot-format").unwrap_or("png");
    if !["png", "jpeg"].contains(&format) {
        return Err(CommandError::invalid_value("format", format, "png or jpeg"));
    }
    let (selector, path) = match arguments.values.as_slice() {
        [] => (None, None),
        [only] if is_path(only) => (None, Some(only.as_str())),
        [only] => (Some(only.as_str()), None),
        [selector, path, ..] => (Some(selector.as_str()), Some(path.as_str())),
    };
    let page = context.page().await?;
    let mut params = json!({ "format": format, "captureBeyondViewport": false });
    if format == "jpeg" {
        let quality = arguments.flag("--screenshot-quality").and_then(|typed| typed.parse::<u8>().ok());
        params["quality"] = json!(quality.unwrap_or(80).min(100));
    }
    if let Some(selector) = selector {
        let element = context.element(selector).await?;
        element.wait_hoverable().await?;
        let script = "function() { const r = this.getBoundingClientRect(); \
            return { x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, scale: 1 }; }";
        params["clip"] = element.call(script, &[]).await?;
        params["captureBeyondViewport"] = json!(true);
    } else if arguments.has("--full") {
        let metrics = page.call("Page.getLayoutMetrics", json!({})).await?;
        let side = |name: &str| {
            metrics["cssContentSize"][name].as_f64().unwrap_or(1.0).clamp(1.0, MAX_PICTURE_PIXELS)
        };
        params["clip"] =
            json!({ "x": 0, "y": 0, "width": side("width"), "height": side("height"), "scale": 1 });
        params["captureBeyondViewport"] = json!(true);
    }
    let data = capture(&page, "Page.captureScreenshot", params).await?;
    let name = match path {
        Some(path) => path.to_owned(),
        None => format!("screenshot-{}.{format}", milliseconds()),
    };
    save(context, arguments, "Screenshot", &name, &data)
}

/// Whether a word is a file name rather than a selector.
fn is_path(typed: &str) -> bool {
    let lower = typed.to_lowercase();
    [".png", ".jpg", ".jpeg"].iter().any(|end| lower.ends_with(end))
        || (typed.contains('/') && !typed.starts_with("//"))
}

pub(super) async fn pdf(context: &Context, arguments: &Arguments) -> CommandResult {
    let page = context.page().await?;
    let data = capture(&page, "Page.printToPDF", json!({ "printBackground": true })).await?;
    let name = arguments.values.first().cloned().unwrap_or_else(|| format!("page-{}.pdf", milliseconds()));
    save(context, arguments, "PDF", &name, &data)
}

async fn capture(page: &CommandPage, method: &str, params: Value) -> Result<String, CommandError> {
    page.check_alive()?;
    if let Some(dialog) = page.dialog() {
        return Err(crate::page::dialog_error(&dialog));
    }
    let limit = page.deadline.min(Instant::now() + CAPTURE_TIMEOUT);
    let captured = timeout_at(limit, page.browser.cdp.call(Some(&page.session), method, params)).await;
    let captured = captured.map_err(|_| CommandError::failed("The page does not respond"))??;
    Ok(captured["data"].as_str().unwrap_or_default().to_owned())
}

/// Writes to the session's folder; without one, or when asked, gives the data itself.
fn save(context: &Context, arguments: &Arguments, what: &str, name: &str, data: &str) -> CommandResult {
    if arguments.has("--base64") || context.files.is_none() {
        return Ok(Outcome::new(data, json!({ "base64": data })));
    }
    let bytes = BASE64.decode(data).map_err(|_| CommandError::failed("The browser sent invalid data"))?;
    let path = context.files()?.write(name, &bytes)?;
    Ok(Outcome::new(format!("✓ {what} saved to {}", path.display()), json!({ "path": path })))
}

fn milliseconds() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis()
}

pub(super) async fn download(context: &Context, arguments: &Arguments) -> CommandResult {
    let (typed, path) = (arguments.value(0)?, arguments.value(1)?);
    let files = context.files()?;
    files.check_writable(path)?;
    let browser = &context.browser;
    let params = json!({
        "behavior": "allowAndName",
        "downloadPath": files.folder(),
        "eventsEnabled": true,
    });
    browser.call(None, "Browser.setDownloadBehavior", params, context.deadline).await?;
    browser.state().downloads.clear();
    let element = context.element(typed).await?;
    act::click(&element, 1, 0).await?;
    let started_by = context.deadline.min(Instant::now() + DOWNLOAD_START_TIMEOUT);
    let started = browser.wait_for(started_by, |state| state.downloads.keys().next().cloned()).await;
    let id =
        started.ok_or_else(|| CommandError::failed(format!("Clicking '{typed}' started no download")))?;
    let limit = context.deadline.min(Instant::now() + DOWNLOAD_TIMEOUT);
    let ended = browser.wait_for(limit, |state| {
        state.downloads.get(&id).filter(|download| download.is_finished || download.is_canceled).cloned()
    });
    let download = ended.await.ok_or_else(|| CommandError::failed("The download did not finish in time"))?;
    if download.is_canceled {
        return Err(CommandError::failed("The download was canceled"));
    }
    let saved = files.rename(&id, path)?;
    let data = json!({ "path": saved, "suggestedFilename": download.file_name });
    Ok(Outcome::new(format!("✓ Downloaded to {}", saved.display()), data))
}
