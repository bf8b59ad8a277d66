import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pageColours, pageOf, writePage } from '../../cli/estimate/html.js';
import { root } from '../support/sources.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('page');
const rows = join(folder, 'rows.csv');
writeFileSync(rows, `x,region\n${Array.from({ length: 900 }, (_, i) =>
  `${20 + (i % 21)},${['north', 'south', 'east'][i % 3]!}`).join('\n')}\n`);
const count = ['estimate', 'count', rows, '--epsilon', '1'];

it('has answer, interval, picture and promise, and nothing from elsewhere', async () => {
  const path = join(folder, 'mean.html');
  const { status, stdout } = await keelson(['estimate', 'robust-mean', rows, '--columns', 'x',
    '--epsilon', '1', '--delta', '1e-6', '--set', 'spread=6', '--html', path]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/x +\S+ +\S+ to \S+ +\S+ to \S+/);
  const page = readFileSync(path, 'utf8');
  const shown = /^x +(\S+) +(\S+ to \S+) +(\S+ to \S+)$/m.exec(stdout)!.slice(1);
  for (const text of shown) expect(page).toContain(`<td>${text}</td>`);
  expect(page).toContain('also if up to 5 % lie');
  expect(page).toContain('<svg role="img"');
  expect(page).toContain('epsilon 1 and delta 0.000001');
  expect(page).not.toMatch(/<script|src=|url\(|@import|<link|href=/);
  // Nothing of the draft stays, and an existing page is refused before anything is charged.
  expect(readdirSync(folder).sort()).toEqual(['mean.html', 'rows.csv']);
  const again = await keelson([...count, '--html', path]);
  expect([again.status, again.stdout]).toEqual([2, '']);
  expect(readFileSync(path, 'utf8')).toBe(page);
});

it('has one table for all groups, as the command does, and says the privacy once', async () => {
  const path = join(folder, 'groups.html');
  const { stdout } = await keelson(
    [...count, '--group-by', 'region', '--groups', 'north,south,none', '--html', path]);
  expect(stdout).toMatch(/"north" +\d+ +\d+ to \d+\n"south" +\d+ +\d+ to \d+\n/);
  expect(stdout.match(/privacy: epsilon/g)).toHaveLength(1);
  expect(stdout.match(/can tell apart/g)).toHaveLength(1);
  const page = readFileSync(path, 'utf8');
  expect(page).toMatch(/<th scope="row">north<\/th><td>\d+<\/td>/);
  expect(page).toContain('count by region');
});

it('keeps the name of a column as text, and has the colours of the dashboard', () => {
  const page = pageOf({ title: '<b>&"', privacy: null, notes: [], answers: [{
    heading: 'x', refusal: null, names: ['<script>'], estimate: [1], parameters: {},
    isOneUnit: true, notes: [],
  }] });
  expect(page).toContain('<h1>&lt;b&gt;&amp;&quot;</h1>');
  expect(page).not.toContain('<script>');
  const sheet = readFileSync(`${root}dashboard/shell.css`, 'utf8');
  for (const [name, colour] of Object.entries(pageColours)) {
    expect(sheet).toContain(`--${name}: ${colour};`);
  }
  const path = join(folder, 'made-meanwhile.html');
  writeFileSync(path, 'first');
  expect(() => writePage(path, page)).toThrow(/made-meanwhile/);
  expect(readFileSync(path, 'utf8')).toBe('first');
});
