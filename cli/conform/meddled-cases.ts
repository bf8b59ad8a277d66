import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { channelKeys, sealFrame } from '../../src/signing/channel-keys-node.js';
import {
  decodeClientFrame, decodeServerFrame, encodeAck, encodeServerFrame, type ServerFrame,
} from '../../src/wire/index.js';
import { document, start, stored } from './aggregator-cases.js';
import { expect } from './fault.js';
import type { MeddlingProxy, Way } from './meddling-proxy.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

const meddled = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name: `encrypted, meddled with: ${name}`, needs: 'contribute', isEncrypted: true, run });

/**
 * The messages that take the place of a message.
 * @param before the message of its kind before it.
 */
type Spoil = (message: Uint8Array, before: Uint8Array) => readonly Uint8Array[];

const flipped = (message: Uint8Array): Uint8Array =>
  message.with(message.length - 20, message.at(-20)! ^ 4);

const spoils: Readonly<Record<string, Spoil>> = {
  changed: (message) => [flipped(message)],
  dropped: () => [],
  repeated: (message) => [message, message],
  swapped: (message, before) => [message, before],
};

const kindOf = (way: Way, message: Uint8Array): string =>
  (way === 'up' ? decodeClientFrame(message) : decodeServerFrame(message)).kind;

/**
 * Spoils messages of one kind on the first two sockets: the second one of each, so that others
 * follow and its loss is noticed. Two that are swapped are the first and the second.
 */
function spoilSecond(proxy: MeddlingProxy, way: Way, kind: string, name: string): () => number {
  let [socket, count, spoiled] = [0, 0, 0];
  let before: Uint8Array | undefined;
  proxy.meddle = (to, message) => {
    if (to !== way || kindOf(to, message) !== kind || proxy.sockets > 2) return [message];
    count = socket === proxy.sockets ? count + 1 : 1;
    socket = proxy.sockets;
    const isHeld = name === 'swapped' && count === 1;
    if (count === 2) {
      spoiled += 1;
      return spoils[name]!(message, before!);
    }
    before = message;
    return isHeld ? [] : [message];
  };
  return () => spoiled;
}

interface Behind {
  readonly proxy: MeddlingProxy;
  /** Ends the case: each row that the program sent must be stored once, and nothing else. */
  readonly end: (rows: readonly (readonly number[])[]) => Promise<void>;
}

/** The aggregator of this package behind a proxy, and the program in front of it. */
async function behindProxy(stage: Stage): Promise<Behind> {
  const directory = stage.path('data');
  const aggregator = await start(directory, 0);
  stage.atEnd(() => aggregator.close());
  const proxy = await stage.proxy(aggregator.address);
  const serverKey = toHex(aggregator.serverKey);
  await stage.open({ url: proxy.url, serverKey }, { study: document.study });
  return {
    proxy,
    async end(rows) {
      await stage.close();
      await aggregator.close();
      const { publicKey } = signing.createSigner(fromHex(stage.seed));
      const found = await stored(directory, toHex(publicKey));
      expect(found.sort().join(';') === rows.map((row) => row.join()).sort().join(';'),
        'the aggregator does not have each row once');
    },
  };
}

/** Frames of the client, each of one row. */
async function spoiledBatches(stage: Stage, name: string): Promise<void> {
  const { proxy, end } = await behindProxy(stage);
  const spoiled = spoilSecond(proxy, 'up', 'encrypted-batch', name);
  const rows = freshRows(8);
  const ids = [];
  for (const row of rows) ids.push(await stage.send([row]));
  for (const id of ids) await stage.accepted(id);
  expect(spoiled() > 0, 'no second encrypted batch was sent on the first connection');
  await end(rows);
}

/** A frame of one channel comes first on the next one. */
async function otherChannel(stage: Stage): Promise<void> {
  const { proxy, end } = await behindProxy(stage);
  let old: Uint8Array | undefined;
  let isOver = false;
  proxy.meddle = (way, message) => {
    if (way !== 'up' || kindOf(way, message) !== 'encrypted-batch' || isOver) return [message];
    if (old === undefined) {
      old = message;
      proxy.cut();
      return [];
    }
    isOver = true;
    return [old, message];
  };
  const rows = freshRows(1);
  await stage.accepted(await stage.send(rows));
  expect(isOver, 'the batch was not encrypted again on the next connection');
  await end(rows);
}

async function copiedOpen(stage: Stage): Promise<void> {
  const { proxy, end } = await behindProxy(stage);
  let copies = 0;
  proxy.meddle = (way, message) => (
    way === 'up' && kindOf(way, message) === 'open' && copies++ < 2
      ? [message, message] : [message]);
  const rows = freshRows(2);
  await stage.accepted(await stage.send(rows));
  const count = (way: Way, kind: string): number => proxy.seen.filter((one) =>
    one.way === way && kindOf(way, one.message) === kind).length;
  expect(count('down', 'opened') <= count('up', 'open'), 'a copied Open was answered');
  await end(rows);
}

/** Acks of a scripted server, which notices when rows are reported as accepted too early. */
async function spoiledAcks(stage: Stage, name: string): Promise<void> {
  const server = await stage.server();
  const proxy = await stage.proxy(server.url);
  const spoiled = spoilSecond(proxy, 'down', 'encrypted-ack', name);
  await stage.open(server, { url: proxy.url });
  const ids = [];
  for (let i = 0; i < 8; i++) ids.push(await stage.send(freshRows(1)));
  for (const id of ids) await stage.accepted(id);
  await stage.close();
  expect(spoiled() > 0, 'there was no second ack on the first connection');
  stage.expectOnce(server);
}

/** The batch is dropped, and "accepted" is said in its place: in the clear, and badly sealed. */
async function forgedAcks(stage: Stage): Promise<void> {
  const server = await stage.server();
  const proxy = await stage.proxy(server.url);
  const strange = channelKeys(new Uint8Array(32).fill(1), new Uint8Array(180));
  let forged = 0;
  proxy.meddle = (way, message) => {
    if (way !== 'up' || kindOf(way, message) !== 'encrypted-batch' || forged >= 3) return [message];
    const { channel } = decodeClientFrame(message) as { channel: number };
    const ack = {
      kind: 'ack', channel, accepted: [1n], rejections: [], epoch: 7n, credit: 64,
    } as const;
    const plain = encodeAck(ack);
    const frames: readonly ServerFrame[] = [
      ack, { kind: 'encrypted-ack', channel, encrypted: plain },
      { kind: 'encrypted-ack', channel, encrypted: sealFrame(strange.down, 1, 'ack', plain) },
    ];
    proxy.say(encodeServerFrame(frames[forged++]!));
    return [];
  };
  await stage.open(server, { url: proxy.url });
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(forged === 3, 'the batch was not sent again after each forged ack');
  stage.expectOnce(server);
}

/** Opened that the server did not seal, one of an earlier channel, and a Ready in its place. */
async function forgedOpened(stage: Stage): Promise<void> {
  const server = await stage.server();
  const proxy = await stage.proxy(server.url);
  let older: Uint8Array | undefined;
  let forged = 0;
  proxy.meddle = (way, message) => {
    const frame = way === 'up' ? null : decodeServerFrame(message);
    if (frame?.kind !== 'opened' || forged >= 3) return [message];
    forged += 1;
    if (forged === 1) {
      older = message;
      return [encodeServerFrame({ ...frame, encrypted: new Uint8Array(frame.encrypted.length) })];
    }
    if (forged === 2) return [older!];
    proxy.say(encodeServerFrame({
      kind: 'ready', channel: frame.channel, studyId: frame.studyId, publicKey: frame.publicKey,
      signature: new Uint8Array(64), epoch: 7n, nextSequence: 1n, holes: [], credit: 64,
      ownSpend: null,
    }));
    return [];
  };
  await stage.open(server, { url: proxy.url });
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(forged === 3, 'there was no other connection after an answer that did not open');
  stage.expectOnce(server);
}

/** Cases of somebody who ends TLS in front of a server, and changes what goes through. */
export const meddledCases: readonly ConformanceCase[] = [
  ...Object.keys(spoils).map((name) =>
    meddled(`a batch is ${name}`, (stage) => spoiledBatches(stage, name))),
  meddled('a batch of another channel', otherChannel),
  meddled('Open is repeated', copiedOpen),
  ...Object.keys(spoils).map((name) =>
    meddled(`an ack is ${name}`, (stage) => spoiledAcks(stage, name))),
  meddled('acks are forged', forgedAcks),
  meddled('Opened is forged', forgedOpened),
];
