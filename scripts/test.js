// Runs `npm test`. Some groups of tests take a good part of its time, so a branch that changes
// nothing that they can notice leaves them out. CI runs every file, by `.ci/run`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { changedFiles, unbroken } from './changed.js';

const cwd = fileURLToPath(new URL('../', import.meta.url));
const leftOut = unbroken(changedFiles());
for (const { name } of leftOut) {
  console.log(`Not run: ${name}, since this branch changes nothing that they can notice. `
    + '`npm run test:all` runs everything.');
}
process.env.KEELSON_TEST_LEFT_OUT = leftOut.flatMap(({ tests }) => tests).join(' ');

const start = (words, options) => spawn(process.execPath, [
  'node_modules/vitest/vitest.mjs', 'run', '--tags-filter', '!slow', ...words,
], { cwd, stdio: 'inherit', ...options });

const statusOf = async (child) => (await once(child, 'exit'))[0] ?? 1;

/**
 * Unit tests compute and system tests wait, so both run at once, and those that wait go first. What
 * the system tests say is shown when the unit tests are over.
 */
async function sideBySide() {
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], { cwd, stdio: 'inherit' });
  if (status !== 0) return 1;
  // Where a tool cannot be installed, the tests that need it fail, and say so.
  spawnSync(process.execPath, ['scripts/tool.js'], { cwd, stdio: 'inherit' });
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const system = start(['--project', 'system'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...color, KEELSON_TEST_SKIP_BUILD: '1' },
  });
  const said = [];
  let write = (chunk) => said.push(chunk);
  for (const stream of [system.stdout, system.stderr]) stream.on('data', (chunk) => write(chunk));
  const systemStatus = statusOf(system);
  const unit = start(['--project', 'unit']);
  setPriority(unit.pid, 3);
  const unitStatus = await statusOf(unit);
  write = (chunk) => process.stdout.write(chunk);
  said.forEach(write);
  return unitStatus || await systemStatus;
}

const words = process.argv.slice(2);
process.exitCode = words.length === 0 ? await sideBySide() : await statusOf(start(words));
