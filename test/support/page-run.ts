import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import * as v from 'valibot';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseStudyText } from '../../server/study-file/index.js';
import { settingsSchema } from '../../server/study-file/settings-schema.js';
import type { Block } from './doc-pages.js';
import { Stage, type LiveCommand } from './live-command.js';
import { root } from './sources.js';

/**
 * Follows a page as a reader would, from top to bottom, in a folder of its own that has the
 * samples of the project:
 *
 * - `sh` runs in bash and must end with status 0. `sh status=1`: with that status.
 * - `sh background` is one `keelson serve`, which goes on while the rest of the page runs. It
 *   listens on a free port, and 8787 in later blocks becomes that port. `sh service` does not run
 *   here, but in a sandbox of its own (service-sandbox.ts).
 * - `ts` runs on Node; `ts browser` does not run. `csv NAME` and `yaml NAME` are written to the
 *   folder.
 * - `yaml` is a study file, or, as `yaml part`, some of its keys. `yaml settings` is a file for
 *   `keelson serve --settings`.
 * - `text output` is what the block before it printed. Numbers may differ; a line `...` stands for
 *   any lines.
 */
export class PageRun {
  private readonly stage = new Stage();
  private readonly background: LiveCommand[] = [];
  private port = '8787';
  private last: LiveCommand | undefined;

  constructor() {
    // Readers are in a clone: some commands of git need one.
    execFileSync('git', ['init', '--quiet'], { cwd: this.stage.folder });
    for (const name of ['studies', 'examples']) {
      cpSync(root + name, this.stage.path(name), { recursive: true });
    }
    mkdirSync(this.stage.path('node_modules'));
    symlinkSync(root, this.stage.path('node_modules/keelson'));
    mkdirSync(this.stage.path('path'));
    const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${root}bin/keelson.js" "$@"\n`;
    writeFileSync(this.stage.path('path/npx'), npx);
    chmodSync(this.stage.path('path/npx'), 0o755);
  }

  async follow(block: Block): Promise<void> {
    const { language, notes, text } = block;
    const isHere = !isOnlyNpm(text) && !notes.includes('service');
    if (language === 'sh' && isHere) await this.shell(block);
    if (language === 'ts' && !notes.includes('browser')) await this.script(block);
    if (notes.includes('settings')) {
      expect(v.safeParse(settingsSchema, parse(text)).issues, block.place).toBeUndefined();
    } else if (language === 'yaml') {
      parseStudyText(notes.includes('part') ? withPart(text) : text, { name: block.place });
    }
    if (language === 'yaml' || language === 'csv') {
      for (const name of notes.filter((note) => note.includes('.'))) this.stage.write(name, text);
    }
    if (notes.includes('output')) await this.compare(block);
  }

  end(): Promise<void> {
    return this.stage.end();
  }

  private async shell({ text, notes, place }: Block): Promise<void> {
    const isBackground = notes.includes('background');
    const own = this.onOwnPort(text);
    if (isBackground) {
      const command = this.run(`exec ${own.trim()} --port 0`);
      this.background.push(command);
      while (!/^listening .*:\d+$/m.test(command.stdout)) await command.next();
      this.port = /^listening .*:(\d+)$/m.exec(command.stdout)![1]!;
      return;
    }
    // The same noise each time, where a command takes it: a refusal by chance must not fail a test.
    const script = `set -euo pipefail\n${own}`;
    const seeded = { KEELSON_INSECURE_SEED: 'pages' };
    const { status, stdout, stderr } = await this.run(script, seeded).ended;
    const asked = notes.find((note) => note.startsWith('status='))?.slice('status='.length) ?? '0';
    const served = this.background.map((each) => each.stderr).join('');
    expect(String(status), `${place}\n${own}\n${stdout}\n${stderr}\n${served}`).toBe(asked);
  }

  private async script({ text, place }: Block): Promise<void> {
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
    const { outputText } = ts.transpileModule(this.onOwnPort(text), { compilerOptions: options });
    const path = this.stage.write('page.mjs', outputText);
    this.last = this.stage.start([], { command: path, directory: this.stage.folder });
    const { status, stdout, stderr } = await this.last.ended;
    expect(status, `${place}\n${stdout}\n${stderr}`).toBe(0);
  }

  private run(script: string, variables: Readonly<Record<string, string>> = {}): LiveCommand {
    const environment = { PATH: `${this.stage.path('path')}:${process.env['PATH']}`, ...variables };
    const place = { program: 'bash', command: '-c', environment, directory: this.stage.folder };
    this.last = this.stage.start([script], place);
    return this.last;
  }

  private async compare({ text, place }: Block): Promise<void> {
    const lines = masked(text);
    // What runs in the background may still be printing.
    if (this.background.includes(this.last!)) {
      while (!masked(this.last!.stdout).includes(lines.at(-1)!)) await this.last!.next();
    }
    const patterns = lines.map((line) => (line === '...' ? '(?:.*\n)*' : `${escaped(line)}\n`));
    const printed = `${masked(this.last!.stdout).join('\n')}\n`;
    expect(printed, place).toMatch(new RegExp(`^${patterns.join('')}$`));
  }

  private onOwnPort(text: string): string {
    return text.replaceAll('8787', this.port);
  }
}

/** `npm install`, `npm test` and the like: pages name them, and running them here would not end. */
export function isOnlyNpm(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(#|npm |$)/.test(line));
}

/** A whole study file that has these keys. */
function withPart(part: string): string {
  const whole = parse(readFileSync(join(root, 'studies/flights-mean.yaml'), 'utf8')) as object;
  return stringify({ ...whole, ...parse(part) as object });
}

/** Numbers and keys differ from run to run, and with them the widths of columns. */
function masked(text: string): string[] {
  return text.replaceAll(/\b[0-9a-f]{16,}\b/g, 'KEY').replaceAll(/-?\d[\d.,:e-]*/g, '#')
    .split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' ')).filter((line) => line !== '');
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
