//! What is checked before a job is accepted, the same on both stores.

use crate::jobs::NewJob;
use crate::{StoreError, StoreResult};
use uuid::Uuid;

/// Lower goes first, so that one ascending index has the order. An `i64`, because the lowest `i32`
/// has no opposite.
pub(crate) fn rank(job: &NewJob) -> i64 {
    -i64::from(job.priority)
}

/// Children belong to the team of their parent.
pub(crate) fn check_children(team: Uuid, children: &[NewJob]) -> StoreResult<()> {
    if children.iter().any(|child| child.team_id != team) {
        return Err(StoreError::Misuse("a child job must belong to the team of its parent".into()));
    }
    Ok(())
}

pub(crate) fn id_in_use(id: Uuid) -> StoreError {
    StoreError::Misuse(format!("there is a job with the id {id} already"))
}

pub(crate) fn reservation_closed(id: Uuid) -> StoreError {
    StoreError::Misuse(format!("there is no open reservation {id} for this job"))
}
