//! The OpenAPI document and its page: served, printed, complete, and held to by the server itself.

use crate::server::{KEY, ServerConfig, gannet, run, start_plain, wait_for_papers};
use serde_json::Value;
use std::process::Command;
use testkit::TempDir;

#[tokio::test]
async fn the_printed_document_is_the_served_one() {
    let (_dir, server) = start_plain().await;
    let from_server = server.http.with_key(None).get("/v2/openapi.json").await.unwrap().json;
    let mut command = gannet();
    command.arg("openapi");
    let (code, printed, _) = run(command);
    assert_eq!(code, Some(0));
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), from_server);
    for path in ["/v2/team/credit-usage", "/v2/concurrency-check", "/admin/keys", "/ready"] {
        assert!(from_server["paths"][path].is_object(), "{path}");
    }
}

#[test]
fn validators_accept_the_document_and_it_describes_every_response() {
    let (dir, mut command) = (TempDir::new(), gannet());
    command.arg("openapi");
    let (_, printed, _) = run(command);
    let file = dir.join("openapi.json");
    std::fs::write(&file, &printed).unwrap();
    let python =
        std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run the tests through `make test`");
    let checked = Command::new(python).args(["-m", "openapi_spec_validator"]).arg(&file).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let document: Value = serde_json::from_str(&printed).unwrap();
    // A host that does not exist is a 200 with `success: false`, which clients that are generated must expect.
    for (path, method) in [("/v2/scrape", "post"), ("/v2/map", "post")] {
        let success = &document["paths"][path][method]["responses"]["200"]["content"]["application/json"];
        let forms = success["schema"]["oneOf"].as_array().expect("success or failure");
        assert!(forms.iter().any(|form| form["$ref"] == "#/components/schemas/ErrorBody"), "{success}");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    assert!(!schemas.contains_key("BTreeMap"));
    // Generators take a field with a default for one that is always there.
    let fields = schemas.values().filter_map(|schema| schema["properties"].as_object()).flatten();
    assert!(fields.clone().all(|(_, field)| field.get("default").is_none()));
    assert_eq!(schemas["ScrapeRequest"]["properties"]["timeout"]["x-default"], 60_000);
    for (schema, field, value) in [
        ("FormatObject", "type", "deterministicJson"),
        ("AgentRequest", "effort", "medium"),
        ("FeedbackRequest", "rating", "partial"),
        ("CheckView", "status", "skipped_no_credits"),
        ("GovRequest", "courtType", "state-trial"),
    ] {
        let field_schema = &schemas[schema]["properties"][field];
        let values = field_schema["enum"].as_array().or(field_schema["oneOf"][0]["enum"].as_array());
        let values = values.unwrap_or_else(|| panic!("{schema}.{field}: {field_schema}"));
        assert!(values.contains(&value.into()), "{schema}.{field}: {values:?}");
    }
    let parameters = document["paths"]["/v2/crawl/{id}/ledger"]["get"]["parameters"].as_array().unwrap();
    let state = parameters.iter().find(|parameter| parameter["name"] == "state").unwrap();
    assert!(state["schema"]["enum"].as_array().unwrap().contains(&"skipped".into()), "{state}");
}

#[tokio::test]
async fn names_are_written_as_the_contract_writes_them() {
    let (_dir, server) = start_plain().await;
    let document = server.http.get("/v2/openapi.json").await.unwrap().json;
    // The contract's own exceptions, and what the standards of OAuth name.
    let by_standards = [
        "AgentAuth",
        "AssertionKinds",
        "AuthorizationRequest",
        "AuthorizationServer",
        "ClientInformation",
        "ClientMetadata",
        "GrantedToken",
        "Logout",
        "OAuthErrorBody",
        "RegisteredAgent",
        "Registration",
        "ResourceMetadata",
        "TokenRequest",
    ];
    let exceptions = [
        "api_version",
        "created_at",
        "has_more",
        "min_stars",
        "max_stars",
        "citation_url",
        "spdx_id",
        "pull_request",
        "scrape_id",
        // The rest of an entry of the activity, beside `created_at` of the contract.
        "failed_pages",
        "duration_ms",
        "key_name",
    ];
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if by_standards.contains(&name.as_str()) {
            continue;
        }
        for property in schema["properties"].as_object().into_iter().flatten() {
            assert!(
                !property.0.contains('_') || exceptions.contains(&property.0.as_str()),
                "{name}.{}",
                property.0
            );
        }
    }
}

#[test]
fn the_page_about_search_has_every_field() {
    let page = include_str!("../../docs/search.md");
    assert!(page.contains(&wire::search::table()), "write it anew:\n{}", wire::search::table());
}

#[tokio::test]
async fn the_page_draws_every_operation_in_a_real_browser_without_a_network() {
    let (_dir, server) = start_plain().await;
    let profile = TempDir::new();
    let document = server.http.get("/v2/openapi.json").await.unwrap().json;
    let output = Command::new("chromium-headless-shell")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("{}/docs", server.http.base))
        .output()
        .expect("chromium; `make test` installs it");
    let page = String::from_utf8_lossy(&output.stdout);
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("<code>{path}</code>")), "{path} is not drawn:\n{page}");
    }
    assert!(page.contains("Payment Required: Insufficient credits"));
    let scrape =
        format!("curl -s {}/v2/scrape -H \"Authorization: Bearer $GANNET_API_KEY\"", server.http.base);
    assert!(page.contains(&scrape), "no request to try");
    assert!(page.contains("fields of FormatObject"), "nested types cannot be opened");
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http"),
        "the page loads something from outside"
    );
}

#[tokio::test]
async fn schemathesis_finds_no_crash_and_no_undocumented_answer() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path()).set("log", "error").set("research_starter", "on");
    let server = config.start().await;
    wait_for_papers(&server.http).await;
    let python =
        std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run the tests through `make test`");
    let soak = std::env::var_os("GANNET_TEST_SOAK").is_some();
    let mut command = Command::new(python);
    command
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("{}/v2/openapi.json", server.http.base))
        .args(["-H", &format!("Authorization: Bearer {KEY}")])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ])
        .args([
            "--max-examples",
            if soak { "200" } else { "10" },
            "--seed",
            "1",
            "--no-color",
            "--workers",
            "1",
        ])
        .args(["--phases", if soak { "examples,coverage,fuzzing,stateful" } else { "fuzzing,stateful" }])
        .args(["--request-timeout", "310"])
        // It leaves notes where it runs.
        .current_dir(dir.path());
    let output = command.output().expect("schemathesis");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("No issues found") || report.contains("passed"), "{report}");
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}
