import { afterEach, describe, expect, it } from 'vitest';
import {
  createContributor, type Contributor, type ContributorOptions,
} from '../../client/index.js';
import { sealFrame, channelKeys } from '../../src/signing/channel-keys-node.js';
import { signing } from '../../src/signing/node.js';
import {
  decodeBatchBody, decodeClientFrame, decodeServerFrame, encodeAck, encodeClientFrame,
  encodeServerFrame, type ClientFrame, type ServerFrame,
} from '../../src/wire/index.js';
import { startRig, type Rig } from '../listener/harness.js';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';

const open = { contributors: [] as Contributor[], proxies: [] as MeddlingProxy[] };

afterEach(async () => {
  for (const contributor of open.contributors.splice(0)) contributor.abort();
  for (const proxy of open.proxies.splice(0)) await proxy.close();
});

interface Scene {
  readonly rig: Rig;
  readonly proxy: MeddlingProxy;
  readonly connect: (options?: Partial<ContributorOptions>) => Contributor;
}

async function scene(): Promise<Scene> {
  const rig = await startRig();
  const proxy = await MeddlingProxy.to(rig.listener.port);
  open.proxies.push(proxy);
  return {
    rig, proxy,
    connect(options) {
      const contributor = createContributor({
        url: proxy.url, study: 'flight-delays', seed: signing.generateSeed(), backoffInitialMs: 2,
        backoffMaxMs: 10, ...options,
      });
      open.contributors.push(contributor);
      return contributor;
    },
  };
}

const clientFrame = (message: Uint8Array): ClientFrame => decodeClientFrame(message);
const serverFrame = (message: Uint8Array): ServerFrame => decodeServerFrame(message);
const isBatch = (message: Uint8Array): boolean => clientFrame(message).kind === 'encrypted-batch';
const isAck = (message: Uint8Array): boolean => serverFrame(message).kind === 'encrypted-ack';

/** Values that no other part of a frame has. */
const row = (i: number): readonly number[] => [1234.5 + i, -9876.25 - i];
const bytesOf = (values: readonly number[]): Buffer =>
  Buffer.from(Float64Array.from(values).buffer);

/** Every row that was sent counts once, and nothing else does. */
function expectExactlyOnce(rig: Rig, rows: readonly (readonly number[])[]): void {
  const counted = new Map<bigint, readonly number[]>();
  for (const { sequence, values } of rig.hub.submitted) {
    const before = counted.get(sequence);
    if (before !== undefined) expect(Array.from(values!)).toEqual(before);
    counted.set(sequence, Array.from(values!));
  }
  expect([...counted.values()].sort()).toEqual([...rows].sort());
  expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(rows.length);
}

/** How a message of one kind is spoiled once in a while. */
type Spoil = (message: Uint8Array, before: Uint8Array | undefined) => readonly Uint8Array[];
const spoils: Readonly<Record<string, Spoil>> = {
  changed: (message) => [message.with(message.length - 20, message[message.length - 20]! ^ 4)],
  dropped: () => [],
  repeated: (message) => [message, message],
  'put behind an older one': (message, before) =>
    (before === undefined ? [message] : [before, message]),
};

describe('a proxy that ends TLS, between a contributor and its server', () => {
  it('reads no row, no sequence and no verdict', async () => {
    const { rig, proxy, connect } = await scene();
    const contributor = connect();
    const rows = [0, 1, 2].map(row);
    for (const values of rows) expect((await contributor.send([values])).kind).toBe('accepted');
    expectExactlyOnce(rig, rows);
    const all = Buffer.concat(proxy.seen.map(({ message }) => message));
    for (const values of rows) {
      for (const value of values) expect(all.includes(bytesOf([value]))).toBe(false);
    }
    const kinds = proxy.seen.map(({ way, message }) =>
      (way === 'up' ? clientFrame(message) : serverFrame(message)).kind);
    expect(new Set(kinds)).toEqual(new Set([
      'welcome', 'open', 'opened', 'notice', 'encrypted-batch', 'encrypted-ack',
    ]));
    // The same look at signed batches sees them.
    proxy.offers = () => ['keelson.v1'];
    expect((await connect().send([row(9)])).kind).toBe('accepted');
    expect(Buffer.concat(proxy.seen.map(({ message }) => message)).includes(bytesOf(row(9))))
      .toBe(true);
  });

  it.each(Object.entries(spoils))(
    'gets nothing accepted that was not sent, and loses nothing: batches are %s',
    async (_name, spoil) => {
      const { rig, proxy, connect } = await scene();
      let socket = 0;
      let before: Uint8Array | undefined;
      // The second batch of each of the first sockets: others follow it, so its loss is noticed.
      let batches = 0;
      proxy.meddle = (way, message) => {
        if (way !== 'up' || !isBatch(message)) return [message];
        batches = socket === proxy.sockets ? batches + 1 : 1;
        socket = proxy.sockets;
        const last = before;
        before = message;
        return socket <= 3 && batches === 2 ? spoil(message, last) : [message];
      };
      const contributor = connect();
      const rows = Array.from({ length: 8 }, (_, i) => row(i));
      const results = await Promise.all(rows.map((values) => contributor.send([values])));
      expect(results.map(({ kind }) => kind)).toEqual(rows.map(() => 'accepted'));
      expectExactlyOnce(rig, rows);
    },
  );

  it.each(Object.entries(spoils))(
    'makes the contributor believe no ack that the server did not send: acks are %s',
    async (_name, spoil) => {
      const { rig, proxy, connect } = await scene();
      let count = 0;
      let before: Uint8Array | undefined;
      proxy.meddle = (way, message) => {
        if (way !== 'down' || !isAck(message)) return [message];
        count += 1;
        const last = before;
        before = message;
        if (count % 3 !== 2 || count > 12) return [message];
        const made = spoil(message, last);
        // Nobody notices an ack that is missing before the connection ends.
        if (made.length === 0) proxy.cut();
        return made;
      };
      const contributor = connect();
      const rows = Array.from({ length: 5 }, (_, i) => row(i));
      for (const values of rows) expect((await contributor.send([values])).kind).toBe('accepted');
      expectExactlyOnce(rig, rows);
    },
  );

  it('cannot drop a batch and answer "accepted" for it', async () => {
    const { rig, proxy, connect } = await scene();
    const forgedAck = {
      kind: 'ack', accepted: [1n], rejections: [], epoch: 7n, credit: 64,
    } as const;
    const strange = channelKeys(new Uint8Array(32).fill(1), new Uint8Array(180));
    let forged = 0;
    proxy.meddle = (way, message) => {
      if (way !== 'up' || !isBatch(message) || forged >= 3) return [message];
      forged += 1;
      const { channel } = clientFrame(message) as { channel: number };
      const ack = encodeAck({ ...forgedAck, channel });
      const frames: readonly ServerFrame[] = [
        { ...forgedAck, channel },
        { kind: 'encrypted-ack', channel, encrypted: ack },
        { kind: 'encrypted-ack', channel, encrypted: sealFrame(strange.down, 1, 'ack', ack) },
      ];
      proxy.say(encodeServerFrame(frames[forged - 1]!));
      return [];
    };
    const sent = connect().send([row(0)]);
    expect((await sent).kind).toBe('accepted');
    expect(forged).toBe(3);
    expectExactlyOnce(rig, [row(0)]);
  });

  it('gains nothing by a copied Open, and the contributor goes on', async () => {
    const { rig, proxy, connect } = await scene();
    let copies = 0;
    proxy.meddle = (way, message) => {
      if (way !== 'up' || clientFrame(message).kind !== 'open' || copies >= 2) return [message];
      copies += 1;
      return [message, message];
    };
    const contributor = connect();
    expect((await contributor.send([row(0)])).kind).toBe('accepted');
    expectExactlyOnce(rig, [row(0)]);
    const opened = proxy.seen
      .filter(({ way, message }) => way === 'down' && serverFrame(message).kind === 'opened');
    const opens =
      proxy.seen.filter(({ way, message }) => way === 'up' && clientFrame(message).kind === 'open');
    expect(opened.length).toBeLessThanOrEqual(opens.length);
  });

  it('that answers Open itself, or with an older answer, gets no row', async () => {
    const { rig, proxy, connect } = await scene();
    let older: Uint8Array | undefined;
    let lies = 0;
    proxy.meddle = (way, message) => {
      if (way !== 'down') return [message];
      const frame = serverFrame(message);
      if (frame.kind !== 'opened') return [message];
      if (older === undefined || lies >= 4) {
        older = message;
        return [message];
      }
      lies += 1;
      const made = { ...frame, encrypted: new Uint8Array(frame.encrypted.length) };
      return [lies % 2 === 0 ? older : encodeServerFrame(made)];
    };
    const first = connect();
    expect((await first.send([row(0)])).kind).toBe('accepted');
    proxy.cut();
    const batchesAtLies = (): number =>
      proxy.seen.filter(({ way, message }) => way === 'up' && isBatch(message)).length;
    expect(batchesAtLies()).toBe(1);
    expect((await first.send([row(1)])).kind).toBe('accepted');
    expect(lies).toBe(4);
    expectExactlyOnce(rig, [row(0), row(1)]);
  });

  it('settles no batch by a Refusal or Notice of its own making', async () => {
    const { rig, proxy, connect } = await scene();
    let told = false;
    proxy.meddle = (way, message) => {
      if (way !== 'down' || !isAck(message) || told) return [message];
      told = true;
      const { channel } = serverFrame(message) as { channel: number };
      return [encodeServerFrame({
        kind: 'refusal', code: 'study-ended', retryable: false, text: 'it is over', channel,
        studyId: new Uint8Array(0), publicKey: new Uint8Array(0),
      })];
    };
    const contributor = connect();
    await expect(contributor.send([row(0)])).rejects.toThrow('it is over');
    expect(rig.hub.submitted).toHaveLength(1);
  });

  it('that hides encrypted channels leaves signed ones, and the same rows count once', async () => {
    const { rig, proxy, connect } = await scene();
    const contributor = connect();
    let acks = 0;
    // The first ack of each form is lost with its connection.
    proxy.meddle = (way, message) => {
      const isAnswer =
        way === 'down' && ['ack', 'encrypted-ack'].includes(serverFrame(message).kind);
      if (!isAnswer || ++acks > 3) return [message];
      proxy.offers = acks % 2 === 1 ? () => ['keelson.v1'] : (names) => names;
      proxy.cut();
      return [];
    };
    expect((await contributor.send([row(0)])).kind).toBe('accepted');
    const forms = proxy.seen.flatMap(({ way, message }) =>
      (way === 'up' && /batch/.test(clientFrame(message).kind) ? [clientFrame(message).kind] : []));
    expect(forms).toEqual(['encrypted-batch', 'batch', 'encrypted-batch', 'batch']);
    expectExactlyOnce(rig, [row(0)]);
    const signed = proxy.seen
      .map(({ way, message }) => (way === 'up' ? clientFrame(message) : null))
      .find((frame) => frame?.kind === 'batch');
    expect(decodeBatchBody((signed as { body: Uint8Array }).body).sequence).toBe(1n);
    expect(encodeClientFrame(signed!)).toBeDefined();
  });
});
