import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasBrowser } from '../support/browser.js';
import { programs } from '../../cli/demo/cluster/private-postgres.js';
import { root } from '../support/sources.js';
import { runElsewhere, tinyRuns, type TinyRun } from '../support/tiny-runs.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-tiny-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Far more than any takes: a busy machine is no defect. */
const timeoutMs = 580_000;

const titleOf = ({ file, words = ['--tiny'] }: TinyRun): string => `${file} ${words.join(' ')}`;

async function outputOf(
  { file, words = ['--tiny'] }: TinyRun,
): Promise<{ status: number | null; text: string }> {
  const own = words.map((word) => word.replace('FOLDER', folder));
  const env = { ...process.env, KEELSON_PEER: '', KEELSON_INSECURE_SEED: '' };
  const child = spawn(process.execPath, [join(root, file), ...own], {
    cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
  });
  // A run that does not end would go on beside all later tests, with the processes that it started.
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  });
  let text = '';
  const hear = (chunk: Buffer): void => { text += chunk.toString(); };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const status = await new Promise<number | null>((resolve) => { child.on('close', resolve); });
  return { status, text };
}

describe('a tiny run of', { tags: ['slow'] }, () => {
  for (const run of tinyRuns) {
    const isMissing = (run.needs === 'chromium' && !hasBrowser)
      || (run.needs === 'postgres' && programs === null);
    it.skipIf(isMissing)(titleOf(run), async () => {
      const { status, text } = await outputOf(run);
      expect(status, text).toBe(run.status ?? 0);
      const lines = text.split('\n');
      for (const pattern of run.lines) {
        expect(lines.some((line) => pattern.test(line)), `${String(pattern)} in\n${text}`)
          .toBe(true);
      }
    }, timeoutMs);
  }
});

const scriptsIn = (place: string): string[] =>
  readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js')).map((name) => `${place}/${name}`);

describe('the list of tiny runs', () => {
  it('has every file in bench/ and scripts/, or a file that uses it', () => {
    const files = [...scriptsIn('bench'), ...scriptsIn('scripts')];
    const covered = new Set([...tinyRuns.map(({ file }) => file), ...Object.keys(runElsewhere)]);
    // What a covered file imports or starts is run with it.
    for (let size = 0; size !== covered.size;) {
      size = covered.size;
      const texts = [...covered].map((file) => readFileSync(join(root, file), 'utf8'));
      for (const file of files) if (texts.some((text) => text.includes(`/${basename(file)}'`)
        || text.includes(`'${basename(file)}'`))) covered.add(file);
    }
    expect(files.filter((file) => !covered.has(file))).toEqual([]);
  });

  it('names files that exist, and tests that run the others', () => {
    for (const { file } of tinyRuns) expect(existsSync(join(root, file)), file).toBe(true);
    for (const [file, test] of Object.entries(runElsewhere)) {
      expect([existsSync(join(root, file)), existsSync(join(root, test))], file)
        .toEqual([true, true]);
      if (test.endsWith('.ts')) {
        expect(readFileSync(join(root, test), 'utf8'), test).toContain(basename(file));
      } else expect(readFileSync(join(root, file), 'utf8'), file).toContain(test);
    }
  });

  it('has every script of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const known = new Set([
      ...tinyRuns.map(({ file }) => file), ...Object.keys(runElsewhere), 'bin/keelson.js',
    ]);
    for (const [name, command] of Object.entries(scripts)) {
      const file = /node (?:--\S+ )?(\S+\.js)/.exec(command)?.[1];
      // What runs no file of ours is a tool: tests, types, lint and documentation, and other
      // scripts by name.
      if (file === undefined) {
        expect(command, name).toMatch(/^(vitest run|vitepress build|typedoc|eslint|tsc|npm run)\b/);
      } else expect(known.has(file), `${name} runs ${file}`).toBe(true);
    }
  });

  it('is told in bench/README.md for every benchmark', () => {
    const page = readFileSync(join(root, 'bench/README.md'), 'utf8');
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const name of Object.keys(scripts)
      .filter((script) => script.startsWith('bench:'))) expect(page).toContain(`npm run ${name}`);
    expect(page).toContain('--tiny');
  });
});
