// The load of generator.js over HTTP requests in place of WebSockets: connections that
// are kept, each with one request at a time, and several batches of one contributor in a request.
import { Agent, request } from 'node:http';
import { fromHex } from '../../dist/src/base/bytes.js';
import { decodeServerFrame, joinFrames, splitFrames } from '../../dist/src/wire/index.js';
import { helloFrame } from './frames.js';

/**
 * Keeps connections busy until `isOver`.
 * @param turns contributors, each with `signer`, `epoch` and `sequence`; a request takes the next.
 * @param batch makes the frame of a contributor's next batch.
 * @param onAck gets the contributor and each Ack.
 */
export async function startUploads({
  url, studyId, connections, batchesPerRequest, turns, batch, onAck, isOver,
}) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const address = new URL('v1/batches', url.replace('ws', 'http'));

  function post(nonce, body) {
    return new Promise((resolve, reject) => {
      const headers = {
        'Content-Type': 'application/x-protobuf', 'Content-Length': body.length,
        ...(nonce !== null && { 'Keelson-Nonce': nonce }),
      };
      const asked = request(address, { agent, method: 'POST', headers }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const whole = Buffer.concat(parts);
          if (answer.statusCode !== 200) {
            return reject(new Error(`HTTP status ${answer.statusCode}: ${whole.toString()}`));
          }
          const frames = splitFrames(whole, 2 ** 26).map(decodeServerFrame);
          resolve({ nonce: answer.headers['keelson-nonce'], frames });
        });
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  async function keepBusy() {
    let { nonce, frames: [welcome] } = await post(null, Buffer.alloc(0));
    const { serverKey, studies } = welcome;
    while (!isOver()) {
      const person = turns.shift();
      person.epoch ??= studies[0].epoch;
      const frames = Array.from({ length: batchesPerRequest }, () => batch(person, serverKey));
      const hello =
        helloFrame(person.signer, { serverKey, serverNonce: fromHex(nonce), studyId });
      const answer = await post(nonce, joinFrames([hello, ...frames]));
      nonce = answer.nonce;
      for (const frame of answer.frames) {
        if (frame.kind === 'refusal') throw new Error(`${frame.code}: ${frame.text}`);
        if (frame.kind === 'ack') onAck(person, frame);
      }
      turns.push(person);
    }
  }

  return Promise.all(Array.from({ length: connections }, keepBusy));
}
