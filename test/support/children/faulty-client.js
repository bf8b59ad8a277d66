// The client of this package with one planted fault, to see whether the conformance kit finds it:
//   node faulty-client.js NAME, where NAME is a key of `faults` or of `faultyParts`
import { createContributor, openOutbox, signing, subscribe } from '../../../dist/client/index.js';
import { createOnceContributor, memoryOutbox } from '../../../dist/client/once.js';
import { sealing } from '../../../dist/client/sealing.js';
import { Channel } from '../../../dist/client/session/channel.js';
import { Multiplexer } from '../../../dist/client/session/multiplexer.js';
import { Opening } from '../../../dist/client/session/opening.js';
import { openTransport } from '../../../dist/client/websocket/node.js';
import { serveLines } from '../../../dist/cli/conform/line-program.js';
import { signing as asyncSigning } from '../../../dist/src/signing/async-node.js';
import { signBatch } from '../../../dist/src/signing/index.js';
import {
  decodeAck, decodeBatchBody, decodeClientFrame, decodeServerFrame, encodeBatchBody,
  encodeClientFrame,
} from '../../../dist/src/wire/index.js';

/** Every batch goes out under sequence 1, well signed. */
function reusing(options) {
  const signer = signing.createSigner(options.seed);
  let serverKey;
  const open = (url, subprotocols, handlers) => {
    const transport = openTransport(url, subprotocols, {
      ...handlers,
      onMessage: (bytes) => {
        const frame = decodeServerFrame(bytes);
        if (frame.kind === 'welcome') ({ serverKey } = frame);
        handlers.onMessage(bytes);
      },
    });
    const send = transport.send.bind(transport);
    transport.send = (bytes) => {
      const frame = decodeClientFrame(bytes);
      if (frame.kind !== 'batch') return send(bytes);
      const batch = { ...decodeBatchBody(frame.body), sequence: 1n };
      const body = encodeBatchBody(batch);
      const context = { serverKey, studyId: batch.studyId };
      const signature = signBatch(signer, context, signing.sha512(body));
      return send(encodeClientFrame({ ...frame, body, signature }));
    };
    return transport;
  };
  return createContributor({ ...options, openTransport: open });
}

/** Rows are called accepted when they were handed over. */
function hasty(options) {
  const contributor = createContributor(options);
  const send = contributor.send.bind(contributor);
  contributor.send = (rows, more) => {
    send(rows, more).catch(() => undefined);
    return Promise.resolve({ kind: 'accepted', epoch: 0n, openEpoch: 0n, sequences: [] });
  };
  return contributor;
}

/** What an earlier run left is not looked at. */
async function forgetful(path) {
  const outbox = await openOutbox(path);
  const load = outbox.load.bind(outbox);
  outbox.load = async () => ({ ...await load(), items: [] });
  return outbox;
}

/** Rows are called withdrawn, and the server hears nothing of it. */
function unasking(options) {
  const contributor = createContributor(options);
  contributor.withdraw = () => Promise.resolve(7n);
  return contributor;
}

/** A release that does not verify is shown like the others. */
async function* credulous(options) {
  let index = 0n;
  try {
    for await (const one of subscribe(options)) {
      index = one.release.index + 1n;
      yield one;
    }
  } catch {
    yield { release: { index, epoch: index + 7n }, signed: { body: new Uint8Array(0) } };
  }
}

/** Forgets in the next run which sequences its key has used. */
function numberingAnew(options) {
  return createOnceContributor({ ...options, outbox: memoryOutbox() });
}

/** Seals the rows that a question does not count as if it counted them. */
function sealedForAll(input) {
  const { document } = input;
  const questions = document.questions.map((question) => ({ ...question, where: [] }));
  return sealing({ ...input, document: { ...document, questions } });
}

const faults = {
  none: {},
  'sequence-reuse': { createContributor: reusing },
  'early-ack': { createContributor: hasty },
  'no-resume': { openOutbox: forgetful },
  'claimed-withdrawal': { createContributor: unasking },
  'forgotten-sequence': { createOnceContributor: numberingAnew },
  'forged-release': { subscribe: credulous },
  'unread-condition': { sealing: sealedForAll },
};

const isZero = (bytes) => bytes.every((byte) => byte === 0);

/** Faults of encrypted channels, each in one part of the client. */
const faultyParts = {
  'share-unverified': () => {
    const { createVerifier } = asyncSigning;
    asyncSigning.createVerifier = (key) => {
      const verifier = createVerifier(key);
      const isShare = (message) => Buffer.from(message).toString('latin1', 8, 13) === 'share';
      return {
        ...verifier, verify: (message, one) => isShare(message) || verifier.verify(message, one),
      };
    };
  },
  'zero-taken': () => {
    const { x25519 } = signing;
    signing.x25519 = (secret, point) => {
      const agreed = x25519(secret, point);
      return isZero(agreed) ? agreed.fill(1) : agreed;
    };
  },
  'slow-clock': () => { Date.now = () => Date.UTC(2020, 0, 1); },
  'share-repeated': () => { signing.randomBytes = (length) => new Uint8Array(length).fill(7); },
  'hello-first': () => {
    const { attach } = Channel.prototype;
    Channel.prototype.attach = function attachSigned(link) {
      attach.call(this, { ...link, welcome: { ...link.welcome, share: null } });
    };
  },
  'ends-on-refusal': () => {
    Channel.prototype.onRefusal = function onRefusal({ code, text }) {
      this.end(Object.assign(new Error(text), { code }));
    };
  },
  'refusal-believed': () => {
    const { end } = Channel.prototype;
    Channel.prototype.end = function endSurely(error) { end.call(this, error, true); };
  },
  'ack-believed': () => {
    Multiplexer.prototype.onAck = (channel, ack) => channel?.onAck(ack);
  },
  'ack-unsealed': () => {
    const { ack } = Opening.prototype;
    Opening.prototype.ack = async function read(frame) {
      const opened = await ack.call(this, frame);
      try {
        return opened ?? decodeAck(frame.encrypted);
      } catch {
        return null;
      }
    };
  },
  'number-not-counted': () => {
    const { batch } = Opening.prototype;
    Opening.prototype.batch = function sealAsFirst(body) {
      this.sent = 0;
      return batch.call(this, body);
    };
  },
};
faultyParts[process.argv[2]]?.();

await serveLines({
  createContributor, createOnceContributor, openOutbox, subscribe, sealing,
  ...faults[process.argv[2]],
});
