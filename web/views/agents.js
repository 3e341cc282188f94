// Agent runs: the list, and one of them as it happens: what each agent does side by side, the versions of the result,
// and every value with the words of the page it is from.

import {
  api,
  ApiError,
  count,
  duration,
  encodeCall,
  fullTime,
  href,
  html,
  online,
  ownPath,
  plural,
  session,
  toast,
  useEffect,
  useLoad,
  useState,
  useTab,
} from '../core.js';
import {
  Badge,
  Button,
  Card,
  Code,
  Confirm,
  Empty,
  Loaded,
  Page,
  Problem,
  Select,
  Stale,
  Stat,
  Table,
  Tabs,
  Time,
  tookOf,
  WebLink,
} from '../ui.js';
import { Markdown } from '../parts/markdown.js';
import { Values } from '../parts/sources.js';

/// The runs, each with what the activity of the last day says of it: what it cost, how long it took, whose key.
async function loadRuns(signal) {
  const [page, activity] = await Promise.all([
    api('/v2/agent', { signal }),
    api('/v2/team/activity?endpoint=agent&limit=100', { signal }),
  ]);
  const known = new Map(activity.data.map((one) => [one.id, one]));
  return { ...page, known };
}

const RUN_COLUMNS = (known) => [
  [
    'Prompt',
    (run) => html`<a href=${href('agents', [run.id])}>${run.options.prompt.slice(0, 200)}</a>
      ${run.options.urls?.length > 0 && html`<br /><span class="muted small">${run.targetHint}</span>`}`,
    'break',
  ],
  ['Status', (run) => html`<${Badge} status=${outcomeOf(run, known.get(run.id))} />`],
  ['Took', (run) => tookOf(known.get(run.id) ?? {}) || '–', 'num'],
  ['Credits', (run) => count(known.get(run.id)?.credits), 'num'],
  ['Key', (run) => known.get(run.id)?.key_name ?? '–', 'break'],
  ['Started', (run) => html`<${Time} at=${run.createdAt} />`, 'num muted'],
];

/// A run that was cancelled has failed, by the words of the API; the activity knows better.
const outcomeOf = (run, known) => (known?.status === 'cancelled' ? 'cancelled' : run.status);

function List() {
  const list = useLoad(loadRuns, [], { every: 4000 });
  const [older, setOlder] = useState({ runs: [], next: undefined });
  const [busy, setBusy] = useState(false);
  const loadOlder = async (next) => {
    setBusy(true);
    await api(next).then(
      (page) => setOlder((old) => ({ runs: [...old.runs, ...page.agents], next: page.next ?? null })),
      (problem) => toast(problem.message, 'bad'),
    );
    setBusy(false);
  };
  return html`
    <${Page} title="Agent runs" lead="A run searches, reads pages and fills in what was asked for."
      actions=${html`<a class="button primary" href=${href('playground', ['agent'])}>New run</a>`}>
      <${Card} flush><${Loaded} from=${list}>${(page) => {
        if (page.agents.length === 0)
          return html`<${Empty} title="No runs yet">
            <p>Ask a question, with or without addresses to begin at.
              <a href=${href('playground', ['agent'])}>Start a run</a>.</p></${Empty}>`;
        const newest = new Set(page.agents.map((run) => run.id));
        const runs = [...page.agents, ...older.runs.filter((run) => !newest.has(run.id))];
        const next = older.next === undefined ? page.next : older.next;
        return html`<${Table} label="Runs, newest first" columns=${RUN_COLUMNS(page.known)} rows=${runs} />
          ${
            next &&
            html`<div class="pad"><${Button} busy=${busy} onClick=${() => loadOlder(ownPath(next))}>
            Load older runs</${Button}></div>`
          }`;
      }}</${Loaded}></${Card}>
    </${Page}>`;
}

/// Events as they come. The browser connects again by itself and goes on after the last one it has.
function useTrace(id, connected) {
  const [events, setEvents] = useState([]);
  const [error, setError] = useState(null);
  useEffect(() => {
    let waiting = [];
    let frame = 0;
    const known = new Set();
    const source = new EventSource(`/v2/agent/${encodeURIComponent(id)}/trace`);
    const flush = () => {
      frame = 0;
      const fresh = waiting;
      waiting = [];
      setEvents((old) => [...old, ...fresh]);
    };
    setEvents([]);
    source.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if (known.has(event.eventId)) return;
      known.add(event.eventId);
      waiting.push(event);
      frame ||= requestAnimationFrame(flush);
      if (event.type === 'run.finished') source.close();
    };
    setError(null);
    source.addEventListener('error', (message) => {
      // Without data it is the connection: it is made again, unless the server refused it.
      if (!message.data && source.readyState === EventSource.CLOSED)
        setError(
          new ApiError('The steps of this run cannot be read now. Reload the page to try again.', {
            status: null,
          }),
        );
      if (message.data) {
        setError(new ApiError(JSON.parse(message.data).error, { status: null }));
        source.close();
      }
    });
    return () => {
      source.close();
      cancelAnimationFrame(frame);
    };
  }, [id, connected]);
  return { events, error };
}

const TOOLS = {
  scrape: 'Read',
  search: 'Searched',
  map: 'Listed',
  record: 'Recorded',
  calculate: 'Calculated',
};

/// One line for what an agent did; a call and its result are one.
function describe(event, results) {
  switch (event.type) {
    case 'run.started':
      return { text: 'The run started' };
    case 'run.cancel_requested':
      return { text: 'Cancelling was asked for', tone: 'cancelled' };
    case 'run.finished':
      return { text: 'The run ended', tone: event.outcome, detail: event.error?.message };
    case 'agent.started':
      return { text: 'Started' };
    case 'agent.finished':
      return { text: 'Ended', tone: event.outcome, detail: event.error?.message };
    case 'progress.reported':
      return { text: event.message };
    case 'reasoning.summary':
      return { text: event.text, quiet: true };
    case 'artifact.updated': {
      const { change, itemCount } = event.artifact;
      const rows = itemCount === undefined ? '' : `, ${plural(itemCount, 'row')}`;
      return { text: `Result: ${change}${rows}`, tone: 'new' };
    }
    case 'error.occurred':
      return { text: event.error.message, tone: 'failed' };
    case 'tool_call.started': {
      const result = results.get(event.toolCallId);
      const about = event.parameters?.url ?? event.parameters?.query ?? event.parameters?.expression;
      const detail =
        result?.error ??
        result?.title ??
        (result?.citations ? plural(result.citations.length, 'value') : undefined);
      return {
        text: TOOLS[event.toolName] ?? event.toolName,
        about,
        detail,
        tone: result?.error ? 'failed' : undefined,
        busy: result === undefined,
      };
    }
    default:
      return null;
  }
}

function Event({ event, results, running, first }) {
  const shown = describe(event, results);
  if (!shown) return null;
  return html`<div class="event">
    <div class="event-head">${shown.tone && html`<${Badge} status=${shown.tone} />`}
      ${shown.busy && running && html`<span class="spin" aria-hidden="true"></span>`}
      <span class=${shown.quiet ? 'muted' : ''}>${shown.text}</span>
      <time datetime=${event.occurredAt} title=${fullTime(event.occurredAt)}>
        +${duration((new Date(event.occurredAt) - first) / 1000)}</time></div>
    ${shown.about && html`<div class="small"><${WebLink} url=${shown.about} /></div>`}
    ${shown.detail && html`<div class="muted small">${shown.detail}</div>`}</div>`;
}

/// What the run itself did in one line, and its agents side by side below.
function Lanes({ events, running }) {
  const results = new Map(
    events
      .filter((event) => event.type === 'tool_call.finished')
      .map((event) => [event.toolCallId, event.result]),
  );
  const lanes = new Map();
  for (const event of events) {
    if (!lanes.has(event.agent.id)) lanes.set(event.agent.id, { agent: event.agent, events: [] });
    lanes.get(event.agent.id).events.push(event);
  }
  const first = new Date(events[0]?.occurredAt);
  if (lanes.size === 0)
    return html`<${Empty} title=${running ? 'Waiting for the first step' : 'No events'} />`;
  const drawn = (event) => html`<${Event} key=${event.eventId} event=${event} results=${results}
    running=${running} first=${first} />`;
  const [system, agents] = [true, false].map((of) =>
    [...lanes.values()].filter((lane) => (lane.agent.role === 'system') === of),
  );
  return html`<div role="region" aria-label="What each agent does">
    <div class="run-line">${system.flatMap((lane) => lane.events.slice(-400)).map(drawn)}</div>
    <div class="lanes" tabindex="0">${agents.map(
      (lane) => html`<section class="lane" key=${lane.agent.id}>
        <h3>${lane.agent.name}</h3>${lane.events.slice(-400).map(drawn)}</section>`,
    )}</div></div>`;
}

function Versions({ id, events }) {
  const updates = events.filter((event) => event.type === 'artifact.updated');
  const [chosen, setChosen] = useState(null);
  const snapshot = chosen ?? updates.at(-1)?.artifact.snapshotId;
  const loaded = useLoad(
    (signal) => (snapshot ? api(`/v2/agent/${id}/snapshots/${snapshot}`, { signal }) : Promise.resolve({})),
    [snapshot ?? ''],
  );
  if (updates.length === 0) return html`<${Empty} title="No result yet" />`;
  const options = updates.map((event, index) => [
    event.artifact.snapshotId,
    `${index + 1} of ${updates.length}: ${event.artifact.change}`,
  ]);
  return html`<div class="form gap-bottom"><${Select} label="Version" value=${snapshot} options=${options}
    onInput=${setChosen} /></div>
    <${Loaded} from=${loaded}>${(found) => html`<${Code} label="Snapshot"
      text=${pretty(found.snapshot ?? '')} />`}</${Loaded}>`;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/// The call that asks the same again, as the address of the playground keeps it.
function askAgain({ urls, prompt, schema, effort }) {
  const body = { prompt, ...(urls?.length > 0 ? { urls } : {}), ...(schema ? { schema } : {}) };
  return href('playground', ['agent'], {
    call: encodeCall({ body: { ...body, ...(effort ? { effort } : {}) } }),
  });
}

const MAX_TITLE = 160;

function Run({ id }) {
  const connected = online.use();
  const { events, error } = useTrace(id, connected);
  const ended = events.some((event) => event.type === 'run.finished');
  const status = useLoad((signal) => api(`/v2/agent/${encodeURIComponent(id)}`, { signal }), [id, ended], {
    every: ended ? 0 : 2000,
  });
  const asked = useLoad(
    (signal) => api(`/v2/agent/${encodeURIComponent(id)}/request`, { signal }).then((answer) => answer.agent),
    [id],
  );
  // A run that is done is opened for its result, one that works for what it does.
  const over = status.data && status.data.status !== 'processing';
  const [tab, setTab] = useTab(
    over ? ['result', 'trace', 'sources', 'versions'] : ['trace', 'result', 'sources', 'versions'],
  );
  const [asking, setAsking] = useState(false);
  const run = status.data;
  if (!run)
    return html`<${Page} title="Agent run"><${Loaded} from=${status}>${() => null}</${Loaded}></${Page}>`;
  const running = run.status === 'processing';
  const question = asked.data?.options.prompt;
  const outcome = run.stopReason === 'cancelled' ? 'cancelled' : run.status;
  const data = run.data ?? run.partial;
  const started = events.filter((event) => event.type === 'agent.started');
  const agents = new Set(started.map((event) => event.agent.id));
  const cancel = async (yes) => {
    setAsking(false);
    if (yes)
      await api(`/v2/agent/${id}`, { method: 'DELETE' }).then(
        () => toast('Cancelling the run'),
        (problem) => toast(problem.message, 'bad'),
      );
  };
  return html`
    <${Page} title=${question ? question.slice(0, MAX_TITLE) : 'Agent run'} status=${outcome}
      lead=${asked.data?.options.urls?.join(', ')}
      actions=${html`${asked.data && html`<a class="button" href=${askAgain(asked.data.options)}>Ask again</a>`}
        ${running && html`<${Button} kind="danger" onClick=${() => setAsking(true)}>Cancel</${Button}>`}`}>
      ${question?.length > MAX_TITLE && html`<p class="note gap-bottom break">${question}</p>`}
      <${Problem} error=${asked.error} retry=${asked.reload} />
      ${status.error && html`<${Stale} error=${status.error} retry=${status.reload} />`}
      ${
        asking &&
        html`<${Confirm} title="Cancel this run?"
        text="What it found so far is kept as a partial result; nothing is charged." action="Cancel it"
        onAnswer=${cancel} />`
      }
      ${error && html`<${Problem} error=${error} />`}
      ${run.error && html`<p class="note warn gap-bottom">${run.error}</p>`}
      ${run.warning && html`<p class="note warn gap-bottom">${run.warning}</p>`}
      <${Card}><dl class="stats"><${Stat} name="Credits">${count(run.creditsUsed)}</${Stat}><${Stat}
        name="Steps">${count(events.filter((event) => event.type === 'tool_call.started').length)}</${Stat}>
        <${Stat} name="Agents">${count(agents.size)}</${Stat}>
        ${session.get()?.languageModel && html`<${Stat} name="Model">${run.model}</${Stat}>`}${
          run.effort &&
          html`<${Stat}
          name="Effort">${run.effort}</${Stat}>`
        }</dl>
        <p class="muted small gap-top break">Run <code>${id}</code></p></${Card}>
      <${Card}>
        <${Tabs} label="Parts of the run" tabs=${[
          ['result', 'Result'],
          ['trace', 'Trace'],
          ['sources', 'Values and sources'],
          ['versions', 'Versions'],
        ]} value=${tab} onChange=${setTab}>
          ${tab === 'trace' && html`<${Lanes} events=${events} running=${running} />`}
          ${
            tab === 'result' &&
            (run.message
              ? html`<${Markdown} text=${run.message} />`
              : data === null || data === undefined
                ? html`<${Empty} title=${running ? 'No result yet' : 'The run has no result'} />`
                : html`<${Code} text=${JSON.stringify(data, null, 2)} label="Result" />`)
          }
          ${tab === 'sources' && html`<${Values} events=${events} data=${data} />`}
          ${tab === 'versions' && html`<${Versions} id=${id} events=${events} />`}
        </${Tabs}>
      </${Card}>
    </${Page}>`;
}

export default ({ args }) => (args[0] ? html`<${Run} id=${args[0]} />` : html`<${List} />`);
