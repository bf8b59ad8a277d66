// @module-tag slow
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../support/sources.js';

/** A number of an answer, as bench/real-questions.js prints it. */
interface Line {
  readonly study: string;
  readonly question: string;
  readonly key: string;
  readonly truth: number;
  readonly estimate: number | null;
  readonly half: number | null;
  readonly holds: boolean | null;
  readonly holdsClipped?: boolean;
}

async function linesOf(...words: readonly string[]): Promise<readonly Line[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath, ['bench/real-questions.js', '--json', ...words], { cwd: root },
  );
  return stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as Line);
}

/** These come from keys that nobody listed. All that had so many people are shown. */
const largestMissing: Readonly<Record<string, number>> = {
  'flights-by-origin origins': 70, 'birdstrikes species': 70,
};

it('answers every question to real tables within its interval', async () => {
  const lines = await linesOf('--seeds', '2');
  const page = readFileSync(`${root}docs/results/real-questions.md`, 'utf8');
  const names = new Set(lines.map(({ study, question }) => `${study} ${question}`));
  expect(names.size).toBe(12);
  for (const name of names) {
    const [study, question] = name.split(' ');
    expect(page).toContain(`\n## ${study}\n`);
    expect(page).toContain(`\n| ${question}: `);
    const own = lines.filter((line) => line.study === study && line.question === question);
    const answered = own.filter(({ estimate }) => estimate !== null);
    expect(answered.length / own.length, name).toBeGreaterThan(0.8);
    for (const { key, estimate, truth, half, holds } of answered) {
      expect(holds, `${name} ${key}`).not.toBeNull();
      // Where values are clipped, the interval is open, and it alone says how far the truth may be.
      if (half === null) continue;
      // Three and a half deviations of noise.
      expect(Math.abs(estimate! - truth), `${name} ${key}`).toBeLessThanOrEqual(1.8 * half);
    }
  }
  const stated = lines.filter(({ holds }) => holds !== null);
  expect(stated.length).toBeGreaterThan(200);
  const clipped = lines.filter(({ holdsClipped }) => holdsClipped !== undefined);
  expect(clipped.length).toBeGreaterThan(20);
  expect(clipped.filter(({ holdsClipped }) => holdsClipped).length / clipped.length)
    .toBeGreaterThan(0.9);
  expect(stated.filter(({ holds }) => holds).length / stated.length).toBeGreaterThan(0.9);
});

it('shows every name in a real table that enough people have', async () => {
  const { tables, cohortOf } = await import('../../bench/real-questions/tables.js');
  const { randomOf } = await import('../../bench/accuracy/data.js');
  const lines = await linesOf('--seeds', '1');
  for (const [name, most] of Object.entries(largestMissing)) {
    const [study, question] = name.split(' ') as [string, string];
    const column = question === 'origins' ? 'origin' : 'species';
    const shown = new Set(lines.filter((line) => line.study === study
      && line.question === question).map(({ key }) => key));
    const sizes = new Map<string, number>();
    for (const row of cohortOf(tables[study]!.rows(), 20_000, randomOf(`${study} 0`))) {
      const key = String(row[column]);
      sizes.set(key, (sizes.get(key) ?? 0) + 1);
    }
    const large = [...sizes].filter(([, size]) => size >= most).map(([key]) => key);
    expect(large.length).toBeGreaterThan(15);
    expect(large.filter((key) => !shown.has(key))).toEqual([]);
    // And no key that nobody sent.
    expect([...shown].filter((key) => !sizes.has(key))).toEqual([]);
  }
});
