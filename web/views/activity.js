// Activity: the requests of the last day, as they come in; each opens what it made.

import {
  api,
  ENDPOINTS,
  go,
  href,
  html,
  toast,
  useEffect,
  useLoad,
  useRef,
  useState,
} from '../core.js';
import { Button, Card, Empty, Loading, Page, Problem, RequestRows, Select } from '../ui.js';

/// Loads pages as they are asked for, and what is new at the top.
function useActivity(endpoint) {
  const [rows, setRows] = useState([]);
  const [more, setMore] = useState(null);
  const [busy, setBusy] = useState(false);
  const filter = endpoint ? `&endpoint=${encodeURIComponent(endpoint)}` : '';
  const top = useLoad((signal) => api(`/v2/team/activity?limit=100${filter}`, { signal }), [endpoint], {
    every: 3000,
  });
  const known = useRef(new Set());
  useEffect(() => {
    known.current = new Set();
    setRows([]);
    setMore(null);
  }, [endpoint]);
  useEffect(() => {
    if (!top.data) return;
    const fresh = top.data.data.filter((row) => !known.current.has(row.id));
    if (known.current.size === 0) setMore(top.data.has_more ? top.data.cursor : null);
    for (const row of fresh) known.current.add(row.id);
    // What was running when it was listed may have ended since.
    const now = new Map(top.data.data.map((row) => [row.id, row]));
    setRows((old) => [...fresh, ...old.map((row) => now.get(row.id) ?? row)]);
  }, [top.data]);
  const loading = useRef(false);
  const older = async () => {
    if (loading.current || !more) return;
    loading.current = true;
    setBusy(true);
    try {
      const page = await api(`/v2/team/activity?limit=100${filter}&cursor=${more}`);
      const fresh = page.data.filter((row) => !known.current.has(row.id));
      for (const row of fresh) known.current.add(row.id);
      setRows((old) => [...old, ...fresh]);
      setMore(page.has_more ? page.cursor : null);
    } catch (problem) {
      toast(problem.message, 'bad');
    } finally {
      loading.current = false;
      setBusy(false);
    }
  };
  return { rows, top, more, older, busy };
}

export default function Activity({ query }) {
  const endpoint = query.endpoint ?? '';
  const { rows, top, more, older, busy } = useActivity(endpoint);
  const [text, setText] = useState(query.text ?? '');
  const wanted = text.trim().toLowerCase();
  const shown = wanted
    ? rows.filter((row) =>
        `${row.target ?? ''} ${row.username ?? ''} ${row.status ?? ''} ${row.key_name ?? ''} ${row.id}`
          .toLowerCase()
          .includes(wanted),
      )
    : rows;
  const choose = (value) => go('activity', [], { endpoint: value, text }, { replace: true });
  const list = html`<${RequestRows} items=${shown} label="Requests, newest first" onEnd=${older} />`;
  return html`
    <${Page} title="Activity"
      lead="Requests of the last 24 hours, newest first. New ones appear by themselves.">
      <${Card} flush>
        <div class="card-head form">
          <${Select} label="Kind" value=${endpoint} onInput=${choose}
            options=${[['', 'All'], ...Object.entries(ENDPOINTS)]} />
          <div class="field"><label for="filter">Filter what is loaded</label>
            <input id="filter" type="search" placeholder="address, outcome, key or id" value=${text}
              onInput=${(event) => setText(event.currentTarget.value)} /></div>
        </div>
        ${top.error && html`<div class="pad"><${Problem} error=${top.error} retry=${top.reload} /></div>`}
        ${!top.data && !top.error && html`<div class="pad"><${Loading} /></div>`}
        ${
          top.data &&
          shown.length === 0 &&
          html`<${Empty}
            title=${wanted || endpoint ? 'Nothing fits the filter' : 'No requests in the last 24 hours'}>
            <p>Every call of the API appears here.
              Make one in the <a href=${href('playground')}>playground</a>.</p></${Empty}>`
        }
        ${shown.length > 0 && list}
        ${
          more &&
          html`<div class="pad"><${Button} busy=${busy} onClick=${older}>Load older requests</${Button}>
          <span class="muted small"> ${rows.length} loaded</span></div>`
        }
      </${Card}>
    </${Page}>`;
}
