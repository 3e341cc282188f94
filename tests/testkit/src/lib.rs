//! What tests start and clean up again: temporary folders, free ports, a private PostgreSQL cluster,
//! an S3-compatible server and a name server. For tests only; nothing of the product uses it.
//!
//! Whatever is missing on the machine makes the test that needs it fail with a message that says what
//! to install. Nothing is ever skipped. Nothing outlives its tests either, even when they are killed:
//! every server is watched by a shell that stops it when its test process is gone.

mod disk;
mod folder;
pub mod injections;
pub mod model_server;
mod names;
mod port;
pub mod postgres;
mod s3;
pub mod site_maze;
pub mod task_sites;
mod tether;

pub use disk::SmallDisk;
pub use folder::TempDir;
pub use model_server::ModelServer;
pub use names::{NameAnswer, NameServer};
pub use port::FreePort;
pub use postgres::{PostgresCluster, run_sql_file, shared_database};
pub use s3::S3Server;
