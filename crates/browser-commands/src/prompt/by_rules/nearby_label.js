// The text that a reader takes for the label of this field: before it, or behind it for boxes, in the same line or row.
function (isBox) {
  const MAX_LENGTH = 80;
  const clean = (value) => (value || "").replace(/\s+/g, " ").trim();
  const own = clean(this.placeholder || this.title);
  if (own) return own;
  const hasField = (node) => node.matches?.("input,select,textarea,button") || node.querySelector?.("input,select,textarea,button");
  const textOf = (node) => {
    if (node.nodeType === 3) return clean(node.data);
    if (node.nodeType !== 1 || !node.checkVisibility({ visibilityProperty: true }) || hasField(node)) return "";
    return clean(node.innerText);
  };
  const beside = (start, side) => {
    for (let node = start[side]; node; node = node[side]) {
      if (node.nodeType === 1 && hasField(node)) return "";
      const text = textOf(node);
      if (text) return text.length <= MAX_LENGTH ? text : "";
    }
    return "";
  };
  let node = this;
  for (let depth = 0; depth < 3 && node && node !== document.body; depth++, node = node.parentElement) {
    const text = (isBox ? beside(node, "nextSibling") : "") || beside(node, "previousSibling");
    if (text) return text;
    // What is around several fields labels none of them.
    if (node.parentElement && node.parentElement.querySelectorAll("input,select,textarea").length > 1) break;
  }
  return "";
}
