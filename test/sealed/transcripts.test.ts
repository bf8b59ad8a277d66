import { describe, expect, it } from 'vitest';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { sealedHistogram } from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import { columnGrid } from '../../src/sealed/shares/column-grid.js';
import { servers } from '../../src/sealed/shares/body.js';
import type { StreamSource } from '../../src/sealed/steps/key-stream.js';
import { Party, type PartyOptions } from '../../src/sealed/steps/party.js';
import { dataSource } from '../support/data.js';
import { sealedAnswers, sealedFacts } from '../support/sealed-rows.js';
import { headBytes, keyStreams, Network, type Passed } from '../support/sealed-run.js';

const people = 500;
const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
const facts = sealedFacts(2, people, 5);
const programs: Readonly<Record<string, SealedProgram>> = {
  histogram: sealedHistogram({ ...facts, dimension: 1 }, {
    column: 0, edges: Array.from({ length: 63 }, (_, i) => 2 * i),
  }),
  'robust-mean': sealedRobustMean(facts, { grid, corruption: 0.1 }),
  'partial mean': sealedMean(facts, { grid, isPartial: true }),
};

const data = dataSource('transcripts');
/** Honest rows, rows that are all alike, all zeros, all ones, none, and liars at both ends. */
const crowds: Readonly<Record<string, (i: number) => readonly [number, number] | null>> = {
  honest: () => [30 + 5 * data.normals(1)[0]!, 100 + 8 * data.normals(1)[0]!],
  alike: () => [30, 100],
  'low ends': () => [-1e9, -1e9],
  'high ends': () => [1e9, 1e9],
  'without rows': () => null,
  'of whom every other has a row': (i) => (i % 2 === 0 ? null : [30 + (i % 7), 100 + (i % 9)]),
  'a tenth at the ends': (i) => (i % 10 === 0 ? [1e9, -1e9] : [30 + (i % 7), 100 + (i % 9)]),
};

/** A block of a key stream that a run took: where it stands, and what it is. */
interface Taken {
  readonly place: string;
  readonly content: string;
}

/** Streams whose blocks are noted, each once for each of its two holders. */
function noted(sources: readonly StreamSource[], taken: Taken[]): readonly StreamSource[] {
  return sources.map((source, component) => (position, length) => {
    const bytes = source(position, length);
    for (let at = 0; at < length; at += 16) {
      taken.push({
        place: `${component} ${position} ${at / 16}`,
        content: Buffer.from(bytes.subarray(at, at + 16)).toString('hex'),
      });
    }
    return bytes;
  });
}

interface Transcript {
  readonly passed: readonly Passed[];
  readonly taken: readonly Taken[];
  /** Steps whose messages are numbers of 61 bits. */
  readonly numberSteps: ReadonlySet<number>;
}

/** Notes in which steps it takes numbers from its own stream: some server does in each of them. */
class Noting extends Party {
  constructor(options: PartyOptions, private readonly numberSteps: Set<number>) {
    super(options);
  }

  override ownNumbers(count: number): Uint32Array {
    this.numberSteps.add(this.rounds);
    return super.ownNumbers(count);
  }
}

async function transcriptOf(
  program: SealedProgram, crowd: string, sources: readonly StreamSource[] = keyStreams(crowd),
): Promise<Transcript> {
  const network = new Network();
  const taken: Taken[] = [];
  const numberSteps = new Set<number>();
  const values = Array.from({ length: people }, (_, i) => program.valuesOf(crowds[crowd]!(i)));
  await sealedAnswers(program, values, {
    network, streams: noted(sources, taken), partyOf: (options) => new Noting(options, numberSteps),
  });
  return { passed: network.passed, taken, numberSteps };
}

/** How far the ones among these bits may be from half of them, at a chance of one in 10^6. */
function boundOf(bits: number, tests: number): number {
  // Hoeffding: P(|ones - bits / 2| >= t) <= 2 exp(-2 t^2 / bits), and that for each of the tests.
  return Math.sqrt((bits / 2) * Math.log((2 * tests) / 1e-6));
}

/** Messages, and places of a word in all messages of a way, whose bits are not half ones. */
function biased({ passed, numberSteps }: Transcript): readonly string[] {
  const wordsOf = ({ message }: Passed) => ({
    words: new Uint32Array(message.slice(headBytes).buffer),
    // A number has 61 bits in two words, or a message is of bits alone.
    highBits: numberSteps.has(new DataView(message.buffer, message.byteOffset).getUint32(0))
      ? 29 : 32,
  });
  const ways = servers.flatMap((from) => servers.filter((to) => to !== from).map((to) => ({
    name: `${from} to ${to}`,
    messages: passed.filter((each) => each.from === from && each.to === to).map(wordsOf),
  })));
  // Each message, and each of the 64 bits of a number in each of the six ways.
  const tests = passed.length + 6 * 64;
  const found: string[] = [];
  for (const { name, messages } of ways) {
    const byPlace = new Float64Array(64);
    const seen = new Float64Array(64);
    messages.forEach(({ words, highBits }, i) => {
      let [ones, bits] = [0, 0];
      words.forEach((word, at) => {
        for (let bit = 0; bit < (at % 2 === 0 ? 32 : highBits); bit++) {
          const one = (word >>> bit) & 1;
          ones += one;
          bits += 1;
          if (at >= words.length - (words.length % 2)) continue;
          byPlace[32 * (at % 2) + bit]! += one;
          seen[32 * (at % 2) + bit]! += 1;
        }
      });
      if (Math.abs(ones - bits / 2) > boundOf(bits, tests)) found.push(`message ${i} of ${name}`);
    });
    byPlace.forEach((ones, place) => {
      const numbers = seen[place]!;
      if (numbers > 0 && Math.abs(ones - numbers / 2) > boundOf(numbers, tests)) {
        found.push(`bit ${place} of ${name}`);
      }
    });
  }
  return found;
}

/**
 * Blocks that are taken more often than by their two holders. Of 10^5 random blocks two are alike
 * with a chance below 2^-90.
 */
function reused({ taken }: Transcript): readonly string[] {
  const places = new Map<string, string>();
  const found: string[] = [];
  const times = new Map<string, number>();
  for (const { place, content } of taken) {
    times.set(place, (times.get(place) ?? 0) + 1);
    if (times.get(place)! > 2) found.push(`${place} thrice`);
    const first = places.get(content) ?? place;
    places.set(content, first);
    if (first !== place) found.push(`${place} is ${first}`);
  }
  return found;
}

describe.each(Object.keys(programs))('what servers receive in a run of %s', (name) => {
  it.each(Object.keys(crowds))('has unbiased bits, and no block twice: %s', {
    tags: ['slow'],
  }, async (crowd) => {
    const transcript = await transcriptOf(programs[name]!, crowd);
    expect(transcript.passed.length).toBeGreaterThan(20);
    expect(biased(transcript)).toEqual([]);
    expect(transcript.taken.length).toBeGreaterThan(1_000);
    expect(reused(transcript)).toEqual([]);
  });
});

describe('the same checks', { tags: ['slow'] }, () => {
  it('see a stream of one server that gives the blocks of the step before', async () => {
    const [first, second, third] = keyStreams('reused');
    const transcript = await transcriptOf(programs['histogram']!, 'alike', [
      first!, (position, length) => second!(position - (position & 1n), length), third!,
    ]);
    expect(reused(transcript).length).toBeGreaterThan(0);
  });

  it('see two pairs of servers that share one key', async () => {
    const [first, second] = keyStreams('one key');
    const transcript = await transcriptOf(programs['histogram']!, 'alike', [
      first!, second!, second!,
    ]);
    expect(reused(transcript).length).toBeGreaterThan(0);
  });

  it('see messages that a stream does not mask', async () => {
    const [first, second] = keyStreams('unmasked');
    const none: StreamSource = (_, length) => new Uint8Array(length);
    const transcript = await transcriptOf(programs['histogram']!, 'alike', [first!, second!, none]);
    expect(biased(transcript).length).toBeGreaterThan(0);
  });
});
