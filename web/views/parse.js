// Parse: drop a file and read it as markdown, page by page, with the blocks it was found to consist of.

import { bytes, count, html, readAnswer, send, useLoad, api, useRef, useState } from '../core.js';
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

function Blocks({ blocks }) {
  const pages = [...new Set(blocks.map((one) => one.page ?? 1))];
  const [page, setPage] = useState(String(pages[0]));
  const shown = blocks.filter((one) => String(one.page ?? 1) === page);
  return html`<${Select} label="Page" value=${page} options=${pages.map(String)} onInput=${setPage} />
    <div class="scroll gap-top" tabindex="0"><table><thead><tr><th scope="col">Kind</th>
      <th scope="col">Text</th></tr></thead><tbody>${shown
      .slice(0, 500)
      .map(
        (one) => html`
      <tr><td class="nowrap"><${Badge} status=${one.status === 'failed' ? 'failed' : 'same'}>${one.type ?? one.kind}</${Badge}></td><td class="break">${String(one.text ?? one.markdown ?? one.content ?? '').slice(0, 2000)}</td></tr>`,
      )}</tbody></table></div>`;
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
        error: new Error(`${file.name} has ${bytes(file.size)}; at most ${bytes(MAX_BYTES)} can be parsed.`),
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
          ...(ocr ? { parsers: [{ type: 'pdf', mode: 'ocr' }] } : {}),
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
        ...(Array.isArray(data.blocks) ? [['blocks', `Blocks (${data.blocks.length})`]] : []),
        ['metadata', 'Metadata'],
        ['raw', 'Raw'],
      ]
    : [];
  const kinds = (formats.data ?? []).filter((one) => one.available).flatMap((one) => one.extensions);
  return html`<${Page} title="Parse" lead="A file as markdown: PDF, office documents, sheets, letters, pictures.">
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
      <div class="gap-top"><${Check} label="Read every page by OCR"
        hint="For scans. Without it OCR is used only where a page has no text." checked=${ocr}
        onInput=${setOcr} /></div>
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
        <${Tabs} label="Parts of the answer" tabs=${tabs} value=${tab} onChange=${setTab}>
          ${tab === 'markdown' && html`<${Markdown}
            text=${data.markdown ?? ''} />`}${tab === 'blocks' && html`<${Blocks} blocks=${data.blocks} />`}
          ${tab === 'metadata' && html`<${Code} text=${JSON.stringify(data.metadata ?? {}, null, 2)}
            label="Metadata" />`}${tab === 'raw' && html`<${Code} text=${JSON.stringify(state.json, null, 2)}
            label="the whole answer" />`}</${Tabs}>`
      }
    </${Card}></${Page}>`;
}
