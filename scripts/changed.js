// Finds the tests that a change can break, for `npm test`.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Paths that all tests depend on. */
const everything = ['package', 'scripts/', 'test/support/', 'tools/', 'vitest.config.ts'];

/**
 * Groups of slow tests, and the files that each depends on: beginnings of paths from the root.
 * test/tidy/tiers.test.ts holds that the last two reach nothing else.
 */
export const groups = [
  {
    name: 'the suites on PostgreSQL',
    tests: ['**/postgres*.test.ts'],
    notices: [
      ...everything, 'proto/', 'server/epochs/', 'server/store/', 'server/studies/',
      'test/e2e/postgres', 'test/store/',
    ],
  },
  {
    name: 'the mathematics of estimators',
    tests: [
      'test/audit/**', 'test/compliance/**', 'test/estimators/covariance/**',
      'test/estimators/distributions/gaussian/**', 'test/estimators/keyed/**',
      'test/estimators/mean/**', 'test/estimators/pooled/**', 'test/privacy/**', 'test/robust/**',
    ],
    notices: [
      ...everything, 'bench/', 'cli/audit/', 'cli/base/', 'cli/data/', 'data/',
      'docs/guides/robust-means.md', 'docs/results/', 'proto/', 'server/base/', 'server/compute/',
      'src/', 'test/audit/', 'test/compliance/', 'test/estimators/', 'test/planted/',
      'test/privacy/', 'test/robust/', 'test/vectors/',
    ],
  },
  {
    name: 'what starts the command',
    tests: [
      'test/conform/**', 'test/e2e/**', 'test/go/**', 'test/python/**', 'test/simulation/**',
      'test/store/**',
    ],
    notices: [
      ...everything, 'bin/', 'cli/', 'client/', 'clients/', 'dashboard/', 'data/', 'deploy/',
      'docs/reference/', 'examples/', 'proto/', 'README.md', 'server/', 'simulation/', 'src/',
      'studies/', 'test/compliance/', 'test/conform/', 'test/e2e/', 'test/go/', 'test/listener/',
      'test/python/', 'test/simulation/', 'test/store/', 'test/vectors/', 'tsconfig',
    ],
  },
];

/** The groups that may be left out. @param changed - null if it is unknown. */
export const unbroken = (changed) => (changed === null ? [] : groups.filter(({ notices }) =>
  !changed.some((path) => notices.some((start) => path.startsWith(start)))));

/**
 * Files of slow tests alone, as their first lines say. To load them only to learn that takes a
 * second each.
 */
export function slowFiles(folder = fileURLToPath(new URL('../test/', import.meta.url))) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.test.ts')
      && readFileSync(`${folder}${path}`, 'utf8').startsWith('// @module-tag slow'))
    .map((path) => `test/${path.replaceAll('\\', '/')}`);
}

/**
 * Files that differ from the point where the branch left main, with uncommitted ones. Null on main,
 * and where git cannot determine them.
 */
export function changedFiles(cwd = fileURLToPath(new URL('../', import.meta.url))) {
  const git = (...words) =>
    execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n').filter(Boolean);
  try {
    const [branch] = git('rev-parse', '--abbrev-ref', 'HEAD');
    if (branch === 'main' || branch === 'HEAD') return null;
    const [base] = git('merge-base', 'HEAD', 'main');
    return [
      ...git('diff', '--name-only', '--no-renames', base),
      ...git('ls-files', '--others', '--exclude-standard'),
    ];
  } catch {
    return null;
  }
}
