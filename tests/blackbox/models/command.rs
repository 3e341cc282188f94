//! `gannet scrape` with a model: data, answers and summaries on the command line.

use crate::scrape::config;
use crate::server::run;
use crate::site::Site;
use serde_json::{Value, json};
use testkit::model_server::{MODEL, ScriptedResponse};
use testkit::{ModelServer, TempDir};

#[tokio::test]
async fn the_command_line_uses_the_model_too() {
    let (dir, site) = (TempDir::new(), Site::start());
    let model = ModelServer::start(|request| {
        let data = request.schema().is_some();
        if data {
            ScriptedResponse::json(&json!({ "title": "Dives" }))
        } else {
            ScriptedResponse::text("Thirty metres.")
        }
    });
    let schema =
        json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
    let file = dir.path().join("schema.json");
    std::fs::write(&file, schema.to_string()).unwrap();
    let (page, file) = (site.url("/article"), file.display().to_string());
    let bare = config(&dir);
    let with_model = bare.clone().set("model_url", &model.url()).set("model_name", MODEL);

    let (code, out, errors) = run(with_model.command(&["scrape", &page, "--question", "How high?"]));
    assert_eq!((code, out.as_str()), (Some(0), "Thirty metres.\n"), "{errors}");
    let (code, out, errors) = run(with_model.command(&["scrape", &page, "--format", "summary"]));
    assert_eq!((code, out.as_str()), (Some(0), "Thirty metres.\n"), "{errors}");
    let (code, out, errors) = run(with_model.command(&["scrape", &page, "--schema", &file, "--prompt", "x"]));
    assert_eq!(
        (code, serde_json::from_str::<Value>(&out).unwrap()),
        (Some(0), json!({ "title": "Dives" })),
        "{errors}"
    );
    let (code, out, _) = run(with_model.command(&["scrape", &page, "--schema", &file, "--question", "x"]));
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &document["answer"], &document["json"]["title"]),
        (Some(0), &json!("Thirty metres."), &json!("Dives"))
    );

    let (code, out, errors) = run(bare.command(&["scrape", &page, "--schema", &file]));
    assert_eq!(
        (code, serde_json::from_str::<Value>(&out).unwrap()["title"].clone()),
        (Some(0), json!("How gannets dive"))
    );
    assert!(errors.contains("no language model"), "{errors}");
    let (code, _, errors) = run(bare.command(&["scrape", &page, "--question", "How high?"]));
    assert!(code == Some(2) && errors.contains("model_url"), "{errors}");
    let (code, _, errors) = run(bare.command(&["scrape", &page, "--schema", "/nowhere/at.all"]));
    assert!(code == Some(2) && errors.contains("/nowhere/at.all"), "{errors}");
}
