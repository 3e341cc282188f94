//! The page as prompts see it.

use crate::commander::Commander;
use crate::page::CommandPage;
use crate::snapshot::{self, PageSnapshot, SnapshotOptions};
use tokio::time::Instant;

/// The page and a snapshot of it, with all elements that one can act on.
pub(in super::super) async fn look_at_page(
    commander: &Commander,
    deadline: Instant,
) -> Result<(CommandPage, PageSnapshot), String> {
    take(commander, deadline, false).await
}

/// The same with the nodes around those elements.
pub(super) async fn look_at_all(
    commander: &Commander,
    deadline: Instant,
) -> Result<(CommandPage, PageSnapshot), String> {
    take(commander, deadline, true).await
}

async fn take(
    commander: &Commander,
    deadline: Instant,
    keeps_nodes: bool,
) -> Result<(CommandPage, PageSnapshot), String> {
    let taken = async {
        let page = commander.page(deadline).await?;
        let options = SnapshotOptions { compact: true, keeps_nodes, ..SnapshotOptions::default() };
        let snapshot = snapshot::take_snapshot(&page, &options).await?;
        Ok::<_, crate::error::CommandError>((page, snapshot))
    };
    taken.await.map_err(|error| error.to_string())
}
