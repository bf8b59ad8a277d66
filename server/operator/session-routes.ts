import type { Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/** Signs the sending browser in. The token itself came with the request and was checked; it is not kept. */
export async function signIn(exchange: Exchange): Promise<void> {
  if (!exchange.withToken) {
    throw new HttpError(401, 'unauthorized', 'send the operator token: Authorization: Bearer TOKEN');
  }
  exchange.response.setHeader('Set-Cookie', exchange.sessions.open(exchange.request));
  exchange.response.writeHead(204).end();
}

/** Signs the sending browser out, also when its session is over already. */
export async function signOut(exchange: Exchange): Promise<void> {
  exchange.response.setHeader('Set-Cookie', exchange.sessions.close(exchange.request));
  exchange.response.writeHead(204).end();
}
