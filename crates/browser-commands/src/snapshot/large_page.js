// The first elements of a very large page that one can act on or that give it structure.
function (max) {
  const selector =
    "a[href],button,input:not([type=hidden]),select,textarea,summary,h1,h2,h3,h4,h5,h6,[role=button],[role=link]," +
    "[role=tab],[role=checkbox],[role=radio],[role=switch],[role=textbox],[role=combobox],[role=menuitem],[contenteditable]";
  const found = [];
  const roots = [this];
  let looked = 0;
  for (let at = 0; at < roots.length; at++) {
    const walker = document.createTreeWalker(roots[at], NodeFilter.SHOW_ELEMENT);
    while (walker.nextNode()) {
      if (++looked > 400000 || found.length >= max) return found;
      const element = walker.currentNode;
      if (element.shadowRoot) roots.push(element.shadowRoot);
      if (element.matches(selector) && element.getClientRects().length > 0) found.push(element);
    }
  }
  return found;
}
