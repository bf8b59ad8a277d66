// The load for bench/ingest.js, in a process of its own: many contributors on a few sockets, each
// with its own key, signing every batch live. A fixed number of batches is in flight; contributors
// take turns, so all of them are active.
// usage: node bench/load-generator.js
// '{"url","studyId","rows","columns","contributors","sockets","seconds",
//        "warmUpSeconds","inFlight","pauseMs"?,"trace"?}'
// Prints JSON lines: ready, measuring, done.
import { createHash, randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';
import { fromHex } from '../dist/src/base/bytes.js';
import { signBatch, signHello } from '../dist/src/signing/message.js';
import { signing } from '../dist/src/signing/node.js';
import {
  decodeServerFrame, encodeBatchBody, encodeClientFrame, subprotocol,
} from '../dist/src/wire/index.js';

/**
 * The key of contributor `index`. The server's preload puts the same keys among its million rows.
 */
export function seedOf(index) {
  return new Uint8Array(createHash('sha256').update(`keelson bench contributor ${index}`).digest());
}

function generate(options) {
  const studyId = fromHex(options.studyId);
  const data = rowsBytes(options.rows, options.columns);
  const totals = { acked: 0, refused: 0, sent: 0 };
  const refusals = new Map();
  const latencies = [];
  /** With `trace`: when each batch was sent, in Unix milliseconds, and its latency. */
  const trace = [];
  let measuring = false;
  let stopping = false;

  function sendBatch(channel, sequence) {
    const { socket, signer, sentAt, epoch } = channel;
    const body = encodeBatchBody({
      studyId, sequence, epoch, last: false, rows: options.rows, columns: options.columns,
      dataType: 'float64', data,
    });
    const signature =
      signBatch(signer, { serverKey: socket.serverKey, studyId }, signing.sha512(body));
    sentAt.set(sequence, performance.now());
    socket.send(encodeClientFrame({ kind: 'batch', channel: channel.id, body, signature }));
    totals.sent += 1;
  }

  /** The next contributor in turn sends its next batch. */
  function next(socket) {
    const channel = socket.turns.shift();
    channel.sequence += 1n;
    sendBatch(channel, channel.sequence);
    socket.turns.push(channel);
  }

  function onAck(socket, ack) {
    const channel = socket.channels.get(ack.channel);
    channel.epoch = ack.epoch;
    for (const rejection of ack.rejections) {
      // The refusal repeats a sequence that an earlier process settled.
      if (!channel.sentAt.has(rejection.sequence)) continue;
      totals.refused += 1;
      refusals.set(rejection.code, (refusals.get(rejection.code) ?? 0) + 1);
      if (!rejection.retryable) throw new Error(`${rejection.code}: ${rejection.text}`);
      if (!stopping) sendBatch(channel, rejection.sequence);
    }
    const now = performance.now();
    for (const sequence of ack.accepted) {
      totals.acked += 1;
      if (measuring) {
        latencies.push(now - channel.sentAt.get(sequence));
        if (options.trace) {
          trace.push([performance.timeOrigin + channel.sentAt.get(sequence), latencies.at(-1)]);
        }
      }
      channel.sentAt.delete(sequence);
      if (options.pauseMs) setTimeout(() => { if (!stopping) next(socket); }, options.pauseMs);
      else if (!stopping) next(socket);
    }
  }

  function greet(socket, welcome, signers, waiting) {
    socket.serverKey = welcome.serverKey;
    for (const signer of signers) {
      const clientNonce = randomBytes(32);
      const nonces = { serverNonce: welcome.serverNonce, clientNonce };
      waiting.set(Buffer.from(signer.publicKey).toString('hex'), signer);
      const signature = signHello(signer, { serverKey: welcome.serverKey, studyId }, nonces);
      socket.send(encodeClientFrame({
        kind: 'hello', studyId, publicKey: signer.publicKey, clientNonce, signature,
      }));
    }
  }

  function connect(signers) {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(options.url, subprotocol, { perMessageDeflate: false });
      socket.channels = new Map();
      socket.turns = [];
      const waiting = new Map();
      socket.on('error', reject);
      socket.on('close', () => { if (!stopping) throw new Error('the server closed a socket'); });
      socket.on('message', (bytes) => {
        const frame = decodeServerFrame(bytes);
        if (frame.kind === 'welcome') greet(socket, frame, signers, waiting);
        else if (frame.kind === 'ready') {
          const signer = waiting.get(Buffer.from(frame.publicKey).toString('hex'));
          const channel = {
            id: frame.channel, socket, signer, epoch: frame.epoch,
            sequence: frame.nextSequence - 1n, sentAt: new Map(),
          };
          socket.channels.set(frame.channel, channel);
          socket.turns.push(channel);
          if (socket.channels.size === signers.length) resolve(socket);
        } else if (frame.kind === 'ack') onAck(socket, frame);
        else if (frame.kind === 'refusal') throw new Error(`${frame.code}: ${frame.text}`);
      });
    });
  }

  function finish(from) {
    const seconds = (performance.now() - from.at) / 1_000;
    const cpu = process.cpuUsage(from.cpu);
    stopping = true;
    const sorted = Float64Array.from(latencies).sort();
    const quantile = (share) =>
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
    say({
      type: 'done', seconds, perSecond: (totals.acked - from.acked) / seconds,
      measured: totals.acked - from.acked, acked: totals.acked, refused: totals.refused,
      refusals: Object.fromEntries(refusals), p50: quantile(0.5), p99: quantile(0.99),
      p999: quantile(0.999), cpuShare: (cpu.user + cpu.system) / 1e6 / seconds, trace,
    }, () => process.exit(0));
  }

  return { totals, connect, next, start: () => { measuring = true; }, finish };
}

function rowsBytes(rows, columns) {
  const values = new Float64Array(rows * columns);
  for (let i = 0; i < values.length; i++) values[i] = Math.sin(i) * 3;
  return new Uint8Array(values.buffer);
}

function say(message, then) {
  process.stdout.write(`${JSON.stringify(message)}\n`, then);
}

async function main(options) {
  const load = generate(options);
  const signers =
    Array.from({ length: options.contributors }, (_, i) => signing.createSigner(seedOf(i)));
  const share = Math.ceil(options.contributors / options.sockets);
  const sockets = await Promise.all(Array.from({ length: options.sockets }, (_, i) =>
    load.connect(signers.slice(i * share, (i + 1) * share))));
  say({ type: 'ready', contributors: signers.length });
  const inFlight = Math.ceil(options.inFlight / options.sockets);
  for (const socket of sockets) for (let i = 0; i < inFlight; i++) load.next(socket);
  setTimeout(() => {
    load.start();
    const from = { acked: load.totals.acked, at: performance.now(), cpu: process.cpuUsage() };
    say({ type: 'measuring' });
    setTimeout(() => load.finish(from), options.seconds * 1_000);
  }, options.warmUpSeconds * 1_000);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(JSON.parse(process.argv[2]));
}
