//! Reading on in a text that was too long for one answer.

use super::{agents, crawls, pages};
use crate::call::Call;
use crate::output::{Failure, Output};
use crate::texts::{Cursor, Job, JobKind, part};
use serde_json::{Value, json};

pub async fn read_on(call: &Call) -> Result<Output, Failure> {
    let wrong = || Failure::Arguments("cursor is not one that an answer gave".to_owned());
    let cursor = Cursor::parse(call.text("cursor")).ok_or_else(wrong)?;
    let text = match call.texts.find(&call.sender.caller.owner(), cursor.text) {
        Some(text) => text.as_ref().to_owned(),
        None => made_again(call, &cursor).await?,
    };
    part(&text, cursor.offset, call.max_chars).ok_or_else(wrong)?;
    Ok(Output { from: Some(cursor), ..Output::text(text, Value::Null) })
}

/// The text from the stored result of its job, in a process that does not have it.
async fn made_again(call: &Call, cursor: &Cursor) -> Result<String, Failure> {
    let gone = || Failure::Tool {
        message: "The text is not kept any more; call the tool again".to_owned(),
        data: json!({ "success": false, "code": "CURSOR_EXPIRED" }),
    };
    let job = cursor.job.as_ref().ok_or_else(gone)?;
    match stored_output(call, job).await {
        Ok(output) => Ok(output.text),
        Err(Failure::Api { status: 404 | 410, .. }) => Err(gone()),
        Err(failure) => Err(failure),
    }
}

/// What the tool that made a job would return for it now.
async fn stored_output(call: &Call, job: &Job) -> Result<Output, Failure> {
    match job.kind {
        JobKind::Scrape => {
            let document = pages::data(call.get(&format!("/v2/scrape/{}", job.id)).await?);
            Ok(Output::pretty(document))
        }
        JobKind::Crawl => crawls::with_pages(call, &job.id).await,
        JobKind::Agent => agents::read_run(call, &job.id).await,
    }
}
