import { equalBytes, toHex } from '../../../../src/base/bytes.js';
import { KeelsonError, WireError } from '../../../../src/base/errors.js';
import { protocolLimits } from '../../../../src/base/limits.js';
import { verifyReleaseLog } from '../../../../src/log/index.js';
import { signing } from '../../../../src/signing/node.js';
import { signRotation, type Signer } from '../../../../src/signing/index.js';
import { decodeServerFrame, encodeServerFrame, type Welcome } from '../../../../src/wire/index.js';
import { verifyWelcome } from '../../../../client/session/handshake.js';
import { sampleLog } from '../../log-samples.js';
import type { Dice } from '../dice.js';
import { must } from './oracle.js';
import { flipped, resized } from './protobuf.js';
import { contributors } from './study.js';

/** The server's keys, one after the other; the keys of contributors stand for strangers. */
const line: readonly Signer[] = Array.from({ length: protocolLimits.keyRotations + 4 }, (_, i) => {
  const seed = new Uint8Array(32).fill(13);
  new DataView(seed.buffer).setUint32(0, i);
  return signing.createSigner(seed);
});
const signers =
  new Map([...line, ...contributors].map((signer) => [toHex(signer.publicKey), signer]));

const recordOf = (previous: Signer, next: Signer): Uint8Array =>
  signRotation(previous, next, signing);

/** The keys of a record that both of them signed; the same two always sign the same bytes. */
function honestKeys(record: Uint8Array): { readonly previous: string; readonly next: string }
  | undefined {
  const [previous, next] = [record.subarray(0, 32), record.subarray(32, 64)]
    .map(toHex) as [string, string];
  const [from, to] = [signers.get(previous), signers.get(next)];
  if (from === undefined || to === undefined || !equalBytes(recordOf(from, to), record)) {
    return undefined;
  }
  return { previous, next };
}
const records = line.slice(1).map((next, i) => recordOf(line[i]!, next));
/** The reader of the chains trusts the server's first key. */
const pin = line[0]!.publicKey;

/** A Welcome, or what is left of one, and the name of how it was made. */
export interface MadeWelcome {
  readonly recipe: string;
  readonly bytes: Uint8Array;
}

/** Changes of a list of records, by name. */
const changes: Readonly<Record<string, (chain: Uint8Array[], dice: Dice) => void>> = {
  'honest': () => undefined,
  'truncated': (chain, dice) => edit(chain, dice, (record) => record.subarray(0, dice.below(193))),
  'resized': (chain, dice) => edit(chain, dice, (record) => resized(record, dice)),
  'bits': (chain, dice) => edit(chain, dice, (record) => flipped(record, dice)),
  'noise': (chain, dice) =>
    edit(chain, dice, () => dice.bytes(dice.happens(0.7) ? 192 : dice.below(400))),
  'order': (chain, dice) => {
    const [moved] = chain.splice(dice.below(chain.length), 1);
    chain.splice(dice.below(chain.length + 1), 0, moved!);
  },
  'left out': (chain, dice) => { chain.splice(dice.below(chain.length), 1); },
  'repeated': (chain, dice) => { chain.splice(dice.below(chain.length + 1), 0, dice.pick(chain)); },
  'foreign key': (chain, dice) => {
    const [ours, theirs] = [dice.pick(line), dice.pick(contributors)];
    edit(chain, dice, () => (dice.happens(0.5) ? recordOf(ours, theirs) : recordOf(theirs, ours)));
  },
  'signed by a stranger': (chain, dice) => edit(chain, dice, (record) => {
    const changed = Uint8Array.from(record);
    changed.set(
      recordOf(dice.pick(contributors), dice.pick(line)).subarray(64, 128), dice.pick([64, 128]),
    );
    return changed;
  }),
  'key over again': (chain, dice) => {
    const at = dice.below(chain.length);
    chain.splice(at, 0, recordOf(line[at]!, line[at]!));
  },
  'there and back': (chain, dice) => {
    const at = dice.below(chain.length);
    chain.splice(at, 0, records[at]!, recordOf(line[at + 1]!, line[at]!));
  },
};
export const chainRecipes = [...Object.keys(changes), 'too many', 'welcome bits', 'other server'];
const wheel = ['honest', ...chainRecipes];

function edit(chain: Uint8Array[], dice: Dice, change: (record: Uint8Array) => Uint8Array): void {
  const at = dice.below(chain.length);
  chain[at] = change(chain[at]!);
}

/**
 * A Welcome of a server that changed its key a few times, or pretends to. @param name how; any when
 * absent.
 */
export function makeWelcome(dice: Dice, name = dice.pick(wheel)): MadeWelcome {
  // A long one costs thousands of times what a frame does.
  const isLong = name === 'too many' ? dice.happens(0.05) : dice.happens(0.001);
  const count = isLong ? protocolLimits.keyRotations - 2 + dice.below(5) : 1 + dice.below(3);
  const chain = records.slice(0, count);
  if (name === 'too many' && !isLong) {
    // Where they cost nothing: they do not continue one another.
    chain.push(...Array.from(
      { length: protocolLimits.keyRotations - count + dice.below(200) }, () => records[0]!,
    ));
  }
  changes[name]?.(chain, dice);
  const serverKey =
    (name === 'other server' ? dice.pick([...line, ...contributors]) : line[count]!).publicKey;
  const bytes = encodeServerFrame({
    kind: 'welcome', serverKey, serverNonce: new Uint8Array(32), rotations: chain, studies: [],
    limits: {
      frameBytes: 1e6, rowsPerBatch: 64, creditBatches: 16, channelsPerSocket: 16,
      sequenceWindow: 64,
    },
  });
  return {
    recipe: `rotations: ${name}`, bytes: name === 'welcome bits' ? flipped(bytes, dice) : bytes,
  };
}

/**
 * What a client that trusts the first key says to a Welcome, and the reader of a log with the same
 * records. Whether it must follow is decided a second time: from the records that the pairs of keys
 * did sign, without a signature.
 * @returns followed, or the code of the refusal.
 */
export async function offerWelcome(bytes: Uint8Array): Promise<string> {
  let welcome: ReturnType<typeof decodeServerFrame>;
  try {
    welcome = decodeServerFrame(bytes);
  } catch (error) {
    must(error instanceof WireError
      && error.code === 'malformed', `bytes are refused by name: ${String(error)}`);
    return 'malformed';
  }
  if (welcome.kind !== 'welcome') return 'another frame';
  const leads = keysThat(welcome.rotations, welcome.serverKey);
  let outcome = 'followed';
  try {
    const { keys } = await verifyWelcome(welcome, [pin], 0);
    const found = keys.map(({ publicKey }) => toHex(publicKey));
    must(leads !== null
      && found.join() === leads.join(), 'keys are followed that handed over to each other');
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code === 'internal') throw error;
    outcome = error.code;
  }
  const follows = leads?.includes(toHex(pin)) ?? false;
  must((outcome === 'followed') === follows, `a chain is ${outcome}`);
  await offerLog(welcome, follows);
  return outcome;
}

/**
 * The keys that lead to `serverKey` by records that both keys of each signed, oldest first; null
 * when there is no such way.
 */
function keysThat(rotations: readonly Uint8Array[], serverKey: Uint8Array): string[] | null {
  if (rotations.length > protocolLimits.keyRotations) return null;
  const keys = rotations.map(honestKeys);
  const chain = [keys[0]?.previous ?? toHex(serverKey)];
  for (const key of keys) {
    if (key?.previous !== chain.at(-1)) return null;
    chain.push(key!.next);
  }
  return chain.at(-1) === toHex(serverKey) ? chain : null;
}

/**
 * A log without releases that shows the same records: authentic where a client follows, and only
 * there.
 */
async function offerLog({ rotations, serverKey }: Welcome, follows: boolean): Promise<void> {
  const signer = signers.get(toHex(serverKey));
  if (signer === undefined) return;
  const { lines } = await sampleLog(0, { signer, rotations });
  const { authentic } = await verifyReleaseLog(lines, { signing, serverKey: pin });
  must(authentic === follows, 'the reader of a log follows where a client does');
}
