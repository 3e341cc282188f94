// Search: results with the words that matched, where they come from, and a way to read a page at once.

import { api, go, href, html, plural, useEffect, useState } from '../core.js';
import { Button, Card, Empty, Input, Loading, Page, Problem, Select, WebLink } from '../ui.js';

/// The description with the words of the query marked: why the result is there.
function Marked({ text, words }) {
  if (words.length === 0) return text;
  const parts = text.split(
    new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi'),
  );
  return parts.map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part));
}

/// Which lists had the result, and where.
function Why({ one, words }) {
  if (!one.ranking) return null;
  const text = `${one.title ?? ''} ${one.description ?? one.snippet ?? ''}`.toLowerCase();
  const matched = words.filter((word) => text.includes(word.toLowerCase()));
  // The most that feedback adds to a result's score is a half.
  const boost = Math.round(one.ranking.rating * 50);
  const places = one.ranking.places.map((found) => `place ${found.place} of ${found.provider}`);
  return html`<details class="small"><summary>Why it ranks here</summary><ul class="legend">
    ${places.length > 0 && html`<li>Found at <strong>${places.join(', ')}</strong></li>`}
    ${matched.length > 0 && html`<li>Words shown of the query <strong>${matched.join(', ')}</strong></li>`}
    ${boost > 0 && html`<li>Feedback of the team <strong>+${boost} %</strong></li>`}
    ${one.category && html`<li>Category <strong>${one.category}</strong></li>`}</ul></details>`;
}

export default function Search({ query }) {
  const [text, setText] = useState(query.q ?? '');
  const [source, setSource] = useState(query.source ?? 'web');
  const [state, setState] = useState({});
  useEffect(() => {
    if (!query.q) return undefined;
    const stop = new AbortController();
    const started = performance.now();
    setState({ busy: true });
    api('/v2/search', {
      method: 'POST',
      signal: stop.signal,
      body: { query: query.q, limit: 20, sources: [query.source ?? 'web'], explain: true },
    }).then(
      (json) => setState({ json, took: Math.round(performance.now() - started) }),
      (error) => stop.signal.aborted || setState({ error }),
    );
    return () => stop.abort();
  }, [query.q, query.source]);
  const submit = (event) => {
    event.preventDefault();
    go('search', [], { q: text.trim(), source: source === 'web' ? undefined : source });
  };
  const words = (query.q ?? '')
    .split(/\s+/)
    .filter((word) => word.length > 2 && !word.includes(':'))
    .slice(0, 12);
  const results = state.json ? (state.json.data?.[query.source ?? 'web'] ?? []) : [];
  return html`<${Page} title="Search"
    lead="The web, through this server’s index and the providers it is set up with.">
    <${Card}><form onSubmit=${submit} class="searchline">
      <${Input} label="Query" type="search" value=${text} onInput=${setText}
        placeholder="how gannets dive" autofocus />
      <${Select} label="Source" value=${source} options=${[
        ['web', 'Web'],
        ['news', 'News'],
        ['images', 'Images'],
      ]} onInput=${setSource} />
      <${Button} kind="primary" type="submit" busy=${state.busy} disabled=${!text.trim()}>Search</${Button}>
        </form></${Card}>
    <${Card}>
      ${state.busy && html`<${Loading} what="Searching" />`}<${Problem} error=${state.error} />
      ${state.json?.warning && html`<p class="note warn gap-bottom">${state.json.warning}</p>`}
      ${!query.q && html`<${Empty} title="Nothing searched yet">
        <p>Pages that this server has read are found even without a provider.</p></${Empty}>`}
      ${state.json && results.length === 0 && html`<${Empty} title="Nothing found">
        <p>Try other words. The provider may be missing: see <a href=${href('home')}>Home</a>.</p>
        </${Empty}>`}
      ${
        results.length > 0 &&
        html`<p class="muted small gap-bottom">${plural(results.length, 'result')} in ${state.took} ms ·
          ${' '}${plural(state.json.creditsUsed, 'credit')}</p>
        <ol class="results">${results.map(
          (
            one,
          ) => html`<li key=${one.url}><p><strong><${WebLink}
            url=${one.url ?? one.imageUrl}>${one.title || one.url}</${WebLink}></strong></p>
          <p class="muted small break">${one.url} ${one.date ? `· ${one.date}` : ''} ·
            ${' '}<a href=${href('playground', ['scrape'], { url: one.url })}>read this page</a></p>
          <p class="break"><${Marked} text=${one.description ?? one.snippet ?? ''} words=${words} /></p>
          <${Why} one=${one} words=${words} /></li>`,
        )}</ol>`
      }
    </${Card}></${Page}>`;
}
