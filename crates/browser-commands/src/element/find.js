// Finds elements in this document and in its open shadow roots. `which` is an index, or -1 for the last one,
// or null for the first visible one; with `countOnly` the number of matches is returned.
(kind, value, which, exact, countOnly) => {
  const MAX_ELEMENTS = 300000;
  const roots = [document];
  let seen = 0;
  for (let at = 0; at < roots.length; at++) {
    for (const element of roots[at].querySelectorAll("*")) {
      if (++seen > MAX_ELEMENTS) break;
      if (element.shadowRoot) roots.push(element.shadowRoot);
    }
  }
  const clean = (text) => (text || "").replace(/\s+/g, " ").trim();
  const wanted = clean(value);
  const lower = wanted.toLowerCase();
  const matches = (text) => (exact ? clean(text) === wanted : clean(text).toLowerCase().includes(lower));
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const found = new Set();
  const all = (root, selector) => root.querySelectorAll(selector);
  const byAttribute = (root, name) => {
    for (const element of all(root, `[${name}]`)) if (matches(element.getAttribute(name))) found.add(element);
  };
  const byText = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (!parent || /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE)$/.test(parent.tagName)) continue;
      if (matches(walker.currentNode.data)) found.add(parent);
    }
    for (const element of all(root, "input[type=submit],input[type=button],input[type=reset]")) {
      if (matches(element.value)) found.add(element);
    }
    if (found.size > 0) return;
    // The text may run over several elements; the innermost one that has all of it counts.
    for (const element of all(root, "*")) {
      if (element.childElementCount === 0 || /^(HTML|HEAD|SCRIPT|STYLE)$/.test(element.tagName)) continue;
      if (element.textContent.length < 2000 && matches(element.textContent)) {
        found.delete(element.parentElement);
        found.add(element);
      }
    }
  };
  const byLabel = (root) => {
    for (const label of all(root, "label")) {
      const own = [...label.childNodes].map((n) => (n.nodeName === "SELECT" ? "" : n.textContent)).join(" ");
      if (label.control && (matches(own) || matches(label.textContent))) found.add(label.control);
    }
    byAttribute(root, "aria-label");
    for (const element of all(root, "[aria-labelledby]")) {
      const ids = element.getAttribute("aria-labelledby").split(/\s+/);
      if (matches(ids.map((id) => root.getElementById(id)?.textContent || "").join(" "))) found.add(element);
    }
  };
  for (const root of roots) {
    if (kind === "css") for (const element of all(root, value)) found.add(element);
    else if (kind === "text") byText(root);
    else if (kind === "label") byLabel(root);
    else if (kind === "testid") {
      for (const element of all(root, "[data-testid],[data-test-id]")) {
        const id = element.getAttribute("data-testid") ?? element.getAttribute("data-test-id");
        if (id === value) found.add(element);
      }
    } else if (kind !== "xpath") byAttribute(root, kind);
  }
  if (kind === "xpath") {
    const result = document.evaluate(value, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    for (let at = 0; at < result.snapshotLength; at++) found.add(result.snapshotItem(at));
  }
  const list = [...found];
  if (countOnly) return list.length;
  if (which === null) return list.slice(0, 1000).find((e) => e.nodeType === 1 && isShown(e)) ?? list[0] ?? null;
  return (which < 0 ? list[list.length - 1] : list[which]) ?? null;
}
