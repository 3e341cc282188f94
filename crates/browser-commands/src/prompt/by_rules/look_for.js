// Whether a text is in the viewport, and where the page and its parts that scroll are.
(text) => {
  const [MAX_NODES, MAX_PARTS] = [100000, 2000];
  const clean = (value) => (value || "").replace(/\s+/g, " ").trim().toLowerCase();
  const wanted = clean(text);
  const isPart = (character) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
  const has = (value) => {
    const line = clean(value);
    for (let at = line.indexOf(wanted); at >= 0; at = line.indexOf(wanted, at + 1)) {
      if (!isPart(line[at - 1]) && !isPart(line[at + wanted.length])) return true;
    }
    return false;
  };
  const isInView = (element) => {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || box.bottom <= 0 || box.top >= innerHeight) return false;
    // It may be scrolled out of the part that it stands in.
    const hit = document.elementFromPoint(box.left + Math.min(box.width, 20) / 2, Math.min(Math.max(box.top + box.height / 2, 0), innerHeight - 1));
    return hit !== null && (element.contains(hit) || hit.contains(element)) && element.checkVisibility({ visibilityProperty: true });
  };
  let shown = false;
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  for (let seen = 0; !shown && seen < MAX_NODES && walker.nextNode(); seen++) {
    if (has(walker.currentNode.data) && walker.currentNode.parentElement) shown = isInView(walker.currentNode.parentElement);
  }
  const root = document.scrollingElement ?? document.documentElement;
  const place = [Math.round(root.scrollTop), Math.round(root.scrollLeft), root.scrollHeight];
  let parts = 0;
  for (const element of document.querySelectorAll("*")) {
    if (parts >= MAX_PARTS) break;
    if (element.scrollTop !== 0) {
      parts++;
      place.push(Math.round(element.scrollTop), element.scrollHeight);
    }
  }
  return { shown, place };
}
