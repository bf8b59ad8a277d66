import { describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { runAttempt, type AttemptOptions } from '../../server/sealed/attempt.js';
import { openShares } from '../../server/sealed/entries.js';
import { PeerLink, type PeerLinks } from '../../server/sealed/peer-link.js';
import type { PeerSocket, SocketHandlers } from '../../server/sealed/peer-socket.js';
import { InvariantError } from '../../src/base/errors.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { QuestionResult } from '../../src/questions/run.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { sealedCount, sealedHistogram } from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { columnGrid } from '../../src/sealed/shares/column-grid.js';
import type { EntryForm } from '../../src/sealed/shares/form.js';
import { sealEntry } from '../../src/sealed/shares/sealing.js';
import { boxKeysOf } from '../../src/signing/boxes.js';
import { signBatch } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { decodePeerFrame, encodePeerFrame } from '../../src/wire/peer-frames.js';
import type { PeerFrame, SealedEntry } from '../../src/wire/peer-messages.js';
import { sealedFacts } from '../support/sealed-rows.js';

const filled = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const studyId = filled(3);
const program = sealedCount(sealedFacts(1, 10));
const signers = servers.map((server) => signing.createSigner(filled(40 + server)));
const serverKeys = signers.map(({ publicKey }) => publicKey);
const secrets = servers.map((server) => filled(50 + server));
const boxKeys = secrets.map((secret) => boxKeysOf(secret).publicKey);

/** Five people's entries. */
function entriesOf(
  forms: EntryForm, rowsOf: (person: number) => readonly Uint32Array[],
): readonly SealedEntry[] {
  return Array.from({ length: 5 }, (_, i) => {
    const signer = signing.createSigner(filled(100 + i));
    const body = sealEntry(signing, rowsOf(i), {
      forms, place: { studyId, epoch: 7n, sequence: 1n }, contributorKey: signer.publicKey, boxKeys,
    });
    const context = { serverKey: serverKeys[0]!, studyId };
    return {
      contributor: signer.publicKey, body,
      signature: signBatch(signer, context, signing.sha512(body)),
    };
  });
}

const entries = entriesOf([program.form], () => [Uint32Array.of(1)]);
const manifest = { entries, digest: signing.sha512(new Uint8Array(1)) };

/** What server 2 sends to server 0 becomes this; null: it hangs from there on. */
type Change = (frame: PeerFrame) => PeerFrame | Uint8Array | null;

function linksOf(change: Change): readonly PeerLinks[] {
  const links = servers.map(() => new Map<ServerIndex, PeerLink>());
  for (const low of servers) {
    for (const high of servers.filter((server) => server > low)) {
      const ends: { handlers?: SocketHandlers }[] = [{}, {}];
      const socket = (own: 0 | 1, from: ServerIndex, to: ServerIndex): PeerSocket => {
        let hangs = false;
        return {
          send: (bytes) => {
            const isChanged = from === 2 && to === 0;
            const sent = isChanged ? change(decodePeerFrame(bytes)) : bytes;
            hangs ||= sent === null;
            if (hangs) return;
            const on = sent instanceof Uint8Array ? sent : encodePeerFrame(sent!);
            queueMicrotask(() => ends[1 - own]!.handlers?.onMessage(on));
          },
          ping: (onPong) => onPong(),
          close: () => queueMicrotask(() => ends[1 - own]!.handlers?.onClose('closed')),
        };
      };
      const first = new PeerLink(socket(0, low, high), high, systemClock);
      const second = new PeerLink(socket(1, high, low), low, systemClock);
      ends[0]!.handlers = first.handlers;
      ends[1]!.handlers = second.handlers;
      links[low]!.set(high, first);
      links[high]!.set(low, second);
    }
  }
  return links;
}

interface Attempt {
  /** Of the first question. */
  readonly outcomes: readonly (Outcome | Error)[];
  readonly results: readonly (readonly QuestionResult[] | Error)[];
  readonly charges: readonly number[];
}

/** @param lacking places of entries that server 2 says that it cannot use. */
async function attempt(
  change: Change = (frame) => frame, options: Partial<AttemptOptions> = {},
  sent: readonly SealedEntry[] = entries, lacking: readonly number[] = [],
  programsAt?: (server: ServerIndex) => readonly SealedProgram[],
): Promise<Attempt> {
  const links = linksOf(change);
  const charges = [0, 0, 0];
  const { programs = [program] } = options;
  const results = await Promise.all(servers.map(async (server) => {
    const opened = await openShares(sent, {
      server, forms: programs.map(({ form }) => form), boxSecret: secrets[server]!,
      frontKey: serverKeys[0]!, studyId, epoch: 7n,
    }, systemClock);
    const shares = opened.map((share, place) =>
      (server === 2 && lacking.includes(place) ? null : share));
    return runAttempt({
      server, links: links[server]!, signer: signers[server]!, serverKeys, attempt: 1, programs,
      studyId: Buffer.from(studyId).toString('hex'), epoch: 7n, timeoutMs: 500,
      charge: async () => { charges[server]! += 1; },
      ...options, ...(programsAt !== undefined && { programs: programsAt(server) }),
    }, manifest, shares).catch((error: unknown) => {
      for (const link of links[server]!.values()) link.close();
      return error as Error;
    });
  }));
  for (const each of links) for (const link of each.values()) link.close();
  const outcomes = results.map((result) => (result instanceof Error ? result : outcomeOf(result)));
  return { outcomes, results, charges };
}

function outcomeOf([result]: readonly QuestionResult[]): Outcome | Error {
  return result!.kind === 'answered' ? result!.outcome : result!.failure as Error;
}

/** The noisy count, rounded. Zero has no sign. */
const countOf = (outcome: Outcome | Error | undefined): number =>
  (outcome !== undefined && 'estimate' in outcome ? Math.round(outcome.estimate[0]!) + 0 : NaN);

const message = (outcome: Outcome | Error): string =>
  (outcome instanceof Error ? outcome.message : outcome.kind);

describe('an attempt', () => {
  it('gives all three the same answer, each charged once', async () => {
    const { outcomes, charges } = await attempt();
    expect(charges).toEqual([1, 1, 1]);
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(outcomes[2]).toEqual(outcomes[0]);
    expect(outcomes[0]).toMatchObject({ kind: 'value' });
    expect(countOf(outcomes[0])).toBe(5);
  });

  it.each([1, 3, 5])('counts %i entries of 5 that nobody can use as no rows', async (count) => {
    const sent = entries.map((entry, i) =>
      (i < count ? { ...entry, signature: new Uint8Array(64) } : entry));
    const { outcomes, charges } = await attempt(undefined, {}, sent);
    for (const outcome of outcomes) expect(countOf(outcome)).toBe(5 - count);
    expect(charges).toEqual([1, 1, 1]);
  });

  it('lets the noised count decide where too few entries are left, after the charge', async () => {
    const mean = sealedMean(sealedFacts(1, 1000, 1), { grid: columnGrid([[0, 64]], [8]) });
    // They were sealed for the other form, so none of them can be used.
    const { outcomes, charges } = await attempt(undefined, { programs: [mean] }, entries);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    }
    expect(charges).toEqual([1, 1, 1]);
  });

  it('leaves out what one server alone says that it cannot use', async () => {
    const { outcomes, charges } = await attempt(undefined, {}, entries, [1, 2]);
    for (const outcome of outcomes) expect(countOf(outcome)).toBe(3);
    expect(charges).toEqual([1, 1, 1]);
  });

  const atStep = (make: (frame: Extract<PeerFrame, { kind: 'step' }>) => PeerFrame): Change =>
    (frame) => (frame.kind === 'step' ? make(frame) : frame);

  it.each<[string, Change, string, boolean]>([
    ['other entries', (frame) => (frame.kind === 'start'
      ? { ...frame, digest: new Uint8Array(64) } : frame), 'is not signed', true],
    ['the rules of the version before', (frame) => (frame.kind === 'start'
      ? { ...frame, rules: 0 } : frame), 'server 2 computes by rules 1, and this', true],
    ['rules that are newer', (frame) => (frame.kind === 'start'
      ? { ...frame, rules: 9 } : frame), 'by rules 9', true],
    ['a start of somebody else', (frame) => (frame.kind === 'start'
      ? { ...frame, signature: new Uint8Array(64) } : frame), 'is not signed', true],
    ['another message than the one that is due', (frame) => (frame.kind === 'start'
      ? { kind: 'gather', epoch: 7n } : frame), 'where start belongs', true],
    ['an answer for more entries than there are', (frame) => (frame.kind === 'unusable'
      ? { ...frame, entries: new Uint8Array(2) } : frame), 'of 16 entries', true],
    ['one of the two other entries that it cannot use than the other', (frame) =>
      (frame.kind === 'unusable' ? { ...frame, entries: Uint8Array.of(1) } : frame),
    'begins with other entries', true],
    ['bytes that are no message', (frame) => (frame.kind === 'unusable'
      ? Uint8Array.of(1, 2, 3) : frame), 'malformed message', true],
    ['nothing', (frame) => (frame.kind === 'unusable' ? null : frame), 'nothing for 500 ms', true],
    ['a short step', atStep((frame) => ({ ...frame, payload: frame.payload.subarray(4) })),
      'bytes in step', false],
    ['another step', atStep((frame) => ({ ...frame, payload: frame.payload.with(3, 99) })),
      'step 99', false],
    ['another digest', atStep((frame) => ({ ...frame, payload: frame.payload.with(9, 1) })),
      'other numbers were opened', false],
    ['a number that is none', atStep((frame) => (frame.payload.length > 36 + 4 * 32
      ? { ...frame, payload: frame.payload.fill(0xff, 36) } : frame)), 'not below p', false],
    ['a step without an end', atStep((frame) => ({ ...frame, more: true })), '', false],
  ])('ends when a server sends %s', async (_, change, text, isBeforeSteps) => {
    const { outcomes, charges } = await attempt(change);
    expect(message(outcomes[0]!)).toContain(text);
    expect(outcomes[0]).toBeInstanceOf(Error);
    // Nobody opened anything yet, so a new attempt costs nothing.
    if (isBeforeSteps) expect(charges[0]).toBe(0);
  });
});

describe('an attempt at several questions', () => {
  const histogram = sealedHistogram(sealedFacts(1, 10), { column: 0, edges: [5] });
  const forms = [program.form, histogram.form];
  const both = entriesOf(forms, (i) => [Uint32Array.of(1), Uint32Array.of(i % 2)]);
  const failing: SealedProgram = {
    ...program, run: () => Promise.reject(new InvariantError('the answer has no number')),
  };
  const counts = (result: QuestionResult | undefined): readonly number[] =>
    (result?.kind === 'answered' && result.outcome.kind === 'value'
      ? result.outcome.estimate.map((value) => Math.round(value) + 0) : []);

  it('answers each from its own rows of one entry, after one charge', async () => {
    const { results, charges } = await attempt(undefined, { programs: [program, histogram] }, both);
    expect(charges).toEqual([1, 1, 1]);
    for (const result of results as readonly (readonly QuestionResult[])[]) {
      expect(result.map(counts)).toEqual([[5], [3, 2]]);
    }
  });

  it('goes on after a question that fails at all three servers', async () => {
    const third = entriesOf([program.form, ...forms], (i) =>
      [Uint32Array.of(1), Uint32Array.of(1), Uint32Array.of(i % 2)]);
    const { results, charges } = await attempt(
      undefined, { programs: [program, failing, histogram] }, third);
    expect(charges).toEqual([1, 1, 1]);
    for (const result of results as readonly (readonly QuestionResult[])[]) {
      expect(result.map(({ kind }) => kind)).toEqual(['answered', 'failed', 'answered']);
      expect(result.map(counts)).toEqual([[5], [], [3, 2]]);
    }
  });

  it('ends without a charge where a question fails before anything was opened', async () => {
    const { results, charges } = await attempt(undefined, { programs: [failing, histogram] }, both);
    for (const result of results) expect(result).toBeInstanceOf(InvariantError);
    expect(charges).toEqual([0, 0, 0]);
  });

  it('ends where a question fails at one server alone, and the next has its steps', async () => {
    const third = entriesOf([1, 2, 3].map(() => program.form), () =>
      [1, 1, 1].map((value) => Uint32Array.of(value)));
    const sound = [program, program, program];
    const programsAt = (server: ServerIndex): readonly SealedProgram[] =>
      (server === 2 ? sound.with(1, failing) : sound);
    const { results, charges } =
      await attempt(undefined, { programs: sound }, third, [], programsAt);
    // One of them sees it first, and closes its links.
    for (const result of results) expect(result).toBeInstanceOf(Error);
    expect(results.map((result) => message(result as Error)).join())
      .toContain('other numbers were opened');
    expect(charges).toEqual([1, 1, 1]);
  });
});
