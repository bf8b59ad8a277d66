// Contributors for the benchmarks of load, in a process of their own. Each has a key and signs
// every batch live; what the server puts off is sent again, so nothing is lost, and at the end
// everything that was offered has to be acknowledged. Its options are one JSON text:
//   {"url","studyId","first","contributors","sockets","rows","columns"}
// If `url` is a list, sockets use its addresses in turn. Then it answers each message with one:
//   {"offer": batches per second, "seconds", "inFlight"?, "rows"?}
//       sends on schedule whether or not acks come, each contributor at most so many at once (48:
//       within the credit); with "rows", of so many rows from now on
//   {"settle": seconds}    sends again what was put off, until all is acknowledged
import { WebSocket } from 'ws';
import { fromHex } from '../../dist/src/base/bytes.js';
import { decodeServerFrame, encodeClientFrame, subprotocol } from '../../dist/src/wire/index.js';
import { quantile } from '../harness/measure.js';
import { helloFrame, hexOf, rowsBytes, signedBatch, signerOf } from './frames.js';

const options = JSON.parse(process.argv[2]);
const studyId = fromHex(options.studyId);
const urls = [options.url].flat();
let { rows } = options;
let data = rowsBytes(rows, options.columns);
const channels = [];
const counts = { offered: 0, sent: 0, acked: 0, putOff: 0, lost: 0, reconnects: 0 };
let latencies = [];
/** Batches that were refused for now and are sent again later. */
const again = [];
/** By address: when the newest ack came, and the longest time without one. */
let pauses = new Map();

function send(channel, sequence) {
  const batch = signedBatch(channel.signer, channel.socket.serverKey, {
    studyId, sequence, epoch: channel.epoch, rows, columns: options.columns, data,
  });
  channel.flight.set(sequence, channel.flight.get(sequence) ?? performance.now());
  if (channel.socket.readyState !== WebSocket.OPEN) return;
  channel.socket.send(encodeClientFrame({ kind: 'batch', channel: channel.id, ...batch }));
  counts.sent += 1;
}

function onAck(socket, ack) {
  const channel = socket.channels.get(ack.channel);
  if (ack.epoch > channel.epoch) channel.epoch = ack.epoch;
  for (const { sequence, code, retryable } of ack.rejections) {
    if (retryable || code === 'stale-epoch') counts.putOff += 1;
    else counts.lost += 1;
    if (retryable) again.push([channel, sequence]);
  }
  const now = performance.now();
  notePause(socket.address, now);
  const refused = ack.rejections.filter(({ retryable }) => !retryable)
    .map(({ sequence }) => sequence);
  for (const sequence of [...ack.accepted, ...refused]) {
    // The answer to a second copy, after the answer to the first copy was handled.
    if (!channel.flight.has(sequence)) continue;
    counts.acked += 1;
    latencies.push(now - channel.flight.get(sequence));
    channel.flight.delete(sequence);
  }
}

/**
 * Connects the contributors of one socket. Reconnects when it is lost, and sends everything
 * unacknowledged again.
 */
function connect(group, address, onReady = () => undefined) {
  const socket = new WebSocket(address, subprotocol, { perMessageDeflate: false });
  socket.address = address;
  socket.channels = new Map();
  socket.on('error', () => undefined);
  socket.on('close', () => {
    counts.reconnects += 1;
    setTimeout(() => connect(group, address, onReady), 500);
  });
  socket.on('message', (bytes) => {
    const frame = decodeServerFrame(bytes);
    if (frame.kind === 'welcome') {
      socket.serverKey = frame.serverKey;
      for (const { signer } of group) socket.send(helloFrame(signer, { ...frame, studyId }));
    } else if (frame.kind === 'ready') {
      const key = hexOf(frame.publicKey);
      const channel = group.find((candidate) => candidate.key === key);
      onWelcomed(socket, channel, frame);
      if (socket.channels.size === group.length) onReady();
    } else if (frame.kind === 'ack') onAck(socket, frame);
    else if (frame.kind === 'notice') {
      for (const channel of socket.channels.values()) {
        if (frame.epoch > channel.epoch) channel.epoch = frame.epoch;
      }
    } else if (frame.kind === 'refusal' && !frame.retryable) {
      throw new Error(`${frame.code}: ${frame.text}`);
    }
  });
}

function onWelcomed(socket, channel, { channel: id, epoch, nextSequence }) {
  const isNew = channel.socket === undefined;
  Object.assign(channel, { id, socket, epoch });
  socket.channels.set(id, channel);
  if (isNew) {
    channel.sequence = nextSequence - 1n;
    channels.push(channel);
    return;
  }
  // For a batch that was settled meanwhile, the server repeats its first answer.
  for (const sequence of channel.flight.keys()) again.push([channel, sequence]);
}

/**
 * Sends on schedule. A contributor at its credit loses its turn, and delayed batches go before new
 * ones.
 */
async function offer({ offer: perSecond, seconds, inFlight = 48, rows: asked = rows }) {
  latencies = [];
  if (asked !== rows) [rows, data] = [asked, rowsBytes(asked, options.columns)];
  pauses = new Map(urls.map((url) => [url, { atMs: performance.now(), longestMs: 0 }]));
  const before = { ...counts };
  const startedMs = performance.now();
  let [due, turn] = [0, 0];
  for (;;) {
    const elapsed = (performance.now() - startedMs) / 1_000;
    if (elapsed >= seconds) break;
    for (const [channel, sequence] of again.splice(0, 200)) send(channel, sequence);
    const budget = Math.floor(elapsed * perSecond);
    for (let tries = 0; due < budget && tries < 400; tries++) {
      const channel = channels[turn++ % channels.length];
      due += 1;
      counts.offered += 1;
      if (channel.socket.readyState !== WebSocket.OPEN || channel.flight.size >= inFlight
          || channel.socket.bufferedAmount > 4e6) continue;
      channel.sequence += 1n;
      send(channel, channel.sequence);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  for (const url of urls) notePause(url, performance.now());
  const took = (performance.now() - startedMs) / 1_000;
  const change =
    Object.fromEntries(Object.keys(counts).map((name) => [name, counts[name] - before[name]]));
  return {
    ...change, seconds: took, perSecond: change.acked / took,
    p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), p999: quantile(latencies, 0.999),
    pausesMs: [...pauses.values()].map(({ longestMs }) => longestMs),
  };
}

function notePause(address, nowMs) {
  const pause = pauses.get(address);
  if (pause === undefined) return;
  pause.longestMs = Math.max(pause.longestMs, nowMs - pause.atMs);
  pause.atMs = nowMs;
}

/** Sends again until everything is acknowledged. */
async function settle(seconds) {
  const untilMs = performance.now() + seconds * 1_000;
  const waiting = () => channels.reduce((sum, { flight }) => sum + flight.size, 0);
  while (waiting() > 0 && performance.now() < untilMs) {
    for (const [channel, sequence] of again.splice(0, 200)) send(channel, sequence);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { ...counts, waiting: waiting() };
}

const groupOf = (signers) => signers.map((signer) => ({
  signer, key: hexOf(signer.publicKey), flight: new Map(),
}));

async function main() {
  const signers =
    Array.from({ length: options.contributors }, (_, i) => signerOf(options.first + i));
  const share = Math.ceil(signers.length / options.sockets);
  // A few at a time: the number of connections is tested, and not the rate of connecting.
  for (let from = 0; from < options.sockets; from += 20) {
    await Promise.all(Array.from({ length: Math.min(20, options.sockets - from) }, (_, i) =>
      new Promise((resolve) => {
        const group = groupOf(signers.slice((from + i) * share, (from + i + 1) * share));
        connect(group, urls[(from + i) % urls.length], resolve);
      })));
  }
  process.on('message', async (command) => {
    process.send(command.offer === undefined ? await settle(command.settle) : await offer(command));
  });
  process.on('disconnect', () => process.exit(0));
  process.send({});
}

await main();
