// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { documentedPages, type Block } from '../support/doc-pages.js';
import { Stage } from '../support/live-command.js';
import { root } from '../support/sources.js';

/** Overlays, so that nothing outside of the sandbox changes. */
function hasSandbox(): boolean {
  const tried = 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/a /mnt/b '
    + '&& mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/a,workdir=/mnt/b /etc';
  return process.getuid?.() === 0
    && spawnSync('unshare', [
      '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c', tried,
    ]).status === 0;
}

const runs = hasSandbox();
if (!runs) process.stderr.write('not root, or no overlays: the service is not tried\n');

const programs = ['caddy', 'dpkg-deb', 'ip', 'openssl', 'strace', 'systemd-analyze'];
const missing = programs.filter((program) =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
if (spawnSync('unshare', ['--net', 'true']).status !== 0) missing.push('a network of its own');
if (missing.length > 0) {
  process.stderr.write(`a public study is not tried without ${missing.join(', ')}\n`);
}

const pages = documentedPages();
const blocksOf = (path: string): readonly Block[] => pages.find((page) => page.path === path)!
  .blocks.filter(({ notes }) => notes.includes('service'));

/** Stopped as by Ctrl-C when it listens. */
const interrupted = (text: string): string => `
out=$(mktemp)
${text.trim()} --port 0 > "$out" & started=$!
until grep -q '^listening' "$out"; do kill -0 $started; sleep 0.1; done
kill -TERM $(pgrep -P $started)
wait $started
`;

const scriptOf = (blocks: readonly Block[]): string => blocks.map(({ notes, text, place }) =>
  `: ${place}\n${notes.includes('interrupted') ? interrupted(text) : text}`).join('\n');

describe.runIf(runs)('an operator who follows docs/operating', () => {
  const stage = new Stage();
  afterAll(() => stage.end());

  /** Runs a script in a sandbox. @returns what it printed. */
  function follow(script: string, host?: string): {
    readonly status: number | null; readonly printed: string;
  } {
    const [place, file] = [stage.path('place'), stage.write('script.sh', script)];
    mkdirSync(place, { recursive: true });
    const words = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc',
      ...(host === undefined ? [] : ['--net']),
      `${root}test/support/service-sandbox/enter.sh`, root, place, file];
    const users = readFileSync('/etc/passwd', 'utf8');
    const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
    const { status, stdout, stderr } = spawnSync('unshare', words, {
      encoding: 'utf8', env: {
        ...Object.fromEntries(environment), KEELSON_INSECURE_SEED: '',
        // Alone in its network, the service has its usual port.
        ...(host !== undefined && { KEELSON_SERVICE_HOST: host, KEELSON_SERVICE_PORT: '' }),
      },
    });
    expect(readFileSync('/etc/passwd', 'utf8')).toBe(users);
    return { status, printed: `${stdout}\n${stderr}` };
  }

  const deploy = blocksOf('docs/operating/deploy.md');
  const operations = blocksOf('docs/operating/operations.md');

  it('has a service that runs, and goes on after a restore and a change of its key', {
    timeout: 300_000,
  }, () => {
    expect([deploy.length, operations.length]).toEqual([3, 5]);
    const { status, printed } = follow(`${scriptOf([...deploy, ...operations])}
      : as root, in the folder of another user
      systemctl stop keelson
      keelson keys rotate --data /var/lib/keelson
      systemctl start keelson
      keelson doctor /var/lib/keelson || true
      stat --format 'owned by %U' /var/lib/keelson/* | sort -u`);
    expect(status, printed).toBe(0);
    expect(printed).toMatch(/^ok +owner: /m);
    expect(printed.match(/^owned by .*$/gm)).toEqual(['owned by keelson']);
  });

  it('is right not to install the folder itself, nor to copy with cp', { timeout: 300_000 }, () => {
    const linked = scriptOf(deploy).replace('./keelson-*.tgz', '.');
    expect(follow(linked)).toMatchObject({
      status: 1, printed: expect.stringMatching(/keelson.*(No such file|Permission denied)/) as string,
    });
    const copied = follow(`${scriptOf(deploy)}
      systemctl stop keelson
      rm /var/lib/keelson/server.key && cp study.yaml /var/lib/keelson/server.key
      chmod 600 /var/lib/keelson/server.key
      keelson doctor /var/lib/keelson || true
      systemctl start keelson`);
    expect(copied.status).toBe(1);
    expect(copied.printed).toMatch(/^fail +owner: .* server\.key$/m);
  });

  it.runIf(missing.length === 0)('has a public study with TLS, from the Debian package', {
    timeout: 300_000,
  }, () => {
    const { status, printed } = follow(`
      ${scriptOf(blocksOf('docs/start/public-study.md'))}
      : a new version of scripts/deb.js keeps what is set, and the service goes on
      apt install ./keelson/keelson_0.1.0_all.deb
      grep study.example.org /etc/default/keelson
      keelson doctor https://study.example.org | sed 's/^/again /'
      stat --format 'owned by %U' /var/lib/keelson/* | sort -u
      echo "refused: $(grep -o '^[0-9]* *[a-z0-9_]*(.*EPERM' "$KEELSON_SERVICE_LOG.refused" \
        | sed 's/^[0-9 ]*//; s/(.*//' | sort -u | paste -sd' ')"
      : a service that needs what the unit refuses does not start
      systemctl stop keelson
      sed -i 's/^SystemCallFilter=~@privileged/SystemCallFilter=~@network-io/' \
        /usr/lib/systemd/system/keelson.service
      if systemctl start keelson; then echo 'it started'; fi
      : what is left
      dpkg --remove keelson
      ls /var/lib/keelson/server.key /etc/keelson/study.yaml`, 'study.example.org');
    expect(status, printed).toBe(0);
    expect(printed).toMatch(/^ok +TLS: /m);
    expect(printed).toMatch(/^again ok +rows from here: go encrypted/m);
    expect(printed).not.toMatch(/^(again )?fail/m);
    expect(printed).toMatch(/^refused: (pkey_alloc)?$/m);
    expect(printed.match(/^owned by .*$/gm)).toEqual(['owned by keelson']);
    expect(printed).not.toContain('it started');
    expect(printed).toMatch(/^\/var\/lib\/keelson\/server\.key$/m);
  });
});
