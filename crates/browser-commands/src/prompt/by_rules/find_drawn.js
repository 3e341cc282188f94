// Visible elements with just this text, then elements without text and name whose class is the text, as icons have it.
(text, isClick) => {
  const [MAX_NODES, MAX_FOUND] = [100000, 60];
  const clean = (value) => (value || "").replace(/\s+/g, " ").trim().toLowerCase();
  const wanted = clean(text);
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const found = new Set();
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  for (let seen = 0; seen < MAX_NODES && found.size < MAX_FOUND && walker.nextNode(); seen++) {
    const parent = walker.currentNode.parentElement;
    if (!parent || /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|TEXTAREA|OPTION)$/.test(parent.tagName)) continue;
    const isWhole = !isClick || clean(parent.textContent) === wanted;
    if (clean(walker.currentNode.data) === wanted && isWhole && isShown(parent)) found.add(parent);
  }
  // "icon-like", "fa fa-like", "btn_like"
  const prefixes = /^(fa|fas|far|fab|icon|ico|icn|glyphicon|material|mdi|bi|btn|button|svg|action)$/;
  const nameOf = (token) => token.replace(/([a-z])([A-Z])/g, "$1 $2").split(/[-_ ]+/).map((part) => part.toLowerCase()).filter((part) => part && !prefixes.test(part)).join(" ");
  let seen = 0;
  for (const element of document.querySelectorAll("[class]")) {
    if (++seen > MAX_NODES || found.size >= MAX_FOUND) break;
    if (element.textContent.trim() || element.childElementCount > 2 || !isShown(element)) continue;
    if ([...element.classList].some((token) => nameOf(token) === wanted)) found.add(element);
  }
  return [...found];
}
