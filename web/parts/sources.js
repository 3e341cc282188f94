// Every value of an agent run with the words of the page it is from, and those words where they stand on the page.

import { api, html, useState } from '../core.js';
import { Button, Empty, Problem, WebLink } from '../ui.js';

/// A JSON pointer, followed.
const at = (value, pointer) =>
  pointer
    .split('/')
    .slice(1)
    .reduce((found, part) => found?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], value);
const shownField = (pointer) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? `[${Number(part) + 1}]` : part))
    .join(' › ');

/// A text with a part of it marked.
const marked = (text, start, end) => [
  text.slice(0, start),
  html`<mark>${text.slice(start, end)}</mark>`,
  text.slice(end),
];

/// The words of the page, with the value marked in them.
function Quote({ quote, value }) {
  const text = String(quote);
  const wanted = value === undefined || value === null || typeof value === 'object' ? '' : String(value);
  const found = wanted ? text.toLowerCase().indexOf(wanted.toLowerCase()) : -1;
  return html`<blockquote class="cite">${
    found < 0 ? html`<mark>${text}</mark>` : marked(text, found, found + wanted.length)
  }</blockquote>`;
}

/// Characters of the page that are shown before and after the words.
const AROUND = 240;

/// The part of a page around some words, cut at its own words; null where they are not on it.
function passageAround(page, quote) {
  const [text, wanted] = [page, quote].map((one) => one.replace(/\s+/g, ' ').trim());
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0 || wanted === '') return null;
  const last = at + wanted.length + AROUND;
  const from = at > AROUND ? Math.min(at, text.indexOf(' ', at - AROUND) + 1) : 0;
  const to = last < text.length ? Math.max(at + wanted.length, text.lastIndexOf(' ', last)) : text.length;
  const [before, after] = [from > 0 ? '… ' : '', to < text.length ? ' …' : ''];
  const start = before.length + at - from;
  return { text: `${before}${text.slice(from, to)}${after}`, start, end: start + wanted.length };
}

/// Reads the page of a value, as the run did, and shows the words where they stand.
function Passage({ url, quote }) {
  const [state, setState] = useState({});
  const read = async () => {
    setState({ busy: true });
    try {
      const answer = await api('/v2/scrape', { method: 'POST', body: { url, formats: ['markdown'] } });
      setState({ passage: passageAround(answer.data.markdown ?? '', String(quote)), read: true });
    } catch (error) {
      setState({ error });
    }
  };
  if (state.error) return html`<${Problem} error=${state.error} retry=${read} />`;
  if (state.read && !state.passage)
    return html`<p class="note warn small">These words are not on the page any more.</p>`;
  if (state.read) {
    const { text, start, end } = state.passage;
    return html`<p class="passage small" role="status">${marked(text, start, end)}</p>`;
  }
  return html`<${Button} kind="small" busy=${state.busy} onClick=${read}
    aria-label=${`Show on the page: ${quote}`}
    title="Reads the page again, from the cache where it is there">Show on the page</${Button}>`;
}

const written = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

export function Values({ events, data }) {
  const cited = events
    .filter((event) => event.type === 'tool_call.finished' && event.toolName === 'record')
    .flatMap((event) => event.result?.citations ?? []);
  const last = new Map(cited.map((one) => [one.field, one]));
  if (last.size === 0)
    return html`<${Empty} title="No sources yet">
      <p>Each value that the run records appears here with the words of its page.</p></${Empty}>`;
  return html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Field</th>
    <th scope="col">Value</th><th scope="col">Where it stands</th></tr></thead>
    <tbody>${[...last.values()].slice(0, 1000).map((one) => {
      const value = at(data ?? {}, one.field);
      return html`<tr key=${one.field}><th scope="row" class="break">${shownField(one.field)}</th>
        <td class="break">
          ${value === undefined ? html`<span class="muted">not kept</span>` : written(value)}</td>
        <td class="break"><${Quote} quote=${one.quote} value=${value} />
          <p class="small"><${WebLink} url=${one.url} /></p>
          <${Passage} url=${one.url} quote=${one.quote} /></td></tr>`;
    })}</tbody></table></div>`;
}
