"""What a user does around pages: requests, contexts, emulation, storage, workers."""

import json

from playwright.sync_api import Error, expect

CALLS = {}


def call(name):
    def add(function):
        CALLS[name] = function
        return function

    return add


def page_with(browser, site, **options):
    page = browser.new_context(**options).new_page()
    page.goto(f"{site}/")
    return page


@call("route.fulfill")
def _(browser, context, page, site):
    page.route("**/data.json", lambda route: route.fulfill(json={"birds": []}))
    page.goto(f"{site}/")
    assert page.evaluate("fetch('/data.json').then(r => r.json())") == {"birds": []}


@call("route.abort and unroute")
def _(browser, context, page, site):
    page.route("**/*.svg", lambda route: route.abort())
    page.goto(f"{site}/")
    picture = page.get_by_alt_text("A gannet in flight")
    assert picture.evaluate("node => node.naturalWidth") == 0
    page.unroute("**/*.svg")
    page.reload()
    assert picture.evaluate("node => node.naturalWidth") == 40


@call("route.continue_ with other headers")
def _(browser, context, page, site):
    page.route("**/echo", lambda route: route.continue_(headers={**route.request.headers, "x-own": "1"}))
    page.goto(f"{site}/")
    assert page.evaluate("fetch('/echo').then(r => r.json())")["headers"]["x-own"] == "1"


@call("route.fetch")
def _(browser, context, page, site):
    def change(route):
        response = route.fetch()
        route.fulfill(response=response, body=response.text().replace("1999", "1899"))

    page.route("**/about", change)
    page.goto(f"{site}/about")
    expect(page.locator("p")).to_contain_text("1899")


@call("expect_request, expect_response")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    with page.expect_request("**/data.json") as request, page.expect_response("**/data.json") as response:
        page.evaluate("() => { fetch('/data.json') }")
    assert request.value.resource_type == "fetch" and response.value.json()["birds"] == ["gannet", "tern"]


@call("response.all_headers, body")
def _(browser, context, page, site):
    response = page.goto(f"{site}/cookie")
    assert "visit=1" in response.all_headers()["set-cookie"] and b"Cookie" in response.body()


@call("failed requests")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    page.route("**/gone", lambda route: route.abort("connectionrefused"))
    with page.expect_event("requestfailed") as failed:
        page.evaluate("() => { fetch('/gone').catch(() => {}) }")
    assert "ERR_CONNECTION_REFUSED" in failed.value.failure


@call("set_extra_http_headers")
def _(browser, context, page, site):
    context.set_extra_http_headers({"x-bird": "gannet"})
    page.goto(f"{site}/echo")
    assert json.loads(page.inner_text("body"))["headers"]["x-bird"] == "gannet"


@call("http_credentials")
def _(browser, context, page, site):
    own = browser.new_context(http_credentials={"username": "ann", "password": "secret"})
    second = own.new_page()
    second.goto(f"{site}/login")
    assert second.title() == "Welcome"
    own.close()


@call("set_offline")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    context.set_offline(True)
    try:
        page.goto(f"{site}/about")
        raise AssertionError("it is online")
    except Error as error:
        assert "ERR_INTERNET_DISCONNECTED" in str(error)


@call("WebSocket events")
def _(browser, context, page, site):
    with page.expect_websocket() as socket:
        page.goto(f"{site}/socket-page")
    expect(page.locator("#out")).to_have_text("echo hello")
    assert socket.value.url.endswith("/socket")


@call("route_web_socket")
def _(browser, context, page, site):
    page.route_web_socket("**/socket", lambda socket: socket.on_message(lambda text: socket.send(f"mock {text}")))
    page.goto(f"{site}/socket-page")
    expect(page.locator("#out")).to_have_text("mock hello")


@call("downloads")
def _(browser, context, page, site):
    page.goto(f"{site}/download")
    with page.expect_download() as download:
        page.locator("#get").click()
    assert download.value.suggested_filename == "birds.txt" and download.value.failure() is None


@call("page.request")
def _(browser, context, page, site):
    page.goto(f"{site}/cookie")
    assert "visit=1" in page.request.get(f"{site}/echo").json()["headers"]["cookie"]


@call("new_cdp_session")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    session = context.new_cdp_session(page)
    answer = session.send("Runtime.evaluate", {"expression": "document.title"})
    assert answer["result"]["value"] == "Bird Shop"


@call("contexts share nothing")
def _(browser, context, page, site):
    page.goto(f"{site}/cookie")
    other = browser.new_context()
    assert (len(context.cookies()), len(other.cookies())) == (1, 0)
    other.close()


@call("add_cookies, clear_cookies")
def _(browser, context, page, site):
    context.add_cookies([{"name": "a", "value": "1", "url": site}, {"name": "b", "value": "2", "url": site}])
    page.goto(f"{site}/")
    assert page.evaluate("document.cookie") == "a=1; b=2"
    context.clear_cookies(name="a")
    assert [one["name"] for one in context.cookies(site)] == ["b"]


@call("storage_state")
def _(browser, context, page, site):
    page.goto(f"{site}/cookie")
    page.evaluate("localStorage.setItem('cart', '3')")
    later = page_with(browser, site, storage_state=context.storage_state())
    assert later.evaluate("[document.cookie, localStorage.cart]") == ["visit=1", "3"]
    later.context.close()


@call("viewport and device scale")
def _(browser, context, page, site):
    own = page_with(browser, site, viewport={"width": 400, "height": 300}, device_scale_factor=2)
    assert own.evaluate("[innerWidth, innerHeight, devicePixelRatio]") == [400, 300, 2]
    own.set_viewport_size({"width": 500, "height": 400})
    assert own.evaluate("innerWidth") == 500
    own.context.close()


@call("locale, time zone, user agent")
def _(browser, context, page, site):
    own = page_with(browser, site, locale="de-DE", timezone_id="Asia/Tokyo", user_agent="Bird/1.0")
    seen = own.evaluate("[navigator.language, new Date(0).getHours(), navigator.userAgent]")
    assert seen == ["de-DE", 9, "Bird/1.0"], seen
    own.context.close()


@call("geolocation")
def _(browser, context, page, site):
    own = page_with(browser, site, geolocation={"latitude": 47.5, "longitude": 19}, permissions=["geolocation"])
    asked = "new Promise((done, no) => navigator.geolocation.getCurrentPosition(p => done(p.coords.latitude), no))"
    assert own.evaluate(asked) == 47.5
    own.context.close()


@call("emulate_media")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("matchMedia('print').matches && matchMedia('(prefers-color-scheme: dark)').matches")


@call("workers")
def _(browser, context, page, site):
    with page.expect_worker() as worker:
        page.goto(f"{site}/worker")
    assert worker.value.evaluate("self.twice(21)") == 42


@call("tracing")
def _(browser, context, page, site):
    context.tracing.start(screenshots=True, snapshots=True)
    page.goto(f"{site}/")
    context.tracing.stop()


@call("the default context")
def _(browser, context, page, site):
    first = browser.contexts[0].pages[0]
    first.goto(f"{site}/")
    first.locator("#buy").click()
    expect(first.locator("#out")).to_have_text("bought 1")
