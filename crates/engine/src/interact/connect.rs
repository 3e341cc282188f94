//! What signed links of sessions open: the protocol of the browser, and the live view.

use super::active::ActiveSession;
use super::links::LinkPurpose;
use super::sessions::Sessions;
use crate::Error;
use futures_util::future::BoxFuture;
use interact::CdpPort;
use interact::live_view::{self, ViewChannels};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::fs::File;
use uuid::Uuid;
use wire::Kind;

/// A file that somebody is sending for a page of a session.
#[derive(Debug)]
pub struct SessionUpload {
    session: Arc<interact::Session>,
    /// Where it is stored, for commands of the protocol.
    pub path: PathBuf,
    pub file: File,
}

impl SessionUpload {
    /// Whether so many bytes more may be written; they are counted as written.
    pub fn reserve(&self, bytes: u64) -> bool {
        self.session.reserve_upload(bytes)
    }

    /// How an answer of the live view names it.
    pub fn name(&self) -> String {
        let mut parts = self.path.components().rev().map(|part| part.as_os_str().to_string_lossy());
        let (name, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        format!("{folder}/{name}")
    }
}

/// Notes that a session was used.
pub type OnActivity = Box<dyn Fn() + Send + Sync>;

impl Sessions {
    /// The session of a signed link; not found when anything about the link is off.
    fn linked(&self, id: Uuid, purpose: LinkPurpose, token: &str) -> Result<Arc<ActiveSession>, Error> {
        if !self.links.is_valid(id, purpose, token) {
            return Err(Kind::SessionNotFound.into());
        }
        self.active.lock().get(&id).cloned().ok_or_else(|| Kind::SessionDestroyed.into())
    }

    /// Connects a client of the protocol. The second value notes each of its messages as activity.
    pub fn connect<'a>(
        &'a self,
        id: Uuid,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(CdpPort, OnActivity), Error>> {
        Box::pin(async move {
            let active = self.linked(id, LinkPurpose::Cdp, token)?;
            let port = active.session.connect().await;
            let port = port.map_err(|error| Error::because(Kind::BrowserFailed, &error.to_string()))?;
            active.touch();
            let on_activity: OnActivity = Box::new(move || active.touch());
            Ok((port, on_activity))
        })
    }

    /// Whether a link to the protocol opens a session that runs.
    pub fn check_link(&self, id: Uuid, token: &str) -> Result<(), Error> {
        self.linked(id, LinkPurpose::Cdp, token).map(drop)
    }

    /// Opens a file that the browser of a session has downloaded, and counts as activity.
    pub fn open_file<'a>(
        &'a self,
        id: Uuid,
        token: &'a str,
        name: String,
    ) -> BoxFuture<'a, Result<File, Error>> {
        Box::pin(async move {
            let active = self.linked(id, LinkPurpose::Cdp, token)?;
            active.touch();
            let opened = tokio::task::spawn_blocking(move || active.session.open_file(&name)).await;
            opened.ok().and_then(Result::ok).map(File::from_std).ok_or_else(|| Kind::NotFound.into())
        })
    }

    /// Makes room for a file that somebody sends for a page of a session, with a link to the protocol or to act in the live
    /// view. Counts as activity.
    pub fn create_upload<'a>(
        &'a self,
        id: Uuid,
        purpose: LinkPurpose,
        token: &'a str,
        name: String,
    ) -> BoxFuture<'a, Result<SessionUpload, Error>> {
        Box::pin(async move {
            let active = self.linked(id, purpose, token)?;
            active.touch();
            let session = Arc::clone(&active.session);
            let created = tokio::task::spawn_blocking(move || session.create_upload(&name)).await;
            let created = created.map_err(Error::internal)?;
            let (path, file) = created.map_err(|error| {
                Error::because(Kind::BadRequest, &format!("The file is refused: {error}"))
            })?;
            Ok(SessionUpload { session: Arc::clone(&active.session), path, file: File::from_std(file) })
        })
    }

    /// Opens the live view of a session: where the viewer's inputs go, and what it is shown.
    pub fn view<'a>(&'a self, id: Uuid, token: &'a str) -> BoxFuture<'a, Result<ViewChannels, Error>> {
        Box::pin(async move {
            let (active, interactive) = match self.linked(id, LinkPurpose::Act, token) {
                Ok(active) => (active, true),
                Err(_) => (self.linked(id, LinkPurpose::View, token)?, false),
            };
            if !active.row.stream {
                return Err(Kind::SessionNotFound.into());
            }
            let session = Arc::clone(&active.session);
            let opened = live_view::open(session, interactive, Box::new(move || active.touch())).await;
            opened.map_err(|error| Error::because(Kind::BrowserFailed, &error.to_string()))
        })
    }
}
