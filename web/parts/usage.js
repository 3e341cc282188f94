// What a team used: this month by key, and credits by day and by month.

import { api, count, ENDPOINTS, html, plural, useEffect, useLoad, useRef, useState } from '../core.js';
import { Card, Empty, Loaded, Select, Stat } from '../ui.js';

/// What the API says for a plan without a limit.
const UNLIMITED = 1_000_000_000;

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });

/// How wide an element is, also after its window changed: so that text in a drawing has the size of other text.
function useWidth(element) {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) =>
      setWidth(Math.max(200, Math.round(entry.contentRect.width))),
    );
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  return width;
}

const [TOP, BASE, HEIGHT] = [20, 150, 172];
/// Pixels from the name of one bar to the next, and from the middle of the last to the edge.
const [NAME_STEP, NAME_EDGE] = [78, 28];

/// Bars of our own: `bars` are `{ name, value, says }`. Names stand below as many bars as have room for one.
function Bars({ bars, label }) {
  const element = useRef(null);
  const width = useWidth(element);
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const step = Math.min(NAME_STEP, width / bars.length);
  const every = Math.ceil(NAME_STEP / step);
  const named = (index) => (bars.length - 1 - index) % every === 0;
  const middle = (x) => Math.min(x + step / 2, width - NAME_EDGE);
  return html`<svg class="chart" ref=${element} viewBox=${`0 0 ${width} ${HEIGHT}`} role="img"
    aria-label=${label}>
    <line x1="0" y1=${TOP} x2=${width} y2=${TOP} /><line x1="0" y1=${BASE} x2=${width} y2=${BASE} />
    <text x="0" y=${TOP - 6}>${count(most)}</text>
    ${bars.map((bar, index) => {
      const tall = bar.value > 0 ? Math.max(2, (bar.value / most) * (BASE - TOP)) : 0;
      const [x, wide] = [index * step, Math.min(36, step * 0.7)];
      return html`<g key=${bar.name}><title>${bar.says}</title>
        <rect class="hover" x=${x} y=${TOP} width=${step} height=${BASE - TOP} />
        <rect x=${x + (step - wide) / 2} y=${BASE - tall} width=${wide} height=${tall}
          rx=${Math.min(3, wide * 0.25)} />
        ${
          named(index) &&
          html`<text x=${middle(x)} y=${BASE + 17} text-anchor="middle">${bar.name}</text>`
        }</g>`;
    })}</svg>`;
}

function ByDay() {
  const [days, setDays] = useState('30');
  const usage = useLoad(
    (signal) => api(`/v2/team/credit-usage/daily?days=${days}`, { signal }).then((answer) => answer.days),
    [days],
    { every: 10_000 },
  );
  const choose = html`<${Select} label="Days" value=${days} options=${['7', '30', '90', '365']}
    onInput=${setDays} />`;
  return html`<${Card} title="Credits by day" actions=${choose}><${Loaded} from=${usage}>${(found) => {
    const used = found.filter((one) => one.creditsUsed > 0);
    if (used.length === 0)
      return html`<${Empty} title=${`Nothing used in the last ${days} days`} />`;
    const parts = (one) => {
      const endpoints = Object.entries(one.creditsByEndpoint);
      return endpoints.map(([name, value]) => `${ENDPOINTS[name] ?? name} ${count(value)}`);
    };
    const bars = found.map((one) => {
      const name = day.format(new Date(one.date));
      const says = [`${name}: ${plural(one.creditsUsed, 'credit')}`, ...parts(one)].join(', ');
      return { name, value: one.creditsUsed, says };
    });
    const total = used.reduce((sum, one) => sum + one.creditsUsed, 0);
    return html`
      <${Bars} bars=${bars}
        label=${`${plural(total, 'credit')} in ${days} days; the table below has each of them`} />
      <details class="gap-top"><summary>As a table</summary><div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Day</th><th scope="col" class="num">Credits</th>
          <th scope="col" class="num">Tokens</th><th scope="col">For</th></tr></thead>
        <tbody>${[...used].reverse().map(
          (one) => html`<tr key=${one.date}><td class="nowrap">${one.date}</td>
            <td class="num">${count(one.creditsUsed)}</td><td class="num">${count(one.tokensUsed)}</td>
            <td>${parts(one).join(', ')}</td></tr>`,
        )}</tbody></table></div></details>`;
  }}</${Loaded}></${Card}>`;
}

function ByMonth({ periods }) {
  const months = new Map();
  for (const one of periods) months.set(one.startDate, (months.get(one.startDate) ?? 0) + one.creditsUsed);
  const bars = [...months]
    .sort(([a], [b]) => a.localeCompare(b))
    .slice(-12)
    .map(([start, value]) => {
      const name = month.format(new Date(start));
      return { name, value, says: `${name}: ${plural(value, 'credit')}` };
    });
  const label = `Credits by month: ${bars.map((bar) => bar.says).join(', ')}`;
  return html`<${Bars} bars=${bars} label=${label} />`;
}

const loadUsage = async (signal) => {
  const paths = [
    '/v2/team/credit-usage',
    '/v2/team/credit-usage/historical?byApiKey=true',
    '/v2/team/queue-status',
    '/v2/concurrency-check',
  ];
  const [credits, history, queue, browsers] = await Promise.all(paths.map((path) => api(path, { signal })));
  return { credits: credits.data, periods: history.periods, queue, browsers };
};

export function Usage() {
  const usage = useLoad(loadUsage, [], { every: 5000 });
  return html`<${Loaded} from=${usage}>${({ credits, periods, queue, browsers }) => {
    const current = periods.filter((one) => one.startDate === credits.billingPeriodStart);
    const used = current.reduce((sum, one) => sum + one.creditsUsed, 0);
    const left = credits.planCredits >= UNLIMITED ? 'unlimited' : count(credits.remainingCredits);
    const open = `${count(browsers.concurrency)} of ${count(browsers.maxConcurrency)}`;
    return html`
      <div class="grid">
        <${Card} title="This month"><dl class="stats">
          <${Stat} name="Credits used">${count(used)}</${Stat}>
          <${Stat} name="Left">${left}</${Stat}>
          <${Stat} name="Jobs running">${count(queue.activeJobsInQueue)}</${Stat}>
          <${Stat} name="Jobs waiting">${count(queue.waitingJobsInQueue)}</${Stat}>
          <${Stat} name="Browsers">${open}</${Stat}></dl>
          ${
            current.length > 0 &&
            html`<table class="gap-top"><thead><tr><th scope="col">Key</th>
              <th scope="col" class="num">Credits</th></tr></thead>
            <tbody>${current.map(
              (one) => html`<tr><td class="break">${one.apiKey ?? 'without a key'}</td>
              <td class="num">${count(one.creditsUsed)}</td></tr>`,
            )}</tbody></table>`
          }
        </${Card}>
        <${Card} title="Credits by month">${
          periods.length === 0
            ? html`<${Empty} title="Nothing used yet" />`
            : html`<${ByMonth} periods=${periods} />`
        }</${Card}>
      </div>
      <${ByDay} />`;
  }}</${Loaded}>`;
}
