//! A small web site: pages from `pages/`, and a few addresses with a behaviour of their own.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub struct Site {
    address: SocketAddr,
}

impl Site {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        Self { address }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same site under a name that is another site to a browser.
    pub fn other_url(&self, path: &str) -> String {
        format!("http://other.test:{}{path}", self.address.port())
    }
}

async fn serve(mut stream: TcpStream) {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(length @ 1..) => head.extend_from_slice(&chunk[..length]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or("/").to_owned();
    let path = target.split('?').next().unwrap_or("/");
    let html = "text/html; charset=utf-8";
    let (status, more, kind, body) = match path {
        "/never" => {
            tokio::time::sleep(Duration::from_mins(10)).await;
            return;
        }
        "/login" if head.to_lowercase().contains("authorization: basic ywrtaw46c2vjcmv0") => {
            ("200 OK", "", html, "<title>In</title><h1>Welcome admin</h1>".to_owned())
        }
        "/login" => ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", html, "no".to_owned()),
        "/headers" => ("200 OK", "", "text/plain", head.clone()),
        "/api/data.json" => ("200 OK", "", "application/json", "{\"from\":\"server\"}".to_owned()),
        "/report.csv" => (
            "200 OK",
            "Content-Disposition: attachment; filename=report.csv\r\n",
            "text/csv",
            "a,b\n1,2\n".to_owned(),
        ),
        "/echo" => (
            "200 OK",
            "",
            html,
            format!("<title>Echo</title><h1>Sent</h1><p id=sent>{}</p>", target.replace('&', "&amp;")),
        ),
        "/frames.html" => {
            let host = head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default();
            let port = host.rsplit(':').next().unwrap_or_default();
            ("200 OK", "", html, page("frames.html").unwrap().replace("PORT", port))
        }
        _ => match page(path.trim_start_matches('/')) {
            Some(body) => ("200 OK", "", html, body),
            None => ("404 Not Found", "", html, "<title>Missing</title><h1>Not found</h1>".to_owned()),
        },
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn page(name: &str) -> Option<String> {
    let name = if name.is_empty() { "shop.html" } else { name };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/pages");
    if name.contains("..") {
        return None;
    }
    std::fs::read_to_string(format!("{folder}/{name}")).ok()
}
