import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../bench/run.js';
import { hasBrowser } from '../support/browser.js';
import { scratchFolder } from '../support/scratch.js';
import { programs } from '../../cli/demo/cluster/private-postgres.js';
import { root } from '../support/sources.js';
import { runElsewhere, tinyRuns, type TinyRun } from '../support/tiny-runs.js';

const folder = scratchFolder('tiny');

/** Far more than any takes: a busy machine is no defect. */
const timeoutMs = 580_000;

/** The script and its words. */
const wordsOf = ({ bench, file, words }: TinyRun): readonly string[] => (bench === undefined
  ? [file!, ...words ?? ['--tiny']]
  : ['bench/run.js', ...bench.split(' '), '--tiny', ...words ?? []]);

async function outputOf(run: TinyRun): Promise<{ status: number | null; text: string }> {
  const [file, ...own] = wordsOf(run).map((word) => word.replace('FOLDER', folder));
  const env = { ...process.env, KEELSON_PEER: '', KEELSON_INSECURE_SEED: '' };
  const child = spawn(process.execPath, [join(root, file!), ...own], {
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
    it.skipIf(isMissing)(wordsOf(run).join(' '), async () => {
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

const files = [...new Set(tinyRuns.map((run) => wordsOf(run)[0]!))];
const scriptsIn = (place: string): string[] =>
  readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js')).map((name) => `${place}/${name}`);

describe('the list of tiny runs', () => {
  it('has every file in bench/ and scripts/, or a file that uses it', () => {
    const all = [...scriptsIn('bench'), ...scriptsIn('scripts')];
    const covered = new Set([...files, ...Object.keys(runElsewhere)]);
    // What a covered file imports or starts is run with it.
    for (let size = 0; size !== covered.size;) {
      size = covered.size;
      const texts = [...covered].map((file) => readFileSync(join(root, file), 'utf8'));
      for (const file of all) if (texts.some((text) => text.includes(`/${basename(file)}'`)
        || text.includes(`'${basename(file)}'`))) covered.add(file);
    }
    expect(all.filter((file) => !covered.has(file))).toEqual([]);
  });

  it('names files that exist, and tests that run the others', () => {
    for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
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
    const known = new Set([...files, ...Object.keys(runElsewhere), 'bin/keelson.js']);
    for (const [name, command] of Object.entries(scripts)) {
      const file = /node (?:--\S+ )?(\S+\.js)/.exec(command)?.[1];
      // What runs no file of ours is a tool: tests, types, lint and documentation, and other
      // scripts by name.
      if (file === undefined) {
        expect(command, name).toMatch(/^(vitest run|vitepress build|typedoc|eslint|tsc|npm run)\b/);
      } else expect(known.has(file), `${name} runs ${file}`).toBe(true);
    }
  });

  it('has every case of every benchmark, and bench/README.md names each', () => {
    const page = readFileSync(join(root, 'bench/README.md'), 'utf8');
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const cases = Object.entries(commands).flatMap(([command, own]) => {
      expect(scripts[`bench:${command}`]).toBe(`npm run build && node bench/run.js ${command}`);
      return Object.keys(own).map((name) => [command, name] as const);
    });
    expect(Object.keys(scripts).filter((name) => name.startsWith('bench:'))).toHaveLength(12);
    const run = new Set(tinyRuns.map(({ bench }) => bench));
    for (const [command, name] of cases) {
      expect(run).toContain(`${command} ${name}`);
      expect(page).toContain(command === name
        ? `\`npm run bench:${command}` : `\`npm run bench:${command} -- ${name}`);
    }
    expect(page).toContain('--tiny');
  });

  it('says which commands and cases there are', () => {
    const said = (...words: string[]): string =>
      spawnSync(process.execPath, [join(root, 'bench/run.js'), ...words], { encoding: 'utf8' })
        .output.join('');
    expect(said()).toContain('one of start, people, rows, ingest');
    expect(said('ingest', '--help')).toContain('rates | overload | connections | soak');
    expect(said('ingest', 'nothing')).toContain('bench:ingest nothing: one of rates, overload');
    expect(said('start', '--help')).toContain('--rounds');
  });
});
