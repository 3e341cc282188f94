//! Files that answers point to (screenshots, PDFs): kept as objects, and handed out to whoever has an address
//! that this server signed. The address is the permission, and it expires.

use crate::{Error, from_store};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::Duration;
use store::ServerSecrets;
use store::objects::Objects;
use stored_data::time;
use uuid::Uuid;
use wire::Kind;

const FILE_RETENTION: Duration = Duration::from_hours(24);
const SECRET: &str = "files";

/// Keeps and hands out files.
#[derive(Debug)]
pub struct Files {
    objects: Objects,
    secret: [u8; 32],
}

/// A file as it is handed out.
#[derive(Debug)]
pub struct File {
    pub bytes: Bytes,
    pub mime: &'static str,
}

/// The kinds of files we make, by the ending of their name.
const KINDS: [(&str, &str); 3] = [("png", "image/png"), ("jpg", "image/jpeg"), ("pdf", "application/pdf")];

impl Files {
    pub async fn open(store: &dyn ServerSecrets, objects: Objects) -> Result<Self, Error> {
        Ok(Self { objects, secret: store.server_secret(SECRET).await.map_err(from_store)? })
    }

    /// Keeps a file for a day; the address under which anyone may have it until then.
    pub async fn keep(&self, team: Uuid, base_url: &str, bytes: Bytes, mime: &str) -> Result<String, Error> {
        let ending = KINDS.iter().find(|(_, known)| *known == mime).map_or("bin", |(ending, _)| *ending);
        let name = format!("{}.{ending}", Uuid::new_v4().simple());
        self.objects.put(&key(&name), team, bytes, FILE_RETENTION).await.map_err(from_store)?;
        Ok(self.address(&name, base_url))
    }

    /// The address under which anyone may have a file for a day, as long as it is kept.
    pub fn address(&self, name: &str, base_url: &str) -> String {
        let expires =
            (time::now() / 1000).saturating_add(i64::try_from(FILE_RETENTION.as_secs()).unwrap_or(i64::MAX));
        let signature = stored_data::hex(&self.signature(name, expires).finalize().into_bytes());
        format!("{base_url}/v2/files/{name}?expires={expires}&signature={signature}")
    }

    /// Keeps a copy of the file of an address of ours for longer; its name, or `None` when the address is not
    /// ours or the file is gone.
    pub async fn keep_copy(
        &self,
        team: Uuid,
        address: &str,
        keep_for: Duration,
    ) -> Result<Option<String>, Error> {
        let Some((_, rest)) = address.split_once("/v2/files/") else { return Ok(None) };
        let name = rest.split('?').next().unwrap_or_default();
        let is_ours = |(ending, _): &(&str, &str)| {
            name.strip_suffix(ending).is_some_and(|stem| {
                stem.strip_suffix('.').is_some_and(|stem| stem.bytes().all(|b| b.is_ascii_hexdigit()))
            })
        };
        let Some((ending, _)) = KINDS.iter().find(|kind| is_ours(kind)) else { return Ok(None) };
        let Some(bytes) = self.objects.get(&key(name)).await.map_err(from_store)? else { return Ok(None) };
        let copy = format!("{}.{ending}", Uuid::new_v4().simple());
        self.objects.put(&key(&copy), team, bytes, keep_for).await.map_err(from_store)?;
        Ok(Some(copy))
    }

    /// The file of a signed address; not found when anything about it is off.
    pub fn find<'a>(
        &'a self,
        name: &'a str,
        expires: i64,
        signature: &'a str,
    ) -> BoxFuture<'a, Result<File, Error>> {
        Box::pin(async move {
            let not_found = || Error::from(Kind::NotFound);
            let signature = from_hex(signature).ok_or_else(not_found)?;
            self.signature(name, expires).verify_slice(&signature).map_err(|_| not_found())?;
            if expires < time::now() / 1000 {
                return Err(not_found());
            }
            let (_, mime) = KINDS
                .into_iter()
                .find(|(ending, _)| name.rsplit('.').next() == Some(ending))
                .ok_or_else(not_found)?;
            let bytes = self.objects.get(&key(name)).await.map_err(from_store)?.ok_or_else(not_found)?;
            Ok(File { bytes, mime })
        })
    }

    fn signature(&self, name: &str, expires: i64) -> Hmac<Sha256> {
        // A key of any length will do, so this cannot fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).unwrap_or_else(|_| unreachable!());
        mac.update(name.as_bytes());
        mac.update(&[0]);
        mac.update(&expires.to_le_bytes());
        mac
    }
}

fn key(name: &str) -> String {
    format!("files/{name}")
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..32).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()).collect()
}
