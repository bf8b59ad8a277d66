// The best that this machine could do, measured in the same run as the ingest benchmark. Each
// figure is one stage of the path alone, with the same bytes.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { signing } from '../../dist/src/signing/node.js';
import { signBatch, verifyBatch } from '../../dist/src/signing/message.js';

const batchesPerSync = 16;

/** Frames of `bytes` that a ws server receives per second from another process. */
export async function rawWebSocket(bytes, seconds = 3) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  let received = 0;
  server.on('connection', (socket) => socket.on('message', () => { received += 1; }));
  const sender = `
    import { WebSocket } from 'ws';
    const socket = new WebSocket('ws://127.0.0.1:${server.address().port}');
    const frame = Buffer.alloc(${bytes}, 7);
    const pump = () => { for (let i = 0; i < 64 && socket.bufferedAmount < 8e6; i++) socket.send(frame); setImmediate(pump); };
    socket.on('open', pump); socket.on('close', () => process.exit(0)); socket.on('error', () => process.exit(0));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', sender], { stdio: 'ignore' });
  await once(server, 'connection');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const from = received;
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const rate = (received - from) / ((performance.now() - start) / 1000);
  child.kill('SIGKILL');
  for (const socket of server.clients) socket.terminate();
  server.close();
  return rate;
}

/** Bodies of `bytes` whose signature one thread digests and verifies per second. */
export function verifySignatures(bytes, seconds = 2) {
  const signer = signing.createSigner(signing.generateSeed());
  const verifier = signing.createVerifier(signer.publicKey);
  const context = { serverKey: signer.publicKey, studyId: new Uint8Array(32) };
  const body = new Uint8Array(bytes).fill(7);
  const signature = signBatch(signer, context, signing.sha512(body));
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    if (!verifyBatch(verifier, context, signing.sha512(body), signature)) {
      throw new Error('a good signature was refused');
    }
    count += 1;
  }
  return count / ((performance.now() - start) / 1000);
}

/** Bodies of `bytes` that reach the disk of `directory` per second, 16 to an fdatasync. */
export function appendAndSync(bytes, seconds = 2, directory = tmpdir()) {
  const folder = mkdtempSync(join(directory, 'keelson-ceiling-'));
  const file = openSync(join(folder, 'journal'), 'a');
  const body = Buffer.alloc(bytes, 7);
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    for (let i = 0; i < batchesPerSync; i++) writeSync(file, body);
    fdatasyncSync(file);
    count += batchesPerSync;
  }
  const rate = count / ((performance.now() - start) / 1000);
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
  return rate;
}
