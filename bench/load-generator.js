// The load for bench/ingest.js, in a process of its own: many contributors on a few sockets, each
// with its own key, signing every batch live and keeping a bounded number in flight.
// usage: node bench/load-generator.js '{"url","studyId","rows","columns","contributors","sockets","seconds","inFlight"}'
import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { signing } from '../dist/src/signing/node.js';
import { signBatch, signHello } from '../dist/src/signing/message.js';
import { fromHex } from '../dist/src/base/bytes.js';
import { decodeServerFrame, encodeBatchBody, encodeClientFrame, subprotocol } from '../dist/src/wire/index.js';

const options = JSON.parse(process.argv[2]);
const studyId = fromHex(options.studyId);
const data = rowsBytes(options.rows, options.columns);
const totals = { acked: 0, refused: 0, sent: 0 };
const latencies = [];
const refusals = new Map();
let measuring = false;
let stopping = false;

function rowsBytes(rows, columns) {
  const values = new Float64Array(rows * columns);
  for (let i = 0; i < values.length; i++) values[i] = Math.sin(i) * 3;
  return new Uint8Array(values.buffer);
}

function sendBatch(socket, channel) {
  channel.sequence += 1n;
  const body = encodeBatchBody({
    studyId, sequence: channel.sequence, epoch: channel.epoch, last: false,
    rows: options.rows, columns: options.columns, dataType: 'float64', data,
  });
  const context = { serverKey: socket.serverKey, studyId };
  const signature = signBatch(channel.signer, context, signing.sha512(body));
  channel.sentAt.set(channel.sequence, performance.now());
  socket.send(encodeClientFrame({ kind: 'batch', channel: channel.id, body, signature }));
  totals.sent += 1;
}

function onAck(socket, ack) {
  const channel = socket.channels.get(ack.channel);
  for (const rejection of ack.rejections) {
    totals.refused += 1;
    refusals.set(rejection.code, (refusals.get(rejection.code) ?? 0) + 1);
  }
  channel.epoch = ack.epoch;
  const now = performance.now();
  while (channel.settled < ack.contiguousSequence) {
    channel.settled += 1n;
    totals.acked += 1;
    if (measuring) latencies.push(now - channel.sentAt.get(channel.settled));
    channel.sentAt.delete(channel.settled);
  }
  fill(socket, channel);
}

function fill(socket, channel) {
  while (!stopping && channel.sequence - channel.settled < BigInt(options.inFlight)) sendBatch(socket, channel);
}

function connect(share) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(options.url, subprotocol, { perMessageDeflate: false });
    socket.channels = new Map();
    const waiting = new Map();
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      const frame = decodeServerFrame(bytes);
      if (frame.kind === 'welcome') {
        socket.serverKey = frame.serverKey;
        for (let i = 0; i < share; i++) {
          const signer = signing.createSigner(signing.generateSeed());
          const clientNonce = randomBytes(32);
          const nonces = { serverNonce: frame.serverNonce, clientNonce };
          waiting.set(Buffer.from(signer.publicKey).toString('hex'), signer);
          const signature = signHello(signer, { serverKey: frame.serverKey, studyId }, nonces);
          socket.send(encodeClientFrame({ kind: 'hello', studyId, publicKey: signer.publicKey, clientNonce, signature }));
        }
      } else if (frame.kind === 'ready') {
        const signer = waiting.get(Buffer.from(frame.publicKey).toString('hex'));
        socket.channels.set(frame.channel, {
          id: frame.channel, signer, epoch: frame.epoch, sequence: 0n, settled: 0n, sentAt: new Map(),
        });
        if (socket.channels.size === share) resolve(socket);
      } else if (frame.kind === 'ack') onAck(socket, frame);
      else if (frame.kind === 'refusal') reject(new Error(`${frame.code}: ${frame.text}`));
    });
  });
}

const share = Math.ceil(options.contributors / options.sockets);
const sockets = await Promise.all(Array.from({ length: options.sockets }, () => connect(share)));
process.stdout.write(`${JSON.stringify({ type: 'ready', contributors: share * options.sockets })}\n`);
for (const socket of sockets) for (const channel of socket.channels.values()) fill(socket, channel);

const percentile = (share) => latencies.length === 0 ? null : latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))];
const warmUpSeconds = Math.min(5, options.seconds / 4);
setTimeout(() => {
  measuring = true;
  const from = { acked: totals.acked, at: performance.now(), cpu: process.cpuUsage() };
  setTimeout(() => {
    const seconds = (performance.now() - from.at) / 1000;
    const cpu = process.cpuUsage(from.cpu);
    stopping = true;
    latencies.sort((left, right) => left - right);
    process.stdout.write(`${JSON.stringify({
      type: 'done', perSecond: (totals.acked - from.acked) / seconds, acked: totals.acked, refused: totals.refused,
      refusals: Object.fromEntries(refusals), seconds, p50: percentile(0.5), p99: percentile(0.99), p999: percentile(0.999),
      cpuShare: (cpu.user + cpu.system) / 1e6 / seconds,
    })}\n`, () => process.exit(0));
  }, options.seconds * 1000);
}, warmUpSeconds * 1000);
