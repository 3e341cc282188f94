//! Serves a generated site on a port of its own, and counts requests.

use crate::site_server::new_listener;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use testkit::generated_site::GeneratedSite;

pub struct GeneratedSiteServer {
    pub site: Arc<GeneratedSite>,
    pub base: String,
    hits: Arc<Mutex<HashMap<String, u64>>>,
}

impl GeneratedSiteServer {
    pub fn open(seed: u64, size: usize) -> Self {
        let site = Arc::new(GeneratedSite::new(seed, size));
        let listener = new_listener();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let hits: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
        let requests = Arc::new(AtomicU64::new(0));
        let (served, own_base, counted) = (site.clone(), base.clone(), hits.clone());
        let router = Router::new().fallback(move |request: Request| {
            let (served, own_base) = (served.clone(), own_base.clone());
            let (counted, requests) = (counted.clone(), requests.clone());
            async move {
                let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
                *counted.lock().unwrap().entry(GeneratedSite::canonical_path(&path)).or_default() += 1;
                respond(&served, &path, &own_base, requests.fetch_add(1, Ordering::Relaxed))
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { site, base, hits }
    }

    /// How often a page was requested.
    pub fn hits(&self, page: &str) -> u64 {
        self.hits.lock().unwrap().get(page).copied().unwrap_or(0)
    }
}

fn respond(site: &GeneratedSite, path: &str, base: &str, request_number: u64) -> Response {
    let planned = site.response(path, base, request_number);
    let mut response = (StatusCode::from_u16(planned.status).unwrap(), planned.body).into_response();
    for (name, value) in planned.headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    response
}
