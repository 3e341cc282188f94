"""The few hosts that the suites of the clients read, on one loopback address: names, certificates and pages.

The suites ask for `https://docs.firecrawl.dev` and others by their real names. A name server on loopback gives all of them one
address of loopback, and a certificate authority made for this run vouches for them, so nothing of the clients is changed.
"""

import datetime
import http.server
import json
import socket
import socketserver
import ssl
import struct
import threading
import time
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ADDRESS = "127.77.0.1"
HOSTS = ["docs.firecrawl.dev", "firecrawl.dev", "www.firecrawl.dev", "github.com", "example.com", "en.wikipedia.org", "news.example.com"]
# A page takes as long as one on the web, or a crawl is over before a suite can see it run.
PAGE_SECONDS = 0.5
TOPICS = ["scrape", "crawl", "map", "search", "extract", "batch", "agent", "webhooks", "rate-limits", "errors"]
# A picture of one pixel.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)


def make_authority(folder: Path) -> tuple[Path, Path]:
    """Writes an authority's certificate, and the hosts' certificate with its key; returns both files."""
    now = datetime.datetime.now(datetime.timezone.utc)
    authority_key, host_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the client suites")])

    def builder(name, key):
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(authority_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=2))
        )

    authority = (
        builder(authority_name, authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    host = (
        builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOSTS[0])]), host_key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in HOSTS]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    authority_file, host_file = folder / "authority.pem", folder / "hosts.pem"
    authority_file.write_bytes(authority.public_bytes(pem))
    key = host_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    host_file.write_bytes(key + host.public_bytes(pem))
    return authority_file, host_file


def page(host: str, path: str) -> str:
    """A page with a title, text, links to the others and a picture."""
    topic = path.strip("/").title() or "Start"
    title, about, head = f"{topic} with Firecrawl", f"Firecrawl turns web pages into text for artificial intelligence. This page explains {topic}.", ""
    if host == "en.wikipedia.org":
        title, about = "Paris", "Paris is the capital of France. It lies on the Seine and has two million inhabitants."
    elif host == "news.example.com":
        day = datetime.date.today().isoformat()
        title, about = f"{topic}: what Firecrawl announced", "Firecrawl has announced new tools for artificial intelligence."
        news = {"@context": "https://schema.org", "@type": "NewsArticle", "headline": title, "datePublished": day}
        head = f'<meta property="og:type" content="article"><script type="application/ld+json">{json.dumps(news)}</script>'
    links = "".join(f'<li><a href="/{name}">{name} in detail</a></li>' for name in paths(host))
    return f"""<!doctype html><html lang="en"><head><title>{title} | {host}</title>{head}
<meta name="description" content="{about}"></head><body><nav><a href="/">Home</a></nav><main><article>
<h1>{title}</h1><img src="/firecrawl-logo.png" alt="The logo of Firecrawl, a flame over a page" width="600" height="400">
<p>{about} Whoever wants to know more about {title} finds the rest on the pages below, each with an example.</p>
<ul>{links}</ul></article></main><footer>{host}</footer></body></html>"""


def paths(host: str) -> list[str]:
    if host != "docs.firecrawl.dev":
        return ["about", "blog/first", "blog/second"]
    return [f"{part}{name}" for part in ("", "docs/", "blog/") for name in TOPICS]


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        host, path = self.headers.get("Host", "").split(":")[0], self.path.split("?")[0]
        if path.endswith(".png"):
            return self.answer(200, "image/png", PICTURE)
        if path == "/robots.txt":
            return self.answer(200, "text/plain", b"User-agent: *\nAllow: /\n")
        if path == "/sitemap.xml":
            listed = "".join(f"<url><loc>https://{host}/{name}</loc></url>" for name in paths(host))
            sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
            return self.answer(200, "application/xml", sitemap.encode())
        if path != "/" and path.strip("/") not in paths(host):
            return self.answer(404, "text/html", b"<title>Not found</title><h1>Not found</h1>")
        time.sleep(PAGE_SECONDS)
        self.answer(200, "text/html; charset=utf-8", page(host, path).encode())

    def do_POST(self):
        # Webhooks of the suites go to example.com.
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(200, "application/json", b"{}")

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve_pages(certificate: Path):
    """Serves all hosts on ports 80 and 443 of their address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    for port in (80, 443):
        server = http.server.ThreadingHTTPServer((ADDRESS, port), Pages)
        if port == 443:
            # The handshake belongs to the connection's own thread, or one idle client stops all others.
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        query, reply_to = self.request
        answer = resolve(query)
        if answer:
            reply_to.sendto(answer, self.client_address)


def resolve(query: bytes) -> bytes | None:
    """An answer to a DNS query of one question: the address of a known host, or that there is none."""
    at, labels = 12, []
    while at < len(query) and query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
        at += 1 + query[at]
    if at + 5 > len(query):
        return None
    question, kind = query[12 : at + 5], struct.unpack(">H", query[at + 1 : at + 3])[0]
    known = ".".join(labels).lower() in HOSTS
    flags, address = (0x8180 if known else 0x8183), b""
    if known and kind == 1:
        address = struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(ADDRESS)
    return query[:2] + struct.pack(">HHHHH", flags, 1, bool(address), 0, 0) + question + address


def serve_names() -> int:
    """Answers DNS queries on a free port of loopback; returns the port."""
    server = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Names)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
