//! An address that is known before the server behind it starts, as that of a proxy is.

use super::Server;
use tokio::net::{TcpListener, TcpStream};

pub struct PublicAddress {
    listener: TcpListener,
    /// For the setting `public_url`.
    pub base: String,
}

impl PublicAddress {
    pub async fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        Self { listener, base }
    }

    /// Passes every connection on to a server, until the test ends.
    pub fn lead_to(self, server: &Server) {
        let to = server.http.base.strip_prefix("http://").unwrap().to_owned();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = self.listener.accept().await {
                let to = to.clone();
                tokio::spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(to).await {
                        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
    }
}
