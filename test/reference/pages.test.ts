import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTable } from '../../cli/commands/table.js';
import { commandHelp } from '../../cli/base/help.js';
import { localCodes, wireCodes } from '../../src/base/error-codes.js';
import { estimators } from '../../src/estimators/registry.js';
import { servedMetrics } from '../support/served-metrics.js';
import { root } from '../support/sources.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-reference-'));
const pages = [
  'commands.md', 'error-codes.md', 'estimators.md', 'metrics.md', 'settings-file.md',
  'study-file.md',
];
const page = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** The cells of the row of a table whose first cell starts with a text. */
function rowOf(name: string, first: string): string[] {
  const line = page(name).split('\n').find((candidate) => candidate.startsWith(`| ${first} |`));
  expect(line, `${first} in ${name}`).toBeDefined();
  return line!.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());
}

beforeAll(() => {
  execFileSync(process.execPath, ['scripts/reference.js', folder], { cwd: root });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the generated reference', () => {
  it('is seven files, the same as the build has made', () => {
    const made = readdirSync(folder);
    expect(made.sort()).toEqual([...pages, 'study-file.schema.json'].sort());
    for (const name of made) {
      expect(readFileSync(`${root}docs/reference/${name}`, 'utf8')).toBe(page(name));
    }
  });

  it.each(pages)('%s has a title and no empty place', (name) => {
    const text = page(name);
    expect(text).toMatch(/^<!-- Generated .* -->\n\n# [A-Z]/);
    expect(text).not.toMatch(/undefined|\[object|NaN|\n\n\n/);
    const cells = text.split('\n').filter((line) => line.startsWith('|'));
    expect(cells.filter((line) => /\|\s*\|/.test(line))).toEqual([]);
    const empty = [...text.matchAll(/^(#+) .*\n\n(#+) /gm)]
      .filter(([, above, below]) => above!.length >= below!.length);
    expect(empty).toEqual([]);
  });

  it('says how far liars can move the answers that can be split by keys', () => {
    const sections = page('estimators.md').split(/^## /m);
    for (const { name, liars, keyed } of estimators) {
      const found = sections.find((section) => section.startsWith(`${name}\n`))!;
      expect(found.includes('\n- Liars: '), name).toBe(liars !== undefined);
      if (keyed !== undefined) expect(liars, name).toBeDefined();
    }
  });

  it.each(Object.entries(commandTable))('has the help of %s', async (_name, entry) => {
    expect(page('commands.md')).toContain(commandHelp(await entry.load()));
  });

  it.each([...wireCodes, ...localCodes])('says why %s happens and what to do', (code) => {
    const [cause, remedy] = rowOf('error-codes.md', `\`${code}\``).slice(-2);
    for (const words of [cause!, remedy!]) expect(words).toMatch(/^[A-Z].{4,}\.$/);
    expect(remedy).not.toBe(cause);
  });

  it('says what every metric of a running server means', async () => {
    const metrics = [...(await servedMetrics()).matchAll(/^# TYPE (\w+) (\w+)$/gm)];
    expect(metrics.length).toBeGreaterThan(15);
    for (const [, name, kind] of metrics) {
      const [, type, help] = rowOf('metrics.md', `\`${name}\``);
      expect(type).toBe(kind);
      expect(help!.length).toBeGreaterThan(10);
    }
  });

  it.each(estimators)('has the parameters and the assumption of $name', (estimator) => {
    const { name, maturity, parameters, citations } = estimator;
    const section = page('estimators.md').split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!;
    expect(section).toContain(`Maturity: ${maturity}.`);
    for (const part of ['- Assumes: ', '- Privacy: ', ...citations.map(({ key }) => `[${key}]`)]) {
      expect(section).toContain(part);
    }
    for (const spec of parameters) expect(section).toContain(`\n| \`${spec.name}\` | `);
  });
});
