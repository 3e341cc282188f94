// Markdown drawn into nodes. No HTML is ever made of it: what a page wrote as HTML stays text, and only addresses of
// web pages become links. Bounded in length and in depth, since any page can be behind it.

import { html, useState, webUrl } from '../core.js';
import { Button, Code } from '../ui.js';

const MAX_CHARACTERS = 200_000;
const MAX_DEPTH = 6;

/// The forms inside of a line. Every repetition is bounded: an opening mark without an end must not cost more than
/// a look at what follows it, however long the text is.
const TARGET = String.raw`\(\s{0,9}<?([^\s)>]{0,2000})>?(?:\s{1,9}"[^"]{0,500}")?\s{0,9}\)`;
const INLINE = new RegExp(
  [
    String.raw`(\x60{1,8})([^\x60][\s\S]{0,1000}?)\1`,
    String.raw`!\[([^\]]{0,500})\]${TARGET}`,
    String.raw`\[((?:[^[\]\\]|\\.|\[[^\]]{0,300}\]){0,600})\]${TARGET}`,
    String.raw`<(https?:\/\/[^\s>]{1,2000})>`,
    String.raw`\*\*([^*][\s\S]{0,1000}?)\*\*`,
    String.raw`__([^_][\s\S]{0,1000}?)__`,
    String.raw`\*([^*\s][^*]{0,1000}?)\*`,
    String.raw`~~([^~]{1,1000})~~`,
    String.raw`\\([\\\x60*_{}[\]()#+.!~|>-])`,
  ].join('|'),
);
/// What is longer in one block stays as it is written.
const MAX_INLINE_CHARACTERS = 20_000;

export function inline(text, depth = 0) {
  const nodes = [];
  let rest = text;
  while (rest !== '' && depth < MAX_DEPTH && text.length <= MAX_INLINE_CHARACTERS) {
    const found = INLINE.exec(rest);
    if (!found) break;
    if (found.index > 0) nodes.push(rest.slice(0, found.index));
    const [whole, tick, code, alt, image, label, target, auto, bold, bold2, italic, gone, escaped] = found;
    if (tick) nodes.push(html`<code>${code}</code>`);
    else if (image !== undefined)
      nodes.push(html`<span class="muted">[image${alt ? `: ${alt}` : ''}]</span>`);
    else if (target !== undefined) nodes.push(link(target, inline(label, depth + 1)));
    else if (auto) nodes.push(link(auto, auto));
    else if (bold ?? bold2) nodes.push(html`<strong>${inline(bold ?? bold2, depth + 1)}</strong>`);
    else if (italic) nodes.push(html`<em>${inline(italic, depth + 1)}</em>`);
    else if (gone) nodes.push(html`<del>${gone}</del>`);
    else if (escaped) nodes.push(escaped);
    rest = rest.slice(found.index + whole.length);
  }
  if (rest !== '') nodes.push(rest);
  return nodes;
}

function link(target, content) {
  const to = webUrl(target);
  return to
    ? html`<a href=${to} target="_blank" rel="noopener noreferrer nofollow">${content}</a>`
    : html`<span>${content}</span>`;
}

const LIST = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const cells = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/// The blocks of a text, one node each.
export function blocks(text, depth = 0) {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^\s*(```+|~~~+)\s*(\S*)/.exec(line);
    if (fence) {
      const end = lines.findIndex((other, index) => index > at && other.trim().startsWith(fence[1]));
      const to = end < 0 ? lines.length : end;
      nodes.push(html`<pre tabindex="0"><code>${lines.slice(at + 1, to).join('\n')}</code></pre>`);
      at = to + 1;
    } else if (line.trim() === '') {
      at += 1;
    } else if (/^#{1,6}\s/.test(line)) {
      const [, marks, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [null, '#', line];
      // The view has its own first heading: those of a page start below it.
      nodes.push(
        html`<div role="heading" aria-level=${Math.min(6, marks.length + 2)}
          class=${`md-h md-h${marks.length}`}>${inline(title)}</div>`,
      );
      at += 1;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      nodes.push(html`<hr />`);
      at += 1;
    } else if (
      line.includes('|') &&
      /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? '')
    ) {
      const head = cells(line);
      const rows = [];
      for (at += 2; at < lines.length && lines[at].includes('|') && lines[at].trim() !== ''; at += 1)
        rows.push(cells(lines[at]));
      nodes.push(html`<table tabindex="0"><thead>
        <tr>${head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
        <tbody>${rows.map(
          (row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`,
        )}</tbody></table>`);
    } else if (/^\s*>/.test(line) && depth < MAX_DEPTH) {
      const quoted = [];
      for (; at < lines.length && /^\s*>/.test(lines[at]); at += 1)
        quoted.push(lines[at].replace(/^\s*>\s?/, ''));
      nodes.push(html`<blockquote>${blocks(quoted.join('\n'), depth + 1)}</blockquote>`);
    } else if (LIST.test(line) && depth < MAX_DEPTH) {
      at = list(lines, at, nodes, depth);
    } else {
      const words = [line];
      for (
        at += 1;
        at < lines.length && lines[at].trim() !== '' && !/^(#{1,6}\s|\s*```|\s*>|\s*[-*+]\s)/.test(lines[at]);
        at += 1
      )
        words.push(lines[at]);
      nodes.push(html`<p>${inline(words.join('\n'))}</p>`);
    }
  }
  return nodes;
}

function list(lines, at, nodes, depth) {
  const [, indent, mark] = LIST.exec(lines[at]);
  const ordered = /\d/.test(mark);
  const items = [];
  for (; at < lines.length; at += 1) {
    const found = LIST.exec(lines[at]);
    if (found && found[1].length <= indent.length + 1) {
      if (/\d/.test(found[2]) !== ordered && found[1].length <= indent.length) break;
      items.push([found[3]]);
    } else if (lines[at].trim() === '') {
      if (!/^\s+\S/.test(lines[at + 1] ?? '') && !LIST.test(lines[at + 1] ?? '')) break;
    } else if (/^\s/.test(lines[at]) && items.length > 0) {
      items.at(-1).push(lines[at].replace(/^\s{1,4}/, ''));
    } else break;
  }
  const drawn = items.map(
    (item) => html`<li>${item.length === 1 ? inline(item[0]) : blocks(item.join('\n'), depth + 1)}</li>`,
  );
  nodes.push(ordered ? html`<ol start=${Number.parseInt(mark, 10)}>${drawn}</ol>` : html`<ul>${drawn}</ul>`);
  return at;
}

/// A text as a page would show it, or as it is written.
export function Markdown({ text, label = 'Markdown' }) {
  const [source, setSource] = useState(false);
  const shown = text.slice(0, MAX_CHARACTERS);
  return html`
    <div class="actions md-switch"><${Button} kind="small" aria-pressed=${source}
      onClick=${() => setSource(!source)}>
      ${source ? 'Show as page' : 'Show as text'}</${Button}>
      <span class="muted small">${text.length.toLocaleString()} characters</span></div>
    ${
      source
        ? html`<${Code} text=${text} label=${label} wrap />`
        : html`<div class="prose" tabindex="0" role="region" aria-label=${label}>${blocks(shown)}</div>`
    }
    ${
      text.length > MAX_CHARACTERS &&
      html`<p class="muted small">Only the first ${MAX_CHARACTERS.toLocaleString()} characters are drawn.</p>`
    }`;
}
