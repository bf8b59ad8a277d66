import type { IncomingMessage, ServerResponse } from 'node:http';
import { toBase64 } from '../../src/base/bytes.js';
import { encodeServerFrame, viewOnce, type Once, type ServerFrame } from '../../src/wire/index.js';

/** The answers of a scripted server to contributions without a channel. */
export interface OnceScript {
  /** Hexadecimal. */
  readonly studyId: string;
  readonly encryptedOnly: boolean;
  welcome(): Uint8Array;
  /** @returns null to cut the connection in place of an answer. */
  take(once: Once): ServerFrame | null;
}

/** Answers GET /v1/studies/ID/open and POST /v1/once; it has no other way than the WebSocket. */
export function answerOnce(
  request: IncomingMessage, response: ServerResponse, script: OnceScript,
): void {
  const { method, url } = request;
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
  } else {
    response.writeHead(url?.includes('/open') === true ? 404 : 426).end();
  }
}
