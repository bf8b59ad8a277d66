// Measures one private mean again in the published cells, and writes its column of the tables anew.
// Needs the build: npm run bench:accuracy:renew -- --help. Same seeds, same rows as before.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keptLines } from '../kept-lines.js';
import { optionsOf } from '../options.js';
import { overCores, processesOption } from '../over-cores.js';
import { fieldOf } from './brief.js';
import { makeRows } from './data.js';
import { closePool, planOf, releaseOfOwned } from './private.js';
import { cellKeys, rowOf } from './table.js';

const options = optionsOf('One private mean, measured again in every published cell.', {
  method: { usual: 'mean', means: 'a column of the tables' },
  seeds: { usual: 7, tiny: 1, means: 'data sets of each attack, at most; tables have 7 to 31' },
  smallest: { usual: 0, tiny: 1e3, means: 'cells with fewer rows are left as they are' },
  largest: { usual: 1e5, tiny: 1e3, means: 'cells with more rows are left as they are' },
  page: { usual: fileURLToPath(new URL('../../docs/results/accuracy.md', import.meta.url)),
    means: 'page with a line for each cell; its tables are beside it' },
  write: { usual: false, means: 'changes the pages; without it, it only says what is new' },
  processes: processesOption,
  minutes: { usual: 1e3, means: 'no run starts later than this; --out keeps what there is' },
  out: { usual: null, means: 'file of results: one JSON line each; known ones are not run again' },
});
const { method } = options;

const titles = /^### (\S+) rows, d = (\d+), n = (\d+), corruption (\S+), epsilon (\S+), delta (\S+);/;
const fieldsOf = (line) => line.split('|').slice(1, -1).map((text) => text.trim());
const lineOf = (fields) => `| ${fields.join(' | ')} |`;

/** The cells of the page of all tables: what they are, and where their lines are. */
function publishedCells(text) {
  const cells = [];
  text.split('\n').forEach((line, at) => {
    const title = titles.exec(line);
    const cell = cells.at(-1);
    if (title !== null) {
      const [, rows, ...numbers] = title;
      const values = [rows, ...numbers.map(Number)];
      cells.push({
        ...Object.fromEntries(cellKeys.map((key, k) => [key, values[k]])), head: null, attacks: [],
      });
    } else if (/^\d+ seeds$/.test(line)) cell.seeds = Number.parseInt(line, 10);
    else if (line.startsWith('| attack |')) cell.head = fieldsOf(line);
    else if (cell?.head && line.startsWith('| ') && !line.startsWith('| ---')) {
      cell.attacks.push({ attack: fieldsOf(line)[0], at });
    } else if (line.startsWith('<!-- end')) cells.push({ head: null, attacks: [] });
  });
  return cells.filter(({ head }) => head !== null);
}

const tables = options.page.replace(/(\.md)?$/, '-tables.md');
const published = publishedCells(readFileSync(tables, 'utf8')).filter(({ head, contributors }) =>
  head.includes(method) && contributors >= options.smallest && contributors <= options.largest);
const seedsOf = ({ seeds }) => Math.min(seeds, options.seeds);

/** Rows that are made once, and the targets of all cells that have them. The small ones first. */
function wantedRuns() {
  const runs = new Map();
  for (const cell of published) {
    const { rows, dimension, contributors, corruption, epsilon, delta } = cell;
    for (const { attack } of cell.attacks) {
      for (let seed = 0; seed < seedsOf(cell); seed++) {
        const run = { rows, dimension, contributors, corruption, attack, seed };
        const key = keyOf(run);
        if (!runs.has(key)) runs.set(key, { ...run, targets: [] });
        runs.get(key).targets.push({ epsilon, delta });
      }
    }
  }
  const size = ({ contributors, dimension }) => contributors * dimension;
  return [...runs.values()].sort((left, right) => size(left) - size(right));
}

const keyOf = ({ rows, dimension, contributors, corruption, attack, seed }) =>
  [method, rows, dimension, contributors, corruption, attack, seed].join(' ');

/** The errors of one set of rows under every target, and those of the honest rows' mean. */
async function measured({ targets, ...run }) {
  const { dimension, contributors, corruption, attack, seed } = run;
  const made = makeRows(attack, run);
  const errorOf = (estimate) => Number(Math.hypot(...made.inDeviations(
    estimate.map((entry, j) => entry - made.truth[j]))).toPrecision(4));
  const lines = [];
  for (const target of targets) {
    const plan = planOf(method, { dimension, contributors, corruption }, target, {});
    const estimate = typeof plan === 'string' ? 'infeasible'
      : await releaseOfOwned(plan, made.values.slice(), dimension, `${seed} ${method}`);
    lines.push({ ...run, ...target, errors: {
      [method]: Array.isArray(estimate) ? errorOf(estimate) : estimate,
      clean: errorOf([...made.honestMean]),
    } });
  }
  return lines;
}

/** Cells of which every attack and seed is measured, with their rows of figures. */
function renewedCells(lines) {
  const byCell = new Map();
  for (const line of lines) {
    const key = cellKeys.map((name) => line[name]).join(' ');
    byCell.set(key, [...(byCell.get(key) ?? []), line]);
  }
  return published.flatMap((cell) => {
    const own = byCell.get(cellKeys.map((key) => cell[key]).join(' ')) ?? [];
    const at = Object.fromEntries(cellKeys.map((key) => [key, cell[key]]));
    const rows = cell.attacks.map(({ attack, at: line }) =>
      ({ ...rowOf(own, { ...at, attack }), line }));
    return rows.every(({ seeds }) => seeds >= seedsOf(cell)) ? [{ cell, rows }] : [];
  });
}

/** Writes the column of all attacks. @returns how many fields are new. */
function renewTables(lines, cells) {
  let changed = 0;
  for (const { cell: { head }, rows } of cells) {
    for (const row of rows) {
      const fields = fieldsOf(lines[row.line]);
      const place = head.indexOf(method);
      if (fields[place] !== row.text(method)) changed += 1;
      fields[place] = row.text(method);
      lines[row.line] = lineOf(fields);
    }
  }
  return changed;
}

/** Writes the column of the lines for each cell. */
function renewBrief(lines, cells) {
  let [title, head] = ['', []];
  lines.forEach((line, at) => {
    if (line.startsWith('### ')) title = line;
    if (line.startsWith('| d | n |')) head = fieldsOf(line);
    const place = head.indexOf(method);
    if (!/^\| \d/.test(line) || place < 0) return;
    const fields = fieldsOf(line);
    const [dimension, contributors, corruption] = fields.slice(0, 3).map((text) =>
      Number(text.replaceAll(',', '')));
    const found = cells.find(({ cell }) => cell.dimension === dimension
      && cell.contributors === contributors && cell.corruption === corruption
      && title === `### ${cell.rows} rows, epsilon ${cell.epsilon}, delta `
        + cell.delta.toExponential());
    if (found === undefined) return;
    fields[place] = fieldOf(found.rows, method);
    lines[at] = lineOf(fields);
  });
}

/** Cells with all their seeds whose honest mean is not the published one: their rows differ. */
const strangers = (lines, cells) => cells.filter(({ cell, rows }) => seedsOf(cell) === cell.seeds
  && rows.some((row) => fieldsOf(lines[row.line])[cell.head.indexOf('clean')]
    !== row.text('clean')));

const runs = wantedRuns();
const kept = keptLines(options.out, keyOf);
const isComplete = await overCores(runs, measured, kept, options);
await closePool();
const cells = renewedCells(kept.lines);
const [tableLines, briefLines] = [tables, options.page].map((file) =>
  readFileSync(file, 'utf8').split('\n'));
const odd = strangers(tableLines, cells);
const changed = renewTables(tableLines, cells);
renewBrief(briefLines, cells);
console.log(isComplete ? 'every run is there' : 'time is up: run again with the same --out');
console.log(`${method}: ${cells.length} of ${published.length} cells measured, ${changed} of `
  + `${cells.reduce((sum, { rows }) => sum + rows.length, 0)} figures are new`);
console.log(`${odd.length} cells have other rows than those that are published`);
if (options.write) {
  writeFileSync(tables, tableLines.join('\n'));
  writeFileSync(options.page, briefLines.join('\n'));
}
