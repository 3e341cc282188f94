//! Responses with one document, which is JSON already: a long one is kept compressed, and written out while its
//! caller reads it.

use crate::error::ApiError;
use crate::response_memory::HeldResponse;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use engine::scrape::DocumentJson;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use stored_data::compression::Pieces;
use uuid::Uuid;

const BEFORE: &[u8] = br#"{"success":true,"data":"#;
const AFTER: &[u8] = b"}";
const PIECE_BYTES: usize = 64 * 1024;
/// What unpacking takes beside the document.
const UNPACKER_BYTES: usize = 768 * 1024;

/// The document of the scrape with this id.
pub fn document_response(id: Uuid, document: DocumentJson) -> Response {
    let json = [(CONTENT_TYPE, "application/json")];
    match document {
        // Copied once.
        DocumentJson::Plain(plain) => (json, [BEFORE, &plain, AFTER].concat()).into_response(),
        DocumentJson::Packed { packed, bytes } => {
            let again = Some(format!("GET /v2/scrape/{id}"));
            let held = HeldResponse { bytes: packed.len() + UNPACKER_BYTES, again };
            let pieces = match DocumentJson::pieces(packed) {
                Ok(pieces) => pieces,
                Err(error) => return ApiError::from(error).into_response(),
            };
            let left = (BEFORE.len() + bytes + AFTER.len()) as u64;
            let mut response =
                (json, Body::new(PackedBody { part: Part::Before, pieces, left })).into_response();
            response.extensions_mut().insert(held);
            response
        }
    }
}

struct PackedBody {
    part: Part,
    pieces: Pieces<Bytes>,
    left: u64,
}

enum Part {
    Before,
    Document,
    End,
}

impl HttpBody for PackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let piece = match self.part {
            Part::Before => {
                self.part = Part::Document;
                Bytes::from_static(BEFORE)
            }
            Part::Document => match self.pieces.next_piece(PIECE_BYTES) {
                Ok(piece) if piece.is_empty() => {
                    self.part = Part::End;
                    Bytes::from_static(AFTER)
                }
                Ok(piece) => piece.into(),
                Err(error) => {
                    tracing::error!(%error, "a compressed document cannot be read");
                    return Poll::Ready(Some(Err(axum::Error::new(error))));
                }
            },
            Part::End => return Poll::Ready(None),
        };
        self.left = self.left.saturating_sub(piece.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.part, Part::End)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
