// The results of a search. Results are links that are headings; else the largest group of links that
// stand in the same kind of element, outside of menus, headers and footers. None where that is not clear.
() => {
  const MAX_LINKS = 5000;
  const outside = "nav,header,footer,aside,form,[role=navigation],[role=banner],[role=contentinfo],[role=search],[role=menu]";
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const links = [...document.querySelectorAll("a")]
    .slice(0, MAX_LINKS)
    .filter((link) => isShown(link) && link.innerText.trim().length > 1 && !link.closest(outside));
  const isHeading = (link) => link.closest("h1,h2,h3,h4,h5,[role=heading]") || link.querySelector("h1,h2,h3,h4,h5,[role=heading]");
  const headings = links.filter(isHeading);
  if (headings.length > 0) return headings;
  const place = (element) => {
    const path = [];
    for (let node = element; node && node !== document.body && path.length < 4; node = node.parentElement) {
      path.push(node.tagName + "." + [...node.classList].filter((name) => !/\d/.test(name)).sort().join("."));
    }
    return path.join(" < ");
  };
  const groups = new Map();
  for (const link of links) {
    const key = place(link);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(link);
  }
  const weight = (group) => group.reduce((sum, link) => sum + link.innerText.trim().length, 0);
  const ranked = [...groups.values()].sort((one, other) => weight(other) - weight(one));
  if (ranked.length === 0) return [];
  // Two groups of about the same weight: which of them are the results is not clear.
  if (ranked.length > 1 && weight(ranked[1]) * 10 > weight(ranked[0]) * 9) return [];
  return ranked[0];
}
