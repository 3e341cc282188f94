"""Verifies a signed request, and the signed directory that holds its key, as a site would.

Reads JSON from standard input: the signed headers of the request with its authority, and the directory with
its headers and authority. Exits with a traceback where anything is wrong."""
import base64
import hashlib
import json
import re
import sys
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def parts(headers):
    label, parameters = headers["signature-input"].split("=", 1)
    components = re.findall(r'"([^"]+)"(;req)?', parameters[: parameters.index(")")])
    values = dict(re.findall(r';([a-z]+)=(?:"([^"]*)")', parameters[parameters.index(")") :]))
    numbers = dict(re.findall(r";([a-z]+)=([0-9]+)", parameters))
    signature = re.fullmatch(label + "=:(.+):", headers["signature"]).group(1)
    return components, parameters, values, {name: int(value) for name, value in numbers.items()}, signature


def verify(message, key, tag):
    components, parameters, values, numbers, signature = parts(message["headers"])
    lines = []
    for name, request in components:
        value = message["authority"] if name == "@authority" else message["headers"][name]
        lines.append(f'"{name}"{request}: {value}')
    lines.append(f'"@signature-params": {parameters}')
    Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature), "\n".join(lines).encode())
    assert values["tag"] == tag, values
    assert numbers["created"] <= time.time() + 5 and numbers["expires"] > time.time(), numbers
    return [name for name, _ in components], values


sent = json.load(sys.stdin)
directory = json.loads(sent["directory"]["body"])
(jwk,) = directory["keys"]
key = unpadded(jwk["x"])
canonical = json.dumps({"crv": jwk["crv"], "kty": jwk["kty"], "x": jwk["x"]}, separators=(",", ":"))
thumbprint = base64.urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).rstrip(b"=").decode()
names, values = verify(sent["directory"], key, "http-message-signatures-directory")
assert names == ["@authority", "content-digest"] and values["keyid"] == thumbprint == jwk["kid"]
digest = base64.b64encode(hashlib.sha256(sent["directory"]["body"].encode()).digest()).decode()
assert sent["directory"]["headers"]["content-digest"] == f"sha-256=:{digest}:"
nonces = set()
for request in sent["requests"]:
    names, values = verify(request, key, "web-bot-auth")
    assert names == ["@authority", "signature-agent"] and values["keyid"] == thumbprint, (names, values)
    assert request["headers"]["signature-agent"] == sent["agent"]
    nonces.add(values["nonce"])
assert len(nonces) == len(sent["requests"]), "a nonce is used once"
print("verified", len(nonces))
