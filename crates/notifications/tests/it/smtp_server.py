"""A mail server for tests: aiosmtpd with STARTTLS or TLS, logins, greylisting and refusals.

Prints its port, then one line of JSON for each mail that it took. Arguments: the mode, and a certificate with its key.
Recipients that begin with `grey` are refused with 451 the first time, with `refused` always with 550, with `full` with
452; a mail to `spam` is refused with 554 after it was sent.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

mode, certificate, key = sys.argv[1:4]
seen = set()


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("grey") and address not in seen:
            seen.add(address)
            return "451 4.7.1 Greylisted, try again later"
        if address.startswith("full"):
            return "452 4.2.2 The mailbox is full"
        if address.startswith("refused"):
            return "550 5.1.1 No such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if any(address.startswith("spam") for address in envelope.rcpt_tos):
            return "554 5.7.1 This looks like spam"
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": server.transport.get_extra_info("ssl_object") is not None,
            "login": session.auth_data if session.authenticated else None,
            "data": envelope.content.decode("ascii"),
        }
        print(json.dumps(mail), flush=True)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.login == b"me@a.example" and data.password == b"pass word"
    return AuthResult(success=good, handled=False, auth_data=data.login.decode() if good else None)


def connection(context):
    starttls = mode.startswith("starttls")
    return SMTP(
        Handler(),
        hostname="mail.test",
        tls_context=context if starttls else None,
        require_starttls=starttls,
        authenticator=authenticate,
        auth_require_tls=starttls,
        auth_required="auth" in mode,
        auth_exclude_mechanism=["PLAIN"] if "login" in mode else None,
        timeout=20,
    )


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    implicit = context if mode.startswith("tls") else None
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: connection(context), "127.0.0.1", 0, ssl=implicit)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        # Ends with the test, whose end of the pipe closes.
        await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
