//! A completed run as a skill: what it did, where its values stood, and that it works again as it says.

use super::{AgentFixture, company, started_id, wait_for_end};
use serde_json::json;

#[tokio::test]
async fn a_completed_run_can_be_done_again_from_its_skill() {
    let fixture = AgentFixture::open().await;
    let http = fixture.http();
    let id = fixture.start("/company", json!({ "schema": company(), "effort": "low" })).await;
    let first = fixture.wait_for_end(&id).await;
    assert_eq!(first["id"], id, "a status names its run");
    let answer = http.get(&format!("/v2/agent/{id}/skill")).await.unwrap();
    let (skill, blueprint) = (&answer.expect_success()["skill"], &answer.json["blueprint"]);
    let page = fixture.pages.url("/company");
    assert_eq!((&answer.json["id"], &skill["schema"]), (&json!(id), &company()));
    assert_eq!(skill["workflow"][0]["tool"], "scrape", "{}", answer.text);
    assert_eq!(skill["workflow"][0]["parameters"]["url"], page);
    assert_eq!(blueprint["pages"], json!([page]));
    assert_eq!(blueprint["sources"][0]["url"], page, "{}", answer.text);
    let fields: Vec<&str> =
        blueprint["sources"][0]["fields"].as_array().unwrap().iter().filter_map(|f| f.as_str()).collect();
    assert!(fields.contains(&"/founded") && fields.contains(&"/employees"), "{}", answer.text);
    let text = skill["skillMd"].as_str().unwrap();
    assert!(text.starts_with("---\nname: when-was-it-founded"), "{text}");
    assert!(
        text.contains(&format!("{}/v2/agent", http.base)) && text.contains("deterministicJson"),
        "{text}"
    );

    let again = started_id(&http.post("/v2/agent", &blueprint["request"]).await.unwrap());
    assert_eq!(wait_for_end(http, &again).await["data"], first["data"]);
    let format = json!({ "type": "deterministicJson", "schema": company() });
    let scraped = http.post("/v2/scrape", &json!({ "url": page, "formats": [format] })).await.unwrap();
    assert_eq!(scraped.expect_success()["data"]["json"], first["data"], "without an agent");
}

#[tokio::test]
async fn only_completed_runs_of_the_team_have_a_skill() {
    let fixture = AgentFixture::open().await;
    let id = fixture.start("/hang/0", json!({})).await;
    let path = format!("/v2/agent/{id}/skill");
    let early = fixture.http().get(&path).await.unwrap();
    early.expect_error(409, "Agent has not completed: it is still processing");
    assert_eq!(early.json["code"], "AGENT_NOT_COMPLETED");
    fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap().expect_success();
    fixture.wait_for_end(&id).await;
    fixture.http().get(&path).await.unwrap().expect_error(409, "Agent has not completed: it has failed");
    let stranger = fixture.http().with_key(Some(&crate::scrape::other_team_key(&fixture.dir).await));
    assert_eq!(stranger.get(&path).await.unwrap().status, 404);
}
