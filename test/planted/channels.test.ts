// @module-tag slow
import { spawnSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../support/sources.js';
import { channelFaults, type ChannelFault } from './channel-faults.js';

/** What the tests of encrypted channels load. */
const copied = [
  'cli', 'client', 'package.json', 'proto', 'scripts', 'server', 'simulation', 'src', 'test',
  'tools', 'vitest.config.ts',
];
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'channel-faults-'));
  for (const path of copied) {
    cpSync(join(root, path), join(copy, path), {
      recursive: true, preserveTimestamps: true,
      filter: (each) => basename(each) !== 'node_modules',
    });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/**
 * How tests of these files end in the copy, by their full names. @param pattern of the names.
 * @param limitMs ends a wait: a fault may show in an event that never comes.
 */
function outcomes(
  files: readonly string[], pattern: string, limitMs: number,
): ReadonlyMap<string, string> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const { stderr } = spawnSync(process.execPath, [
    'node_modules/vitest/vitest.mjs', 'run', ...files, '--reporter=json',
    `--outputFile.json=${report}`, `--testTimeout=${limitMs}`, '-t', pattern,
  ], { cwd: copy, encoding: 'utf8', env: { ...process.env, KEELSON_TEST_SKIP_BUILD: '1' } });
  if (!existsSync(report)) throw new Error(stderr);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly testResults: readonly {
      readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
    }[];
  };
  return new Map(testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ fullName, status }) => [fullName, status] as const)));
}

/** A pattern of exactly this text. */
const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

function edit({ edits }: ChannelFault): () => void {
  const before = [...new Set(edits.map(({ file }) => join(copy, file)))]
    .map((path) => [path, readFileSync(path, 'utf8')] as const);
  for (const { file, find, put } of edits) {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text.split(find), `${file} has once: ${find}`).toHaveLength(2);
    writeFileSync(join(copy, file), text.replace(find, () => put));
  }
  return () => {
    for (const [path, text] of before) writeFileSync(path, text);
  };
}

it('the named tests pass without a fault', () => {
  const files = [...new Set(channelFaults.map(({ file }) => file))];
  const found = outcomes(files, channelFaults.map(({ test }) => literal(test)).join('|'), 240_000);
  for (const { test } of channelFaults) expect(found.get(test), test).toBe('passed');
});

it.each(channelFaults)('the named test sees that $name', (fault) => {
  const mend = edit(fault);
  try {
    const found = outcomes([fault.file], literal(fault.test), 15_000);
    expect(found.get(fault.test)).toBe('failed');
  } finally {
    mend();
  }
});
