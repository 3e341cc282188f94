//! What tests start and clean up again: temporary folders, free ports, a private PostgreSQL cluster, an
//! S3-compatible server, an identity provider, a DNS server and a scripted model server; a reader of OTLP; sites to crawl and to extract from;
//! mutations of the fuzzing corpus; valid and hostile documents; labelled sets; and the check that work is
//! linear in its input. For tests only; nothing of the product uses it.
//!
//! If a program is missing on the machine, the test that needs it fails with a message that says what to
//! install. Nothing is ever skipped. No server outlives its tests either, even when they are killed: each is
//! watched by a shell that stops it when its test process is gone.

mod dns_server;
pub mod document_files;
mod files;
mod free_port;
pub mod generated_site;
pub mod growth;
mod guarded_process;
pub mod identity_provider;
pub mod injections;
pub mod labelled_set;
pub mod model_server;
pub mod mutations;
pub mod otlp;
pub mod postgres;
mod s3;
mod small_disk;
pub mod task_sites;
mod temp_dir;

pub use dns_server::{DnsResponse, DnsServer};
pub use files::{docx, lock_pdf, pdf};
pub use free_port::{ClosedPort, FreePort};
pub use model_server::ModelServer;
pub use postgres::{PostgresCluster, run_sql_file, shared_database};
pub use s3::S3Server;
pub use small_disk::SmallDisk;
pub use temp_dir::TempDir;
