// Puts mistakes into a copy of the sources, one at a time, and reports which check notices each
// first: docs/results/exactness.md has the table. Needs the build. Ends with status 1 if no check
// does.
import { spawnSync } from 'node:child_process';
import {
  cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { transformSync } from 'esbuild';
import { optionsOf } from '../bench/harness/options.js';
import { root } from './generated.js';
import { mutations, testsOf } from './mutations/list.js';
import { recordLines } from './record-lines.js';

const { only, pairs, results } = optionsOf(
  'Puts mistakes into a copy of the sources, and tells which check sees each first.', {
    only: { usual: null, tiny: 'scores of half', means: 'part of an estimator or of a mistake' },
    pairs: { usual: 60, tiny: 20, means: 'for the exact check of each form of an estimator' },
    results: { usual: null, means: 'file that the results are written to' },
  });
const copied = [
  'bench', 'cli', 'client', 'dashboard', 'data', 'dist', 'docs', 'examples', 'package.json',
  'proto', 'scripts', 'server', 'simulation', 'src', 'studies', 'test', 'tools', 'tsconfig.json',
  'vitest.config.ts',
];

const copy = mkdtempSync(join(tmpdir(), 'mutations-'));
for (const path of copied) {
  cpSync(join(root, path), join(copy, path), {
    recursive: true, preserveTimestamps: true, filter: (each) => basename(each) !== 'node_modules',
  });
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const run = (words) => spawnSync(process.execPath, words, {
  cwd: copy, encoding: 'utf8', env: { ...process.env, KEELSON_TEST_SKIP_BUILD: '1' },
});
const tests = (...words) =>
  run(['node_modules/vitest/vitest.mjs', 'run', '--tags-filter', '!slow', '--bail', '1', ...words]);

/** The checks in the order in which they run; each has the status of its command. */
const checks = [
  ['exact check', ({ estimator }) => {
    const { status, stdout } = run([
      'scripts/check-exact.js', '--only', estimator, '--most', String(pairs), '--seconds', '600',
      '--mechanisms', 'none', '--composed', 'none', '--epochs', '0',
    ]);
    const lines = stdout.split('\n');
    return { status, shows: lines.find((line) => / beside .*: /.test(line)) ?? null };
  }],
  ['tests of the estimator', ({ estimator }) =>
    tests(...testsOf[estimator].map((path) => `test/estimators/${path}`))],
  ['tests of mechanisms', ({ file }) =>
    (file.startsWith('src/privacy') ? tests('test/privacy') : { status: 0 })],
  ['golden vectors', ({ estimator }) =>
    tests('test/vectors/releases.test.ts', '-t', `it had: ${estimator}[, ]`)],
  ['compliance suite', ({ estimator }) => tests('test/compliance', '-t', ` ${estimator}: `)],
];

function outcomeOfCheck(check, each) {
  const start = performance.now();
  const { status, shows = null } = check(each);
  return { isRed: status !== 0, seconds: (performance.now() - start) / 1000, shows };
}

const green = new Set();

/** A check that fails without the mistake proves nothing. */
function expectGreen([name, check], each) {
  const key = `${name} of ${each.estimator}`;
  if (green.has(key)) return;
  if (outcomeOfCheck(check, each).isRed) throw new Error(`without a mistake: red is the ${key}`);
  green.add(key);
}

/** Puts the text into the source, and into the file that the build made of it. */
function write(file, text) {
  writeFileSync(join(copy, file), text);
  const { code } = transformSync(text, { loader: 'ts', format: 'esm', target: 'es2022' });
  writeFileSync(join(copy, 'dist', file.replace(/\.ts$/, '.js')), code);
  const { status, stderr } = run(['scripts/bundle-node.js']);
  if (status !== 0) throw new Error(stderr);
}

function outcomeOf(each) {
  const { estimator, breaks, file, find, put } = each;
  const text = readFileSync(join(copy, file), 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${file} does not have once: ${find}`);
  write(file, text.replace(find, () => put));
  let found = { red: null, seconds: 0, shows: null };
  let seen;
  for (const named of checks) {
    const { isRed, seconds, shows } = outcomeOfCheck(named[1], each);
    if (!isRed) continue;
    found = { red: named[0], seconds: Number(seconds.toFixed(1)), shows };
    seen = named;
    break;
  }
  write(file, text);
  if (seen !== undefined) expectGreen(seen, each);
  return { estimator, breaks, file, ...found };
}

const chosen = mutations.filter(({ estimator, breaks }) =>
  only === null || `${estimator}: ${breaks}`.includes(only));
const found = [];
try {
  for (const each of chosen) {
    const outcome = outcomeOf(each);
    found.push(outcome);
    const { estimator, breaks, red, seconds } = outcome;
    console.log(`${estimator}, ${breaks}: ${red ?? 'NOTHING'}, ${seconds} s`);
    // After each mistake, so that a run that was ended early leaves its findings.
    if (results !== null) writeFileSync(results, recordLines(found, 1));
  }
} finally {
  rmSync(copy, { recursive: true });
}
const unseen = found.filter(({ red }) => red === null).length;
console.log(`${found.length} mistakes, ${unseen} not seen`);
process.exitCode = unseen === 0 ? 0 : 1;
