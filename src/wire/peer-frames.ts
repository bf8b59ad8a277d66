import {
  digestBytes, keyBytes, nonceBytes, owned, ownSized, present, signatureBytes, sized,
  stateFromWire, stateToWire, studyIdBytes, uint32,
} from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import { keelson as read } from './generated/peer-reader.js';
import { keelson as sent } from './generated/peer-writer.js';
import { entriesPerFrame, type EpochStanding, type PeerFrame } from './peer-messages.js';
import { malformed, readStrictly } from './reader.js';
import { written } from './writer.js';

type Kind = PeerFrame['kind'];
type Frame<K extends Kind> = Extract<PeerFrame, { readonly kind: K }>;
type WireFrame = sent.v1.PeerFrame.$Properties;
type Read = read.v1.PeerFrame;

/** How one kind of message is written and read. */
interface Codec<K extends Kind> {
  readonly write: (frame: Frame<K>) => NonNullable<WireFrame[K]>;
  readonly read: (message: NonNullable<Read[K]>) => Omit<Frame<K>, 'kind'>;
}

const standings: readonly (EpochStanding | undefined)[] = [undefined, 'open', 'charged', 'done'];
const allSignatures = 3 * signatureBytes;

/** Fields that are absent on the wire have their default in the message that was read. */
type Whole<T> = { readonly [Name in keyof T]-?: NonNullable<T[Name]> };
const whole = <T>(message: T): Whole<T> => message as Whole<T>;

const codecs: { readonly [K in Kind]: Codec<K> } = {
  hello: {
    write: ({ studyId, from, challenge, nonce, signature }) => ({
      studyId: sized(studyId, studyIdBytes, 'study id'), from: uint32(from, 'server'),
      challenge: sized(challenge, nonceBytes, 'challenge'),
      nonce: sized(nonce, nonceBytes, 'nonce'), ...signatureToWire(signature),
    }),
    read: (message) => {
      const { studyId, from, challenge, nonce } = whole(message);
      return {
        studyId: ownSized(studyId, studyIdBytes, 'study id'), from,
        challenge: ownSized(challenge, nonceBytes, 'challenge'),
        nonce: ownSized(nonce, nonceBytes, 'nonce'), ...signatureOf(message),
      };
    },
  },
  ready: { write: ({ signature }) => signatureToWire(signature), read: signatureOf },
  standing: {
    write: ({ epoch, state, releases, study, heldEpoch }) => ({
      epoch: toLong(epoch, 'epoch'), state: standings.indexOf(state),
      releases: toLong(releases, 'releases'), study: stateToWire(study),
      heldEpoch: toLong(heldEpoch, 'held epoch'),
    }),
    read: (message) => {
      const { epoch, state, releases, study, heldEpoch } = whole(message);
      return {
        epoch: toBigint(epoch), state: present(standings[state], 'the standing of the epoch'),
        releases: toBigint(releases), study: stateFromWire(study),
        heldEpoch: toBigint(heldEpoch),
      };
    },
  },
  openEpoch: {
    write: ({ epoch, opensAtMs, closesAtMs }) => ({
      epoch: toLong(epoch, 'epoch'), opensAtMs: toLong(opensAtMs, 'opening'),
      closesAtMs: toLong(closesAtMs, 'close'),
    }),
    read: (message) => {
      const { epoch, opensAtMs, closesAtMs } = whole(message);
      return {
        epoch: toBigint(epoch), opensAtMs: toBigint(opensAtMs), closesAtMs: toBigint(closesAtMs),
      };
    },
  },
  epochKey: {
    write: ({ epoch, boxKey, signature }) => ({
      epoch: toLong(epoch, 'epoch'), boxKey: sized(boxKey, keyBytes, 'box key'),
      ...signatureToWire(signature),
    }),
    read: (message) => {
      const { epoch, boxKey } = whole(message);
      return {
        epoch: toBigint(epoch), boxKey: ownSized(boxKey, keyBytes, 'box key'),
        ...signatureOf(message),
      };
    },
  },
  gather: {
    write: ({ epoch }) => ({ epoch: toLong(epoch, 'epoch') }),
    read: (message) => ({ epoch: toBigint(whole(message).epoch) }),
  },
  boxes: { write: boxesToWire, read: boxesFromWire },
  manifest: {
    write: ({ count, digest }) =>
      ({ count: uint32(count, 'count'), digest: sized(digest, digestBytes, 'digest') }),
    read: (message) => {
      const { count, digest } = whole(message);
      return { count, digest: ownSized(digest, digestBytes, 'digest') };
    },
  },
  unusable: {
    write: ({ entries }) => ({ entries }),
    read: (message) => ({ entries: owned(whole(message).entries) }),
  },
  start: {
    write: ({ attempt, digest, key, signature, rules }) => ({
      attempt: uint32(attempt, 'attempt'), digest: sized(digest, digestBytes, 'digest'),
      key: sized(key, keyBytes, 'key'), ...signatureToWire(signature),
      rules: uint32(rules, 'rules'),
    }),
    read: (message) => {
      const { attempt, digest, key, rules } = whole(message);
      return {
        attempt, digest: ownSized(digest, digestBytes, 'digest'),
        key: ownSized(key, keyBytes, 'key'), ...signatureOf(message), rules,
      };
    },
  },
  step: {
    write: ({ payload, more }) => ({ payload, more }),
    read: (message) => ({ payload: owned(whole(message).payload), more: whole(message).more }),
  },
  sign: { write: ({ signature }) => signatureToWire(signature), read: signatureOf },
  released: {
    write: ({ body, signature }) =>
      ({ body, signature: sized(signature, allSignatures, 'signature') }),
    read: (message) => {
      const { body, signature } = whole(message);
      return {
        body: owned(body), signature: ownSized(signature, allSignatures, 'signature'),
      };
    },
  },
  stop: {
    write: ({ code }) => ({ code }),
    read: (message) => {
      const { code } = whole(message);
      if (!/^[a-z-]{1,40}$/.test(code)) throw malformed('the code of a stop is no code');
      return { code };
    },
  },
};

/**
 * One message between two servers of a sealed study.
 * @throws WireError('malformed') for a message that no server would accept.
 */
export function encodePeerFrame(frame: PeerFrame): Uint8Array {
  const codec = codecs[frame.kind] as Codec<Kind>;
  return written(sent.v1.PeerFrame.encode({ [frame.kind]: codec.write(frame) }));
}

/**
 * Reads one message between two servers. Every byte field is a copy.
 * @throws WireError('malformed') for any other bytes; never anything else.
 */
export function decodePeerFrame(bytes: Uint8Array): PeerFrame {
  return readStrictly(bytes, 'frame between servers', (reader) => {
    const frame = read.v1.PeerFrame.decode(reader);
    const kind = present(frame.kind, 'the kind of frame');
    return { kind, ...(codecs[kind] as Codec<Kind>).read(frame[kind]!) } as PeerFrame;
  });
}

function signatureToWire(signature: Uint8Array): { signature: Uint8Array } {
  return { signature: sized(signature, signatureBytes, 'signature') };
}

function signatureOf(
  message: { readonly signature?: Uint8Array | null },
): { readonly signature: Uint8Array } {
  return { signature: ownSized(message.signature!, signatureBytes, 'signature') };
}

function boxesToWire({ entries }: Frame<'boxes'>): sent.v1.Boxes.$Properties {
  if (entries.length > entriesPerFrame) {
    throw malformed(`a frame has ${entries.length} entries, more than ${entriesPerFrame}`);
  }
  return {
    entries: entries.map(({ contributor, body, signature }) => ({
      contributor: sized(contributor, keyBytes, 'contributor'), body,
      ...signatureToWire(signature),
    })),
  };
}

function boxesFromWire(message: read.v1.Boxes.$Properties): Omit<Frame<'boxes'>, 'kind'> {
  return {
    entries: (message.entries ?? []).map((entry) => ({
      contributor: ownSized(whole(entry).contributor, keyBytes, 'contributor'),
      body: owned(whole(entry).body), ...signatureOf(entry),
    })),
  };
}
