//! Credits of the team.

use super::pages::data;
use crate::call::Call;
use crate::output::{Failure, Output};
use serde_json::json;

pub async fn credit_usage(call: &Call) -> Result<Output, Failure> {
    let by_key = call.flag("byApiKey").unwrap_or(false);
    match call.trimmed("view") {
        Some("current") if by_key => {
            return Err(Failure::Arguments("byApiKey cannot be used with the view current".to_owned()));
        }
        Some("historical") => {}
        _ if by_key => {}
        _ => {
            let usage = data(call.get("/v2/team/credit-usage").await?);
            return Ok(Output::pretty(json!({
                "remainingCredits": usage["remainingCredits"], "planCredits": usage["planCredits"],
                "billingPeriodStart": usage["billingPeriodStart"],
                "billingPeriodEnd": usage["billingPeriodEnd"],
            })));
        }
    }
    let query = if by_key { "?byApiKey=true" } else { "" };
    Ok(Output::pretty(call.get(&format!("/v2/team/credit-usage/historical{query}")).await?))
}
