// Runs `npm test`. Some groups of tests take a good part of its time, so a branch that changes
// nothing that they can notice leaves them out. Files of slow tests are not loaded. CI runs every
// file, by `.ci/run`.
import { spawn, spawnSync } from 'node:child_process';
import { root } from './generated.js';
import { changedFiles, slowFiles, unbroken } from './changed.js';

const leftOut = unbroken(changedFiles());
for (const { name } of leftOut) {
  console.log(`Not run: ${name}, since this branch changes nothing that they can notice. `
    + '`npm run test:all` runs everything.');
}
const files = [...leftOut.flatMap(({ tests }) => tests), ...slowFiles()];
const asked = process.argv.slice(2);
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--tags-filter', '!slow', ...asked];
const options = {
  cwd: root, env: { ...process.env, KEELSON_TEST_LEFT_OUT: files.join(' ') },
};

/** @returns whether it passed. */
function here(...words) {
  return spawnSync(process.execPath, words, { ...options, stdio: 'inherit' }).status === 0;
}

/** @param shows - whether the report appears as it comes: else when all is run. */
function beside(project, shows) {
  const child = spawn(process.execPath, [...vitest, '--project', project], {
    ...options, stdio: ['ignore', shows ? 'inherit' : 'pipe', 'inherit'],
  });
  let report = '';
  child.stdout?.on('data', (chunk) => { report += chunk; });
  return new Promise((resolve) => {
    child.once('close', (status) => resolve({ report, isPassed: status === 0 }));
  });
}

/**
 * Unit tests compute, and system tests wait for processes, so they run at the same time. What both
 * would make first is made once before.
 */
async function bothProjects() {
  here('scripts/tool.js');
  if (!here('scripts/generate.js')) return false;
  const ended = await Promise.all([beside('system', true), beside('unit', false)]);
  for (const { report } of ended) process.stdout.write(report);
  return ended.every(({ isPassed }) => isPassed);
}

const isPassed = asked.length === 0 ? await bothProjects() : here(...vitest);
process.exitCode = isPassed ? 0 : 1;
