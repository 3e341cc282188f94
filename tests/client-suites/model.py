"""A stand-in for a language model, in the form of OpenAI's API: it fills whatever schema it is asked for."""

import http.server
import json
import threading

SUMMARY = "The page explains how Firecrawl turns web pages into markdown for programs that use language models."
# What the suites want to find in the parameters of a crawl that was asked for in words.
CRAWL_PATHS = ["blog/.*", "docs/.*"]


def fill(schema: dict, name: str = ""):
    """A value that fits the schema."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for several in ("anyOf", "oneOf"):
        if schema.get(several):
            return fill(schema[several][0], name)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return {key: fill(value, key) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        if name == "includePaths":
            return CRAWL_PATHS
        return [fill(schema.get("items", {}), name)]
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), 1)
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    return "https://docs.firecrawl.dev/" if schema.get("format") == "uri" or "url" in name.lower() else "Firecrawl"


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "stand-in", "object": "model"}]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = (request.get("response_format") or {}).get("json_schema", {}).get("schema")
        message = {"role": "assistant", "content": json.dumps(fill(wanted)) if wanted else SUMMARY}
        if request.get("tools") and not wanted:
            message = {"role": "assistant", "content": None, "tool_calls": [self.next_call(request)]}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        if request.get("stream"):
            return self.stream(message, usage)
        self.answer({"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})

    def next_call(self, request):
        """An agent's next step: reads a page, then says what it has found."""
        tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in request["tools"]}
        has_read = any(message["role"] == "tool" for message in request["messages"])
        if has_read and "finish" in tools:
            name, arguments = "finish", {"data": {"title": "Start with Firecrawl"}}
        else:
            name = "scrape" if "scrape" in tools else next(iter(tools))
            arguments = fill(tools[name])
        return {"index": 0, "id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}

    def stream(self, message, usage):
        parts = [
            {"id": "1", "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
        ]
        body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
        self.answer(body.encode(), "text/event-stream")

    def answer(self, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def serve_model() -> str:
    """Serves the stand-in on a free port of loopback; returns its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
