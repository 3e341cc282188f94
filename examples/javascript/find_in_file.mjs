// Finds words in a file and prints where they are: the page, the kind of block and its place on the page.
// usage: node find_in_file.mjs FILE WORDS
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import Firecrawl from '@mendable/firecrawl-js';

const [path, words] = process.argv.slice(2);
if (!words) {
  console.error('usage: node find_in_file.mjs FILE WORDS');
  process.exit(2);
}
const client = new Firecrawl({
  apiKey: process.env.FIRECRAWL_API_KEY,
  apiUrl: process.env.FIRECRAWL_API_URL,
});

const file = { data: await readFile(path), filename: basename(path) };
const { blocks } = await client.parse(file, {
  formats: ['markdown'],
  parsers: [{ type: 'pdf', blocks: true }],
});
let found = 0;
for (const page of blocks ?? []) {
  for (const block of page.items) {
    if (block.content.toLowerCase().includes(words.toLowerCase())) {
      found += 1;
      const place = block.bbox?.map((edge) => edge.toFixed(3)).join(' ') ?? 'no place';
      console.log(`page ${page.pageNumber}, ${block.type} ${block.id} (${place}): ${block.content}`);
    }
  }
}
process.exit(found > 0 ? 0 : 1);
