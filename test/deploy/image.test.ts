// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastOf, stages } from '../support/dockerfile.js';
import { Stage } from '../support/live-command.js';
import { addSqlite } from '../support/native-sqlite.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

/*
 * What a container engine would do, without one: the files that the last stage copies and nothing
 * else of the project, a root that cannot be written, and the user of the image.
 */
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;
if (!canMount) process.stderr.write('only root can mount folders: the image is not tried\n');

const [build, image] = stages() as [ReturnType<typeof stages>[0], ReturnType<typeof stages>[0]];
const node = '/usr/local/bin/node';
const stage = new Stage();
const place = stage.path('root');
const [user] = lastOf(image, 'USER').words as [string];
const [data] = lastOf(image, 'VOLUME').words as [string];

/** Copies a file of this machine into the image, under the same or another path. */
function put(from: string, to = from): void {
  mkdirSync(dirname(join(place, to)), { recursive: true });
  copyFileSync(from, join(place, to));
}

/** Words that run a command in the image. */
function inside(words: readonly string[]): { program: string; command: string; words: string[] } {
  const script = `
    set -e
    mount --bind "$1" "$1"
    mount --bind "$2" "$1${data}"
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    mount -o remount,bind,ro "$1"
    root=$1; shift 2
    exec chroot --userspec=${user} "$root" "$@"`;
  const [first, ...rest] = words;
  return {
    program: 'unshare', command: '--mount',
    words: ['sh', '-c', script, 'sh', place, stage.path('data'),
      first === 'node' ? node : first!, ...rest],
  };
}

function runInside(words: readonly string[]): { status: number | null; said: string } {
  const { program, command, words: rest } = inside(words);
  const run = spawnSync(program, [command, ...rest], { encoding: 'utf8', env: {} });
  return { status: run.status, said: run.stdout + run.stderr };
}

beforeAll(() => {
  if (!canMount) return;
  // The base image: Node, the libraries that it is linked with, and empty folders for the system's.
  put(process.execPath, node);
  const linked = execFileSync('ldd', [process.execPath], { encoding: 'utf8' });
  for (const [, path] of linked.matchAll(/(\/\S+) \(0x/g)) put(path!);
  // The build stage ends with the script that lays the files out.
  const [, target] = /node scripts\/image\.js (\S+)$/.exec(
    lastOf(build, 'RUN').words.join(' '))!;
  const laidOut = stage.path('image');
  execFileSync(process.execPath, ['scripts/image.js', laidOut], { cwd: root, stdio: 'ignore' });
  for (const { keyword, words: [from, to] } of image.steps) {
    if (keyword !== 'COPY') continue;
    expect(from).toBe(target);
    cpSync(laidOut, join(place, to!), { recursive: true });
    // The image has a Node with SQLite.
    addSqlite(join(place, to!));
  }
  for (const folder of [data, '/dev', '/proc', '/etc/keelson']) {
    mkdirSync(join(place, folder), { recursive: true });
  }
  writeFileSync(join(place, 'etc/keelson/study.yaml'), meanStudy('trips'));
  writeFileSync(join(place, 'etc/keelson/settings.yaml'), 'releaseTick: 0s\n');
  mkdirSync(stage.path('data'));
  const [uid, gid] = user.split(':').map(Number) as [number, number];
  chownSync(stage.path('data'), uid, gid);
  chmodSync(stage.path('data'), 0o700);
  // The stage's own folder is for its owner alone.
  chmodSync(stage.folder, 0o755);
}, 120_000);

afterAll(() => stage.end());

describe.runIf(canMount)('the image, laid out without an engine', () => {
  it('runs as its user, who can write to the data folder alone', () => {
    const probe = `
      const { writeFileSync } = require('node:fs');
      const tried = ['/opt/keelson/x', '/x', '${data}/x'].map((path) => {
        try { writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; }
      });
      console.log(JSON.stringify([process.getuid(), ...tried]));`;
    expect(runInside(['node', '-e', probe]).said).toBe('[1000,"EROFS","EROFS","written"]\n');
  });

  it('serves a study, says that it is well, takes rows, releases and stops', async () => {
    const words = [...lastOf(image, 'ENTRYPOINT').words, ...lastOf(image, 'CMD').words];
    const { program, command, words: rest } =
      inside([...words, '--port', '0', '--json', '--settings', '/etc/keelson/settings.yaml']);
    const server = stage.start(rest, { program, command, directory: '/' });
    const listening = await server.line(({ type }) => type === 'listening');
    const { port } = new URL(String(listening['address']));
    const check = /CMD (\[.*\])$/.exec(lastOf(image, 'HEALTHCHECK').words.join(' '))![1]!;
    const healthy = JSON.parse(check) as string[];
    expect(runInside([...healthy, `http://127.0.0.1:${port}/healthz`]))
      .toEqual({ status: 0, said: '' });
    expect(runInside([...healthy, `http://127.0.0.1:${port}/absent`]).status).toBe(1);

    const trust = ['--study', 'trips', '--server-key', String(listening['serverKey']), '--json'];
    const url = `ws://127.0.0.1:${port}`;
    const watched = stage.start(['watch', url, ...trust]);
    stage.start(['simulate', url, '--contributors', '300', ...trust]);
    const release = await watched.line(({ type, outcome }) =>
      type === 'release' && outcome === 'value');
    expect(release['estimate']).toHaveLength(2);
    server.child.kill('SIGTERM');
    expect((await server.ended).status).toBe(0);
  });
});
