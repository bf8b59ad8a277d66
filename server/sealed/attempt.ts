import { signing } from '#signing';
import { concatBytes, equalBytes, fromHex, utf8 } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { createSealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import type { QuestionResult } from '../../src/questions/run.js';
import { secureNoise } from '../../src/random/secure.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { after, before, servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { isSealedStatement, signSealedStatement } from '../../src/sealed/shares/statements.js';
import { KeyElements } from '../../src/sealed/proof/field.js';
import { ChunkedProofs } from '../../src/sealed/proof/message-proofs.js';
import { ProofError } from '../../src/sealed/proof/verifier.js';
import { KeyStream } from '../../src/sealed/steps/key-stream.js';
import { openSum, Verified } from '../../src/sealed/steps/open.js';
import { Party, PeerError, runRules, type Link } from '../../src/sealed/steps/party.js';
import { boxKeysOf, sharedSecret } from '../../src/signing/boxes.js';
import type { Signer } from '../../src/signing/index.js';
import type { PeerFrame } from '../../src/wire/peer-messages.js';
import { PeerLostError, type PeerLink, type PeerLinks } from './peer-link.js';
import { zeroShare, type Manifest, type OpenedShares } from './entries.js';

/** The inputs of an attempt at one server. */
export interface AttemptOptions {
  readonly server: ServerIndex;
  readonly links: PeerLinks;
  readonly signer: Signer;
  /** 32 bytes each, in the order of the servers: the Ed25519 keys in the study's facts. */
  readonly serverKeys: readonly Uint8Array[];
  /** Hex. */
  readonly studyId: string;
  readonly epoch: bigint;
  /** Durable, and larger than that of any earlier attempt of this server for this epoch. */
  readonly attempt: number;
  /** One for each question, in the order of the study's facts. */
  readonly programs: readonly SealedProgram[];
  /** The time for which another server may be silent, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the charge durable. Awaited before the first own opening leaves. */
  readonly charge: () => Promise<void>;
}

type Start = Extract<PeerFrame, { readonly kind: 'start' }>;

/** Bytes of one step in a frame. */
const stepBytes = 1024 * 1024;

/**
 * One attempt at the release of an epoch, at one of the three servers.
 *
 * Claim 1: no noise of this server leaves before the epoch is charged in its own ledger, durably.
 * Why: its share of a sum leaves in `openSum` alone, after `charge` has resolved. Before that it
 * has verified all messages of the others (`ChunkedProofs`), so a server that runs changed code
 * is found out before anything is charged or opened.
 * Claim 2: no key stream is used for two attempts. Why: the key of a stream follows from two X25519
 * keys that the two servers draw afresh for each attempt, and from all that the three sent before.
 * Claim 3: what the servers tell each other about entries that they cannot use says nothing about
 * the row of anybody whose entry is made as the protocol says. Why: all three can use such an
 * entry, whatever its row is. Whether another entry can be used follows from bytes that its sender
 * or the first server chose, and from the box key of the server that opens it (`openEntry`).
 * How many entries are left out decides nothing by itself: refusals follow from opened numbers,
 * after the charge. An entry that is left out is no row, and a row less moves no event by more than
 * a row that is replaced. A server need not prove that it cannot use an entry: one that runs
 * changed code can have anybody left out, as the first server can anyway.
 * Claim 4: what the three servers learn of all questions together costs the sum of the programs'
 * costs, as planQuestions charges it. Neighbours: one contributor's entry replaced by any other.
 * Why: an entry is one row for each question, whatever its sender did, so a replaced entry is one
 * replaced row in each program. The programs run one after the other, in the order of the facts,
 * each with mechanisms of its own, built from its events alone, and with noise of its own. Which
 * steps a program takes follows from public and opened numbers, those of earlier questions among
 * them. So the epoch is an adaptive composition of releases, each of which costs what its
 * program claims. A server's shares of all questions come from two seeds or a third component
 * (`sealEntry`): they are independent of the rows, as those of one question are.
 *
 * Once the epoch is charged, a question whose program fails is refused, and the others go on.
 * Whether it fails follows from opened numbers, so it fails at all three servers, at one step.
 * Where only one fails, its next message names another question (`turnTo`), and the attempt ends.
 * @returns for each question its outcome, or why it has none.
 * @throws PeerLostError when another server is gone or sends what is not due; ProofError when a
 *   message is not what it must be; KeelsonError when the servers do not agree. Before `charge` was
 *   called nothing was opened, and a new attempt is free.
 */
export async function runAttempt(
  options: AttemptOptions, manifest: Manifest, shares: OpenedShares,
): Promise<readonly QuestionResult[]> {
  const { programs, charge } = options;
  const unusable = await agreeOnUnusable(options, shares);
  const used = shares.filter((_, place) => !isMarked(unusable, place))
    .map((share) => share!);
  const entries = used.length > 0 ? used : [zeroShare(programs.map(({ form }) => form))];
  const party = await begin(options, manifest, unusable, entries.length);
  let charged: Promise<void> | null = null;
  let isCharged = false;
  const openNoised = async (noised: Uint32Array): Promise<Uint32Array> => {
    const verified = await Verified.of(party, noised);
    await (charged ??= charge());
    isCharged = true;
    return openSum(party, verified);
  };
  const results: QuestionResult[] = [];
  for (const [place, program] of programs.entries()) {
    party.turnTo(place);
    const mechanisms = createSealedMechanisms(program.events, secureNoise(), openNoised);
    const rows = entries.map((entry) => entry[place]!);
    try {
      const { value: outcome } = await program.run({ party, mechanisms, rows });
      results.push({ kind: 'answered', outcome });
    } catch (failure) {
      const isOfOthers = failure instanceof PeerError || failure instanceof PeerLostError
        || failure instanceof ProofError;
      if (!isCharged || isOfOthers) throw failure;
      results.push({ kind: 'failed', failure });
    }
  }
  return results;
}

/**
 * The union of the entries that the servers cannot use: one bit for each entry, the lowest of a
 * byte first. `begin` ensures that all three have the same union: nothing is opened before.
 */
async function agreeOnUnusable(
  { links, timeoutMs }: AttemptOptions, shares: OpenedShares,
): Promise<Uint8Array> {
  const own = new Uint8Array(Math.ceil(shares.length / 8));
  shares.forEach((share, place) => {
    if (share === null) own[place >>> 3]! |= 1 << (place & 7);
  });
  for (const link of links.values()) link.send({ kind: 'unusable', entries: own });
  const union = own.slice();
  for (const link of links.values()) {
    const { entries } = await link.receive('unusable', timeoutMs);
    if (entries.length !== own.length) {
      throw new PeerLostError('unexpected', `server ${link.server} says of ${8 * entries.length} `
        + `entries whether it can use them, and the manifest has ${shares.length}`, link.server);
    }
    entries.forEach((bits, i) => (union[i]! |= bits));
  }
  return union;
}

const isMarked = (marks: Uint8Array, place: number): boolean =>
  (marks[place >>> 3]! >>> (place & 7) & 1) === 1;

/** Exchanges the facts that the three must agree on, and the keys of their streams. */
async function begin(
  options: AttemptOptions, manifest: Manifest, unusable: Uint8Array, people: number,
): Promise<Party> {
  const { server, links, timeoutMs } = options;
  const digest = signing.sha512(concatBytes(manifest.digest, unusable));
  const secret = signing.randomBytes(32);
  const own = ownStart(options, digest, boxKeysOf(secret).publicKey);
  for (const link of links.values()) link.send(own);
  const starts = new Map<ServerIndex, Start>([[server, own]]);
  for (const link of links.values()) {
    starts.set(link.server, checkedStart(
      options, await link.receive('start', timeoutMs), link.server, digest));
  }
  const all = servers.map((each) => {
    const { attempt, key } = starts.get(each)!;
    return concatBytes(Uint8Array.of(attempt >>> 24, attempt >>> 16, attempt >>> 8, attempt), key);
  });
  const start = signing.sha512(
    concatBytes(fromHex(options.studyId), epochBytes(options.epoch), digest, ...all));
  const sha512 = (bytes: Uint8Array): Uint8Array => signing.sha512(bytes);
  const shared = {
    own: sharedSecret(starts.get(before(server))!.key, secret),
    next: sharedSecret(starts.get(after(server))!.key, secret),
  };
  const streamOf = (pair: 'own' | 'next', use: string): KeyStream =>
    KeyStream.ofKey(sha512(concatBytes(start, shared[pair], utf8(use))).slice(0, 16));
  const party = new Party({
    server, link: linkOf(options, people), own: streamOf('own', ''), next: streamOf('next', ''),
    start: start.slice(0, 32), sha512,
    proofsOf: (one) => new ChunkedProofs(one, (pair, use, chunk) =>
      new KeyElements(streamOf(pair, `${use} ${chunk}`)), sha512),
  });
  secret.fill(0);
  return party;
}

function ownStart(
  { signer, studyId, epoch, attempt }: AttemptOptions, digest: Uint8Array, key: Uint8Array,
): Start {
  const said = { about: 'start', epoch, attempt, digest, key } as const;
  const signature = signSealedStatement(signing, signer, fromHex(studyId), said);
  return { kind: 'start', attempt, digest, key, signature, rules: runRules };
}

function checkedStart(
  { serverKeys, studyId, epoch }: AttemptOptions, start: Start, from: ServerIndex,
  digest: Uint8Array,
): Start {
  const { attempt, key, signature, rules } = start;
  if (rules !== runRules) {
    throw new PeerLostError('unexpected', `server ${from} computes by rules ${Math.max(1, rules)}, `
      + `and this server by rules ${runRules}: install one version of Keelson at all three`, from);
  }
  const verifier = signing.createVerifier(serverKeys[from]!);
  const said = { about: 'start', epoch, attempt, digest: start.digest, key } as const;
  if (!isSealedStatement(signing, verifier, fromHex(studyId), said, signature)) {
    throw new PeerLostError('unexpected', `the start of server ${from} is not signed by it`, from);
  }
  if (!equalBytes(start.digest, digest)) {
    throw new KeelsonError(
      'malformed', `server ${from} begins with other entries than this server`,
    );
  }
  return start;
}

function epochBytes(epoch: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, epoch);
  return bytes;
}

/** The steps' messages over the links, in frames. */
function linkOf({ links, programs, timeoutMs }: AttemptOptions, people: number): Link {
  const linkTo = (server: ServerIndex): PeerLink => links.get(server)!;
  // No step sends more than 24 bytes for each number of a row.
  const count = Math.max(...programs.map(({ form }) => form.count));
  const messageBytesMax = 24 * count * (people + 64) * 8 + 2 ** 20;
  return {
    send: (to, message) => {
      for (let at = 0; at === 0 || at < message.length; at += stepBytes) {
        const more = at + stepBytes < message.length;
        linkTo(to).send({
          kind: 'step', payload: message.subarray(at, at + stepBytes), more,
        });
      }
    },
    receive: async (from) => {
      const parts: Uint8Array[] = [];
      let bytes = 0;
      for (;;) {
        const { payload, more } = await linkTo(from).receive('step', timeoutMs);
        parts.push(payload);
        bytes += payload.length;
        // Small parts would cost memory beside their bytes, and empty ones would never end.
        if (bytes > messageBytesMax || (more && payload.length !== stepBytes)) {
          throw new PeerLostError('flooded', `server ${from} sent a step without an end`, from);
        }
        if (!more) return parts.length === 1 ? payload : concatBytes(...parts);
      }
    },
  };
}
