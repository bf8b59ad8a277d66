// @module-tag slow
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../server/ledger/index.js';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

const folder = scratchFolder('file-ledger');

const rows = join(folder, 'rows.csv');
writeFileSync(rows, `minutes\n${Array.from({ length: 500 }, (_, i) => i % 60).join('\n')}\n`);

const command = `${root}bin/keelson.js`;
const make = (name: string, epsilon = '100'): string => {
  const path = join(folder, name);
  const words = ['ledger', path, '--epsilon', epsilon, '--participation', 'public'];
  expect(spawnSync('node', [command, ...words]).status).toBe(0);
  return path;
};
const count = (path: string): string[] =>
  [command, 'estimate', 'count', rows, '--epsilon', '0.5', '--ledger', path, '--json'];

it('never answers without a charge, wherever it is killed', () => {
  const path = make('killed.ledger');
  const killer = `${root}test/support/children/kill-at-file-call.js`;
  let before = 0;
  let kills = 0;
  for (let at = 1; ; at++) {
    const { signal, stdout } = spawnSync('node', ['--import', killer, ...count(path)], {
      encoding: 'utf8', env: { ...process.env, KILL_PATH: path, KILL_AT: String(at) },
    });
    const charged = openLedger(path).entries().length - before;
    before += charged;
    expect(charged, `call ${at}`).toBeLessThanOrEqual(1);
    if (stdout !== '') expect(charged).toBe(1);
    if (signal === null) break;
    kills += 1;
  }
  // It opens, writes by halves, syncs, closes and reads.
  expect(kills).toBeGreaterThan(8);
  // Some were killed after their charge, which stands.
  expect(before).toBeGreaterThan(1);
  expect(spawnSync('node', count(path)).status).toBe(0);
  expect(openLedger(path).entries()).toHaveLength(before + 1);
});

it('pays for no more than its budget when many programs charge it at once', async () => {
  const path = make('shared.ledger', '3');
  const program = `
    const { openLedger } = await import(${JSON.stringify(
    `${root}dist/bundle/server/ledger/index.js`)});
    const ledger = openLedger(${JSON.stringify(path)});
    let paid = 0;
    const charge = { rho: ledger.caps.rhoCap / 200n, delta: 0n, pure: null };
    for (let i = 0; i < 100; i++) {
      const asked = { epsilon: 0.1, delta: 1e-6 };
      if (ledger.charge({ answer: 'count', asked, charge, neighbours: 'anybody' })) paid += 1;
    }
    console.log(paid);`;
  const paid = await Promise.all(Array.from({ length: 4 }, () => new Promise<number>((resolve) => {
    const child = spawn('node', ['--input-type=module', '-e', program]);
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => { text += String(bytes); });
    child.on('close', () => resolve(Number(text)));
  })));
  expect(paid.reduce((sum, each) => sum + each)).toBe(200);
  expect(openLedger(path).entries()).toHaveLength(200);
});
