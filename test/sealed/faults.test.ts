import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../src/base/errors.js';
import { createSealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../../src/random/insecure.js';
import { sealedHistogram } from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { columnGrid, valueOfStep } from '../../src/sealed/shares/column-grid.js';
import type { ServerIndex } from '../../src/sealed/shares/body.js';
import { KeyStream } from '../../src/sealed/steps/key-stream.js';
import { product } from '../../src/sealed/steps/multiply.js';
import { Party, type PartyOptions, type PeerError } from '../../src/sealed/steps/party.js';
import { addInto, constantNumbers } from '../../src/sealed/steps/words.js';
import { rowShares, sealedAnswers, sealedFacts } from '../support/sealed-rows.js';
import {
  keyStreams, Network, numbersAt, openedSum, runThree, splitNumbers, type Passed,
} from '../support/sealed-run.js';

const x = splitNumbers([3, 4], 'x');

/** What the parties throw when messages are changed on their way. */
async function reasonsOf(
  change: (passed: Passed) => Uint8Array, work: (party: Party) => Promise<unknown>,
): Promise<readonly (string | null)[]> {
  return runThree((party) => work(party).then(
    () => null, (error: PeerError) => error.reason,
  ), { network: new Network(change) });
}

const multiply = (party: Party): Promise<unknown> =>
  product(party, numbersAt(party.server, x), numbersAt(party.server, x));

describe('a message that does not fit', () => {
  const ofServer1 = (change: (message: Uint8Array) => Uint8Array) =>
    ({ from, message }: Passed): Uint8Array => (from === 1 ? change(message) : message);

  it.each<[string, (message: Uint8Array) => Uint8Array]>([
    ['length', (message) => message.subarray(1)],
    ['length', () => new Uint8Array(0)],
    ['length', (message) => Uint8Array.from([...message, 0, 0, 0, 0])],
    ['step', (message) => message.with(3, 2)],
    ['released', (message) => message.with(4, 1)],
    // A number of 2^62 or more, and p itself.
    ['number', (message) => message.with(43, 0x40)],
    ['number', (message) => message.fill(0xff, 36).with(43, 0x1f)],
  ])('stops the run: %s', async (reason, change) => {
    expect(await reasonsOf(ofServer1(change), multiply)).toEqual([reason, null, null]);
  });

  it('stops the run after other numbers were opened', async () => {
    const changed = ({ from, to, message }: Passed): Uint8Array =>
      (from === 2 && to === 0 && message[3] === 1 ? message.with(36, message[36]! ^ 1) : message);
    const reasons = await reasonsOf(changed, async (party) => {
      await openedSum(party, x[party.server]);
      await multiply(party);
    });
    // Server 0 has another sum than the others, so its digest differs from theirs.
    expect(reasons).toEqual(['released', null, 'released']);
  });
});

describe('a key stream', () => {
  it('gives each position once', () => {
    const stream = KeyStream.ofKey(new Uint8Array(16));
    const first = stream.take(1, 8);
    expect(stream.take(2, 8)).not.toEqual(first);
    expect(() => stream.take(2, 8)).toThrow(InvariantError);
    expect(() => stream.take(1, 8)).toThrow(InvariantError);
  });

  it('is not used again for another run', async () => {
    // The second run begins at step 1 again, with the streams of the first.
    const streams = keyStreams().map((source) => new KeyStream(source));
    const run = (server: ServerIndex): Promise<unknown> => {
      const link = new Network().linkOf(server);
      return multiply(new Party({
        server, link, own: streams[server]!, next: streams[(server + 1) % 3]!,
        start: new Uint8Array(32), sha512: (bytes) => bytes, proofsOf: null,
      }));
    };
    void run(0);
    await expect(run(0)).rejects.toThrow(InvariantError);
  });
});

/**
 * Why servers check commitments. A contributor sends the holders of component 1 different bits. If
 * nobody looked, it would count as more than one row, and sensitivities would be wrong.
 */
describe('a commitment that is not checked', () => {
  it('lets a contributor move counts by more than one row does', async () => {
    const edges = Array.from({ length: 63 }, (_, i) => i);
    const program = sealedHistogram(sealedFacts(1, 1), { column: 0, edges });
    const counts = async (false1: number): Promise<readonly number[]> => {
      const shares = rowShares([Uint32Array.of(20)], program.form, 'false').map((rows, server) =>
        rows.map((row) => row.map(({ own, next }) =>
          ({ own: server === 1 ? own.map((bits) => bits ^ false1) : own, next }))));
      const [answer] = await runThree(async (party) => {
        const mechanisms = createSealedMechanisms(
          program.events, seededNoise(`${party.server}`), (noised) => openedSum(party, noised),
        );
        return program.run({ party, mechanisms, rows: shares[party.server]! });
      });
      if (answer!.value.kind !== 'value') throw new Error('a histogram is never refused');
      return answer!.value.estimate.map((count) => Math.round(count));
    };
    const honest = await counts(0);
    expect(Math.hypot(...honest)).toBe(1);
    const moved = (await counts(0b111)).map((count, bin) => count - honest[bin]!);
    expect(Math.hypot(...moved)).toBeGreaterThan(Math.SQRT2 + 0.5);
  });
});

/**
 * Why messages are proved: server 0 runs changed code. Where the bit that
 * says whether a row is inside the ball becomes a number, it adds 2^21 to what it sends for one
 * row, or takes 2^21 away: the product counts twice. One of the two makes the row weigh 2^22 times
 * as much as any other. The mean that is opened is then that row.
 */
describe('a server that runs changed code', () => {
  it('would read a row, and is found out before anything is opened', {
    tags: ['long'],
  }, async () => {
    const [people, chosen, weight] = [70, 41, 2 ** 21];
    const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
    const program = sealedMean(sealedFacts(2, people, 50), { grid });
    const rows = Array.from({ length: people }, (_, i) =>
      program.valuesOf([30 + (i % 7), 100 + (i % 11)]));
    const wordsOfAlive = 2 * 96;
    class Changed extends Party {
      constructor(options: PartyOptions, private readonly added: number) {
        super(options);
      }

      override send(to: ServerIndex, words: Uint32Array): void {
        // One message alone from server 0 to server 1 has a number for each place of a person.
        if (to === 1 && words.length === wordsOfAlive) {
          addInto(words.subarray(2 * chosen, 2 * chosen + 2), constantNumbers(1, this.added));
        }
        super.send(to, words);
      }
    }
    const attacked = (added: number, isProved: boolean): ReturnType<typeof sealedAnswers> =>
      sealedAnswers(program, rows, {
        isProved, partyOf: (options) => (options.server === 0 ? new Changed(options, added)
          : new Party(options)),
      });
    const answers = await Promise.all([weight, -weight].map((added) => attacked(added, false)));
    const read = answers.map(([outcome]) => outcome!).find(({ kind }) => kind === 'value');
    if (read?.kind !== 'value') throw new Error('one of the two weights is above zero');
    const steps = read.estimate.map((entry, j) =>
      Math.round((entry - valueOfStep(0, j, grid)) / grid.steps[j]!));
    expect(steps).toEqual([...rows[chosen]!]);
    for (const added of [weight, -weight]) {
      await expect(attacked(added, true)).rejects.toMatchObject({ reason: 'proof' });
    }
  });
});
