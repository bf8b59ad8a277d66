// Runs `npm test`. Some groups of tests take a good part of its time, so a branch that changes
// nothing that they can notice leaves them out. Files of slow tests are not loaded. CI runs every
// file, by `.ci/run`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { changedFiles, slowFiles, unbroken } from './changed.js';

const leftOut = unbroken(changedFiles());
for (const { name } of leftOut) {
  console.log(`Not run: ${name}, since this branch changes nothing that they can notice. `
    + '`npm run test:all` runs everything.');
}
const words = ['node_modules/vitest/vitest.mjs', 'run', '--tags-filter', '!slow'];
const files = [...leftOut.flatMap(({ tests }) => tests), ...slowFiles()];
const { status } = spawnSync(process.execPath, [...words, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('../', import.meta.url)), stdio: 'inherit',
  env: { ...process.env, KEELSON_TEST_LEFT_OUT: files.join(' ') },
});
process.exitCode = status ?? 1;
