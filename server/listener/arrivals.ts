import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AddressCounts } from '../network/address-counts.js';
import type { ListenerContext } from './context.js';
import { addressKey } from '../network/rates.js';

/**
 * Bounds TCP connections before a byte of them is read: their number in all and per address, and
 * the rate per address. A WebSocket above a limit gets a refusal while there is room for one
 * (`Sessions.roomFor`); beyond that, connections are closed unread. A trusted reverse proxy brings
 * the connections of all its clients, so only the total limit applies to it. The rate of its
 * clients is counted at their upgrade.
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
