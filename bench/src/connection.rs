//! HTTP/1.1 over a kept connection, blocking for one request after another and asynchronous for a load of many, with
//! as little CPU time as possible. Reads no chunked bodies and follows no redirects.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BUFFER_BYTES: usize = 1 << 16;

/// A blocking connection.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<TcpStream>,
    address: String,
    body: Vec<u8>,
}

impl Connection {
    pub fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let reader = BufReader::with_capacity(BUFFER_BYTES, stream);
        Ok(Self { reader, address: address.to_owned(), body: Vec::new() })
    }

    /// Sends a request; returns the body of its response, an error for any status but 200.
    pub fn send(&mut self, request: &str) -> Result<&[u8]> {
        self.reader.get_mut().write_all(request.as_bytes())?;
        let (mut length, mut line) = (None, String::new());
        self.reader.read_line(&mut line)?;
        let status = line.trim().to_owned();
        loop {
            line.clear();
            ensure!(self.reader.read_line(&mut line)? > 0, "the server closed the connection");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = Some(value.trim().parse()?);
            }
        }
        self.body.resize(length.with_context(|| format!("no length: {status}"))?, 0);
        self.reader.read_exact(&mut self.body)?;
        let success = status.starts_with("HTTP/1.1 200");
        ensure!(success, "answered {status}: {}", String::from_utf8_lossy(&self.body));
        Ok(&self.body)
    }

    pub fn get(&mut self, path: &str) -> Result<&[u8]> {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }

    /// A request with a key, and with JSON both ways.
    pub fn send_json(&mut self, key: &str, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        Ok(serde_json::from_slice(self.send(&request)?)?)
    }
}

/// A connection of a load.
#[derive(Debug)]
pub struct LoadConnection {
    stream: tokio::net::TcpStream,
    buffer: Vec<u8>,
}

/// A response as the load reads it.
#[derive(Debug)]
pub struct LoadResponse<'a> {
    /// The status line and the other lines before the body.
    pub head: &'a str,
    pub body: &'a [u8],
}

impl LoadConnection {
    pub async fn open(address: &str) -> Result<Self> {
        let stream = tokio::net::TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(BUFFER_BYTES) })
    }

    /// Sends a request; returns its response whatever its status.
    pub async fn send(&mut self, request: &[u8]) -> Result<LoadResponse<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (head, length) = loop {
            self.read_more().await?;
            let Some(head) = self.buffer.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
            let mut lines = std::str::from_utf8(&self.buffer[..head])?.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: ")).context("no length")?;
            break (head, length.parse::<usize>()?);
        };
        while self.buffer.len() < head + 4 + length {
            self.read_more().await?;
        }
        let body = &self.buffer[head + 4..];
        Ok(LoadResponse { head: std::str::from_utf8(&self.buffer[..head])?, body })
    }

    async fn read_more(&mut self) -> Result<()> {
        ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server closed the connection");
        Ok(())
    }
}
