// Watches the next click in this frame. One that does not hit this element, because it has moved away in the meantime or
// something else has moved over it, is kept from the page. `watched_press` of this world is what was seen.
function () {
  const element = this.nodeType === 1 ? this : this.parentElement;
  globalThis.watched_press?.end();
  const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick"];
  const press = { hit: null };
  const watch = (event) => {
    if (!event.isTrusted) return;
    const path = event.composedPath();
    const label = path.find((node) => node.tagName === "LABEL");
    let hit = label && label.control === element;
    // What is inside of a closed shadow tree is not in the path, its host is.
    for (let node = element; node && !hit; node = node.getRootNode().host) hit = path.includes(node);
    // What happens after a hit belongs to it, even if the element is gone by then.
    press.hit ??= Boolean(hit);
    if (press.hit) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  press.end = () => kinds.forEach((kind) => removeEventListener(kind, watch, true));
  kinds.forEach((kind) => addEventListener(kind, watch, { capture: true, passive: false }));
  setTimeout(press.end, 10000);
  globalThis.watched_press = press;
}
