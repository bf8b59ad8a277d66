// The least that a server of encrypted channels does, on one thread, in a process of its own: `ws`,
// the decoding of frames, AES-GCM, one row of replay and one of the journal in SQLite with
// `synchronous = FULL`, a commit for all batches of a turn, acks after it. It has no studies, no
// limits and no checks of what is in a batch, so it may serve nobody.
// Options, as one JSON text: `directory`. Speaks with its parent as bench/load/server.js.
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers';
import { WebSocketServer } from 'ws';
import { ScriptedShare } from '../../dist/cli/conform/scripted-encryption.js';
import { connect, pragma, transaction } from '../../dist/server/store/sqlite/driver.js';
import { openFrame, sealFrame } from '../../dist/src/signing/channel-keys-node.js';
import { signing } from '../../dist/src/signing/node.js';
import {
  decodeBatchBody, decodeClientFrame, encodeAck, encodeServerFrame, encodeUnsignedReady,
} from '../../dist/src/wire/index.js';

const { directory } = JSON.parse(process.argv[2]);
const database = connect(join(directory, 'floor.sqlite'));
pragma(database, 'journal_mode = WAL');
pragma(database, 'synchronous = FULL');
database.exec(`
  CREATE TABLE replay (contributor BLOB, sequence INTEGER, PRIMARY KEY (contributor, sequence))
    WITHOUT ROWID;
  CREATE TABLE journal (position INTEGER PRIMARY KEY, contributor BLOB, digest BLOB, body BLOB)`);
const noteSequence = database.prepare('INSERT OR IGNORE INTO replay VALUES (?, ?)');
const journal = database.prepare(
  'INSERT INTO journal (contributor, digest, body) VALUES (?, ?, ?)');

const server = signing.createSigner(signing.generateSeed());
const digestBytes = 64;
let batches = 0;
/** Batches of this turn of the event loop. */
let waiting = [];

function commit() {
  const list = waiting;
  waiting = [];
  transaction(database, () => {
    for (const { channel, sequence, plain } of list) {
      if (Number(noteSequence.run(channel.contributor, sequence).changes) === 0) continue;
      journal.run(
        channel.contributor, plain.subarray(0, digestBytes), plain.subarray(digestBytes));
    }
  });
  batches += list.length;
  for (const { channel, sequence } of list) {
    const ack = encodeAck({
      kind: 'ack', channel: channel.id, accepted: [sequence], rejections: [], epoch: 1n,
      credit: 64,
    });
    const encrypted = sealFrame(channel.keys.down, channel.sent++, 'ack', ack);
    channel.socket.send(
      encodeServerFrame({ kind: 'encrypted-ack', channel: channel.id, encrypted }));
  }
}

function take(channel, encrypted) {
  const plain = openFrame(channel.keys.up, channel.came++, 'batch', encrypted);
  if (plain === null) throw new Error('a batch does not open');
  const { sequence } = decodeBatchBody(plain.subarray(digestBytes));
  if (waiting.length === 0) setImmediate(commit);
  waiting.push({ channel, sequence, plain });
}

function openChannel(socket, channels, share, open, greeting) {
  const cipher = share.agree(open, signing.createVerifier(open.publicKey), greeting);
  const { studyId, publicKey } = open;
  const id = channels.size + 1;
  channels.set(id, {
    id, socket, keys: cipher.keys, contributor: publicKey, came: 0, sent: 1,
  });
  const encrypted = cipher.seal('opened', encodeUnsignedReady({
    kind: 'ready', channel: id, studyId, publicKey, epoch: 1n, nextSequence: 1n, holes: [],
    credit: 64, ownSpend: null,
  }));
  socket.send(encodeServerFrame({ kind: 'opened', channel: id, studyId, publicKey, encrypted }));
}

const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
sockets.on('connection', (socket) => {
  const share = new ScriptedShare(server, 'good');
  const greeting = { serverKey: server.publicKey, serverNonce: signing.randomBytes(32) };
  const channels = new Map();
  socket.on('message', (bytes) => {
    const frame = decodeClientFrame(bytes);
    if (frame.kind === 'open') openChannel(socket, channels, share, frame, greeting);
    else take(channels.get(frame.channel), frame.encrypted);
  });
  socket.send(encodeServerFrame({
    kind: 'welcome', ...greeting, studies: [], rotations: [], share: share.stated,
    limits: {
      frameBytes: 1 << 20, rowsPerBatch: 4096, creditBatches: 64, channelsPerSocket: 4096,
      sequenceWindow: 1024,
    },
  }));
});
await once(sockets, 'listening');
process.on('message', () => process.send({ cpu: process.cpuUsage(), batches }));
process.on('disconnect', () => process.exit(1));
process.send({
  url: `ws://127.0.0.1:${sockets.address().port}`, studyId: '00'.repeat(32),
});
