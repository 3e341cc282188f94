//! A maze on a port of its own, which counts what it is asked for.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use testkit::site_maze::Maze;
use tokio::net::TcpListener;

pub struct MazeSite {
    pub maze: Arc<Maze>,
    pub base: String,
    asked: Arc<Mutex<HashMap<String, u64>>>,
}

impl MazeSite {
    pub async fn open(seed: u64, size: usize) -> Self {
        let maze = Arc::new(Maze::new(seed, size));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
        let turn = Arc::new(AtomicU64::new(0));
        let (site, own, counted) = (maze.clone(), base.clone(), asked.clone());
        let router = Router::new().fallback(move |request: Request| {
            let (site, own, counted, turn) = (site.clone(), own.clone(), counted.clone(), turn.clone());
            async move {
                let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
                *counted.lock().unwrap().entry(Maze::page_of(&path)).or_default() += 1;
                answer(&site, &path, &own, turn.fetch_add(1, Ordering::Relaxed))
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { maze, base, asked }
    }

    /// How often a page was asked for.
    pub fn asked(&self, page: &str) -> u64 {
        self.asked.lock().unwrap().get(page).copied().unwrap_or(0)
    }
}

fn answer(maze: &Maze, path: &str, base: &str, turn: u64) -> Response {
    let answer = maze.answer(path, base, turn);
    let mut response = (StatusCode::from_u16(answer.status).unwrap(), answer.body).into_response();
    for (name, value) in answer.headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    response
}
