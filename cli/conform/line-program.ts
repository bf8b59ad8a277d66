import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { signing } from '#signing';
import { logLines, verifyReleaseLog } from '../../src/log/index.js';
import { LineClient, type Line, type LineClientParts } from './line-client.js';

/** Reads commands from standard input until it ends, and writes events to standard output. */
export async function serveLines(parts: Omit<LineClientParts, 'verifyLog'>): Promise<void> {
  const client = new LineClient({ ...parts, verifyLog }, (event, members = {}) =>
    void process.stdout.write(`${JSON.stringify({ event, ...members })}\n`));
  client.hello();
  for await (const text of createInterface({ input: process.stdin })) {
    await client.take(JSON.parse(text) as Line);
  }
  process.exit(0);
}

async function verifyLog(path: string, serverKey: Uint8Array): Promise<boolean> {
  const lines = logLines(createReadStream(path));
  return (await verifyReleaseLog(lines, { signing, serverKey })).authentic;
}
