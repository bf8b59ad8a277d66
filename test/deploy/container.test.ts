import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { keelson as command } from '../support/command.js';
import { dockerfile, lastOf, stages, stagesOf } from '../support/dockerfile.js';
import { root } from '../support/sources.js';

const folder = `${root}deploy/container`;

/** What is wrong with a Dockerfile, by line. */
function faults(text: string): string[] {
  const lines = text.split('\n');
  const all = stagesOf(text);
  const last = all.at(-1)!;
  const names = all.map(({ name }) => name);
  const found: string[] = [];
  for (const { image, steps } of all) {
    if (!/:\d+\.\d+/.test(image) && !names.includes(image)) found.push(`${image} has no version`);
    for (const { keyword, words, flags, line } of steps) {
      const from = flags['from'];
      const said = words.join(' ');
      if (keyword === 'ADD') found.push(`${line}: COPY, not ADD`);
      if (from !== undefined && !names.includes(from)) found.push(`${line}: no stage ${from}`);
      if (/\b(sudo|curl|wget)\b/.test(said)) found.push(`${line}: fetches something`);
      if (/\b(PASSWORD|SECRET|TOKEN)\b/i.test(said)) found.push(`${line}: a secret in a layer`);
      if (['ENTRYPOINT', 'CMD'].includes(keyword) && !/\s\[/.test(lines[line - 1]!)) {
        found.push(`${line}: a shell would not pass signals on`);
      }
    }
  }
  const user = last.steps.findLast(({ keyword }) => keyword === 'USER')?.words[0] ?? 'root';
  if (!/^[1-9]\d*(:[1-9]\d*)?$/.test(user)) found.push(`runs as ${user}, not as a number above 0`);
  if (!last.steps.some(({ keyword }) => keyword === 'HEALTHCHECK')) found.push('no health check');
  if (last.steps.some(({ keyword, flags }) => keyword === 'COPY' && flags['from'] === undefined)) {
    found.push('the last stage copies from the folder of the sources');
  }
  return found;
}

describe('the Dockerfile', () => {
  const text = readFileSync(dockerfile, 'utf8');

  it('has no fault', () => expect(faults(text)).toEqual([]));

  it.each([
    [/USER .*/, '', 'runs as root'], [/USER .*/, 'USER node', 'runs as node'],
    [/HEALTHCHECK .*/, '', 'no health check'], [/ENTRYPOINT .*/, 'ENTRYPOINT node x', 'signals'],
    [/:24[^ ]*/, ':latest', 'no version'], ['COPY . .', 'ADD . .', 'not ADD'],
    ['--from=build', '--from=other', 'no stage'], ['--from=build ', '', 'folder of the sources'],
    ['NODE_ENV', 'TOKEN', 'a secret'],
  ])('would be faulty with %s as "%s"', (from, to, fault) => {
    const [found, ...more] = faults(text.replace(from, to));
    expect(`${found} ${more.join(' ')}`).toContain(fault);
  });

  it('runs a Node that has SQLite, and the sources are built with the same', () => {
    const images = stages().map(({ image }) => image);
    expect(new Set(images).size).toBe(1);
    expect(Number(/node:(\d+)/.exec(images[0]!)![1])).toBeGreaterThanOrEqual(24);
  });

  it('builds from all that the build needs', () => {
    const left = readFileSync(`${root}.dockerignore`, 'utf8').split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    // npm and the build read these; test/ is for tests alone.
    for (const needed of ['package-lock.json', 'client/package/package.json', 'scripts', 'proto']) {
      expect(left.some((line) => needed.startsWith(line))).toBe(false);
      expect(existsSync(`${root}${needed}`)).toBe(true);
    }
  });
});

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: Readonly<Record<string, { ipv4_address?: string }>>;
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly networks?: Readonly<Record<string, { internal?: boolean }>>;
}

const compose = (name: string): Compose =>
  parse(readFileSync(`${folder}/${name}`, 'utf8')) as Compose;

/** The flags of a command line that the command does not have. */
async function unknownFlags(words: readonly string[]): Promise<string[]> {
  const { stdout } = await command([words[0]!, '--help']);
  return words.slice(1).filter((word) => word.startsWith('--'))
    .map((word) => word.split('=')[0]!).filter((flag) => !stdout.includes(flag));
}

describe('compose.yaml', () => {
  const alone = compose('compose.yaml');
  const added = compose('compose.postgres.yaml');
  const services = { ...alone.services, ...added.services };
  const { keelson, proxy } = alone.services;

  it('lets only the proxy reach the aggregator, at the address that it trusts', () => {
    expect(alone.networks!['inside']).toMatchObject({ internal: true });
    expect(Object.keys(keelson!.networks)).toEqual(['inside']);
    expect(keelson!.ports).toBeUndefined();
    expect(keelson!.command)
      .toContain(`--trust-proxy=${proxy!.networks['inside']!.ipv4_address}`);
    expect(added.services['keelson']!.command).toContain(
      keelson!.command!.find((word) => word.startsWith('--trust-proxy')));
  });

  it('takes from each service of ours what it does not need', () => {
    for (const name of ['keelson', 'proxy'] as const) {
      expect(alone.services[name])
        .toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    }
    expect(added.services['tables']).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    for (const name of ['keelson', 'proxy']) {
      expect(alone.services[name]!.security_opt).toEqual(['no-new-privileges:true']);
    }
  });

  it('names volumes, networks, services and files that exist', () => {
    const volumes = { ...alone.volumes, ...added.volumes };
    for (const service of [...Object.values(alone.services), ...Object.values(added.services)]) {
      for (const volume of service.volumes ?? []) {
        const source = volume.split(':')[0]!;
        if (source.startsWith('./')) {
          // The study is the operator's own file.
          expect(source === './study.yaml' || existsSync(join(folder, source))).toBe(true);
        } else {
          expect(Object.keys(volumes)).toContain(source);
        }
      }
      for (const name of Object.keys(service.depends_on ?? {})) {
        expect(services).toHaveProperty(name);
      }
      for (const name of Object.keys(service.networks ?? {})) {
        expect(alone.networks).toHaveProperty(name);
      }
    }
    const data = lastOf(stages().at(-1)!, 'VOLUME').words[0]!;
    expect(keelson!.volumes).toContain(`data:${data}`);
  });

  it('gives commands that the command line takes', { tags: ['slow'] }, async () => {
    for (const file of [alone, added]) {
      for (const { image, command } of Object.values(file.services)) {
        if (command !== undefined && (image === undefined || image === 'keelson')) {
          expect(await unknownFlags(command)).toEqual([]);
        }
      }
    }
    expect(await unknownFlags(lastOf(stages().at(-1)!, 'CMD').words)).toEqual([]);
  });

  it('pins the images of others', () => {
    for (const { image } of Object.values(services)) {
      if (image !== undefined && image !== 'keelson') expect(image).toMatch(/:\d+\.\d+/);
    }
  });
});

const hasCaddy = spawnSync('caddy', ['version']).error === undefined;
if (!hasCaddy) process.stderr.write('caddy is not at hand: the Caddyfile is not tried\n');

describe.runIf(hasCaddy)('the Caddyfile', () => {
  it('passes connections for the domain on to the aggregator, over TLS', () => {
    const home = mkdtempSync(join(tmpdir(), 'keelson-caddy-'));
    try {
      const adapted = execFileSync('caddy', [
        'adapt', '--validate', '--adapter', 'caddyfile', '--config', `${folder}/Caddyfile`,
      ], {
        encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, HOME: home, XDG_DATA_HOME: home, KEELSON_DOMAIN: 'a.example.org' },
      });
      expect(JSON.parse(adapted)).toMatchObject({ apps: { http: { servers: { srv0: {
        listen: [':443'], routes: [{ match: [{ host: ['a.example.org'] }] }],
      } } } } });
      expect(adapted).toContain('"dial":"keelson:8787"');
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});
