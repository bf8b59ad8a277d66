// The work of `npm install` in a clone after it has the packages: it builds, and at the same time
// installs better-sqlite3 where this Node has no SQLite. Nothing else in the clone is compiled.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './generated.js';

/** The same decision as in `server/store/sqlite/driver.ts`. */
function hasSqlite() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 22 && minor >= 16);
}

/**
 * The first `npx keelson` in a clone installs the clone into a folder of npm's own, as a link, and
 * so prepares it once more. The existing build stays.
 */
function isReady() {
  return process.env.npm_command === 'exec' && existsSync(join(root, 'dist/bundle/packages.json'));
}

/** @returns its exit status. */
function run(...words) {
  const child = spawn(process.execPath, words, { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => { child.once('close', resolve); });
}

async function addSqlite() {
  if (hasSqlite() || await run('scripts/tool.js', 'sqlite') === 0) return;
  process.stderr.write(`Node ${process.versions.node} has no SQLite, and better-sqlite3 could not `
    + 'be installed, so no server keeps data here. Use Node 22.16 or later, or install a C++ '
    + 'compiler, make and Python, and run "npm install" again.\n');
}

const [status] = await Promise.all([isReady() ? 0 : run('scripts/build.js'), addSqlite()]);
process.exitCode = status ?? 1;
