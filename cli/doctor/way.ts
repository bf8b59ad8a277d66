import { openTransport } from '#websocket';
import {
  decodeServerFrame, encryptedSubprotocol, subprotocols, type Welcome,
} from '../../src/wire/index.js';
import { ok, warn, type Finding } from './finding.js';

const timeoutMs = 10_000;

/** The Welcome that a WebSocket with all subprotocols gets from here, or why there is none. */
function welcomeFrom(address: URL): Promise<Welcome | string> {
  return new Promise((resolve) => {
    const url = address.href.replace(/^http/, 'ws');
    const settle = (found: Welcome | string): void => {
      clearTimeout(timer);
      resolve(found);
      transport.terminate();
    };
    const transport = openTransport(url, subprotocols, {
      onOpen: () => undefined,
      onActivity: () => undefined,
      onClose: (reason) => settle(reason),
      onMessage: (message) => settle(welcomeIn(message as Uint8Array)),
    });
    const timer = setTimeout(() => settle('no Welcome within 10 s'), timeoutMs);
  });
}

function welcomeIn(message: Uint8Array): Welcome | string {
  try {
    const frame = decodeServerFrame(message);
    if (frame.kind === 'welcome') return frame;
    return frame.kind === 'refusal' ? frame.text : `the first message is ${frame.kind}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** How rows of a contributor at this place travel: the server, or a proxy before it, decides. */
export async function wayFinding(address: URL): Promise<Finding> {
  const welcome = await welcomeFrom(address);
  const check = 'rows from here';
  if (typeof welcome === 'string') {
    return warn(check, `go signed, in HTTP requests: no WebSocket gets through (${welcome})`,
      'let the proxy pass Upgrade and Connection on');
  }
  return welcome.share === undefined
    ? warn(check, 'go signed: whoever ends TLS before the server reads them',
      `let the proxy pass Sec-WebSocket-Protocol on, or upgrade a server without ${
        encryptedSubprotocol}`)
    : ok(check, 'go encrypted, and no proxy reads them');
}
