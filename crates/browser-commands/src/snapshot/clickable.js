// Elements that have no role but look as if one could click them: a hand as the cursor, a click handler in
// the markup, or a place in the tab order.
(() => {
  const [MAX_LOOKED_AT, MAX_FOUND] = [20000, 300];
  const own = "a,button,input,select,textarea,option,summary,label,iframe,[role],html,body";
  const found = [];
  let looked = 0;
  const roots = [document];
  for (let at = 0; at < roots.length; at++) {
    for (const element of roots[at].querySelectorAll("*")) {
      if (++looked > MAX_LOOKED_AT || found.length >= MAX_FOUND) return found;
      if (element.shadowRoot) roots.push(element.shadowRoot);
      const [onclick, tabindex] = [element.hasAttribute("onclick"), element.tabIndex >= 0];
      const editable = element.isContentEditable;
      const pointer = getComputedStyle(element).cursor === "pointer";
      if (!(onclick || tabindex || pointer) || editable || element.matches(own) || element.closest("a,button,label")) {
        continue;
      }
      const parent = element.parentElement;
      // The cursor is inherited; only the outermost element with it counts.
      if (!onclick && !tabindex && parent && getComputedStyle(parent).cursor === "pointer") continue;
      if (element.getClientRects().length === 0) continue;
      found.push(element);
    }
  }
  return found;
})()
