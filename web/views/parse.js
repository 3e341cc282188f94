// Parse: drop a file and read it as markdown, page by page, with the blocks it was found to consist of.

import {
  api,
  ApiError,
  bytes,
  copy,
  count,
  html,
  readAnswer,
  save,
  send,
  useLoad,
  useRef,
  useState,
} from '../core.js';
import {
  Badge,
  Button,
  Card,
  Check,
  Code,
  Empty,
  Loading,
  Page,
  Problem,
  Select,
  Stat,
  Tabs,
} from '../ui.js';
import { Markdown } from '../parts/markdown.js';

const MAX_BYTES = 50_000_000;

const TONE = { title: 'head', section_header: 'head', table: 'grid', figure: 'grid', formula: 'grid' };

/// A page as it lies: the place of each block, beside what was read there.
function Blocks({ pages }) {
  const [number, setNumber] = useState(String(pages[0]?.pageNumber ?? 1));
  const [chosen, setChosen] = useState(null);
  const page = pages.find((one) => String(one.pageNumber) === number) ?? pages[0];
  if (!page) return html`<${Empty} title="No pages" />`;
  const [width, height] = [page.width ?? 595, page.height ?? 842];
  const placed = page.items.filter((one) => Array.isArray(one.bbox));
  const box = ([left, top, right, bottom]) => ({
    x: left * width,
    y: top * height,
    width: Math.max(1, (right - left) * width),
    height: Math.max(1, (bottom - top) * height),
  });
  const sheet = html`
    <svg class="sheet" viewBox=${`0 0 ${width} ${height}`} role="img"
      aria-label=${`Places of ${placed.length} blocks`}>
      <rect class="paper" width=${width} height=${height} />
      ${placed.map(
        (one) => html`
          <g key=${one.id} class=${`place ${TONE[one.type] ?? ''} ${one.id === chosen ? 'chosen' : ''}`}>
            <rect ...${box(one.bbox)} onClick=${() => setChosen(one.id)} />
            <text x=${one.bbox[0] * width + 3} y=${one.bbox[1] * height + 11}>${one.readingOrder + 1}</text>
          </g>
        `,
      )}
    </svg>
  `;
  const numbers = pages.map((one) => String(one.pageNumber));
  return html`
    ${
      pages.length > 1 &&
      html`<${Select} label="Page" value=${number} options=${numbers} onInput=${setNumber} />`
    }
    ${page.status === 'failed' && html`<p class="note warn gap-top">This page could not be read.</p>`}
    <div class=${placed.length > 0 ? 'two gap-top' : 'gap-top'}>
      ${placed.length > 0 && sheet}
      <ol class="blocks" tabindex="0" aria-label="Blocks in reading order">
        ${page.items.slice(0, 500).map(
          (one) => html`
            <li key=${one.id} class=${one.id === chosen ? 'chosen' : ''}>
              <button type="button" class="doc-head" aria-pressed=${one.id === chosen}
                onClick=${() => setChosen(one.id)}>
                <${Badge} status="same">${one.readingOrder + 1} ${one.type.replaceAll('_', ' ')}</${Badge}>
                ${
                  one.confidence?.ocr &&
                  html`<span class="muted small">OCR ${Math.round(one.confidence.ocr * 100)} %</span>`
                }
              </button>
              <p class="break small">${String(one.content ?? '').slice(0, 2000)}</p>
            </li>
          `,
        )}
      </ol>
    </div>
  `;
}

export default function Parse() {
  const formats = useLoad((signal) =>
    api('/v2/parse/formats', { signal }).then((answer) => answer.data.formats),
  );
  const [over, setOver] = useState(false);
  const [ocr, setOcr] = useState(false);
  const [state, setState] = useState({});
  const [tab, setTab] = useState('markdown');
  const input = useRef(null);
  const parse = async (file) => {
    if (!file) return;
    if (file.size > MAX_BYTES) {
      setState({
        error: new ApiError(`${file.name} has ${bytes(file.size)}; at most ${bytes(MAX_BYTES)} can be parsed.`, { status: null }),
      });
      return;
    }
    setState({ busy: file.name });
    const started = performance.now();
    try {
      const form = new FormData();
      form.append(
        'options',
        JSON.stringify({
          formats: ['markdown'],
          parsers: [{ type: 'pdf', blocks: true, mode: ocr && hasOcr ? 'ocr' : 'auto' }],
        }),
      );
      form.append('file', file);
      const json = await readAnswer(await send('/v2/parse', { method: 'POST', body: form }));
      setState({ file, json, took: Math.round(performance.now() - started) });
    } catch (error) {
      setState({ error });
    }
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    parse(event.dataTransfer.files[0]);
  };
  const data = state.json?.data;
  const tabs = data
    ? [
        ['markdown', 'Markdown'],
        ...(Array.isArray(data.blocks) ? [['blocks', 'Blocks']] : []),
        ['metadata', 'Metadata'],
        ['raw', 'Raw'],
      ]
    : [];
  const known = formats.data ?? [];
  const kinds = known.filter((one) => one.available).flatMap((one) => one.extensions);
  // Pictures are read by OCR and by nothing else.
  const hasOcr = known.some((one) => one.kind === 'image' && one.available);
  const plainName = state.file?.name.replace(/\.[^.]*$/, '') ?? '';
  return html`<${Page} title="Parse"
    lead="A file as markdown: PDF, office documents, sheets, letters, pictures.">
    <${Card}>
      <div class=${`drop ${over ? 'over' : ''}`} onDragOver=${(event) => {
        event.preventDefault();
        setOver(true);
      }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
        <p class="gap-bottom">Drop a file here</p>
        <${Button} kind="primary" onClick=${() => input.current.click()}>Choose a file</${Button}>
        <input ref=${input} type="file" hidden aria-label="File to parse"
          onChange=${(event) => parse(event.currentTarget.files[0])} />
        <p class="hint gap-top">${kinds.length > 0 ? kinds.join(', ') : ''}</p>
      </div>
      ${formats.error && html`<${Problem} error=${formats.error} retry=${formats.reload} />`}
      ${
        hasOcr
          ? html`<div class="gap-top"><${Check} label="Read every page by OCR"
            hint="For scans. Without it OCR is used only where a page has no text." checked=${ocr}
            onInput=${setOcr} /></div>`
          : formats.data &&
            html`<p class="hint gap-top">Scans and pictures cannot be read: OCR is not installed.
              <code>gannet doctor</code> says how to install it.</p>`
      }
    </${Card}>
    <${Card}>
      ${state.busy && html`<${Loading} what=${`Reading ${state.busy}`} />`}<${Problem} error=${state.error} />
      ${!state.busy && !state.error && !data && html`<${Empty} title="No file yet">
        <p>Nothing of it is kept: the answer is all there is.</p></${Empty}>`}
      ${
        data &&
        html`<h2 class="break gap-bottom">${state.file.name}</h2>
        <dl class="stats gap-bottom"><${Stat} name="Size">${bytes(state.file.size)}</${Stat}><${Stat}
          name="Took">${count(state.took)} ms</${Stat}>
          ${data.metadata?.numPages !== undefined && html`<${Stat}
            name="Pages">${count(data.metadata.numPages)}</${Stat}>`}</dl>
        ${data.warning && html`<p class="note warn gap-bottom">${data.warning}</p>`}
        <div class="actions gap-bottom">
          <${Button} kind="small" onClick=${() => copy(data.markdown ?? '', 'Markdown copied')}>
            Copy the markdown</${Button}>
          <${Button} kind="small"
            onClick=${() => save(`${plainName || 'document'}.md`, [data.markdown ?? ''], 'text/markdown')}>
            Download it</${Button}></div>
        <${Tabs} label="Parts of the answer" tabs=${tabs} value=${tab} onChange=${setTab}>
          ${tab === 'markdown' && html`<${Markdown}
            text=${data.markdown ?? ''} />`}${tab === 'blocks' && html`<${Blocks} pages=${data.blocks} />`}
          ${tab === 'metadata' && html`<${Code} text=${JSON.stringify(data.metadata ?? {}, null, 2)}
            label="Metadata" />`}${tab === 'raw' && html`<${Code} text=${JSON.stringify(state.json, null, 2)}
            label="the whole answer" />`}</${Tabs}>`
      }
    </${Card}></${Page}>`;
}
