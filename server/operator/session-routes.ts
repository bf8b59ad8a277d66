import type { Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/** Signs the sending browser in. The request had the token, which was checked and is not stored. */
export async function signIn(exchange: Exchange): Promise<void> {
  if (!exchange.withToken) {
    throw new HttpError(
      401, 'unauthorized', 'send the operator token: Authorization: Bearer TOKEN',
    );
  }
  exchange.response.setHeader('Set-Cookie', exchange.sessions.open(exchange.request));
  exchange.response.writeHead(204).end();
}

/** Signs the sending browser out, even if its session has ended. */
export async function signOut(exchange: Exchange): Promise<void> {
  exchange.response.setHeader('Set-Cookie', exchange.sessions.close(exchange.request));
  exchange.response.writeHead(204).end();
}
