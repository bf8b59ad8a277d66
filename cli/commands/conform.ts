import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workerUrl } from '../../server/base/place.js';
import { defineCommand } from '../base/command.js';
import { numberFlag } from '../base/numbers.js';
import { runConformance, type CaseResult } from '../conform/runner.js';

const shown = { passed: 'passed', failed: 'FAILED', 'left-out': 'left out' } as const;

export const conform = defineCommand({
  name: 'conform',
  summary: 'Try a client program of any language on the rules of the protocol.',
  details: [
    'The program reads commands and writes events, one JSON object in each line: '
    + 'docs/reference/conformance.md has them all. Each case starts the program anew, with servers '
    + 'that restart, refuse, cut connections and forge what they say. The exit status is 0 only if '
    + 'no case failed. Cases of what the program does not claim to do are left out.',
    'Without a command, the client of this package is tried.',
  ],
  args: {
    command: {
      type: 'positional', required: false, valueHint: 'command...',
      description: 'the client program and its arguments, after --',
    },
    limit: {
      type: 'string', valueHint: 'seconds', default: '60',
      description: 'time for one case, from 1 to 3600',
    },
  },
  examples: [
    'keelson conform',
    'keelson conform -- python3 -m keelson.conform',
  ],
  async run({ args, output }) {
    const seconds = numberFlag(args.limit, '--limit', { atLeast: 1, atMost: 3_600 });
    const words = args._.length > 0 ? args._
      : [process.execPath, fileURLToPath(workerUrl('cli/conform/own-client'))];
    const folder = mkdtempSync(join(tmpdir(), 'keelson-conform-'));
    let results: readonly CaseResult[];
    try {
      results = await runConformance({ words, folder, limitMs: seconds * 1_000 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const count = (outcome: CaseResult['outcome']): number =>
      results.filter((result) => result.outcome === outcome).length;
    const counts = { passed: count('passed'), failed: count('failed'), leftOut: count('left-out') };
    output.json({ ...counts, cases: results });
    output.table(['case', 'result', ''], results.map(({ name, outcome, text = '' }) =>
      [name, shown[outcome], text]));
    output.text();
    output.text(`${counts.passed} passed, ${counts.failed} failed, ${counts.leftOut} left out`);
    return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
  },
});
