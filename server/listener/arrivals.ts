import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AddressCounts } from '../network/address-counts.js';
import type { ListenerContext } from './context.js';
import { addressKey } from '../network/rates.js';

/**
 * Bounds TCP connections before a byte of them is read: how many there are, over all and from one address, and how fast they
 * come from one address, whatever they are or become. A WebSocket
 * too many is told so as long as there is room for that (`Sessions.roomFor`); beyond it, connections are closed unread. A reverse
 * proxy that is trusted brings everybody's connections, so only the bound over all holds for it; the rate of its clients is counted at their upgrade.
 */
export function boundArrivals(server: Server, context: ListenerContext): void {
  const { limits, metrics } = context;
  const perAddress = new AddressCounts();
  const perAddressMax = limits.socketsPerAddress + Math.ceil(limits.httpConnections / 2);
  server.maxConnections = limits.sockets + limits.httpConnections;
  server.on('drop', () => metrics.socketsClosed.add(1, { reason: 'server-full' }));
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (context.isTrustedProxy(remoteAddress)) return;
    const address = addressKey(remoteAddress);
    const isFull = perAddress.of(address) >= perAddressMax;
    if (isFull || !context.connectionRates.take(address)) {
      metrics.socketsClosed.add(1, { reason: isFull ? 'address-full' : 'address-rate' });
      return void socket.destroy();
    }
    perAddress.add(address, 1);
    socket.once('close', () => perAddress.add(address, -1));
  });
}
