//! Screenshots, bounded in size: a page can be as long as it likes, a screenshot cannot.

use super::emulate::{metrics, viewport};
use super::script;
use crate::error::VisitError;
use crate::tab::Tab;
use crate::visit_request::Screenshot;
use crate::visit_result::ScreenshotImage;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

/// The longest side of a viewport, in pixels.
const MAX_VIEWPORT_SIDE: u32 = 4096;
/// Pixels of a screenshot: a hundred windows on top of each other.
const MAX_PIXELS: u64 = 100 * 1024 * 1024;
/// Browsers draw nothing beyond this height, in pixels.
const MAX_HEIGHT: u64 = 16_000;

#[derive(Deserialize)]
struct CapturedScreenshot {
    data: String,
}

/// Takes a screenshot of the page in its current state.
pub(crate) async fn take_screenshot(
    tab: &Tab,
    options: &Screenshot,
    mobile: bool,
) -> Result<ScreenshotImage, VisitError> {
    let size = match options.viewport {
        Some((width, height))
            if [width, height].iter().all(|side| (1..=MAX_VIEWPORT_SIDE).contains(side)) =>
        {
            (width, height)
        }
        Some((width, height)) => {
            return Err(VisitError::Invalid(format!(
                "viewport {width} × {height} is not between 1 and {MAX_VIEWPORT_SIDE}"
            )));
        }
        None => viewport(mobile),
    };
    if options.viewport.is_some() {
        tab.execute("Emulation.setDeviceMetricsOverride", &metrics(size, mobile)).await?;
    }
    let (format, mime) =
        if options.quality.is_some() { ("jpeg", "image/jpeg") } else { ("png", "image/png") };
    let mut command = json!({ "format": format, "optimizeForSpeed": true });
    if let Some(quality) = options.quality {
        command["quality"] = json!(quality.clamp(1, 100));
    }
    if options.full_page {
        let (width, height) = page_size(tab).await?;
        let (width, height) = clamp_size(width, height, if mobile { 3 } else { 1 });
        command["captureBeyondViewport"] = json!(true);
        command["clip"] = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
    }
    let captured: CapturedScreenshot = tab.call("Page.captureScreenshot", &command).await?;
    let bytes = STANDARD.decode(captured.data).map_err(|error| VisitError::Protocol(error.to_string()))?;
    Ok(ScreenshotImage { bytes, mime })
}

/// Width and height of the whole page.
async fn page_size(tab: &Tab) -> Result<(u64, u64), VisitError> {
    let expression = "(() => { const root = document.documentElement; const body = document.body; \
        const wide = Math.max(root ? root.clientWidth : 0, innerWidth); \
        const high = Math.max(root ? root.scrollHeight : 0, body ? body.scrollHeight : 0, innerHeight); \
        return [Math.ceil(wide), Math.ceil(high)]; })()";
    script::evaluate(tab, expression).await
}

/// The part of a page that fits into a screenshot.
fn clamp_size(width: u64, height: u64, density: u64) -> (u64, u64) {
    let width = width.clamp(1, u64::from(MAX_VIEWPORT_SIDE));
    let max_height = MAX_PIXELS / (width * density * density);
    (width, height.clamp(1, max_height.min(MAX_HEIGHT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_is_too_long_to_be_drawn() {
        assert_eq!(clamp_size(1280, 3000, 1), (1280, 3000));
        assert_eq!(clamp_size(1280, u64::MAX, 1), (1280, MAX_HEIGHT));
        assert_eq!(clamp_size(0, 0, 1), (1, 1));
        let (width, height) = clamp_size(u64::MAX, u64::MAX, 3);
        assert!(width * height * 9 <= MAX_PIXELS);
    }
}
