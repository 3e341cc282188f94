// Papers: search, one paper, and the graph of papers around it by what they are needed for. A click on a paper makes it
// another anchor.

import { api, go, href, html, plural, useEffect, useLoad, useState } from '../core.js';
import { Button, Card, Empty, Input, Loaded, Loading, Page, Problem, Select, WebLink } from '../ui.js';

const BASE = '/v2/search/research/papers';
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function Find({ query }) {
  const [text, setText] = useState(query.q ?? '');
  const found = useLoad(
    (signal) =>
      query.q ? api(`${BASE}?query=${encodeURIComponent(query.q)}&k=20`, { signal }) : Promise.resolve(null),
    [query.q ?? ''],
  );
  const submit = (event) => {
    event.preventDefault();
    go('papers', [], { q: text.trim() });
  };
  return html`<${Page} title="Papers"
    lead="The research index of this server: find a paper, then what is related to it.">
    <${Card}><form class="searchline" onSubmit=${submit}><${Input} label="What is it about?" type="search"
      value=${text} onInput=${setText} placeholder="graph signal processing" autofocus />
      <${Button} kind="primary" type="submit" busy=${found.loading && query.q}
        disabled=${!text.trim()}>Search</${Button}></form></${Card}>
    <${Card}>${
      !query.q
        ? html`<${Empty} title="Nothing searched yet">
          <p>Import more papers with <code>gannet research import</code>.</p></${Empty}>`
        : html`<${Loaded} from=${found} what="Searching">${(answer) =>
            answer.results.length === 0
              ? html`<${Empty} title="No paper found"><p>Try other words.</p></${Empty}>`
              : html`<ol class="results">${answer.results.map(
                  (
                    one,
                  ) => html`<li key=${one.paperId}><p><strong>
                    <a href=${href('papers', [one.primaryId])}>${one.title}</a></strong></p>
          <p class="muted small">${one.primaryId}</p><p class="break">${short(one.abstract ?? '', 320)}</p>
            </li>`,
                )}</ol>`}</${Loaded}>`
    }</${Card}></${Page}>`;
}

/// Papers around the seed: nearer is better ranked, the angle follows the order, the size says how central a paper is.
/// A curve joins papers that cite each other; those of the chosen one stand out.
function Graph({ seedNames, seed, results, citations, anchors, picked, onPick }) {
  const [width, height] = [760, 470];
  const nodes = results.slice(0, 24).map((one, index, all) => {
    // The golden angle spreads any number of papers evenly.
    const angle = index * 2.399963 - Math.PI / 2;
    const distance = 95 + (index / Math.max(1, all.length - 1)) * 115;
    const size = 10 + Math.min(8, Math.sqrt(one.signals?.articleRank ?? 1) * 2.5);
    return {
      one,
      x: width / 2 + Math.cos(angle) * distance * 1.5,
      y: height / 2 + Math.sin(angle) * distance,
      size,
    };
  });
  const places = new Map(nodes.map((node) => [node.one.primaryId, node]));
  const center = { x: width / 2, y: height / 2 };
  const placeOf = (paper) => places.get(paper) ?? (seedNames.includes(paper) ? center : null);
  const cites = citations
    .map((one) => ({ ...one, from: placeOf(one.citing), to: placeOf(one.cited) }))
    .filter((one) => one.from && one.to && one.from !== one.to);
  const lit = (one) => picked && (one.citing === picked.primaryId || one.cited === picked.primaryId);
  // Bent towards the middle, so that edges do not run through the papers beside each other.
  const curve = ({ from, to }) => {
    const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
    return `M${from.x} ${from.y}Q${x + (center.x - x) * 0.35} ${y + (center.y - y) * 0.35} ${to.x} ${to.y}`;
  };
  const nodeClass = (one) =>
    `node ${one === picked ? 'lit' : ''} ${anchors.includes(one.primaryId) ? 'anchor' : ''}`;
  const among = `${plural(cites.length, 'citation')} among them`;
  return html`<svg class="graph" viewBox=${`0 0 ${width} ${height}`} role="group"
    aria-label=${`Graph of ${plural(nodes.length, 'paper')} around ${seed}, ${among}`}>
    ${nodes.map(
      ({ x, y }) => html`<line class="edge tie" x1=${center.x} y1=${center.y} x2=${x} y2=${y} />`,
    )}
    ${cites.map((one) => html`<path class=${`edge cites ${lit(one) ? 'lit' : ''}`} d=${curve(one)} />`)}
    <circle class="node seed" cx=${width / 2} cy=${height / 2} r="15" /><text x=${width / 2}
      y=${height / 2 + 32} text-anchor="middle">${short(seed, 40)}</text>
    ${nodes.map(
      (
        node,
        index,
      ) => html`<a key=${node.one.paperId} href=${href('papers', [node.one.primaryId])} onClick=${(event) => {
        event.preventDefault();
        onPick(node.one);
      }} aria-label=${`${index + 1}: ${node.one.title}`}>
      <title>${node.one.title}</title>
      <circle class=${nodeClass(node.one)} cx=${node.x} cy=${node.y} r=${node.size} />
      <text class="rank" x=${node.x} y=${node.y + 4} text-anchor="middle">${index + 1}</text></a>`,
    )}</svg>`;
}

const percent = (value) => (Number.isFinite(value) ? value.toFixed(value < 0.1 ? 3 : 2) : '–');

function Related({ id, seedNames, title, query }) {
  const [intent, setIntent] = useState(query.intent ?? title);
  const [mode, setMode] = useState(query.mode ?? 'similar');
  const anchors = (query.anchors ?? '').split(' ').filter(Boolean);
  const [state, setState] = useState({});
  const [picked, setPicked] = useState(null);
  const wanted = query.intent ?? title;
  useEffect(() => {
    const stop = new AbortController();
    const parameters = new URLSearchParams([
      ['intent', wanted],
      ['mode', query.mode ?? 'similar'],
      ['k', '24'],
      ['citations', 'true'],
      ...anchors.map((one) => ['anchor', one]),
    ]);
    setState({ busy: true });
    api(`${BASE}/${encodeURIComponent(id)}/similar?${parameters}`, { signal: stop.signal }).then(
      (json) => setState({ json }),
      (error) => stop.signal.aborted || setState({ error }),
    );
    return () => stop.abort();
  }, [id, wanted, query.mode, query.anchors]);
  const open = (changes) =>
    go('papers', [id], { intent: wanted, mode: query.mode, anchors: query.anchors, ...changes });
  const results = state.json?.results ?? [];
  return html`
    <${Card} title="Related papers"><form class="searchline" onSubmit=${(event) => {
      event.preventDefault();
      open({ intent, mode });
    }}>
        <${Input} label="What are they needed for?" value=${intent} onInput=${setIntent} />
        <${Select} label="Which" value=${mode} options=${[
          ['similar', 'Similar'],
          ['citers', 'Citing it'],
          ['references', 'Cited by it'],
        ]} onInput=${setMode} /><${Button} kind="primary" type="submit" busy=${state.busy}>Find</${Button}>
          </form>
      ${anchors.length > 0 && html`<p class="gap-top actions">
        <span class="muted small">Also like:</span>${anchors.map((one) => html`<button type="button"
        class="chip" aria-label=${`Remove anchor ${one}`}
        onClick=${() => open({ anchors: anchors.filter((other) => other !== one).join(' ') })}>
        ${one} ×</button>`)}</p>`}
      <${Problem} error=${state.error} />${state.busy && html`<${Loading} what="Ranking" />`}
      ${state.json?.note && html`<p class="note gap-top">${state.json.note}</p>`}
      ${state.json && results.length === 0 && html`<${Empty} title="No related papers in the index" />`}
      ${
        results.length > 0 &&
        html`<${Graph} seedNames=${seedNames} seed=${title} results=${results} picked=${picked}
          citations=${state.json.citations ?? []} anchors=${anchors} onPick=${setPicked} />
        <p class="muted small gap-bottom">Nearer is better ranked; larger is more central in the whole index;
          a curve joins papers of which one cites the other.</p>
        ${
          picked &&
          html`<div class="note"><p><strong>${picked.title}</strong></p>
            <p class="small">${short(picked.abstract ?? '', 400)}</p>
          <p class="actions gap-top"><a class="button small"
            href=${href('papers', [picked.primaryId])}>Open</a><${Button} kind="small" onClick=${() => {
            open({ anchors: [...anchors, picked.primaryId].join(' ') });
            setPicked(null);
          }}>Use as anchor</${Button}></p></div>`
        }
        <div class="scroll gap-top" tabindex="0"><table><thead><tr><th scope="col">Paper</th><th scope="col"
          class="num">Score</th><th scope="col" class="num">Meaning</th><th scope="col"
          class="num">Citations</th><th scope="col" class="num">Seeds</th></tr></thead>
          <tbody>${results.map(
            (
              one,
              index,
            ) => html`<tr key=${one.paperId}>
              <td class="break">${index + 1}. <a href=${href('papers', [one.primaryId])}>${one.title}</a></td>
              <td class="num">${percent(one.score)}</td>
            <td class="num">${percent(one.signals?.semantic)}</td>
              <td class="num">${percent(one.signals?.structural)}</td>
              <td class="num">${one.signals?.seedOverlap ?? '–'}</td></tr>`,
          )}</tbody></table></div>`
      }
    </${Card}>`;
}

/// All ids of a paper; which of them the API calls it by depends on what it has.
const namesOf = (paper) =>
  Object.entries(paper.ids ?? {}).flatMap(([space, values]) => values.map((value) => `${space}:${value}`));

function One({ id, query }) {
  const paper = useLoad((signal) => api(`${BASE}/${encodeURIComponent(id)}`, { signal }), [id]);
  if (!paper.data) return html`<${Page} title="Paper"><${Loaded} from=${paper} /></${Page}>`;
  return html`<${Loaded} from=${paper}>${({ paper: found, retracted }) => {
    const doi = found.ids?.doi?.[0];
    return html`<${Page} title=${found.title} lead=${found.authors}>
      ${retracted && html`<p class="note warn gap-bottom">This paper was retracted.</p>`}
      <${Card}><p class="muted small gap-bottom">${found.createdDate ?? ''} ${doi && html`<${WebLink}
        url=${`https://doi.org/${doi}`}>${doi}</${WebLink}>`} ${(found.categories ?? []).join(', ')}</p>
        <p class="break">${found.abstract}</p></${Card}>
      <${Related} id=${id} seedNames=${namesOf(found)} title=${found.title} query=${query} /></${Page}>`;
  }}</${Loaded}>`;
}

export default ({ args, query }) =>
  args[0] ? html`<${One} id=${args.join('/')} query=${query} />` : html`<${Find} query=${query} />`;
