"""What a user does in a page: find, press, type, read, look. `CALLS`: name → function that fails if the user would not see what
the call promises."""

import re

from playwright.sync_api import expect

CALLS = {}


def call(name):
    def add(function):
        CALLS[name] = function
        return function

    return add


def data(page, kind):
    return page.locator("#log").get_attribute(f"data-{kind}")


@call("page.goto, title, url")
def _(browser, context, page, site):
    response = page.goto(f"{site}/redirect")
    assert (response.status, page.url, page.title()) == (200, f"{site}/about", "About us")


@call("page.go_back, go_forward, reload")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    page.goto(f"{site}/about")
    page.go_back()
    assert page.title() == "Bird Shop"
    page.go_forward()
    page.reload()
    assert page.title() == "About us"


@call("locator.click")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    page.locator("#buy").click()
    page.get_by_role("button", name="Buy now").click(click_count=2)
    expect(page.locator("#out")).to_have_text("bought 3")


@call("locator.dblclick")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.locator("#name").dblclick()
    assert data(page, "dblclick") == "name"


@call("click with the right button and a modifier")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.locator("#name").click(button="right", modifiers=["Shift"], position={"x": 3, "y": 3})
    assert data(page, "contextmenu") == "name"


@call("locator.hover")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.locator("#notes").hover()
    assert data(page, "mouseover") == "notes"


@call("locator.fill, input_value")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.get_by_label("Name").fill("Ann Ö 漢")
    assert page.get_by_placeholder("Your name").input_value() == "Ann Ö 漢"


@call("locator.clear")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.locator("#name").fill("x")
    page.locator("#name").clear()
    expect(page.locator("#name")).to_be_empty()


@call("locator.press_sequentially and press")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.locator("#name").press_sequentially("tern")
    page.locator("#name").press("Home")
    assert data(page, "keydown") == "Home"


@call("page.keyboard")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.locator("#name").focus()
    page.keyboard.type("some text")
    page.keyboard.press("Control+A")
    page.keyboard.down("Shift")
    page.keyboard.press("KeyA")
    page.keyboard.up("Shift")
    page.keyboard.insert_text("ß")
    assert page.locator("#name").input_value() == "Aß"


@call("page.mouse")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    box = page.locator("#buy").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    page.mouse.up()
    page.mouse.click(box["x"] + 4, box["y"] + 4)
    expect(page.locator("#out")).to_have_text("bought 2")


@call("page.mouse.wheel")
def _(browser, context, page, site):
    page.goto(f"{site}/tall")
    page.mouse.wheel(0, 700)
    page.wait_for_function("scrollY > 100")


@call("locator.check, uncheck, set_checked")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.get_by_label("I agree").check()
    expect(page.locator("#agree")).to_be_checked()
    page.locator("#agree").uncheck()
    page.get_by_label("Cash").set_checked(True)
    assert not page.locator("#agree").is_checked() and page.get_by_label("Cash").is_checked()


@call("locator.select_option")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    assert page.locator("#size").select_option(label="Medium") == ["m"]
    assert page.locator("#extras").select_option(["bag", "ribbon"]) == ["bag", "ribbon"]


@call("a form is sent")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.get_by_label("Name").fill("Ann")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/sent")
    expect(page.locator("pre")).to_contain_text("name=Ann")


@call("locator.drag_to")
def _(browser, context, page, site):
    page.goto(f"{site}/drag")
    page.locator("#from").drag_to(page.locator("#to"))
    expect(page.locator("#to")).to_have_text("bird")


@call("locator.scroll_into_view_if_needed")
def _(browser, context, page, site):
    page.goto(f"{site}/tall")
    page.locator("#end").scroll_into_view_if_needed()
    expect(page.locator("#end")).to_be_in_viewport()


@call("get_by_role, get_by_text, get_by_alt_text")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    expect(page.get_by_role("listitem")).to_have_count(3)
    assert page.get_by_text("puffin").inner_text() == "puffin"
    assert page.get_by_alt_text("A gannet in flight").is_visible()


@call("get_by_test_id, is_hidden, is_disabled")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    assert page.get_by_test_id("late").is_hidden()
    assert page.locator("#off").is_disabled() and page.locator("#name").is_editable()


@call("locator.filter, nth, first, last")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    birds = page.locator("li")
    assert birds.filter(has_text="uff").text_content() == "puffin"
    assert [birds.first.inner_text(), birds.nth(1).inner_text(), birds.last.inner_text()] == ["tern", "puffin", "gannet"]


@call("locator.all, all_inner_texts, evaluate_all")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    assert page.locator("li").all_inner_texts() == ["tern", "puffin", "gannet"]
    assert len(page.locator("li").all()) == page.locator("li").evaluate_all("all => all.length") == 3


@call("locator.wait_for")
def _(browser, context, page, site):
    page.goto(f"{site}/form")
    page.evaluate("() => { setTimeout(() => { late.hidden = false }, 200) }")
    page.locator("#late").wait_for(state="visible")


@call("page.wait_for_selector, query_selector, eval_on_selector")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    assert page.wait_for_selector("h1").inner_text() == "Bird Shop"
    assert page.query_selector("#nothing") is None
    assert page.eval_on_selector("h1", "node => node.tagName") == "H1"


@call("page.evaluate and evaluate_handle")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    assert page.evaluate("([a, b]) => ({ sum: a + b, none: null })", [1, 2]) == {"sum": 3, "none": None}
    handle = page.evaluate_handle("document.querySelector('h1')")
    assert handle.evaluate("node => node.textContent") == "Bird Shop"
    assert handle.as_element().inner_html() == "Bird Shop"


@call("page.expose_function")
def _(browser, context, page, site):
    page.expose_function("twice", lambda n: 2 * n)
    page.goto(f"{site}/")
    assert page.evaluate("twice(4)") == 8


@call("page.add_init_script")
def _(browser, context, page, site):
    page.add_init_script("window.early = 'yes'")
    page.goto(f"{site}/")
    assert page.evaluate("early") == "yes"


@call("page.add_script_tag, add_style_tag")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    page.add_script_tag(content="window.added = 1")
    page.add_style_tag(content="h1 { color: rgb(9, 8, 7) }")
    expect(page.locator("h1")).to_have_css("color", "rgb(9, 8, 7)")


@call("page.screenshot")
def _(browser, context, page, site):
    page.goto(f"{site}/tall")
    assert page.screenshot()[1:4] == b"PNG"
    assert page.screenshot(full_page=True, type="jpeg", quality=30)[:2] == b"\xff\xd8"
    assert len(page.locator("#end").screenshot()) > 100


@call("page.pdf")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    assert page.pdf(format="A4")[:5] == b"%PDF-"


@call("locator.aria_snapshot")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    seen = page.locator("body").aria_snapshot()
    assert 'heading "Bird Shop" [level=1]' in seen and "listitem: puffin" in seen, seen


@call("dialogs")
def _(browser, context, page, site):
    seen = []
    page.on("dialog", lambda dialog: (seen.append(f"{dialog.type} {dialog.message}"), dialog.accept("Ann")))
    page.goto(f"{site}/")
    assert page.evaluate("[confirm('b'), prompt('c')]") == [True, "Ann"]
    assert seen == ["confirm b", "prompt c"]


@call("popups")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    with page.expect_popup() as opened:
        page.evaluate("() => { open('/about') }")
    opened.value.wait_for_load_state()
    assert opened.value.title() == "About us" and opened.value.opener() == page


@call("frames, near and far")
def _(browser, context, page, site):
    page.goto(f"{site}/frames")
    for name in ("near", "far"):
        frame = page.frame_locator(f"[name={name}]")
        frame.get_by_role("button", name="Press").click()
        expect(frame.locator("#text")).to_have_text("pressed")
    assert re.match(r"http://localhost:\d+/inner", page.frame(name="far").url)


@call("file chooser and set_input_files")
def _(browser, context, page, site):
    page.goto(f"{site}/upload")
    file = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"one"}
    page.set_input_files("#file", [file])
    expect(page.locator("#out")).to_have_text("a.txt:one")
    with page.expect_file_chooser() as chosen:
        page.locator("#file").click()
    chosen.value.set_files({**file, "name": "b.txt"})
    expect(page.locator("#out")).to_have_text("b.txt:one")


@call("set_input_files from a file of the client")
def _(browser, context, page, site):
    page.goto(f"{site}/upload")
    page.set_input_files("#file", __file__)
    expect(page.locator("#out")).to_contain_text("What a user does in a page")


@call("console messages")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    with page.expect_console_message() as message:
        page.evaluate("console.warn('low', { n: 1 })")
    assert (message.value.type, message.value.text) == ("warning", "low {n: 1}")


@call("page errors")
def _(browser, context, page, site):
    page.goto(f"{site}/")
    with page.expect_event("pageerror") as failed:
        page.evaluate("() => { setTimeout(() => { throw new Error('boom') }, 0) }")
    assert failed.value.message == "boom"


@call("page.clock")
def _(browser, context, page, site):
    page.clock.install(time=0)
    page.goto(f"{site}/")
    page.evaluate("() => { setTimeout(() => { document.title = 'late' }, 3600000) }")
    page.clock.fast_forward("01:00:01")
    expect(page).to_have_title("late")


@call("page.set_content, content")
def _(browser, context, page, site):
    page.set_content(f"<h1>Own</h1><img src='{site}/bird.svg'>", wait_until="load")
    page.wait_for_load_state("networkidle")
    assert "<h1>Own</h1>" in page.content()
