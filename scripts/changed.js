// Tells what a change can break, for `npm test`.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the suites on PostgreSQL can notice: beginnings of paths from the root. */
const reachesPostgres = [
  'package', 'proto/', 'server/epochs/', 'server/store/', 'server/studies/', 'test/e2e/postgres',
  'test/store/', 'test/support/', 'vitest.config.ts',
];

/** Whether the suites on PostgreSQL must run. @param changed - null where nobody can tell. */
export const mayBreakPostgres = (changed) => changed === null
  || changed.some((path) => reachesPostgres.some((start) => path.startsWith(start)));

/**
 * Files that differ from where the branch left main, with those that are not committed. Null on
 * main, and where git cannot tell.
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
