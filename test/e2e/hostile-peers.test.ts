// @module-tag slow
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { peerSubprotocol } from '../../src/wire/peer-messages.js';
import { SealedStage } from '../support/sealed-stage.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { until } from '../support/until.js';

const everyMs = 600_000;
const question = 'estimator: count\nparameters: { threshold: 25 }';
const rows = Array.from({ length: 40 }, (_, i) => [[20 + (i % 10)], [22 + (i % 10)]]);

let stage: SealedStage;
let clock: ShiftedClock;
let ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends) end();
  ends = [];
  await (stage as SealedStage | undefined)?.close();
});

/** Keeps a socket that never proves anything, and comes back when it is closed. */
function keepSilent(localAddress: string, port: number): Promise<unknown> {
  let socket: Socket;
  let again: NodeJS.Timeout;
  let isOver = false;
  const open = (): void => {
    socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    socket.resume();
    socket.on('close', () => { if (!isOver) again = setTimeout(open, 200); });
    socket.write([
      'GET / HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: Upgrade', 'Upgrade: websocket',
      'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Sec-WebSocket-Protocol: ${peerSubprotocol}`, '', '',
    ].join('\r\n'));
  };
  open();
  ends.push(() => { isOver = true; clearTimeout(again); socket.destroy(); });
  return once(socket!, 'close');
}

async function begin(patience: string): Promise<void> {
  clock = new ShiftedClock();
  stage = await SealedStage.of({ question, everyMs, sealed: `  patience: ${patience}` });
}

async function answers(): Promise<void> {
  const settled = await stage.contribute(rows);
  expect(settled.map(({ kind }) => kind)).toEqual(rows.map(() => 'accepted'));
  clock.advance(everyMs);
  const outcome = await stage.release(0);
  expect(outcome).toMatchObject({ kind: 'value' });
  expect(await stage.release(0, 1)).toEqual(outcome);
}

const isOpen = (): boolean => stage.front.hub.studies()[0]!.epoch === 1n;

const times = [1, 2, 3, 4, 5];
it.each(times)('silent sockets do not keep the three apart, time %i of 5', {
  timeout: 240_000,
}, async () => {
  await begin('60s');
  const options = { clock, peerTimeoutMs: 20_000 };
  await stage.start(0, options);
  const refused: Promise<unknown>[] = [];
  for (let i = 0; i < 34; i++) refused.push(keepSilent('127.0.0.1', stage.ports[0]!));
  await Promise.all(refused);
  await stage.start(1, options);
  await stage.start(2, options);
  await until(isOpen);
  const beganMs = clock.monotonicMs();
  await stage.stop(1);
  for (let address = 2; address <= 11; address++) {
    for (let i = 0; i < 34; i++) {
      refused.push(keepSilent(`127.0.0.${address}`, stage.ports[2 * (i % 2)]!));
    }
  }
  await stage.start(1, options);
  await Promise.all(refused);
  await answers();
  // The patience of the study.
  expect(clock.monotonicMs() - beganMs).toBeLessThan(60_000);
});
