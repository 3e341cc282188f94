//! Files that are uploaded before they are parsed. A caller asks for an address ([`Uploads::create`]), sends the file
//! there without a key ([`Uploads::open_upload`], [`Uploads::receive`]), and has it parsed within an hour, once
//! ([`Uploads::claim`]). The bytes are objects, so that any server of several can parse what another one received.

use super::reference::UploadReference;
use super::{FileLabel, IncomingFile, MAX_FILE_BYTES};
use crate::scrape::Scraped;
use crate::{Error, from_store};
use access::{Caller, CallerError};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use store::objects::Objects;
use store::uploads::{NewUpload, Receipt, UploadClaim, UploadLimits, UploadState};
use store::{Store, UploadStore};
use stored_data::time;
use url::form_urlencoded;
use uuid::Uuid;
use wire::parse::{UploadUrl, UploadUrlRequest};
use wire::{Issues, Kind};

/// How long an upload can be received and parsed.
const UPLOAD_RETENTION: Duration = Duration::from_hours(1);
/// The bytes stay a little longer, for a request that comes at the last moment.
const OBJECT_RETENTION: Duration = Duration::from_mins(70);
/// What a team may have waiting to be parsed.
const UNPARSED_LIMITS: UploadLimits = UploadLimits { uploads: 100, bytes: 1024 * 1024 * 1024 };
const MAX_CONTENT_TYPE_CHARS: usize = 255;
const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";
/// How long a response may wait until the bytes of a parsed upload are deleted. The deletion goes on.
const DELETION_WAIT: Duration = Duration::from_secs(2);
const SECRET: &str = "uploads";

/// Keeps uploads until they are parsed.
pub struct Uploads {
    store: Arc<dyn Store>,
    objects: Objects,
    secret: [u8; 32],
}

impl std::fmt::Debug for Uploads {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Uploads").field("objects", &self.objects).finish_non_exhaustive()
    }
}

/// An upload whose file may be sent now.
#[derive(Debug, Clone)]
pub struct OpenUpload {
    id: Uuid,
    /// The team that it belongs to.
    pub team: Uuid,
}

impl Uploads {
    pub(super) async fn open(store: Arc<dyn Store>, objects: Objects) -> Result<Self, Error> {
        let secret = store.server_secret(SECRET).await.map_err(from_store)?;
        Ok(Self { store, objects, secret })
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// An address to which a file can be sent. `base_url` is how the caller reaches this server.
    pub fn create<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a UploadUrlRequest,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<UploadUrl, Error>> {
        Box::pin(async move {
            let declared_bytes = check_request(asked)?;
            let label = FileLabel::new(&asked.filename, asked.content_type.clone());
            let new = NewUpload {
                id: Uuid::new_v4(),
                team_id: caller.team,
                declared_bytes,
                keep_for: UPLOAD_RETENTION,
            };
            let id = new.id;
            let created = self.store.create_upload(new, UNPARSED_LIMITS).await.map_err(from_store)?;
            let expires_at = created.ok_or(Kind::UploadLimit)?;
            let FileLabel { name, content_type } = label;
            let sent_as = content_type.clone().unwrap_or_else(|| DEFAULT_CONTENT_TYPE.to_owned());
            let reference = UploadReference { id, name, content_type, expires_at };
            let upload_ref = reference.to_text(&self.secret).map_err(Error::internal)?;
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("uploadRef", &upload_ref)
                .finish();
            Ok(UploadUrl {
                upload_url: format!("{base_url}/v2/parse/upload/{id}?{query}"),
                upload_ref,
                method: "PUT",
                headers: [("Content-Type", sent_as)].into(),
                expires_at: time::iso(expires_at),
                max_size_bytes: MAX_FILE_BYTES,
            })
        })
    }

    /// The upload of an address, if its file may be sent now. The reference in the address is the permission.
    pub fn open_upload<'a>(
        &'a self,
        id: Uuid,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<OpenUpload, Error>> {
        Box::pin(async move {
            let reference = self.read_reference(reference)?;
            if reference.id != id {
                return Err(Kind::UploadNotFound.into());
            }
            let upload = self.store.upload(id).await.map_err(from_store)?.ok_or(Kind::UploadExpired)?;
            match upload.state {
                UploadState::Waiting => Ok(OpenUpload { id, team: upload.team_id }),
                UploadState::Received => Err(Kind::UploadReceived.into()),
                UploadState::Used => Err(Kind::UploadUsed.into()),
            }
        })
    }

    /// Keeps the file of an upload.
    pub fn receive<'a>(
        &'a self,
        upload: &'a OpenUpload,
        mut file: IncomingFile,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            if file.is_empty() {
                return Err(Error::because(Kind::BadRequest, "the file is empty"));
            }
            let (object, bytes) = (Uuid::new_v4(), file.len());
            let (key, content) =
                (object_key(object), tokio::fs::File::from_std(file.open_for_reading().await?));
            let putting = self.objects.put_file(&key, upload.team, content, bytes, OBJECT_RETENTION);
            putting.await.map_err(from_store)?;
            let receipt = self.store.receive_upload(upload.id, object, bytes, UNPARSED_LIMITS).await;
            let refused = match receipt.map_err(from_store) {
                Ok(Receipt::Received) => return Ok(()),
                Ok(Receipt::OverLimit) => Kind::UploadLimit.into(),
                // Another request was faster.
                Ok(Receipt::NotWaiting) => Kind::UploadReceived.into(),
                Err(error) => error,
            };
            delete_object(&self.objects, &key).await;
            Err(refused)
        })
    }

    /// Takes an upload of a team to parse it.
    pub(super) async fn claim(&self, team: Uuid, reference: &str) -> Result<ClaimedUpload, Error> {
        let reference = self.read_reference(reference)?;
        match self.store.claim_upload(team, reference.id).await.map_err(from_store)? {
            UploadClaim::Claimed { object, bytes } => Ok(ClaimedUpload {
                store: self.store.clone(),
                objects: self.objects.clone(),
                reference,
                team,
                object,
                bytes,
                gives_back: true,
            }),
            UploadClaim::Waiting => Err(Kind::UploadIncomplete.into()),
            UploadClaim::Used => Err(Kind::UploadUsed.into()),
            UploadClaim::Unknown => Err(Kind::UploadNotFound.into()),
        }
    }

    fn read_reference(&self, text: &str) -> Result<UploadReference, Error> {
        let reference = UploadReference::from_text(text, &self.secret).ok_or(Kind::UploadNotFound)?;
        if reference.expires_at <= time::now() {
            return Err(Kind::UploadExpired.into());
        }
        Ok(reference)
    }
}

/// Checks a request for an address; the declared size.
fn check_request(asked: &UploadUrlRequest) -> Result<u64, Error> {
    let mut issues = Issues::default();
    issues.length("filename", &asked.filename, &(1..=512));
    if let Some(kind) = &asked.content_type {
        issues.length("contentType", kind, &(1..=MAX_CONTENT_TYPE_CHARS));
        if kind.chars().any(|char| !char.is_ascii_graphic() && char != ' ') {
            issues.add("contentType", "must be a media type such as application/pdf", "invalid_value");
        }
    }
    let declared = asked.declared_size_bytes.unwrap_or(1);
    issues.range("declaredSizeBytes", declared, &(1..=i64::try_from(MAX_FILE_BYTES).unwrap_or(i64::MAX)));
    issues.finish()?;
    Ok(asked.declared_size_bytes.map_or(0, |bytes| u64::try_from(bytes).unwrap_or(0)))
}

fn object_key(object: Uuid) -> String {
    format!("uploads/{}", object.simple())
}

async fn delete_object(objects: &Objects, key: &str) {
    let (objects, key) = (objects.clone(), key.to_owned());
    let deletion = tokio::spawn(async move {
        if let Err(error) = objects.delete(&key).await {
            tracing::warn!(%error, "could not delete an uploaded file; it expires by itself");
        }
    });
    let _ = tokio::time::timeout(DELETION_WAIT, deletion).await;
}

/// An upload that is being parsed. Unless it is settled, it is given back: a caller who hung up may parse it again.
pub(super) struct ClaimedUpload {
    store: Arc<dyn Store>,
    objects: Objects,
    reference: UploadReference,
    team: Uuid,
    object: Uuid,
    bytes: u64,
    gives_back: bool,
}

impl ClaimedUpload {
    pub(super) fn object_key(&self) -> String {
        object_key(self.object)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn label(&self) -> FileLabel {
        FileLabel::new(&self.reference.name, self.reference.content_type.clone())
    }

    /// The file is not needed any more once it was parsed, or cannot be. What may pass leaves it to be parsed again.
    pub(super) async fn release_or_delete(mut self, parsed: &Result<Scraped, Error>) {
        let may_pass = |error: &Error| {
            error.is_transient()
                || error.is_own_fault()
                || matches!(
                    error,
                    Error::Caller(
                        CallerError::InsufficientCredits
                            | CallerError::RateLimited { .. }
                            | CallerError::KeyUsed(_)
                    )
                )
        };
        self.gives_back = parsed.as_ref().is_err_and(may_pass);
        if self.gives_back {
            give_back(self.store.as_ref(), self.team, self.reference.id).await;
            self.gives_back = false;
        } else {
            delete_object(&self.objects, &self.object_key()).await;
        }
    }
}

impl Drop for ClaimedUpload {
    fn drop(&mut self) {
        // A process that stops has no runtime any more; then the upload stays used.
        if self.gives_back
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, team, id) = (self.store.clone(), self.team, self.reference.id);
            runtime.spawn(async move { give_back(store.as_ref(), team, id).await });
        }
    }
}

async fn give_back(store: &dyn UploadStore, team: Uuid, id: Uuid) {
    if let Err(error) = store.release_upload(team, id).await {
        tracing::warn!(%error, "could not give an upload back; it stays used");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::IncomingFiles;
    use access::Plans;
    use std::collections::BTreeMap;
    use store::StoreOptions;
    use store::keys::NewTeam;
    use store::objects::ObjectPlace;
    use store::secrets::{SecretKey, SecretKeys};
    use testkit::TempDir;

    async fn open(dir: &TempDir) -> (Uploads, Caller) {
        let url = format!("sqlite:{}", dir.join("store.db").display());
        let keys = SecretKeys::new(SecretKey::random().unwrap());
        let store = store::open(&StoreOptions::new(url).with_secret_keys(keys)).await.unwrap();
        let team = NewTeam {
            id: Uuid::now_v7(),
            name: "t".to_owned(),
            plan: "unlimited".to_owned(),
            zero_data_retention: false,
        };
        let team = store.create_team(team).await.unwrap();
        let objects = Objects::open(&ObjectPlace::Folder(dir.join("objects")), store.clone()).unwrap();
        let uploads = Uploads::open(store, objects).await.unwrap();
        (uploads, Caller::new(team, None, &Plans::new(BTreeMap::new())))
    }

    fn asked(name: &str) -> UploadUrlRequest {
        UploadUrlRequest { filename: name.to_owned(), content_type: None, declared_size_bytes: None }
    }

    #[tokio::test]
    async fn an_upload_is_refused_when_its_hour_is_over() {
        let dir = TempDir::new();
        let (uploads, caller) = open(&dir).await;
        let url = uploads.create(&caller, &asked("a.pdf"), "http://here").await.unwrap();
        let mut reference = uploads.read_reference(&url.upload_ref).unwrap();
        let id = reference.id;
        assert!(uploads.open_upload(id, &url.upload_ref).await.is_ok());
        reference.expires_at = time::now() - 1;
        let late = reference.to_text(&uploads.secret).unwrap();
        let error = uploads.open_upload(id, &late).await.unwrap_err();
        assert_eq!(error.kind(), Kind::UploadExpired);
        let error = uploads.claim(caller.team, &late).await.err().unwrap();
        assert_eq!((error.kind(), error.to_wire().status()), (Kind::UploadExpired, 410));
    }

    #[tokio::test]
    async fn an_upload_that_was_not_parsed_after_all_can_be_parsed_again() {
        let dir = TempDir::new();
        let (uploads, caller) = open(&dir).await;
        let url = uploads.create(&caller, &asked("a.txt"), "http://here").await.unwrap();
        let id = uploads.read_reference(&url.upload_ref).unwrap().id;
        let open = uploads.open_upload(id, &url.upload_ref).await.unwrap();
        let files = IncomingFiles::open(&dir.join("incoming")).unwrap();
        let mut file = files.create(caller.team).unwrap();
        file.write(b"words").await.unwrap();
        uploads.receive(&open, file).await.unwrap();
        let stored = async || uploads.store.object_bytes().await.unwrap();
        // The caller hung up: what was claimed is dropped.
        drop(uploads.claim(caller.team, &url.upload_ref).await.unwrap());
        tokio::time::sleep(Duration::from_millis(50)).await;
        let claimed = uploads.claim(caller.team, &url.upload_ref).await.unwrap();
        assert_eq!((claimed.bytes(), claimed.label()), (5, FileLabel::new("a.txt", None)));
        claimed.release_or_delete(&Err(CallerError::InsufficientCredits.into())).await;
        assert_eq!(stored().await, 5);
        let claimed = uploads.claim(caller.team, &url.upload_ref).await.unwrap();
        claimed.release_or_delete(&Err(Kind::UnreadableUpload.into())).await;
        assert_eq!(stored().await, 0, "a file that cannot be read is not kept");
        let error = uploads.claim(caller.team, &url.upload_ref).await.err().unwrap();
        assert_eq!(error.kind(), Kind::UploadUsed);
    }
}
