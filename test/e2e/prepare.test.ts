import { spawnSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync,
  symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { addSqlite, hasSqlite } from '../support/native-sqlite.js';
import { root } from '../support/sources.js';

const stage = new Stage();
const place = stage.path('clone');
const lockFile = `${place}/tools/sqlite/package-lock.json`;
const native = `${place}/node_modules/better-sqlite3`;
afterAll(() => stage.end());

const locked = (version: string): string => JSON.stringify({
  packages: { '': { dependencies: { 'better-sqlite3': version } } },
});

/** A clone whose build leaves a mark, with an npm that installs what this clone has, or fails. */
beforeEach(() => {
  rmSync(place, { recursive: true, force: true });
  for (const path of [
    'scripts/prepare.js', 'scripts/generated.js', 'scripts/tool.js',
  ]) cpSync(`${root}${path}`, `${place}/${path}`);
  mkdirSync(`${place}/tools/sqlite`, { recursive: true });
  writeFileSync(lockFile, locked('12.0.0'));
  writeFileSync(`${place}/package.json`, '{ "type": "module" }');
  writeFileSync(`${place}/scripts/build.js`, `
    import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
    appendFileSync('built', 'x');
    mkdirSync('dist/bundle', { recursive: true });
    writeFileSync('dist/bundle/packages.json', '[]');`);
  const compiled = stage.path('compiled');
  mkdirSync(`${compiled}/node_modules`, { recursive: true });
  addSqlite(compiled);
  writeFileSync(`${place}/npm.cjs`, `
    const { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync } = require('node:fs');
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    appendFileSync(${JSON.stringify(`${place}/asked`)}, process.argv.slice(2, 5).join(' ') + '\\n');
    if (process.env.BROKEN === '1') { console.error('npm error no compiler'); process.exit(1); }
    rmSync('node_modules', { recursive: true, force: true });
    for (const name of Object.keys(packages[''].dependencies)) {
      mkdirSync('node_modules/' + name, { recursive: true });
      if (name !== 'better-sqlite3') continue;
      cpSync(${JSON.stringify(`${compiled}/node_modules`)}, 'node_modules', { recursive: true });
    }`);
});

function prepare(environment: Readonly<Record<string, string>> = {}): {
  readonly status: number | null; readonly stderr: string; readonly asked: string;
} {
  return run(['prepare.js'], environment);
}

function run(
  [script, ...words]: readonly string[], environment: Readonly<Record<string, string>>,
): {
  readonly status: number | null; readonly stderr: string; readonly asked: string;
} {
  const { status, stderr } = spawnSync(process.execPath, [`${place}/scripts/${script}`, ...words], {
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

  it('installs it again after a change of its version', { tags: ['slow'] }, ({ skip }) => {
    if (hasSqlite) skip('this Node has SQLite');
    prepare();
    writeFileSync(lockFile, locked('12.0.1'));
    expect(prepare().asked).toBe(installs + installs);
  });

  it('installs it again where this Node cannot load it', { tags: ['slow'] }, ({ skip }) => {
    if (hasSqlite) skip('this Node has SQLite');
    prepare();
    rmSync(`${place}/tools/sqlite/node_modules/better-sqlite3/build`, { recursive: true });
    expect(prepare().asked).toBe(installs + installs);
  });

  it('builds also where it cannot be installed, and says what to do', ({ skip }) => {
    if (hasSqlite) skip('this Node has SQLite');
    const { status, stderr } = prepare({ BROKEN: '1' });
    expect(status).toBe(0);
    expect(stderr).toMatch(new RegExp('^tools/sqlite could not be installed: '
      + 'npm error no compiler\nNode 20\\.\\S+ has no SQLite.* Use Node 22\\.16'));
    expect(existsSync(`${place}/built`)).toBe(true);
  });
});

describe('a tool', () => {
  const tool = (environment: Readonly<Record<string, string>> = {}): ReturnType<typeof run> =>
    run(['tool.js', 'browser'], environment);
  const lock = (name: string, of = 'browser'): void => {
    mkdirSync(`${place}/tools/${of}`, { recursive: true });
    writeFileSync(`${place}/tools/${of}/package-lock.json`, JSON.stringify({
      packages: { '': { dependencies: { [name]: '1.0.0' } } },
    }));
  };
  const asks = `ci --prefix ${place}/tools/browser\n`;

  it('is installed by the first command that needs it, and again after a change', () => {
    lock('driver');
    expect(tool()).toEqual({ status: 0, stderr: '', asked: asks });
    expect(tool().asked).toBe(asks);
    expect(readlinkSync(`${place}/node_modules/driver`)).toBe(join(
      '..', 'tools', 'browser', 'node_modules', 'driver'));
    // npm removes what its lock file does not have.
    rmSync(`${place}/node_modules`, { recursive: true });
    expect(tool().asked).toBe(asks);
    expect(readlinkSync(`${place}/node_modules/driver`)).toContain('tools');
    lock('@owner/driver');
    expect(tool().asked).toBe(asks + asks);
    expect(readlinkSync(`${place}/node_modules/@owner/driver`)).toBe(join(
      '..', '..', 'tools', 'browser', 'node_modules', '@owner', 'driver'));
  });

  it('is installed beside others, each once, and one that cannot be fails them all', () => {
    lock('driver');
    lock('packer', 'package');
    const both = (environment = {}): ReturnType<typeof run> =>
      run(['tool.js', 'browser', 'package'], environment);
    expect(both({ BROKEN: '1' }).status).toBe(1);
    rmSync(`${place}/asked`);
    const asked = ['browser', 'package'].map((name) => `ci --prefix ${place}/tools/${name}`);
    expect(both().asked.trim().split('\n').sort()).toEqual(asked);
    expect(both().asked.trim().split('\n')).toHaveLength(2);
    for (const name of ['driver', 'packer']) {
      expect(readlinkSync(`${place}/node_modules/${name}`)).toContain('tools');
    }
  });

  it('takes the place of a package that an older lock file brought', () => {
    lock('driver');
    mkdirSync(`${place}/node_modules/driver/dist`, { recursive: true });
    expect(tool().status).toBe(0);
    expect(readlinkSync(`${place}/node_modules/driver`)).toContain('tools');
  });

  it('is that of the clone whose packages a copy links to', () => {
    const other = stage.path('other');
    lock('driver');
    renameSync(`${place}/tools`, `${other}-tools`);
    mkdirSync(`${other}/node_modules`, { recursive: true });
    renameSync(`${other}-tools`, `${other}/tools`);
    symlinkSync(`${other}/node_modules`, `${place}/node_modules`);
    expect(tool()).toMatchObject({ status: 0, asked: `ci --prefix ${other}/tools/browser\n` });
    expect(existsSync(`${place}/tools`)).toBe(false);
  });

  it('that cannot be installed fails the command, with what npm said, and is tried again', () => {
    lock('driver');
    expect(tool({ BROKEN: '1' })).toEqual({
      status: 1, asked: asks,
      stderr: 'tools/browser could not be installed: npm error no compiler\n',
    });
    expect(tool()).toMatchObject({ status: 0, asked: asks + asks });
  });
});
