// The people of bench/people.js, in a process of their own. Each has a new key, sends one row and
// waits for its verdict.
// Its options are one JSON text, {"url","studyId","atOnce","columns"}. It answers each message
// {"way","count"} by {"refused"} when all have left.
import { Agent, request } from 'node:http';
import { WebSocket } from 'ws';
import { fromHex } from '../../dist/src/base/bytes.js';
import { signing } from '../../dist/src/signing/node.js';
import {
  decodeServerFrame, encodeClientFrame, encodeOnce, subprotocol,
} from '../../dist/src/wire/index.js';
import { helloFrame, rowsBytes, signedBatch } from './frames.js';

const { url, studyId: studyIdHex, atOnce, columns } = JSON.parse(process.argv[2]);
const studyId = fromHex(studyIdHex);
const address = url.replace('ws', 'http');
const data = rowsBytes(1, columns);

/** The one row of a person, for its epoch. */
const rowOf = (signer, { serverKey, epoch }) => signedBatch(signer, serverKey, {
  studyId, sequence: 1n, epoch, last: true, rows: 1, columns, data,
});

/** @returns the reason of a verdict that is not `accepted`, if it is none. */
const faultOf = (frame) => (frame.kind === 'ack' && frame.accepted.length === 1
  ? undefined : `${frame.kind} ${frame.code ?? frame.rejections?.[0]?.code}`);

/** Resolves when the socket has closed. */
function overSocket(signer) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, subprotocol, { perMessageDeflate: false });
    let serverKey;
    let fault = 'the socket closed before the verdict';
    socket.on('error', reject);
    socket.on('close', () => resolve(fault));
    socket.on('message', (bytes) => {
      const frame = decodeServerFrame(bytes);
      if (frame.kind === 'welcome') {
        ({ serverKey } = frame);
        socket.send(helloFrame(signer, { ...frame, studyId }));
      } else if (frame.kind === 'ready') {
        const batch = rowOf(signer, { serverKey, epoch: frame.epoch });
        socket.send(encodeClientFrame({ kind: 'batch', channel: frame.channel, ...batch }));
      } else if (frame.kind === 'ack' || frame.kind === 'refusal') {
        fault = faultOf(frame);
        socket.close();
      }
    });
  });
}

/** The body of an answer of status 200. */
function answerOf(asked, body) {
  return new Promise((resolve, reject) => {
    asked.on('error', reject);
    asked.on('response', (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const whole = Buffer.concat(parts);
        if (answer.statusCode === 200) resolve(whole);
        else reject(new Error(`status ${answer.statusCode}: ${whole}`));
      });
    });
    asked.end(body);
  });
}

async function inOneRequest(signer, study, agent) {
  const { publicKey } = signer;
  const message = encodeOnce({ studyId, publicKey, ...rowOf(signer, study) });
  const headers = { 'Content-Type': 'application/x-protobuf', 'Content-Length': message.length };
  const asked = request(new URL('v1/once', address), { agent, method: 'POST', headers });
  return faultOf(decodeServerFrame(await answerOf(asked, message)));
}

/** The response that a cache in front of the server would give: one request for all people. */
async function openStudy() {
  const path = new URL(`v1/studies/${studyIdHex}/open`, address);
  const { welcome, epoch } = JSON.parse(await answerOf(request(path)));
  const { serverKey } = decodeServerFrame(Buffer.from(welcome, 'base64'));
  return { serverKey, epoch: BigInt(epoch) };
}

async function everybody({ way, count }) {
  const study = await openStudy();
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const faults = new Set();
  let left = count;
  const sendInTurn = async () => {
    while (left > 0) {
      left -= 1;
      const signer = signing.createSigner(signing.generateSeed());
      const fault = way === 'socket' ? await overSocket(signer)
        : await inOneRequest(signer, study, way === 'kept' ? agent : false);
      if (fault !== undefined) faults.add(fault);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  agent.destroy();
  return { refused: [...faults] };
}

process.on('message', (wish) => {
  if (wish === 'exit') process.exit(0);
  everybody(wish).then((answer) => process.send(answer));
});
process.on('disconnect', () => process.exit(0));
process.send({});
