//! Pictures of a page that the browser sends while it changes, for the live view and for recordings.

use crate::client::{CdpClient, CdpError, CdpEvent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

/// A picture, with the size of the page in its own pixels.
pub(crate) struct Frame {
    /// What the browser calls it; it waits until this is acknowledged.
    pub(crate) number: i64,
    pub(crate) jpeg: Bytes,
    pub(crate) size: (f64, f64),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScreencastFrame {
    data: String,
    session_id: i64,
    metadata: FrameMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameMetadata {
    device_width: f64,
    device_height: f64,
}

/// From now on the page sends pictures; that is asked for at once, whether the answer is waited for or not.
/// `Page.enable` is not needed, and would make somebody answer its dialogs.
pub(crate) fn start(
    client: &CdpClient,
    session: &str,
    max_size: (u32, u32),
    quality: u32,
) -> impl Future<Output = Result<(), CdpError>> + Send + use<> {
    let wanted = json!({
        "format": "jpeg", "quality": quality, "maxWidth": max_size.0, "maxHeight": max_size.1, "everyNthFrame": 1,
    });
    let answered = client.send(Some(session), "Page.startScreencast", &wanted);
    async move { answered.await.map(drop) }
}

/// The picture in an event, if it has one.
pub(crate) fn frame_of(event: &CdpEvent) -> Option<Frame> {
    if &*event.method != "Page.screencastFrame" {
        return None;
    }
    let frame: ScreencastFrame = serde_json::from_str(event.params.get()).ok()?;
    let jpeg = STANDARD.decode(&frame.data).ok()?.into();
    let size = (frame.metadata.device_width, frame.metadata.device_height);
    Some(Frame { number: frame.session_id, jpeg, size })
}
