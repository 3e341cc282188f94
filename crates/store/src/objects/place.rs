//! Where objects live, as configured: a folder, or a bucket at one endpoint with keys of its own.

use crate::{StoreError, StoreResult};
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::client::{ClientOptions, HttpClient, HttpConnector};
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, RetryConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// One try; a call as a whole has a limit of its own, which is usually shorter.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);

/// Where the bytes of objects are kept.
#[derive(Debug, Clone)]
pub enum ObjectPlace {
    /// A folder of this machine; made when missing, for its owner only.
    Folder(PathBuf),
    S3(S3Place),
}

/// A bucket of S3-compatible storage. Everything is given here and nothing is looked up elsewhere:
/// no environment, no credentials of the machine, no proxy.
#[derive(Clone)]
pub struct S3Place {
    /// For instance `https://s3.example.org`; the bucket is a path below it.
    pub endpoint: String,
    pub region: String,
    pub bucket: String,
    /// A folder in the bucket; may be empty.
    pub prefix: String,
    pub access_key: String,
    pub secret_key: String,
}

impl fmt::Debug for S3Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Place")
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl ObjectPlace {
    pub(super) fn connect(&self) -> StoreResult<Arc<dyn ObjectStore>> {
        match self {
            Self::Folder(folder) => open_folder(folder),
            Self::S3(place) => place.connect(),
        }
    }
}

fn open_folder(folder: &Path) -> StoreResult<Arc<dyn ObjectStore>> {
    use std::os::unix::fs::DirBuilderExt;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| StoreError::Objects(format!("cannot make {}: {error}", folder.display())))?;
    let place = LocalFileSystem::new_with_prefix(folder)
        .map_err(|error| StoreError::Objects(format!("cannot use {}: {error}", folder.display())))?;
    Ok(Arc::new(place))
}

impl S3Place {
    fn connect(&self) -> StoreResult<Arc<dyn ObjectStore>> {
        let plain = self.endpoint.starts_with("http://");
        if !plain && !self.endpoint.starts_with("https://") {
            return Err(StoreError::Misuse("the S3 endpoint must start with https:// or http://".into()));
        }
        for (name, value) in [
            ("bucket", &self.bucket),
            ("region", &self.region),
            ("access key", &self.access_key),
            ("secret key", &self.secret_key),
        ] {
            // Without keys the client would ask the cloud's metadata service for some.
            if value.is_empty() {
                return Err(StoreError::Misuse(format!("object storage needs a {name}")));
            }
        }
        let bucket = AmazonS3Builder::new()
            .with_endpoint(self.endpoint.trim_end_matches('/'))
            .with_region(&self.region)
            .with_bucket_name(&self.bucket)
            .with_access_key_id(&self.access_key)
            .with_secret_access_key(&self.secret_key)
            .with_virtual_hosted_style_request(false)
            .with_allow_http(plain)
            .with_retry(RetryConfig {
                backoff: BackoffConfig::default(),
                max_retries: 3,
                retry_timeout: Duration::from_secs(30),
            })
            .with_http_connector(OneEndpoint { plain })
            .build()
            .map_err(|error| StoreError::Misuse(format!("object storage: {error}")))?;
        if self.prefix.is_empty() {
            return Ok(Arc::new(bucket));
        }
        let prefix = object_store::path::Path::parse(&self.prefix)
            .map_err(|error| StoreError::Misuse(format!("the prefix of the object storage: {error}")))?;
        Ok(Arc::new(PrefixStore::new(bucket, prefix)))
    }
}

/// A client that talks to the configured endpoint only: it follows no redirects and uses no proxy.
#[derive(Debug)]
struct OneEndpoint {
    plain: bool,
}

impl HttpConnector for OneEndpoint {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .https_only(!self.plain)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(RESPONSE_TIMEOUT)
            .build()
            .map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })?;
        Ok(HttpClient::new(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> S3Place {
        S3Place {
            endpoint: "https://s3.example.test".into(),
            region: "here".into(),
            bucket: "b".into(),
            prefix: String::new(),
            access_key: "id".into(),
            secret_key: "hush".into(),
        }
    }

    #[test]
    fn nothing_is_looked_up_elsewhere() {
        assert!(place().connect().is_ok());
        for broken in [
            S3Place { access_key: String::new(), ..place() },
            S3Place { secret_key: String::new(), ..place() },
            S3Place { bucket: String::new(), ..place() },
            S3Place { endpoint: "s3.example.test".into(), ..place() },
            S3Place { endpoint: "file:///etc".into(), ..place() },
            S3Place { prefix: "../up".into(), ..place() },
        ] {
            assert!(matches!(broken.connect(), Err(StoreError::Misuse(_))), "{broken:?}");
        }
        assert!(!format!("{:?}", place()).contains("hush"));
    }
}
