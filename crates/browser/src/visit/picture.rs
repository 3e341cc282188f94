//! Pictures of pages, bounded in size: a page can be as long as it likes, a picture cannot.

use super::emulate::{metrics, viewport};
use super::world;
use crate::asked::Screenshot;
use crate::brought::Picture;
use crate::error::VisitError;
use crate::tab::Tab;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

/// The longest side a window may be asked to have.
const LARGEST_SIDE: u32 = 4096;
/// Pixels of a picture: a hundred windows one below the other.
const MOST_PIXELS: u64 = 100 * 1024 * 1024;
/// Beyond this height browsers draw nothing more.
const HIGHEST: u64 = 16_000;

#[derive(Deserialize)]
struct Drawn {
    data: String,
}

/// Takes a picture of the page as it stands.
pub(crate) async fn picture(tab: &Tab, wanted: &Screenshot, mobile: bool) -> Result<Picture, VisitError> {
    let size = match wanted.viewport {
        Some((width, height)) if [width, height].iter().all(|side| (1..=LARGEST_SIDE).contains(side)) => {
            (width, height)
        }
        Some((width, height)) => {
            return Err(VisitError::Invalid(format!(
                "a window of {width} × {height} is not between 1 and {LARGEST_SIDE}"
            )));
        }
        None => viewport(mobile),
    };
    if wanted.viewport.is_some() {
        tab.tell("Emulation.setDeviceMetricsOverride", &metrics(size, mobile)).await?;
    }
    let (format, mime) = if wanted.quality.is_some() { ("jpeg", "image/jpeg") } else { ("png", "image/png") };
    let mut command = json!({ "format": format, "optimizeForSpeed": true });
    if let Some(quality) = wanted.quality {
        command["quality"] = json!(quality.clamp(1, 100));
    }
    if wanted.full_page {
        let (width, height) = page_size(tab).await?;
        let (width, height) = pixels_of(width, height, if mobile { 3 } else { 1 });
        command["captureBeyondViewport"] = json!(true);
        command["clip"] = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
    }
    let drawn: Drawn = tab.call("Page.captureScreenshot", &command).await?;
    let bytes = STANDARD.decode(drawn.data).map_err(|error| VisitError::Protocol(error.to_string()))?;
    Ok(Picture { bytes, mime })
}

/// Width and height of the whole page.
async fn page_size(tab: &Tab) -> Result<(u64, u64), VisitError> {
    let expression = "(() => { const root = document.documentElement; const body = document.body; \
        const wide = Math.max(root ? root.clientWidth : 0, innerWidth); \
        const high = Math.max(root ? root.scrollHeight : 0, body ? body.scrollHeight : 0, innerHeight); \
        return [Math.ceil(wide), Math.ceil(high)]; })()";
    world::evaluate(tab, expression).await
}

/// As much of a page as fits into a picture.
fn pixels_of(width: u64, height: u64, density: u64) -> (u64, u64) {
    let width = width.clamp(1, u64::from(LARGEST_SIDE));
    let most = MOST_PIXELS / (width * density * density);
    (width, height.clamp(1, most.min(HIGHEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_is_too_long_to_be_drawn() {
        assert_eq!(pixels_of(1280, 3000, 1), (1280, 3000));
        assert_eq!(pixels_of(1280, u64::MAX, 1), (1280, HIGHEST));
        assert_eq!(pixels_of(0, 0, 1), (1, 1));
        let (width, height) = pixels_of(u64::MAX, u64::MAX, 3);
        assert!(width * height * 9 <= MOST_PIXELS);
    }
}
