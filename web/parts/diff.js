// A difference as it is read: before and after side by side, or one below the other, with the words that changed
// marked. Words of pages stay text.

import { html, useState } from '../core.js';

const MAX_LINES = 3000;
/// Longer lines are not compared word by word.
const MAX_WORDS = 400;

/// The lines of a unified difference: `kind` is "at" for a place, "add", "del", or "" for what stayed.
export function readLines(text) {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines
    .filter((line) => !/^(---|\+\+\+) /.test(line) && !line.startsWith('\\'))
    .slice(0, MAX_LINES)
    .map((line) => {
      if (line.startsWith('@@')) return { kind: 'at', text: line };
      const kind = { '+': 'add', '-': 'del' }[line[0]] ?? '';
      return { kind, text: kind || line[0] === ' ' ? line.slice(1) : line };
    });
}

/// Lines as rows of two: what was removed stands beside what was added in its place.
export function pairLines(lines) {
  const rows = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at].kind === 'at' || lines[at].kind === '') {
      rows.push({ before: lines[at], after: lines[at] });
      at += 1;
      continue;
    }
    const [removed, added] = [[], []];
    while (lines[at]?.kind === 'del') removed.push(lines[at++]);
    while (lines[at]?.kind === 'add') added.push(lines[at++]);
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      rows.push({ before: removed[index], after: added[index] });
  }
  return rows;
}

/// Words, numbers with their fraction, spaces, and other characters one by one.
const wordsOf = (text) => text.match(/[\p{L}\p{N}]+(?:[.,]\p{N}+)*|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

/// The words of two lines, each with whether it is only in its own line: what remains is their longest common
/// sequence.
export function markWords(before, after) {
  const [left, right] = [wordsOf(before), wordsOf(after)];
  const all = (words, changed) => words.map((text) => ({ text, changed }));
  if (left.length > MAX_WORDS || right.length > MAX_WORDS) return [all(left, true), all(right, true)];
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      longest[i * width + j] =
        left[i] === right[j]
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  const [marked, markedRight] = [all(left, true), all(right, true)];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      marked[i++].changed = false;
      markedRight[j++].changed = false;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return [marked, markedRight];
}

/// Words, those that changed as `<del>` or `<ins>`; neighbours are one, with the space between them.
function Words({ words, tag }) {
  const runs = [];
  const joins = (word, at) => word.text.trim() === '' && words[at - 1]?.changed && words[at + 1]?.changed;
  for (const [at, word] of words.entries()) {
    if (joins(word, at)) {
      runs.at(-1).text += word.text;
      continue;
    }
    if (runs.at(-1)?.changed === word.changed) runs.at(-1).text += word.text;
    else runs.push({ ...word });
  }
  return runs.map((run) => (run.changed ? html`<${tag}>${run.text}</${tag}>` : run.text));
}

/// Both lines of a row with their words marked; a line that stands alone is plain.
function marked({ before, after }) {
  if (!before || !after || before === after) return [before?.text, after?.text];
  const [left, right] = markWords(before.text, after.text);
  return [html`<${Words} words=${left} tag="del" />`, html`<${Words} words=${right} tag="ins" />`];
}

const SideBySide = ({ rows }) => html`
  <table class="diff-table">
    <thead><tr><th scope="col">Before</th><th scope="col">After</th></tr></thead>
    <tbody>${rows.map((row) => {
      if (row.before?.kind === 'at') return html`<tr><td class="at" colspan="2">${row.before.text}</td></tr>`;
      const [left, right] = marked(row);
      return html`<tr><td class=${row.before?.kind ?? 'none'}>${left}</td>
        <td class=${row.after?.kind ?? 'none'}>${right}</td></tr>`;
    })}</tbody>
  </table>`;

const Stacked = ({ rows }) =>
  rows.map((row) => {
    if (row.before === row.after)
      return html`<div class=${row.before.kind}>${row.before.text || ' '}</div>`;
    const [left, right] = marked(row);
    return html`${row.before && html`<div class="del">${left}</div>`}
      ${row.after && html`<div class="add">${right}</div>`}`;
  });

const NARROW = 700;

export function Diff({ text }) {
  const [beside, setBeside] = useState(innerWidth > NARROW);
  const rows = pairLines(readLines(text));
  const choices = [
    [true, 'Side by side'],
    [false, 'One below the other'],
  ];
  return html`
    <div class="chips gap-bottom" role="group" aria-label="How the difference is shown">${choices.map(
      ([value, name]) => html`<button type="button" class="chip" aria-pressed=${beside === value}
        onClick=${() => setBeside(value)}>${name}</button>`,
    )}</div>
    <div class="diff" tabindex="0" role="region" aria-label="Difference">
      ${beside ? html`<${SideBySide} rows=${rows} />` : html`<${Stacked} rows=${rows} />`}</div>`;
}
