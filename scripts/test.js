// Runs `npm test`. The suites on PostgreSQL take a good part of its time, so a branch that changes
// nothing that they can notice leaves them out. CI runs every file, by `.ci/run`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { changedFiles, mayBreakPostgres } from './changed.js';

const words = ['node_modules/vitest/vitest.mjs', 'run', '--tags-filter', '!slow'];
if (!mayBreakPostgres(changedFiles())) {
  words.push('--exclude', '**/postgres*.test.ts');
  console.log('The suites on PostgreSQL are left out: this branch changes nothing that they can '
    + 'notice. `npm run test:postgres` runs them.');
}
const { status } = spawnSync(process.execPath, [...words, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('../', import.meta.url)), stdio: 'inherit',
});
process.exitCode = status ?? 1;
