//! Opens tunnels through proxies: `CONNECT` for http(s) proxies, and SOCKS5. The host is sent as it was
//! requested, so the proxy resolves names. Everything read here is bounded.

use crate::error::FetchError;
use crate::guard::Destination;
use crate::route::Proxy;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use url::Host;

/// The longest response to `CONNECT` that is read.
const MAX_RESPONSE_BYTES: usize = 16 * 1024;

fn proxy_io_error(error: &std::io::Error) -> FetchError {
    FetchError::Proxy(error.to_string())
}

/// Opens a tunnel to `destination` through an HTTP proxy.
pub(super) async fn connect_http<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    proxy: &Proxy,
    destination: &Destination,
) -> Result<(), FetchError> {
    let authority = destination.authority();
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(authorization) = proxy.authorization() {
        request.push_str("Proxy-Authorization: ");
        request.push_str(authorization.to_str().unwrap_or_default());
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| proxy_io_error(&error))?;
    stream.flush().await.map_err(|error| proxy_io_error(&error))?;
    let mut response = Vec::new();
    // Byte by byte, so that nothing of the tunnelled stream is consumed; it is one short response.
    while !response.ends_with(b"\r\n\r\n") {
        if response.len() >= MAX_RESPONSE_BYTES {
            return Err(FetchError::Proxy("its response to CONNECT is too long".into()));
        }
        response.push(stream.read_u8().await.map_err(|error| proxy_io_error(&error))?);
    }
    let line = String::from_utf8_lossy(response.split(|byte| *byte == b'\r').next().unwrap_or_default());
    let mut words = line.split(' ');
    let http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    match words.next().and_then(|status| status.parse::<u16>().ok()) {
        Some(200..=299) if http => Ok(()),
        Some(407) if http => Err(FetchError::Proxy("it requires a user name and password".into())),
        _ => Err(FetchError::Proxy(format!("it responded {:?}", &line[..line.floor_char_boundary(100)]))),
    }
}

/// Opens a tunnel to `destination` through a SOCKS5 proxy (RFC 1928, logins RFC 1929).
pub(super) async fn connect_socks5<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    proxy: &Proxy,
    destination: &Destination,
) -> Result<(), FetchError> {
    const LOGIN: u8 = 2;
    let offer: &[u8] = if proxy.login.is_some() { &[5, 2, 0, LOGIN] } else { &[5, 1, 0] };
    send(stream, offer).await?;
    let mut choice = [0; 2];
    stream.read_exact(&mut choice).await.map_err(|error| proxy_io_error(&error))?;
    match (choice, &proxy.login) {
        ([5, 0], _) => {}
        ([5, LOGIN], Some((user, password))) => {
            let mut login = vec![1];
            for part in [user, password] {
                // `Proxy` holds no part longer than 255 bytes.
                login.push(u8::try_from(part.len()).unwrap_or(u8::MAX));
                login.extend_from_slice(part.as_bytes());
            }
            send(stream, &login).await?;
            let mut status = [0; 2];
            stream.read_exact(&mut status).await.map_err(|error| proxy_io_error(&error))?;
            if status[1] != 0 {
                return Err(FetchError::Proxy("it rejected the user name and password".into()));
            }
        }
        ([5, _], _) => return Err(FetchError::Proxy("it supports no login method that we know".into())),
        _ => return Err(FetchError::Proxy("it does not speak SOCKS5".into())),
    }
    let mut connect = vec![5, 1, 0];
    match &destination.host {
        Host::Ipv4(address) => {
            connect.push(1);
            connect.extend_from_slice(&address.octets());
        }
        Host::Ipv6(address) => {
            connect.push(4);
            connect.extend_from_slice(&address.octets());
        }
        Host::Domain(name) => {
            let Ok(length) = u8::try_from(name.len()) else {
                return Err(FetchError::Proxy("the host name is too long for SOCKS5".into()));
            };
            connect.extend_from_slice(&[3, length]);
            connect.extend_from_slice(name.as_bytes());
        }
    }
    connect.extend_from_slice(&destination.port.to_be_bytes());
    send(stream, &connect).await?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.map_err(|error| proxy_io_error(&error))?;
    if head[0] != 5 || head[1] != 0 {
        return Err(FetchError::Proxy(format!("it could not connect (code {})", head[1])));
    }
    let address_length = match head[3] {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await.map_err(|error| proxy_io_error(&error))?),
        _ => return Err(FetchError::Proxy("it does not speak SOCKS5".into())),
    };
    let mut bound = vec![0; address_length + 2];
    stream.read_exact(&mut bound).await.map_err(|error| proxy_io_error(&error))?;
    Ok(())
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> Result<(), FetchError> {
    stream.write_all(bytes).await.map_err(|error| proxy_io_error(&error))?;
    stream.flush().await.map_err(|error| proxy_io_error(&error))
}
