import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/internals/values.md`, 'utf8');
const states = ['public', 'told', 'random'];

const lines = page.split('\n').filter((line) => line.startsWith('| `')).map((line) => {
  const [place = '', what = '', state = ''] = line.split('|').slice(1).map((cell) => cell.trim());
  const [, path = '', name = ''] = /^`([\w./-]+)`: `(\w+)`$/.exec(place) ?? [];
  return { line, path, name, what, state };
});

describe('the page of values that change', () => {
  it('names a place that exists in every line, what happens there, and its state', () => {
    expect(lines.length).toBeGreaterThan(50);
    const wrong = lines.filter(({ path, name, what, state }) => path === '' || what === ''
      || !existsSync(root + path)
      || !new RegExp(`\\b${name}\\b`).test(readFileSync(root + path, 'utf8'))
      || !state.split(', ').every((each) => states.includes(each)));
    expect(wrong.map(({ line }) => line)).toEqual([]);
  });

  it('has a line for each file on the way in that limits a number', () => {
    // Two nested limits make a clamp. These limit sizes and times, not what people send.
    const others = new Set([
      'cli/input/parquet-codecs.ts', 'client/session/backoff.ts', 'server/epochs/engine.ts',
      'server/listener/descriptors.ts', 'server/studies/release/schedule.ts',
      'server/studies/release/slices.ts',
    ]);
    const folders = [
      'cli/input', 'cli/estimate', 'client', 'server/listener', 'server/epochs', 'server/studies',
      'src/questions', 'src/wire', 'src/sealed/shares', 'src/estimators/counts/sum',
    ];
    const clamps = folders.flatMap((folder) =>
      readdirSync(root + folder, { encoding: 'utf8', recursive: true })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
        .map((name) => `${folder}/${name}`))
      .filter((path) =>
        /Math\.(min|max)\([^;]*Math\.(min|max)\(/.test(readFileSync(root + path, 'utf8')));
    expect(clamps.length).toBeGreaterThan(others.size);
    const named = new Set(lines.map(({ path }) => path));
    expect(clamps.filter((path) => !named.has(path) && !others.has(path))).toEqual([]);
  });
});
