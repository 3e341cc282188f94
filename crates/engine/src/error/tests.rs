use super::*;
use crate::allowed_urls::AddressRule;
use crate::wall::{LadderStep, Rung};
use content::verdict::{PageVerdict, VerdictEvidence, VerdictKind};
use serde_json::json;
use std::time::Duration;

fn body(error: &Error) -> Value {
    serde_json::to_value(error.to_wire().body()).unwrap()
}

fn fetch_timeout(phase: Phase) -> Error {
    Error::Fetch(FetchError::Timeout { phase, after: Duration::from_secs(1) })
}

fn connect() -> FetchError {
    FetchError::Connect { to: "a.test:443".into(), detail: "refused".into() }
}

#[test]
fn callers_see_the_catalogue_and_what_explains_it() {
    let step = LadderStep { rung: Rung::Http, reason: "first", outcome: "a captcha".into(), ms: 7 };
    let evidence = vec![VerdictEvidence { sign: "phrase", detail: "verify you are human".into() }];
    let verdict = PageVerdict { kind: VerdictKind::Captcha, evidence };
    let retry_after = Some(Duration::from_secs(7));
    let wall = Error::Wall(Box::new(Wall {
        verdict,
        status: 429,
        retry_after,
        steps: vec![step],
        lacks_browser: false,
        ends_safe_mode: false,
    }));
    let wire = wall.to_wire();
    assert_eq!((wire.status(), wire.retry_after), (500, None));
    assert!(wire.text().ends_with(": the site answered with a captcha"), "{}", wire.text());
    let details = json!({
        "verdict": "captcha",
        "evidence": [{ "sign": "phrase", "detail": "verify you are human" }],
        "statusCode": 429,
        "ladder": [{ "rung": "http", "reason": "first", "outcome": "a captcha", "ms": 7 }],
    });
    assert_eq!(
        (&body(&wall)["details"], &body(&wall)["code"]),
        (&details, &json!("SCRAPE_ALL_ENGINES_FAILED"))
    );

    let refused = RefusedUrl { url: "http://b.test/".into(), rule: AddressRule::StrictUrls };
    let refused = Error::RefusedUrl(refused);
    assert_eq!(
        body(&refused)["details"],
        json!({ "refused": "http://b.test/", "rule": "strictConstrainToURLs" })
    );
    assert_eq!(refused.refused_url(), Some("http://b.test/"));
    assert_eq!(body(&Error::Fetch(connect()))["details"], json!({ "mayPass": true }));

    let timeout = Error::Timeout { phase: "reading the page", resumes_in: Some(5) };
    let details =
        json!({ "while": "reading the page", "state": "processing_continues", "retryAfterSeconds": 5 });
    assert_eq!((timeout.to_wire().status(), &body(&timeout)["details"]), (408, &details));

    let store = Error::Store(Arc::new(StoreError::Unavailable("connection reset".into())));
    assert_eq!((store.to_wire().status(), store.to_wire().retry_after), (503, Some(1)));
    assert!(
        !body(&store).to_string().contains("connection reset"),
        "callers are told nothing about the database"
    );
    let internal = Error::internal("a secret cause");
    assert_eq!(
        body(&internal),
        json!({ "success": false, "error": "Internal Server Error", "code": "INTERNAL_ERROR" })
    );
}

#[test]
fn the_cause_is_kept() {
    let error = Error::Fetch(connect());
    assert_eq!(error.source().unwrap().to_string(), connect().to_string());
    let io = std::io::Error::other("the disk is gone");
    assert_eq!(Error::internal(io).source().unwrap().to_string(), "the disk is gone");
}

#[test]
fn only_what_may_pass_is_tried_again() {
    let transient = [
        Error::Fetch(connect()),
        Error::Fetch(FetchError::Incomplete("cut".into())),
        Error::Fetch(FetchError::CutOff("cut".into())),
        Error::Fetch(FetchError::NameNotFound { host: "a.test".into(), detail: String::new() }),
        fetch_timeout(Phase::Connect),
        fetch_timeout(Phase::Room),
        Error::Visit(VisitError::Busy),
        Error::timeout("waiting for the page"),
        Error::NoMemory,
        Error::Store(Arc::new(StoreError::Objects("away".into()))),
        Kind::Unavailable.into(),
    ];
    for error in transient {
        assert!(error.is_transient(), "{error}");
    }
    let lasting = [
        Error::Fetch(FetchError::BadProtocol("nonsense".into())),
        Error::Visit(VisitError::RendererCrashed),
        Error::SiteStatus(500),
        Error::Store(Arc::new(StoreError::Database("syntax".into()))),
        Error::internal("a bug"),
        Kind::InvalidUrl.into(),
    ];
    for error in lasting {
        assert!(!error.is_transient(), "{error}");
    }
    assert!(fetch_timeout(Phase::Room).is_unavailable() && !fetch_timeout(Phase::Body).is_unavailable());
    assert!(Error::Model(ChatError::Timeout).is_own_fault() && !Error::NoText.is_own_fault());
}

#[test]
fn a_stored_error_is_told_again_in_the_same_words() {
    let invalid = Error::invalid(&[Issue::at("urls.0", "is no address", "invalid_value")]);
    let text = serde_json::to_string(&StoredError::new(&invalid)).unwrap();
    let again = Error::Stored(serde_json::from_str(&text).unwrap());
    assert_eq!(body(&again), body(&invalid));
    let unknown = json!({ "code": "OfALaterVersion", "error": "so it was" });
    let unknown = Error::Stored(serde_json::from_value(unknown).unwrap());
    assert_eq!((unknown.to_wire().status(), unknown.text().as_str()), (500, "so it was"));
}

#[test]
fn errors_inside_a_field_are_named_from_outside() {
    let outer =
        Error::invalid(&[Issue::at("waitFor", "must be at least 0", "too_small")]).within("scrapeOptions");
    assert_eq!(outer.text(), "Bad Request: scrapeOptions.waitFor: must be at least 0");
    assert_eq!(body(&outer)["details"][0]["path"], json!(["scrapeOptions", "waitFor"]));
}
