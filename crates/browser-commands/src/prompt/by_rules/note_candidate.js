// Keeps the elements that are compared by `is_beside.js`, in this world of the page only.
function (isFirst) {
  const seen = globalThis.promptCandidates;
  if (isFirst || !seen || seen.at < Date.now() - 5000) globalThis.promptCandidates = { at: Date.now(), elements: new Set() };
  globalThis.promptCandidates.elements.add(this.nodeType === 1 ? this : this.parentElement);
}
