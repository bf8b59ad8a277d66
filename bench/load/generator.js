// A load in a process of its own: many contributors on a few sockets, each
// with its own key, signing every batch live. A fixed number of batches is in flight; contributors
// take turns, so all of them are active.
// usage: node bench/load/generator.js
// '{"url","studyId","rows","columns","texts"?,"contributors","sockets","seconds",
//        "warmUpSeconds","inFlight","pauseMs"?,"trace"?,"batchesPerRequest"?,"encrypted"?}'
// With "batchesPerRequest" the batches travel over HTTP requests, so many in each.
// With "encrypted" channels are encrypted, and batches have no signature.
// With "texts" the last column is a text, and a batch has as many bytes as one of numbers.
// Prints JSON lines: measuring, done.
import { WebSocket } from 'ws';
import { fromHex } from '../../dist/src/base/bytes.js';
import {
  decodeServerFrame, encodeCells, encodeClientFrame, encryptedSubprotocol, subprotocol,
} from '../../dist/src/wire/index.js';
import { quantile } from '../harness/measure.js';
import {
  batchBody, encryptedChannel, helloFrame, hexOf, rowsBytes, signedBatch, signerOf,
} from './frames.js';
import { startUploads } from './uploads.js';

function generate(options) {
  const studyId = fromHex(options.studyId);
  const parts = options.texts === true
    ? textParts(options.rows, options.columns)
    : [{ data: rowsBytes(options.rows, options.columns) }];
  const totals = { acked: 0, refused: 0, sent: 0 };
  const refusals = new Map();
  const latencies = [];
  /** With `trace`: when each batch was sent, in Unix milliseconds, and its latency. */
  const trace = [];
  let measuring = false;
  let stopping = false;

  function batchFrame({ signer, sentAt, epoch, id, encrypted }, sequence, serverKey) {
    const body = {
      studyId, sequence, epoch, rows: options.rows, columns: options.columns,
      ...parts[totals.sent % parts.length],
    };
    const frame = encrypted?.batch(id, batchBody(body)) ?? encodeClientFrame({
      kind: 'batch', channel: id, ...signedBatch(signer, serverKey, body),
    });
    sentAt.set(sequence, performance.now());
    totals.sent += 1;
    return frame;
  }

  function sendBatch(channel, sequence) {
    const { socket } = channel;
    socket.send(batchFrame(channel, sequence, socket.serverKey));
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

  /** Over HTTP. A request is answered as a whole, so refused batches are not sent again. */
  function upload(signers) {
    const turns = signers.map((signer) => ({ id: 1, signer, sequence: 1n, sentAt: new Map() }));
    const { url, batchesPerRequest, inFlight } = options;
    return startUploads({
      url, studyId, batchesPerRequest, turns,
      connections: Math.max(1, Math.floor(inFlight / batchesPerRequest)),
      batch: (person, serverKey) => batchFrame(person, person.sequence += 1n, serverKey),
      onAck: onUploadAck,
      isOver: () => stopping,
    });
  }

  function onUploadAck(person, ack) {
    for (const { code, text } of ack.rejections) throw new Error(`${code}: ${text}`);
    const now = performance.now();
    totals.acked += ack.accepted.length;
    for (const sequence of ack.accepted) {
      if (measuring) latencies.push(now - person.sentAt.get(sequence));
      person.sentAt.delete(sequence);
    }
  }

  function greet(socket, welcome, signers, waiting) {
    socket.serverKey = welcome.serverKey;
    for (const signer of signers) {
      const at = { ...welcome, studyId };
      const encrypted = options.encrypted === true ? encryptedChannel(signer, at) : undefined;
      waiting.set(hexOf(signer.publicKey), { signer, encrypted });
      socket.send(encrypted?.open ?? helloFrame(signer, at));
    }
  }

  function connect(signers) {
    return new Promise((resolve, reject) => {
      const protocol = options.encrypted === true ? encryptedSubprotocol : subprotocol;
      const socket = new WebSocket(options.url, protocol, { perMessageDeflate: false });
      socket.channels = new Map();
      socket.turns = [];
      const waiting = new Map();
      socket.on('error', reject);
      socket.on('close', () => { if (!stopping) throw new Error('the server closed a socket'); });
      socket.on('message', (bytes) => {
        const frame = decodeServerFrame(bytes);
        if (frame.kind === 'welcome') greet(socket, frame, signers, waiting);
        else if (frame.kind === 'ready' || frame.kind === 'opened') {
          const own = waiting.get(hexOf(frame.publicKey));
          const ready = frame.kind === 'ready' ? frame : own.encrypted.ready(frame);
          const channel = {
            ...own, id: frame.channel, socket, epoch: ready.epoch,
            sequence: ready.nextSequence - 1n, sentAt: new Map(),
          };
          socket.channels.set(frame.channel, channel);
          socket.turns.push(channel);
          if (socket.channels.size === signers.length) resolve(socket);
        } else if (frame.kind === 'ack') onAck(socket, frame);
        else if (frame.kind === 'encrypted-ack') {
          onAck(socket, socket.channels.get(frame.channel).encrypted.ack(frame));
        }
        else if (frame.kind === 'refusal') throw new Error(`${frame.code}: ${frame.text}`);
      });
    });
  }

  function finish(from) {
    const seconds = (performance.now() - from.at) / 1_000;
    const cpu = process.cpuUsage(from.cpu);
    stopping = true;
    say({
      type: 'done', seconds, perSecond: (totals.acked - from.acked) / seconds,
      measured: totals.acked - from.acked, acked: totals.acked, refused: totals.refused,
      refusals: Object.fromEntries(refusals), p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99), p999: quantile(latencies, 0.999),
      cpuShare: (cpu.user + cpu.system) / 1e6 / seconds, trace,
    }, () => process.exit(0));
  }

  return { totals, connect, upload, next, start: () => { measuring = true; }, finish };
}

/** Different texts in all batches together. */
const textsInAll = 4_096;
/** Rows for each text of a batch. */
const rowsPerText = 2;

/**
 * Data of batches whose last column is a text: of 64 batches, each with other texts. Where a number
 * takes 8 bytes, a row has 1 byte for its code and 7 for its part of a text with its length.
 */
function textParts(rows, columns) {
  const numbers = new Float64Array(rowsBytes(rows, columns).buffer);
  const types = Array.from({ length: columns }, (_, i) =>
    (i < columns - 1 ? { type: 'number' } : { type: 'text', bytes: 16 }));
  const length = 7 * rowsPerText - 1;
  return Array.from({ length: 64 }, (_, batch) => {
    const texts = Array.from({ length: Math.ceil(rows / rowsPerText) }, (_, i) =>
      `app-${(batch * 61 + i * 127) % textsInAll}`.padEnd(length, '-'));
    const values = numbers.slice();
    for (let row = 0; row < rows; row++) {
      values[row * columns + columns - 1] = Math.floor(row / rowsPerText);
    }
    return { data: new Uint8Array(0), cells: encodeCells(values, types, 'float64', texts) };
  });
}

function say(message, then) {
  process.stdout.write(`${JSON.stringify(message)}\n`, then);
}

async function main(options) {
  const load = generate(options);
  const signers = Array.from({ length: options.contributors }, (_, i) => signerOf(i));
  if (options.batchesPerRequest > 0) {
    load.upload(signers).catch((error) => { throw error; });
    return measure(load, options);
  }
  const share = Math.ceil(options.contributors / options.sockets);
  const sockets = await Promise.all(Array.from({ length: options.sockets }, (_, i) =>
    load.connect(signers.slice(i * share, (i + 1) * share))));
  const inFlight = Math.ceil(options.inFlight / options.sockets);
  for (const socket of sockets) for (let i = 0; i < inFlight; i++) load.next(socket);
  measure(load, options);
}

function measure(load, options) {
  setTimeout(() => {
    load.start();
    const from = { acked: load.totals.acked, at: performance.now(), cpu: process.cpuUsage() };
    say({ type: 'measuring' });
    setTimeout(() => load.finish(from), options.seconds * 1_000);
  }, options.warmUpSeconds * 1_000);
}

await main(JSON.parse(process.argv[2]));
