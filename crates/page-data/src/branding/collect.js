(() => {
  // Runs in the page, with the page's own objects: whatever comes back is read as hostile. Everything is bounded.
  const MOST = 1500, TEXT = 300, LIST = 60, SVG = 20000;
  const clip = (value, most = TEXT) => String(value ?? "").slice(0, most);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const painted = new Map();
  // Any colour a style can name, as the pixel it paints; empty where it paints (nearly) nothing.
  const colour = (value) => {
    if (!value || !brush) return "";
    if (!painted.has(value)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = "#000";
      brush.fillStyle = value;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      const hex = (part) => part.toString(16).padStart(2, "0");
      painted.set(value, a < 128 ? "" : ("#" + hex(r) + hex(g) + hex(b)).toUpperCase());
    }
    return painted.get(value);
  };
  const pixels = (value) => { const n = parseFloat(value); return Number.isFinite(n) ? Math.round(n * 100) / 100 : 0; };
  const area = (box) => Math.round(Math.max(0, box.width) * Math.max(0, box.height));
  const ownText = (node) => {
    let count = 0;
    for (const child of node.childNodes) if (child.nodeType === 3) count += child.data.trim().length;
    return count;
  };
  const style = (node) => getComputedStyle(node);
  const body = document.body ?? document.documentElement;
  const root = style(document.documentElement), page = style(body);
  const facts = {
    background: colour(page.backgroundColor) || colour(root.backgroundColor),
    declaredScheme: clip(root.colorScheme),
    themeColour: colour(document.querySelector("meta[name='theme-color']")?.content),
    areas: [], text: [], links: [], buttons: [], inputs: [], spacing: [], gaps: [], radii: [], durations: [], easings: [],
    logos: [], icons: [], variables: {}, layout: {},
  };
  const push = (list, value, most = LIST) => { if (list.length < most) list.push(value); };
  const seen = new Map();
  const count = (list, key, value, weight) => {
    const known = seen.get(key);
    if (known) known.weight += weight;
    else if (list.length < LIST) { value.weight = weight; seen.set(key, value); list.push(value); }
  };
  const nodes = body.getElementsByTagName("*");
  const step = Math.max(1, Math.floor(nodes.length / MOST));
  let at = 0;
  for (let index = 0; index < nodes.length && at < MOST; index += step, at += 1) {
    const node = nodes[index];
    const box = node.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) continue;
    const look = style(node);
    if (look.visibility === "hidden" || look.opacity === "0") continue;
    const tag = node.localName;
    const chars = ownText(node);
    const ground = colour(look.backgroundColor);
    if (ground) count(facts.areas, "a" + ground, { colour: ground }, area(box));
    if (chars) {
      const kind = /^h[1-6]$/.test(tag) ? tag : ["code", "pre", "kbd"].includes(tag) ? "code" : tag === "small" ? "small" : node.closest("a") ? "link" : "body";
      const entry = { kind, colour: colour(look.color), family: clip(look.fontFamily), size: pixels(look.fontSize), weightOfFont: pixels(look.fontWeight), lineHeight: pixels(look.lineHeight) };
      count(facts.text, "t" + JSON.stringify(entry), entry, chars);
      if (kind === "link") count(facts.links, "l" + entry.colour, { colour: entry.colour }, chars);
    }
    const role = node.getAttribute("role");
    const named = /\b(btn|button|cta)\b/i.test(clip(node.getAttribute("class")));
    if (tag === "button" || role === "button" || (tag === "a" && named) || (tag === "input" && /^(submit|button)$/.test(node.type))) {
      push(facts.buttons, { background: ground, colour: colour(look.color), border: pixels(look.borderTopWidth) > 0 ? colour(look.borderTopColor) : "", radius: clip(look.borderTopLeftRadius, 20), padding: clip(look.padding, 40), text: clip(node.innerText || node.value, 60), area: area(box), primary: /primary|cta|main/i.test(clip(node.getAttribute("class"))), secondary: /secondary|outline|ghost/i.test(clip(node.getAttribute("class"))) });
    } else if ((tag === "input" && !/^(hidden|checkbox|radio|range|file|color)$/.test(node.type)) || tag === "textarea" || tag === "select") {
      push(facts.inputs, { background: ground, colour: colour(look.color), border: pixels(look.borderTopWidth) > 0 ? colour(look.borderTopColor) : "", radius: clip(look.borderTopLeftRadius, 20) }, 20);
    }
    for (const side of [look.paddingTop, look.paddingLeft, look.marginTop, look.marginBottom]) {
      const value = pixels(side);
      if (value > 0 && value <= 128) push(facts.spacing, value, 2000);
    }
    if (pixels(look.columnGap) > 0) push(facts.gaps, pixels(look.columnGap), 200);
    if (look.borderTopLeftRadius !== "0px") push(facts.radii, clip(look.borderTopLeftRadius, 20), 300);
    if (look.transitionDuration && look.transitionDuration !== "0s") {
      push(facts.durations, clip(look.transitionDuration.split(",")[0], 20), 300);
      push(facts.easings, clip(look.transitionTimingFunction.split(/,(?![^(]*\))/)[0], 60), 300);
    }
  }
  const header = document.querySelector("header, [role=banner], nav");
  const home = (node) => {
    const link = node.closest("a");
    return Boolean(link && link.href && link.origin === location.origin && /^\/([a-z]{2}([-_][a-z]{2})?\/?)?$/i.test(link.pathname));
  };
  const pictures = [...document.querySelectorAll("img, svg")].slice(0, 300);
  for (const node of pictures) {
    const box = node.getBoundingClientRect();
    if (box.width < 12 || box.height < 8 || box.top > 600) continue;
    const words = clip([node.getAttribute("class"), node.id, node.getAttribute("alt"), node.getAttribute("aria-label"), node.getAttribute("src"), node.closest("a")?.getAttribute("class"), node.closest("a")?.getAttribute("aria-label"), node.parentElement?.getAttribute("class"), node.parentElement?.id].join(" "), 600);
    const inHeader = Boolean(header && header.contains(node));
    const named = /logo|brand/i.test(words);
    if (!inHeader && !named && !home(node)) continue;
    const source = node.localName === "svg" ? node.outerHTML : "";
    push(facts.logos, { src: node.localName === "img" ? clip(node.currentSrc || node.src, 4000) : "", svg: source.length <= SVG ? source : "", alt: clip(node.getAttribute("alt") || node.getAttribute("aria-label"), 120), header: inHeader, home: home(node), named, width: Math.round(box.width), height: Math.round(box.height), top: Math.round(box.top) }, 12);
  }
  for (const link of [...document.querySelectorAll("link[rel~='icon'], link[rel='apple-touch-icon'], link[rel='mask-icon']")].slice(0, 12)) {
    push(facts.icons, { rel: clip(link.rel, 40), href: clip(link.href, 4000), sizes: clip(link.getAttribute("sizes"), 40) }, 12);
  }
  // Custom properties of the root that name a role.
  const roles = /primary|secondary|accent|brand|success|warning|error|danger/i;
  let sheets = 0, rules = 0;
  for (const sheet of document.styleSheets) {
    if (++sheets > 20) break;
    let list;
    try { list = sheet.cssRules; } catch { continue; }
    for (const rule of list) {
      if (++rules > 3000) break;
      if (!rule.style || !/(^|,)\s*(:root|html|body)\s*(,|$)/.test(clip(rule.selectorText))) continue;
      for (const name of [...rule.style].slice(0, 300)) {
        if (!name.startsWith("--") || !roles.test(name) || Object.keys(facts.variables).length >= 60) continue;
        const value = root.getPropertyValue(name).trim();
        const channels = /^\d+[ ,]+\d+[ ,]+\d+$/.test(value) ? "rgb(" + value + ")" : value;
        if (channels && CSS.supports("color", channels)) facts.variables[clip(name, 80)] = colour(channels);
      }
    }
  }
  const height = (node) => (node ? Math.round(node.getBoundingClientRect().height) : 0);
  const main = document.querySelector("main, [role=main], .container, #content");
  facts.layout = { header: height(document.querySelector("header, [role=banner]")), footer: height(document.querySelector("footer, [role=contentinfo]")), maxWidth: main ? clip(style(main).maxWidth, 20) : "" };
  return facts;
})()
