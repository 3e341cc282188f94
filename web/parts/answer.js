// The answer of a call, drawn by what is in it: text, pictures, links, data, and always the raw JSON.

import { api, bytes, count, html, ownPath, plural, useEffect, useState } from '../core.js';
import { Badge, Code, Empty, Loading, Problem, Rows, Tabs, WebLink } from '../ui.js';
import { Markdown } from './markdown.js';

const text = (value) => JSON.stringify(value, null, 2);

/// The document of an answer, wherever the endpoint puts it.
const documentOf = (json) => {
  const data = json?.data;
  return data && !Array.isArray(data) && typeof data === 'object' ? data : json;
};

function Screenshot({ address, alt }) {
  const own = address.startsWith('data:image/') ? address : ownPath(address);
  return own
    ? html`<a href=${own} target="_blank" rel="noopener"><img class="shot" src=${own} alt=${alt} /></a>`
    : html`<${Code} text=${address} />`;
}

function Links({ links }) {
  const items = links.map((one) => (typeof one === 'string' ? { url: one } : one));
  return html`<p class="muted small">${count(items.length)} links</p>
    <${Rows} items=${items} height=${38} label="Links" render=${(
      one,
    ) => html`<span class="ellipsis grow"><${WebLink} url=${one.url} /></span>
      ${one.title && html`<span class="muted ellipsis hide-small">${one.title}</span>`}`} />`;
}

function Found({ results }) {
  return html`<ol class="results">${results.map(
    (one) => html`
    <li><p><strong><${WebLink} url=${one.url}>${one.title || one.url}</${WebLink}></strong></p>
      <p class="muted small break">${one.url}</p>
        <p class="break">${one.description ?? one.snippet ?? one.abstract ?? ''}</p></li>`,
  )}</ol>`;
}

/// Which tabs an answer has: `[key, title, how it is drawn]`.
function tabsOf(json) {
  const page = documentOf(json);
  const tabs = [];
  const add = (key, title, draw) => tabs.push([key, title, draw]);
  if (typeof page.markdown === 'string')
    add('markdown', 'Markdown', () => html`<${Markdown} text=${page.markdown} />`);
  if (typeof page.summary === 'string')
    add('summary', 'Summary', () => html`<${Markdown} text=${page.summary} />`);
  if (typeof page.message === 'string')
    add('message', 'Message', () => html`<${Markdown} text=${page.message} />`);
  if (page.json !== undefined && page.json !== null)
    add('json', 'JSON', () => html`<${Code} text=${text(page.json)} label="JSON" wrap />`);
  if (typeof page.screenshot === 'string')
    add(
      'screenshot',
      'Screenshot',
      () => html`<${Screenshot} address=${page.screenshot} alt="Screenshot of the page" />`,
    );
  for (const key of ['web', 'news', 'images']) {
    if (Array.isArray(page[key]) && typeof page[key][0] === 'object')
      add(
        key,
        `${key[0].toUpperCase()}${key.slice(1)} (${page[key].length})`,
        () => html`<${Found} results=${page[key]} />`,
      );
  }
  if (Array.isArray(json.results))
    add(
      'results',
      `Results (${json.results.length})`,
      () =>
        html`<${Found} results=${json.results.map((one) => ({ ...one, url: one.url ?? one.primaryId }))} />`,
    );
  const links = page.links ?? json.links;
  if (Array.isArray(links)) add('links', `Links (${links.length})`, () => html`<${Links} links=${links} />`);
  if (Array.isArray(page.images) && typeof page.images[0] === 'string')
    add('pictures', `Images (${page.images.length})`, () => html`<${Links} links=${page.images} />`);
  if (typeof page.html === 'string')
    add('html', 'HTML', () => html`<${Code} text=${page.html} label="HTML" wrap />`);
  if (typeof page.rawHtml === 'string')
    add('rawHtml', 'Raw HTML', () => html`<${Code} text=${page.rawHtml} label="Raw HTML" wrap />`);
  if (page.metadata && typeof page.metadata === 'object')
    add('metadata', 'Metadata', () => html`<${Pairs} value=${page.metadata} />`);
  add('raw', 'Raw', () => html`<${Code} text=${text(json)} label="the whole answer" wrap />`);
  return tabs;
}

const Pairs = ({ value }) =>
  html`<div class="scroll" tabindex="0"><table><tbody>${Object.entries(value).map(
    ([name, one]) => html`
  <tr><th scope="row">${name}</th><td class="break">${typeof one === 'string' ? html`<${WebLink}
    url=${one} />` : JSON.stringify(one)}</td></tr>`,
  )}</tbody></table></div>`;

export function Answer({ json, status, took, size, requestId }) {
  const [tab, setTab] = useState(null);
  const tabs = tabsOf(json);
  // Whoever asked for data came for it.
  const named = (wanted) => tabs.find(([key]) => key === wanted);
  const current = named(tab) ?? named('json') ?? tabs[0];
  // Some answers say with status 200 that it did not work.
  const failed = status >= 400 || json.success === false;
  return html`
    <p class="answer-line"><${Badge} status=${failed ? 'failed' : 'ok'}>
        ${failed && status < 400 ? 'failed' : status}</${Badge}>
      <span>${count(took)} ms</span>${size !== undefined && html`<span>${bytes(size)}</span>`}
      ${json.creditsUsed !== undefined && html`<span>${plural(json.creditsUsed, 'credit')}</span>`}
      ${requestId && html`<span class="muted">request <code>${requestId}</code></span>`}</p>
    ${json.warning && html`<p class="note warn">${json.warning}</p>`}
    ${
      typeof documentOf(json).warning === 'string' &&
      documentOf(json).warning !== json.warning &&
      html`<p class="note warn">${documentOf(json).warning}</p>`
    }
    <${Tabs} label="Parts of the answer" tabs=${tabs.map(([key, title]) => [key, title])} value=${current[0]}
      onChange=${setTab}>${current[2]()}</${Tabs}>`;
}

/// The stored result of a scrape, by its id.
export function StoredScrape({ id }) {
  const [state, setState] = useState({});
  useEffect(() => {
    const started = performance.now();
    api(`/v2/scrape/${encodeURIComponent(id)}`).then(
      (json) => setState({ json, took: Math.round(performance.now() - started) }),
      (error) => setState({ error }),
    );
  }, [id]);
  if (state.error) {
    // What failed is answered with why; what is gone, with 404.
    if (state.error.status !== 404) return html`<${Problem} error=${state.error} />`;
    return html`<${Empty} title="The result of this request is not stored">
      <p>${state.error.message} Run it again to see it.</p></${Empty}>`;
  }
  return state.json
    ? html`<${Answer} json=${state.json} status=${200} took=${state.took} />`
    : html`<${Loading} what="Loading the stored result" />`;
}
