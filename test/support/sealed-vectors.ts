import { createHash } from 'node:crypto';
import { Sealed } from '../../src/base/brands.js';
import { openSealed } from '../../src/base/wrappers.js';
import { fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { createSealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../../src/random/insecure.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { sealedCount } from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import { decodeBody, servers } from '../../src/sealed/shares/body.js';
import { columnGrid } from '../../src/sealed/shares/column-grid.js';
import type { EntryForm } from '../../src/sealed/shares/form.js';
import { openEntry, type RowShare } from '../../src/sealed/shares/opening.js';
import { sealEntry } from '../../src/sealed/shares/sealing.js';
import { bits, componentSum } from '../../src/sealed/steps/adder.js';
import { number } from '../../src/sealed/steps/convert.js';
import { and, dot, product } from '../../src/sealed/steps/multiply.js';
import type { Party } from '../../src/sealed/steps/party.js';
import { joined, part, parts, type Shares } from '../../src/sealed/steps/shares.js';
import { oneHot, tally } from '../../src/sealed/steps/tally.js';
import { aesStream } from '../../src/signing/block-cipher.js';
import { boxKeysOf } from '../../src/signing/boxes.js';
import { signBatch } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { sealedFacts } from './sealed-rows.js';
import {
  bitsAt, dotsOf, Network, numbersAt, openedSum, runThree, splitBits, splitNumbers,
  type Components, type Passed,
} from './sealed-run.js';

/** 32 bytes that a name stands for: keys, seeds and salts of the vectors. */
const bytesOf = (name: string): Uint8Array =>
  signing.sha512(utf8(`keelson sealed vectors, ${name}`)).slice(0, 32);

const contributors = 8;
const front = signing.createSigner(bytesOf('front'));
const place = { studyId: bytesOf('study'), epoch: 5n, sequence: 1n };
const boxSecrets = servers.map((server) => bytesOf(`box of server ${server}`));
const streamKeys = servers.map((component) => bytesOf(`stream ${component}`).slice(0, 16));
const streams = streamKeys.map((key) => aesStream(key));

/** Little-endian words as the bytes that are sent. */
export const hexOf = (words: Uint32Array): string =>
  toHex(new Uint8Array(words.buffer, words.byteOffset, 4 * words.length));
export const wordsOfHex = (hex: string): Uint32Array =>
  new Uint32Array(Uint8Array.from(fromHex(hex)).buffer);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** One entry, from fixed randomness, and what the three servers find in it. */
function entryOf(
  forms: EntryForm, index: number, rows: readonly Uint32Array[], what: string = forms[0]!.kind,
) {
  const signer = signing.createSigner(bytesOf(`contributor ${index}`));
  const random = ['s0', 's1', 'r', 'ephemeral secret'].map((name) =>
    bytesOf(`${what} ${index} ${name}`));
  const left = [...random];
  const body = sealEntry({ ...signing, randomBytes: () => left.shift()! }, rows, {
    forms, place, contributorKey: signer.publicKey,
    boxKeys: boxSecrets.map((secret) => boxKeysOf(secret).publicKey),
  });
  const signature = signBatch(
    signer, { serverKey: front.publicKey, studyId: place.studyId }, signing.sha512(body));
  const shares = servers.map((server) => openEntry(
    signing, signing.createVerifier(signer.publicKey), body, signature,
    { server, forms, boxSecret: boxSecrets[server]!, frontKey: front.publicKey, ...place },
  ));
  const { ephemeralKey, commitments, boxes } = decodeBody(body, forms);
  const [s0, s1, r, ephemeralSecret] = random.map(toHex);
  return {
    shares,
    vector: {
      contributor: toHex(signer.publicKey), values: rows.flatMap((row) => [...row]).join(' '),
      s0, s1, r, ephemeralSecret, ephemeralKey: toHex(ephemeralKey),
      components: shares.map((share) =>
        share.flatMap((each) => Array.from(openSealed(each).own)).join(' ')),
      body: toHex(body), signature: toHex(signature),
      // Parts of the body, once.
      ...(index === 0 && { commitments: commitments.map(toHex), boxes: boxes.map(toHex) }),
    },
  };
}

/** A longer message is in the file by its length and its SHA-256 alone. */
const bytesInFull = 512;

/** Messages by step, sender and receiver: length, SHA-256 and, of short ones, the bytes. */
function messagesOf(passed: readonly Passed[], inFull: number): readonly string[] {
  const stepOf = ({ message }: Passed): number =>
    new DataView(message.buffer, message.byteOffset).getUint32(0);
  return [...passed]
    .sort((a, b) => stepOf(a) - stepOf(b) || a.from - b.from || a.to - b.to)
    .map((each, i) => {
      const { from, to, message } = each;
      const bytes = i < inFull && message.length <= bytesInFull ? ` ${toHex(message)}` : '';
      return `${stepOf(each)} ${from} ${to} ${message.length} ${sha256(message)}${bytes}`;
    });
}

/** What a step is given and what it does at one server. */
interface StepCase {
  readonly x: Components;
  readonly y?: Components;
  readonly run: (party: Party, x: Components, y: Components) => Promise<unknown>;
}

/** The last one is the largest. */
const ring = [1n, -1n, 12_345_678_901_234_567n, 2n ** 60n - 1n];
const lanes = Uint32Array.of(0x0f1e2d3c);
/** Three bits of each of 32 lanes. */
const planes = Uint32Array.of(0x55555555, 0x33333333, 0x0f0f0f0f);

/** Every step, on a few values. */
export const stepCases: Readonly<Record<string, StepCase>> = {
  product: {
    x: splitNumbers(ring, 'x'), y: splitNumbers([...ring].reverse(), 'y'),
    run: (party, x, y) => product(party, numbersAt(party.server, x), numbersAt(party.server, y)),
  },
  dot: {
    x: splitNumbers(ring, 'x'), y: splitNumbers([...ring].reverse(), 'y'),
    run: (party, x, y) => dot(
      party, numbersAt(party.server, x), numbersAt(party.server, y),
      dotsOf(2, 2, (sum, term) => 2 * sum + term, (sum, term) => 2 * sum + term),
    ),
  },
  and: {
    x: splitBits(lanes, 'x'), y: splitBits(lanes.map((word) => word >>> 3), 'y'),
    run: (party, x, y) => and(party, bitsAt(party.server, x), bitsAt(party.server, y)),
  },
  number: {
    x: splitBits(lanes, 'x'), run: (party, x) => number(party, bitsAt(party.server, x)),
  },
  bits: {
    x: splitNumbers([1n, -1n, -12_345_678_901_234_567n, 2n ** 57n], 'x'),
    run: async (party, x) =>
      joined(await bits(party, numbersAt(party.server, x), { from: 3, end: 9 })),
  },
  'component-sum': {
    // Components of 8 bits: the sum of 255, 255 and 254 has both carries.
    x: [[255, 1, 77], [255, 2, 200], [254, 3, 255]].map((values) =>
      Uint32Array.from(values.flatMap((value) => [value, 0]))) as unknown as Components,
    run: async (party, x) => {
      const { planes, carries } =
        await componentSum(party, numbersAt(party.server, x), { from: 2, width: 8 });
      return joined([...planes, ...carries]);
    },
  },
  'one-hot': {
    x: splitBits(planes, 'x'), y: splitBits(lanes, 'y'),
    run: async (party, x, y) => joined(
      await oneHot(party, parts(bitsAt(party.server, x), 1, 3), bitsAt(party.server, y), 1)),
  },
  tally: {
    // 24 words of 32 lanes each, so that rows are added before they become numbers.
    x: splitBits(Uint32Array.from({ length: 24 }, (_, i) => planes[i % 3]! >>> (i % 5)), 'x'),
    run: (party, x) => tally(party, [part(bitsAt(party.server, x), 0, 24)], 24),
  },
  open: {
    x: splitNumbers(ring, 'x'), run: (party, x) => openedSum(party, x[party.server]),
  },
};

const isShares = (result: unknown): result is Sealed<Shares<'numbers'>> =>
  result instanceof Sealed;

async function stepVector({ x, y = x, run }: StepCase) {
  const network = new Network();
  const results = await runThree((party) => run(party, x, y), { network, streams });
  return {
    x: x.map(hexOf), ...(y !== x && { y: y.map(hexOf) }),
    messages: messagesOf(network.passed, Infinity),
    // Component i of the result, or for `open` what is opened.
    result: results.map((result) =>
      hexOf(isShares(result) ? openSealed(result).own : result as Uint32Array)),
  };
}

const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
const facts = sealedFacts(2, contributors, 100);
/** A whole run of each kind of program. */
export const runPrograms: Readonly<Record<string, SealedProgram>> = {
  count: sealedCount({ ...facts, dimension: 1 }, (row) => row[0]! > 30),
  mean: sealedMean(facts, { grid }),
  // So little noise that the rounds can see something.
  'robust-mean': sealedRobustMean({ ...facts, target: { ...facts.target, rho: 1e6 } }, {
    grid, corruption: 0.2,
  }),
};

/** Six people near each other, and two who send the ends of the range. */
const rows = Array.from({ length: contributors }, (_, i) =>
  [[28 + i, 101 - 2 * i], [-1e9, 1e9]][i % 4 === 3 ? 1 : 0]!);

async function runVector(program: SealedProgram, shares: readonly (readonly Sealed<RowShare>[])[]) {
  const network = new Network();
  const noised = new Map<string, string[]>();
  const opened = new Map<string, string>();
  const answers = await runThree(async (party) => {
    let event = '';
    const mechanisms = createSealedMechanisms(
      program.events, seededNoise(`server ${party.server}`), async (own) => {
        noised.set(event, noised.get(event) ?? ['', '', '']);
        noised.get(event)![party.server] = hexOf(own);
        const sum = await openedSum(party, own);
        opened.set(event, hexOf(sum));
        return sum;
      },
    );
    return program.run({
      party, rows: shares.map((each) => each[party.server]!),
      mechanisms: {
        prepare: () => 0,
        open: (name, sums, unit) => {
          event = name;
          return mechanisms.open(name, sums, unit);
        },
      },
    });
  }, { network, streams });
  return {
    openings: [...opened].map(([event, sum]) => ({ event, noised: noised.get(event)!, sum })),
    messages: messagesOf(network.passed, 12),
    outcome: answers[0]!.value.kind,
  };
}

/** The whole file. */
export async function sealedVectors() {
  const entriesOf = (program: SealedProgram) =>
    rows.map((row, i) => entryOf([program.form], i, [program.valuesOf(row)]));
  const [ofBins, ofNumbers] = [entriesOf(runPrograms['count']!), entriesOf(runPrograms['mean']!)];
  const runs: [string, Awaited<ReturnType<typeof runVector>>][] = [];
  for (const [name, program] of Object.entries(runPrograms)) {
    const entries = program.form.kind === 'bin' ? ofBins : ofNumbers;
    const shares = entries.map((entry) => entry.shares.map(([share]) => share!));
    runs.push([name, await runVector(program, shares)]);
  }
  const both = [runPrograms['count']!, runPrograms['mean']!];
  const steps: [string, Awaited<ReturnType<typeof stepVector>>][] = [];
  for (const [name, step] of Object.entries(stepCases)) steps.push([name, await stepVector(step)]);
  return {
    studyId: toHex(place.studyId), epoch: `${place.epoch}`, sequence: `${place.sequence}`,
    frontKey: toHex(front.publicKey), boxSecrets: boxSecrets.map(toHex),
    streamKeys: streamKeys.map(toHex), start: toHex(new Uint8Array(32)),
    entries: {
      bin: { form: runPrograms['count']!.form, list: ofBins.map(({ vector }) => vector) },
      numbers: { form: runPrograms['mean']!.form, list: ofNumbers.map(({ vector }) => vector) },
    },
    severalQuestions: {
      forms: both.map(({ form }) => form),
      list: rows.slice(0, 2).map((row, i) => entryOf(
        both.map(({ form }) => form), i, both.map((program) => program.valuesOf(row)), 'both',
      ).vector),
    },
    steps: Object.fromEntries(steps), runs: Object.fromEntries(runs),
  };
}

export type SealedVectors = Awaited<ReturnType<typeof sealedVectors>>;
