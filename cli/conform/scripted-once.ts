import type { IncomingMessage, ServerResponse } from 'node:http';
import { toBase64 } from '../../src/base/bytes.js';
import {
  encodeServerFrame, joinFrames, viewOnce, type Once, type ServerFrame,
} from '../../src/wire/index.js';

/** The answers of a scripted server to contributions without a channel. */
export interface OnceScript {
  /** Hexadecimal. */
  readonly studyId: string;
  readonly encryptedOnly: boolean;
  /** Answers an upload with Welcome, too: who has only the study's name finds its id there. */
  readonly isAskedByName: boolean;
  welcome(): Uint8Array;
  /** @returns null to cut the connection in place of an answer. */
  take(once: Once): ServerFrame | null;
}

/**
 * Answers GET /v1/studies/ID/open and POST /v1/once, to pages of any origin. It has no other way
 * than the WebSocket.
 */
export function answerOnce(
  request: IncomingMessage, response: ServerResponse, script: OnceScript,
): void {
  const { method, url } = request;
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Allow-Headers', 'Content-Type');
  response.setHeader('Access-Control-Expose-Headers', 'Keelson-Nonce');
  if (method === 'GET' && url === `/v1/studies/${script.studyId}/open`) {
    const { encryptedOnly } = script;
    response.end(JSON.stringify({ encryptedOnly, welcome: toBase64(script.welcome()) }));
  } else if (method === 'POST' && url === '/v1/once') {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const frame = script.take(viewOnce(Buffer.concat(parts)));
      if (frame === null) request.socket.destroy();
      else response.end(encodeServerFrame(frame));
    });
  } else if (method === 'OPTIONS') {
    response.writeHead(204).end();
  } else if (method === 'POST' && url === '/v1/batches' && script.isAskedByName) {
    response.setHeader('Keelson-Nonce', '00'.repeat(32));
    response.end(joinFrames([script.welcome()]));
  } else {
    response.writeHead(url?.includes('/open') === true ? 404 : 426).end();
  }
}
