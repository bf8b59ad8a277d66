// Writes the table of docs/guides/choose-an-estimator.md from the rules of src/choose.ts, as built:
//   node scripts/decision-table.js [FILE]
// FILE: where the page is written; default: in place.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = new URL('../docs/guides/choose-an-estimator.md', import.meta.url);
const heads =
  '| question | estimator | what it needs from you | people who lie |\n|---|---|---|---|\n';

/** The page with its first table made of the decisions. */
export function withTable(text, decisions) {
  const rows = Object.values(decisions).flat().map(({ suits, name, needs, liars }) =>
    `| ${suits} | \`${name}\` | ${needs} | ${liars} |\n`);
  return text.replace(/\| question \|[^]*?\n(?=\n)/, () => heads + rows.join(''));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { decisions } = await import('../dist/src/choose.js');
  const file = process.argv[2] ?? fileURLToPath(page);
  writeFileSync(file, withTable(readFileSync(page, 'utf8'), decisions));
  console.log(`wrote the table of decisions to ${file}`);
}
