import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conformanceCases, runConformance, type CaseResult } from '../../cli/conform/runner.js';
import type { Stage } from '../../cli/conform/stage.js';
import { logKey, logVectors } from '../../cli/conform/logs.js';
import { recordLines } from '../../scripts/record-lines.js';
import { root } from '../support/sources.js';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'keelson-conform-')); });
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const faulty = `${root}test/support/children/faulty-client.js`;
/** Cases that the planted faults are about. Every fault but `none` breaks one of them. */
const names = [
  'rows are split, within the credit, and end with "last"', 'nothing is accepted before the Ack',
  'killed before the Ack', 'killed while rows wait for an epoch',
  'a release signed by another key', 'a release that does not continue the one before',
  'a withdrawal after rows', 'once: the next run takes the next sequence',
  'sealed: no row where a question does not count it',
];
/** Planted faults of encrypted channels, each with the case that finds it and what that says. */
const encryptedFaults = ([
  ['share-unverified', 'a share of another key', 'Open for a share of another key'],
  ['share-unverified', 'a share of another time', 'Open for a share of another time'],
  ['zero-taken', 'a share of small order', 'Open for a share of small order'],
  ['slow-clock', 'a share that is long over', 'Open for a share of long over'],
  ['share-repeated', 'a stale share', 'a client share came twice'],
  ['ends-on-refusal', 'a stale share', 'it ended with stale-share, and rows were waiting'],
  ['ends-on-refusal', 'the limit of frames',
    'it ended with unknown-channel, and rows were waiting'],
  ['ends-on-refusal', 'a batch that does not open',
    'it ended with bad-signature, and rows were waiting'],
  ['refusal-believed', 'a Refusal in the clear', 'a Refusal that anybody can make settled rows'],
  ['ack-believed', 'an Ack in the clear',
    'rows were reported as accepted before the server had said so'],
  ['hello-first', 'cut after an Ack',
    'Hello in place of Open on a socket with encrypted channels'],
  ['number-not-counted', 'rows are split, within the credit, and end with "last"',
    'an encrypted batch does not open as number 1'],
  ['ack-unsealed', 'encrypted, meddled with: acks are forged',
    'rows were reported as accepted before the server had said so'],
] as const).map(([fault, name, text]) =>
  [fault, name.startsWith('encrypted') ? name : `encrypted: ${name}`, text] as const);
const cases = conformanceCases.filter(({ name }) => names.includes(name));

/** The failed cases of a program, each with what is said of it. */
async function failures(words: readonly string[]): Promise<Record<string, string>> {
  const results = await runConformance({ words, folder, limitMs: 60_000, cases });
  const failed = results.filter(({ outcome }: CaseResult) => outcome === 'failed');
  return Object.fromEntries(failed.map(({ name, text }) => [name, text!]));
}

/* test/e2e/package.test.ts holds that the client of this package passes every case. */
describe('the conformance kit', () => {
  it('has a name of its own for each case', () => {
    const all = conformanceCases.map(({ name }) => name);
    expect(new Set(all).size).toBe(all.length);
    expect(cases).toHaveLength(names.length);
  });

  it('finds nothing where no fault was planted', async () => {
    expect(await failures([process.execPath, faulty, 'none'])).toEqual({});
  }, 120_000);

  it.each<readonly [string, string, string]>([
    ['sequence-reuse', names[0]!, 'sequence 1 was used for two bodies'],
    ['early-ack', names[1]!, 'rows were reported as accepted before the server had said so'],
    ['no-resume', names[2]!,
      'after a kill, batches that were sent must be sent again with the same bytes'],
    ['no-resume', names[3]!, 'a row counts 0 times, and it must count 1 times'],
    ['forged-release', names[4]!, 'a forged release was reported as verified'],
    ['forged-release', names[5]!, 'a forged release was reported as verified'],
    ['claimed-withdrawal', names[6]!, 'the withdrawal was reported and never asked for'],
    ['forgotten-sequence', names[7]!, 'sequence 1 was used for two bodies'],
    ['unread-condition', names[8]!,
      'the shares for the question apps add up to 1, not 2'],
    ...encryptedFaults,
  ])('finds the planted fault %s in "%s"', {
    tags: ['slow'], timeout: 120_000,
  }, async (fault, name, text) => {
    const only = conformanceCases.filter((one) => one.name === name);
    const words = [process.execPath, faulty, fault];
    const [result] = await runConformance({ words, folder, limitMs: 60_000, cases: only });
    expect(result).toEqual({ name, outcome: 'failed', text });
  });

  it('starts no program after a fault has ended the case', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const only = [{
      name: 'a fault', needs: 'contribute' as const,
      run: (stage: Stage): Promise<never> => {
        late = stage.noticed.catch(async () => {
          // As a case does that was about to start the program again.
          await new Promise((resolve) => { setImmediate(resolve); });
          return stage.program();
        });
        late.catch(() => undefined);
        return stage.server().then((server) => server.onFault('planted') as never);
      },
    }];
    const words = [process.execPath, faulty, 'none'];
    const results = await runConformance({ words, folder, limitMs: 60_000, cases: only });
    expect(results).toEqual([{ name: 'a fault', outcome: 'failed', text: 'planted' }]);
    await expect(late).rejects.toThrow('the case is over');
  }, 60_000);

  it('says what is wrong with a program that does not keep to the line protocol', async () => {
    const only = cases.slice(0, 1);
    const run = async (words: readonly string[], place: string): Promise<CaseResult> => {
      const own = mkdtempSync(join(folder, place));
      return (await runConformance({ words, folder: own, limitMs: 60_000, cases: only }))[0]!;
    };
    const script = (text: string): string[] => [process.execPath, '-e', text];
    expect((await run(script('console.log("good day")'), 'a')).text)
      .toBe('the program wrote a line that is no event: good day');
    expect((await run(script('console.error("no such study")'), 'b')).text)
      .toBe('the program has ended: no such study\n');
    expect((await run(['/no/such/program'], 'c')).text).toMatch(/^the program has ended: .*ENOENT/);
    const can = 'console.log(JSON.stringify({ event: "hello", can: ["verify"] }))';
    expect((await run(script(can), 'd')).outcome).toBe('left-out');
  }, 60_000);

  it('has its logs in test/vectors', async () => {
    const file = recordLines({ serverKey: logKey, logs: logVectors() });
    await expect(file).toMatchFileSnapshot('../vectors/logs.json');
  });

  it('is documented', () => {
    const page = readFileSync(`${root}docs/reference/conformance.md`, 'utf8');
    const names = conformanceCases.map(({ name }) => name);
    const missing = names
      .filter((name) => !names.includes(name.replace(/^encrypted: /, '')) || !/^encr/.test(name))
      .map((name) => name.replace(/^(Ack|.* Hello|.* channel): .*/, '$1'))
      .map((name) => name.replace(/^(encrypted: (a share of|encryptedOnly, and)).*/, '$1'))
      .map((name) => name.replace(/^encrypted, .*(a batch is|an ack is).*/, '$1'))
      .filter((name) => !page.includes(name.replace(/^(log|a release|cut|Notice|vector).*/, '$1')));
    expect(missing).toEqual([]);
  });
});
