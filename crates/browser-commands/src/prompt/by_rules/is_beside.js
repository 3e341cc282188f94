// Whether this element stands beside a text: the smallest part of the page around it that has the text has no other of the
// elements that are compared, or the nearest heading before it is the text.
function (text) {
  const MAX_DEPTH = 40;
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
  const element = this.nodeType === 1 ? this : this.parentElement;
  const others = [...(globalThis.promptCandidates?.elements ?? [])].filter((other) => other !== element);
  const parentOf = (node) => node.parentElement ?? node.getRootNode().host ?? null;
  let depth = 0;
  for (let node = parentOf(element); node && depth < MAX_DEPTH; node = parentOf(node), depth++) {
    if (!has(node.innerText)) continue;
    if (!others.some((other) => node.contains(other))) return true;
    break;
  }
  let heading = null;
  for (const other of element.ownerDocument.querySelectorAll("h1,h2,h3,h4,h5,h6,legend,summary,caption,[role=heading]")) {
    if (element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) heading = other;
  }
  return heading !== null && clean(heading.innerText) === wanted;
}
