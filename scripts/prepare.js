// What `npm install` does in a clone after it has the packages: it builds, and at the same time
// installs better-sqlite3 where this Node has no SQLite. Nothing else in the clone is compiled.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './generated.js';

const run = promisify(execFile);
const name = 'better-sqlite3';
const own = join(root, 'node_modules', name);
/** It has a lock file of its own, so that Nodes with SQLite neither download nor compile it. */
const place = join(root, 'tools/sqlite');
const installed = join(place, 'node_modules', name);

/** As `server/store/sqlite/driver.ts` decides. */
function hasSqlite() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 22 && minor >= 16);
}

/** Whether this Node can load what was compiled. */
async function loads(folder) {
  const program = `new (require(${JSON.stringify(folder)}))(':memory:').close()`;
  return existsSync(folder)
    && run(process.execPath, ['-e', program]).then(() => true, () => false);
}

const json = (path) => JSON.parse(readFileSync(path, 'utf8'));

async function installSqlite() {
  if (await loads(own)) return;
  const wanted = json(join(place, 'package.json')).dependencies[name];
  if (!(await loads(installed)) || json(join(installed, 'package.json')).version !== wanted) {
    // The npm that runs this script, whatever it was asked for itself.
    const { npm_execpath: npm } = process.env;
    const words = ['ci', '--prefix', place, '--location', 'project', '--no-global', '--no-dry-run',
      '--no-audit', '--no-fund'];
    const [program, ...first] = npm === undefined ? ['npm'] : [process.execPath, npm];
    await run(program, [...first, ...words], { cwd: place });
  }
  rmSync(own, { recursive: true, force: true });
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  symlinkSync(installed, own, 'junction');
}

/**
 * The first `npx keelson` in a clone installs the clone into a folder of npm's own, as a link, and
 * so prepares it once more. What is built stays.
 */
function isReady() {
  return process.env.npm_command === 'exec' && existsSync(join(root, 'dist/bundle/packages.json'));
}

function build() {
  const child = spawn(process.execPath, ['scripts/build.js'], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => { child.once('close', resolve); });
}

function tell(error) {
  const last = String(error.stderr ?? error).trimEnd().split('\n').slice(-15).join('\n');
  process.stderr.write(`${last}\n`
    + `Node ${process.versions.node} has no SQLite, and better-sqlite3 could not be installed, so `
    + 'no server keeps data here. Use Node 22.16 or later, or install a C++ compiler, make and '
    + 'Python, and run "npm install" again.\n');
}

const [status] = await Promise.all([
  isReady() ? 0 : build(), hasSqlite() ? undefined : installSqlite().catch(tell),
]);
process.exitCode = status ?? 1;
