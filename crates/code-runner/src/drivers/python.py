# The Python process of a session. It answers cells one after another: requests arrive on descriptor 4 and responses
# leave on descriptor 5, both as JSON with a NUL after each. Descriptor 3 is the browser.
import ast
import asyncio
import base64
import inspect
import json
import os
import sys
import traceback

CDP, REQUESTS, RESPONSES = 3, 4, 5
MAX_RESULT_CHARACTERS = 1 << 20
FILE_NAME = "<cell>"
# Answered inside the Node process that Playwright starts, see python_cdp.cjs.
BROWSER_ADDRESS = "ws://127.0.0.1:9/"


async def connect(cells):
    from playwright.async_api import async_playwright

    original = asyncio.create_subprocess_exec

    def with_browser(*arguments, **options):
        return original(*arguments, **options, pass_fds=(CDP,))

    asyncio.create_subprocess_exec = with_browser
    try:
        playwright = await async_playwright().start()
    finally:
        asyncio.create_subprocess_exec = original
        os.environ.pop("NODE_OPTIONS", None)
        os.close(CDP)
    browser = await playwright.chromium.connect_over_cdp(BROWSER_ADDRESS)
    context = browser.contexts[0] if browser.contexts else await browser.new_context()
    page = context.pages[0] if context.pages else await context.new_page()
    cells.update(playwright=playwright, browser=browser, context=context, page=page)


async def refresh_page(cells):
    """A page that was closed is replaced by the newest one that is open."""
    page, context = cells.get("page"), cells.get("context")
    if hasattr(page, "is_closed") and page.is_closed() and cells["browser"].is_connected():
        cells["page"] = context.pages[-1] if context.pages else await context.new_page()


def to_text(value):
    """A value as text: strings as they are, bytes in base64, the rest as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


async def run_part(tree, mode, cells):
    code = compile(tree, FILE_NAME, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    value = eval(code, cells)
    if code.co_flags & inspect.CO_COROUTINE:
        value = await value
    return value


async def run_cell(code, cells):
    tree = compile(code, FILE_NAME, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    await run_part(tree, "exec", cells)
    if last is None:
        return None
    value = await run_part(ast.Expression(last.value), "eval", cells)
    if inspect.iscoroutine(value):
        value = await value
    return to_text(value)


def show_error():
    kind, error, trace = sys.exc_info()
    # Only the frames of the user's own code.
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE_NAME:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def respond(response):
    data = json.dumps(response).encode() + b"\0"
    while data:
        data = data[os.write(RESPONSES, data):]


async def answer(request, cells):
    result, exit_code = None, 0
    try:
        await refresh_page(cells)
        result = await run_cell(request["code"], cells)
    except (Exception, asyncio.CancelledError, KeyboardInterrupt):
        show_error()
        exit_code = 1
    truncated = result is not None and len(result) > MAX_RESULT_CHARACTERS
    sys.stdout.flush()
    sys.stderr.flush()
    text = result[:MAX_RESULT_CHARACTERS] if truncated else result
    respond({"result": text, "truncated": truncated, "exit_code": exit_code})


async def serve():
    cells = {"__name__": "__main__", "__builtins__": __builtins__, "asyncio": asyncio}
    try:
        await connect(cells)
    except Exception as error:
        respond({"ready": False, "error": str(error)})
        sys.exit(1)
    respond({"ready": True})
    reader = asyncio.StreamReader(limit=1 << 24)
    requests = os.fdopen(REQUESTS, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), requests)
    while True:
        try:
            text = await reader.readuntil(b"\0")
        except asyncio.IncompleteReadError:
            return
        await answer(json.loads(text[:-1]), cells)


asyncio.run(serve())
