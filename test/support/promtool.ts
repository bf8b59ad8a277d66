import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** True if Debian's `prometheus` is at hand. Tests that need it say so and are skipped without. */
export const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

/** One sample of the text format. */
export interface Scraped {
  /** With its labels, e.g. `up{job="x"}`. */
  readonly series: string;
  readonly value: number;
}

/** The samples of a page in the text format, with the labels that a scrape adds. */
export function scraped(page: string): Scraped[] {
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const at = line.lastIndexOf(' ');
    const [, name, labels = ''] = /^([^{]+)(?:\{(.*)\})?$/s.exec(line.slice(0, at))!;
    const own = labels === '' ? '' : `${labels},`;
    return {
      series: `${name}{${own}job="keelson",instance="host:8787"}`, value: Number(line.slice(at + 1)),
    };
  });
}

/** @throws Error with what promtool printed. */
export function promtool(words: readonly string[], input?: string): string {
  try {
    return execFileSync('promtool', words, {
      encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'], ...(input !== undefined && { input }),
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  }
}

/** Runs a command of promtool on a file with these contents. JSON is YAML too. */
export function promtoolOn(words: readonly string[], contents: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-rules-'));
  try {
    const file = join(folder, 'file.yml');
    writeFileSync(file, JSON.stringify(contents));
    return promtool([...words, file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
