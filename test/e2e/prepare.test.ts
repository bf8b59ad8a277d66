import { spawnSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync,
} from 'node:fs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { addSqlite, hasSqlite } from '../support/native-sqlite.js';
import { root } from '../support/sources.js';

const stage = new Stage();
const place = stage.path('clone');
const native = `${place}/node_modules/better-sqlite3`;
afterAll(() => stage.end());

/** A clone whose build leaves a mark, with an npm that installs what this clone has, or fails. */
beforeEach(() => {
  rmSync(place, { recursive: true, force: true });
  for (const path of [
    'scripts/prepare.js', 'scripts/generated.js', 'tools/sqlite/package.json',
  ]) cpSync(`${root}${path}`, `${place}/${path}`);
  writeFileSync(`${place}/package.json`, '{ "type": "module" }');
  writeFileSync(`${place}/scripts/build.js`, `
    import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
    appendFileSync('built', 'x');
    mkdirSync('dist/bundle', { recursive: true });
    writeFileSync('dist/bundle/packages.json', '[]');`);
  const compiled = stage.path('compiled');
  mkdirSync(compiled, { recursive: true });
  addSqlite(compiled);
  writeFileSync(`${place}/npm.cjs`, `
    const { appendFileSync, cpSync } = require('node:fs');
    appendFileSync(${JSON.stringify(`${place}/asked`)}, process.argv.slice(2, 5).join(' ') + '\\n');
    if (process.env.BROKEN === '1') { console.error('npm error no compiler'); process.exit(1); }
    cpSync(${JSON.stringify(`${compiled}/node_modules`)}, 'node_modules', { recursive: true });`);
});

function prepare(environment: Readonly<Record<string, string>> = {}): {
  readonly status: number | null; readonly stderr: string; readonly asked: string;
} {
  const { status, stderr } = spawnSync(process.execPath, [`${place}/scripts/prepare.js`], {
    encoding: 'utf8', env: { ...process.env, npm_execpath: `${place}/npm.cjs`, ...environment },
  });
  const asked = existsSync(`${place}/asked`) ? readFileSync(`${place}/asked`, 'utf8') : '';
  return { status, stderr, asked };
}

const installs = `ci --prefix ${place}/tools/sqlite\n`;

describe('the preparation of a clone', () => {
  it('builds each time, but not for npx, which comes when all is built', () => {
    const built = (): string => readFileSync(`${place}/built`, 'utf8');
    expect(prepare({ npm_command: 'exec' })).toMatchObject({ status: 0, stderr: '' });
    expect(built()).toBe('x');
    expect(prepare({ npm_command: 'exec' }).status).toBe(0);
    expect(built()).toBe('x');
    expect(prepare({ npm_command: 'install' }).status).toBe(0);
    expect(built()).toBe('xx');
  });

  it('installs better-sqlite3 once, and only where this Node has no SQLite', () => {
    if (hasSqlite) {
      expect(prepare().asked).toBe('');
      expect(existsSync(native)).toBe(false);
      return;
    }
    expect(prepare()).toEqual({ status: 0, stderr: '', asked: installs });
    expect(realpathSync(native)).toBe(
      realpathSync(`${place}/tools/sqlite/node_modules/better-sqlite3`));
    expect(prepare().asked).toBe(installs);
    // npm removes what its lock file does not have.
    rmSync(native);
    expect(prepare().asked).toBe(installs);
    expect(existsSync(`${native}/package.json`)).toBe(true);
  });

  it('installs it again after a change of its version', ({ skip }) => {
    if (hasSqlite) skip('this Node has SQLite');
    prepare();
    rmSync(native);
    const file = `${place}/tools/sqlite/node_modules/better-sqlite3/package.json`;
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"version": "[^"]+"/, '"version": "1.0.0"'));
    expect(prepare().asked).toBe(installs + installs);
  });

  it('builds also where it cannot be installed, and says what to do', ({ skip }) => {
    if (hasSqlite) skip('this Node has SQLite');
    const { status, stderr } = prepare({ BROKEN: '1' });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^npm error no compiler\nNode 20\.\S+ has no SQLite.* Use Node 22\.16/);
    expect(existsSync(`${place}/built`)).toBe(true);
  });
});
