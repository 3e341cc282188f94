// Whether a user could act on this element now: attached, visible, at rest, enabled, and not covered. Gives
// the point to click, in the coordinates of this frame, or the problem.
async function (needsEnabled, needsHit) {
  const element = this.nodeType === 1 ? this : this.parentElement;
  const gone = { problem: "is no longer in the page" };
  if (!element || !element.isConnected) return gone;
  const isShown = () => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  if (!isShown()) return { problem: "is not visible" };
  if (needsEnabled && (element.matches(":disabled") || element.closest("[aria-disabled=true]"))) {
    return { problem: "is disabled" };
  }
  element.scrollIntoViewIfNeeded(true);
  // A hidden tab draws no frames, so a timer ends the wait as well. In a tab that is shown it is long: on a busy machine
  // frames are late, and an element that moves stands still between two of them.
  const nextFrame = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, document.visibilityState === "hidden" ? 100 : 1000);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  let after = element.getBoundingClientRect();
  for (let frame = 0; frame < 2; frame++) {
    const before = after;
    await nextFrame();
    if (!element.isConnected) return gone;
    after = element.getBoundingClientRect();
    if (["x", "y", "width", "height"].some((side) => Math.abs(before[side] - after[side]) > 0.5)) {
      return { problem: "keeps moving" };
    }
  }
  const [width, height] = [window.innerWidth, window.innerHeight];
  const rects = [...element.getClientRects()].filter((r) => r.width > 0 && r.height > 0).slice(0, 8);
  const points = rects.map((r) => {
    const [left, right] = [Math.max(r.left, 0), Math.min(r.right, width)];
    const [top, bottom] = [Math.max(r.top, 0), Math.min(r.bottom, height)];
    return { x: (left + right) / 2, y: (top + bottom) / 2, inside: right > left && bottom > top };
  });
  const inside = points.filter((point) => point.inside);
  if (inside.length === 0) return { problem: "is outside of the viewport" };
  const answer = (point) => ({ x: point.x, y: point.y, left: after.left, top: after.top });
  if (!needsHit) return answer(inside[0]);
  const root = element.getRootNode();
  let cover = null;
  for (const point of inside) {
    const hit = root.elementFromPoint(point.x, point.y);
    for (let node = hit; node; node = node.parentNode || node.host) if (node === element) return answer(point);
    const label = hit && hit.closest("label");
    if (label && label.control === element) return answer(point);
    cover = hit;
  }
  if (!cover) return { problem: "is covered" };
  const name = cover.tagName.toLowerCase() + (cover.id ? "#" + cover.id : "");
  return { problem: "is covered by <" + name.slice(0, 80) + ">" };
}
