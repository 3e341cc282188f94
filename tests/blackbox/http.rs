//! A small HTTP client for tests: a response is its status, headers and JSON.

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use std::time::Duration;

/// What a request without a key is told where every request needs one.
pub const NO_KEY: &str =
    "Unauthorized: Invalid token: no API key was sent; send it as `Authorization: Bearer <key>`";

#[derive(Clone)]
pub struct Http {
    client: Client,
    pub base: String,
    key: Option<String>,
}

#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    pub json: Value,
}

impl HttpResponse {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Asserts that the response is this error of the catalogue, in the error format.
    #[track_caller]
    pub fn expect_error(&self, status: u16, text: &str) -> &Self {
        assert_eq!((self.status, self.json["error"].as_str().unwrap_or(&self.text)), (status, text));
        assert_eq!(self.json["success"], false, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
        assert!(!self.header("x-request-id").is_empty());
        self
    }

    #[track_caller]
    pub fn expect_success(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.text);
        assert_eq!(self.json["success"], true, "{}", self.text);
        &self.json
    }
}

impl Http {
    pub fn new(base: &str, key: Option<&str>) -> Self {
        let client = Client::builder().timeout(Duration::from_mins(1)).no_proxy().build().expect("a client");
        Self { client, base: base.to_owned(), key: key.map(str::to_owned) }
    }

    /// The key that requests are sent with.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The same server, with another key or none.
    pub fn with_key(&self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    pub async fn send(&self, request: RequestBuilder) -> reqwest::Result<HttpResponse> {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await?;
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(HttpResponse { status, headers, text, json })
    }

    pub async fn get(&self, path: &str) -> reqwest::Result<HttpResponse> {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> reqwest::Result<HttpResponse> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn delete(&self, path: &str) -> reqwest::Result<HttpResponse> {
        self.send(self.request(Method::DELETE, path)).await
    }
}
