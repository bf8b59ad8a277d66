import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { protocolLimits } from '../../src/base/limits.js';
import {
  decodeReleaseBody, decodeServerFrame, encodeClientFrame, type ServerFrame,
} from '../../src/wire/index.js';
import type { ListenerContext, SessionSocket } from '../../server/listener/context.js';
import { eventFrame } from '../../server/listener/event-frames.js';
import type { ListenerLimits } from '../../server/network/options.js';
import { contextOf } from '../../server/listener/new-context.js';
import { Session } from '../../server/listener/session.js';
import { createFakeHub, type FakeHub } from '../support/fake-hub.js';
import { document } from '../support/wire-samples.js';
import { HandClock } from './hand-clock.js';

/** A socket whose other side reads as much as the test says. */
class HandSocket implements SessionSocket {
  readonly address = 'here';
  bufferedBytes = 0;
  readonly sent: ServerFrame[] = [];
  paused = false;
  pings = 0;
  end: string | undefined;
  drain: () => void = () => undefined;
  send = (frame: Uint8Array): void => void this.sent.push(decodeServerFrame(frame));
  together = (write: () => void): void => write();
  pause = (): void => void (this.paused = true);
  resume = (): void => void (this.paused = false);
  ping = (): void => void (this.pings += 1);
  close = (code: number): void => void (this.end = String(code));
  terminate = (): void => void (this.end = 'cut');
  onDrain = (action: () => void): void => void (this.drain = action);
  kinds = (): string[] => this.sent.map((frame) => frame.kind);
}

interface Bench {
  readonly hub: FakeHub;
  readonly clock: HandClock;
  readonly socket: HandSocket;
  readonly session: Session;
  readonly context: ListenerContext;
  readonly study: string;
  subscribe(from?: bigint): Promise<void>;
  indices(): number[];
}

async function bench(change: Partial<ListenerLimits> = {}): Promise<Bench> {
  const hub = await createFakeHub([document]);
  const clock = new HandClock();
  const socket = new HandSocket();
  const quiet = (): void => undefined;
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const context = contextOf({ hub, clock, logger, limits: change });
  context.subscribers.follow(hub, (event) => eventFrame(event, hub, clock.nowMs()), (error) => {
    throw error;
  });
  const session = new Session(context, socket, false);
  session.start();
  const study = hub.studies()[0]!.studyId;
  return {
    hub, clock, socket, session, context, study,
    async subscribe(from = 0n) {
      session.receive(
        encodeClientFrame({ kind: 'subscribe', studyId: fromHex(study), fromRelease: from }), true,
      );
      await settled();
    },
    indices: () =>
      socket.sent.flatMap((frame) =>
        (frame.kind === 'release' ? [Number(decodeReleaseBody(frame.body).index)] : [])),
  };
}

const publish = (rig: Bench): void => void rig.hub.publish(rig.study);

/** Lets promises that are ready run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const full = protocolLimits.subscriberBufferBytes + 1;

describe('a subscriber that does not keep up', () => {
  it('skips to the newest release once it reads again', async () => {
    const rig = await bench();
    await rig.subscribe();
    publish(rig);
    rig.socket.bufferedBytes = full;
    for (let i = 0; i < 4; i++) publish(rig);
    expect(rig.indices()).toEqual([0]);
    rig.socket.bufferedBytes = 0;
    rig.socket.drain();
    expect(rig.indices()).toEqual([0, 4]);
    publish(rig);
    expect(rig.indices()).toEqual([0, 4, 5]);
    expect(rig.context.metrics.releasesSkipped.total()).toBe(3);
  });

  it('reads the stored log no faster than it takes it, and misses nothing of it', async () => {
    const rig = await bench({ releasesPerPage: 2 });
    for (let i = 0; i < 5; i++) publish(rig);
    rig.socket.bufferedBytes = full;
    await rig.subscribe();
    expect(rig.indices()).toEqual([]);
    publish(rig);
    rig.socket.bufferedBytes = 0;
    rig.socket.drain();
    await settled();
    expect(rig.indices()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(rig.socket.kinds().at(-1)).toBe('head');
  });

  it('is cut after the stall limit, not before', async () => {
    const rig = await bench();
    await rig.subscribe();
    rig.socket.bufferedBytes = full;
    rig.session.check();
    rig.clock.advance(protocolLimits.subscriberStallMs - 1);
    rig.session.check();
    expect(rig.socket.end).toBeUndefined();
    rig.clock.advance(1);
    rig.session.check();
    expect(rig.socket.end).toBe('cut');
    expect(rig.context.metrics.totals.subscriptions).toBe(0);
    publish(rig);
    expect(rig.indices()).toEqual([]);
  });

  it('is not cut when it took something in between', async () => {
    const rig = await bench();
    await rig.subscribe();
    for (let i = 0; i < 4; i++) {
      rig.socket.bufferedBytes = full;
      rig.session.check();
      rig.clock.advance(protocolLimits.subscriberStallMs / 2);
      rig.session.check();
      rig.socket.bufferedBytes = 0;
      rig.session.heard();
      rig.session.check();
    }
    expect(rig.socket.end).toBeUndefined();
  });
});

describe('a socket that floods the server with Subscribe', () => {
  const subscribeFrame = (rig: Bench): Uint8Array =>
    encodeClientFrame({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });

  it('is closed soon, and has one page read at a time meanwhile', async () => {
    const rig = await bench();
    publish(rig);
    const releases = rig.hub.releases.bind(rig.hub);
    let [reading, most, reads] = [0, 0, 0];
    rig.hub.releases = async (...which) => {
      most = Math.max(most, ++reading);
      reads += 1;
      await settled();
      reading -= 1;
      return releases(...which);
    };
    const frame = subscribeFrame(rig);
    for (let i = 0; i < 10; i++) rig.session.receive(frame, true);
    await settled();
    await settled();
    expect(rig.socket.end).toBeUndefined();
    for (let i = 0; i < 100_000; i++) rig.session.receive(frame, true);
    expect(rig.socket.end).toBe('1008');
    for (let i = 0; i < 10; i++) await settled();
    expect([most, reading]).toEqual([1, 0]);
    expect(reads).toBeLessThan(10);
    expect(rig.context.metrics.totals.subscriptions).toBe(0);
  });

  it('gets the rate in a refusal, and is closed when it does not slow down', async () => {
    const rig =
      await bench({ subscribePerSecond: 3, subscribeBurst: 2, hastySubscribesPerSocket: 2 });
    await rig.subscribe();
    await rig.subscribe();
    await rig.subscribe();
    expect(rig.socket.sent.at(-1)).toMatchObject({
      kind: 'refusal', code: 'rate-limited', retryable: true,
      text: 'more than 3 requests per second from this address: slow down and try again',
    });
    rig.clock.advance(1_000);
    await rig.subscribe();
    expect(rig.socket.sent.at(-1)).toMatchObject({ kind: 'head' });
    for (let i = 0; i < 3; i++) await rig.subscribe();
    expect(rig.socket.end).toBe('1008');
  });

  it('may subscribe again, as often as the rate allows, once it has the log', async () => {
    const rig = await bench({ hastySubscribesPerSocket: 2 });
    publish(rig);
    for (let i = 0; i < 20; i++) await rig.subscribe();
    expect(rig.socket.end).toBeUndefined();
    expect(rig.indices()).toEqual(Array.from({ length: 20 }, () => 0));
  });
});

describe('a socket that floods the server with Unsubscribe', () => {
  it('gets the rate in a refusal, and is closed when it does not slow down', async () => {
    const rig =
      await bench({ subscribePerSecond: 3, subscribeBurst: 3, hastySubscribesPerSocket: 2 });
    await rig.subscribe();
    const frame = encodeClientFrame({ kind: 'unsubscribe', studyId: fromHex(rig.study) });
    for (let i = 0; i < 2; i++) rig.session.receive(frame, true);
    expect(rig.socket.kinds()).not.toContain('refusal');
    rig.session.receive(frame, true);
    expect(rig.socket.sent.at(-1)).toMatchObject({ kind: 'refusal', code: 'rate-limited' });
    expect(rig.socket.end).toBeUndefined();
    rig.session.receive(frame, true);
    expect(rig.socket.end).toBe('1008');
  });
});

describe('a socket that sends pings and pongs', () => {
  const closedFor = ({ context }: Bench): number =>
    context.metrics.socketsClosed.total({ reason: 'control-frames' });

  it('may send a burst of them and a few per second, and is cut at the first one past '
    + 'that', async () => {
    const rig = await bench({ controlFramesPerSecond: 2, controlFramesBurst: 5 });
    for (let i = 0; i < 5; i++) rig.session.heard();
    rig.clock.advance(1_000);
    for (let i = 0; i < 2; i++) rig.session.heard();
    expect(rig.socket.end).toBeUndefined();
    // The rest of the same network read comes after the cut.
    for (let i = 0; i < 10_000; i++) rig.session.heard();
    expect([rig.socket.end, closedFor(rig)]).toEqual(['cut', 1]);
  });

  it('is cut also while it is being closed for something else', async () => {
    const rig = await bench({ controlFramesBurst: 5 });
    for (let i = 0; i < 3; i++) rig.session.receive(Uint8Array.of(255), true);
    expect(rig.socket.end).toBe('1002');
    for (let i = 0; i < 6; i++) rig.session.heard();
    expect([rig.socket.end, closedFor(rig)]).toEqual(['cut', 1]);
  });
});

describe('back-pressure on a socket', () => {
  it('stops reading from a client that does not read its answers', async () => {
    const rig = await bench();
    rig.socket.bufferedBytes = full;
    rig.session.receive(Uint8Array.of(255), true);
    expect(rig.socket.paused).toBe(true);
    rig.clock.advance(protocolLimits.pauseMs);
    expect(rig.socket.paused).toBe(true);
    rig.socket.bufferedBytes = 0;
    rig.clock.advance(protocolLimits.pauseMs);
    expect(rig.socket.paused).toBe(false);
  });

  it('sends the notices that a client missed once it reads again', async () => {
    const rig = await bench();
    await rig.subscribe();
    rig.socket.sent.length = 0;
    rig.socket.bufferedBytes = full;
    rig.hub.emit({ kind: 'epoch-opened', studyId: rig.study, epoch: 8n, closesAtMs: 0 });
    rig.hub.change(rig.study, { state: 'exhausted', epoch: 0n });
    rig.hub.emit({ kind: 'study-stopped', studyId: rig.study, state: 'exhausted' });
    rig.clock.advance(protocolLimits.pauseMs);
    expect(rig.socket.kinds()).toEqual([]);
    rig.socket.bufferedBytes = 0;
    rig.clock.advance(protocolLimits.pauseMs);
    const notices = rig.socket.sent.filter((frame) => frame.kind === 'notice');
    expect(notices).toMatchObject([{ state: 'exhausted', epoch: 0n }]);
    rig.clock.advance(5 * protocolLimits.pauseMs);
    expect(rig.socket.sent.filter((frame) => frame.kind === 'notice')).toHaveLength(1);
  });

  it('does not call a paused socket silent', async () => {
    const rig = await bench();
    await rig.subscribe();
    rig.hub.overload = true;
    rig.session.receive(
      encodeClientFrame({ kind: 'unsubscribe', studyId: fromHex(rig.study) }), true,
    );
    await rig.subscribe();
    expect(rig.socket.paused).toBe(true);
    for (let i = 0; i < 6; i++) {
      rig.clock.advance(protocolLimits.heartbeatMs);
      rig.session.check();
    }
    expect(rig.socket.end).toBeUndefined();
    rig.hub.overload = false;
    rig.clock.advance(protocolLimits.pauseMs);
    rig.session.check();
    rig.clock.advance(2 * protocolLimits.heartbeatMs);
    rig.session.check();
    rig.session.check();
    expect(rig.socket.end).toBe('cut');
  });

  it('does not call a socket silent because the server itself paused', async () => {
    const rig = await bench();
    await rig.subscribe();
    rig.clock.advance(100 * protocolLimits.heartbeatMs);
    rig.session.check();
    expect(rig.socket.end).toBeUndefined();
    // What waited in the socket is read before the next check.
    rig.session.receive(
      encodeClientFrame({ kind: 'unsubscribe', studyId: fromHex(rig.study) }), true,
    );
    await rig.subscribe();
    rig.session.check();
    expect(rig.socket.end).toBeUndefined();
  });
});

describe('a subscription between log and live', () => {
  it('misses no release that is published while the head is signed', async () => {
    const rig = await bench();
    const head = rig.hub.head.bind(rig.hub);
    let raced = false;
    rig.hub.head = async (id) => {
      const old = await head(id);
      if (!raced) publish(rig);
      raced = true;
      return old;
    };
    await rig.subscribe();
    await settled();
    publish(rig);
    expect(rig.indices()).toEqual([0, 1]);
  });

  it('gives up on a log that is shorter than its head says', async () => {
    const rig = await bench();
    publish(rig);
    rig.hub.releases = async () => [];
    await rig.subscribe();
    await settled();
    expect(rig.socket.sent.at(-1)).toMatchObject({ kind: 'refusal', code: 'internal' });
    expect(rig.context.metrics.totals.subscriptions).toBe(0);
  });
});

describe('a handler that fails', () => {
  it('ends its own socket with 1011 and throws nothing', async () => {
    const rig = await bench();
    rig.hub.study = () => {
      throw new Error('a defect');
    };
    rig.session.receive(
      encodeClientFrame({ kind: 'subscribe', studyId: new Uint8Array(32), fromRelease: 0n }), true,
    );
    expect(rig.socket.end).toBe('1011');
  });
});

describe('a socket that is refused something', () => {
  const nobodys = fromHex('33'.repeat(32));
  const refused = encodeClientFrame({ kind: 'unsubscribe', studyId: nobodys });
  const hello = encodeClientFrame({
    kind: 'hello', studyId: nobodys, publicKey: nobodys, clientNonce: nobodys,
    signature: new Uint8Array(64),
  });

  it.each([['Hello', hello], ['Unsubscribe', refused]])(
    'is read again a moment later: %s', async (_, frame) => {
      const { clock, session, socket } = await bench();
      session.receive(frame, true);
      session.receive(frame, true);
      expect(socket.sent.filter(({ kind }) => kind === 'refusal')).toHaveLength(2);
      clock.advance(protocolLimits.pauseMs - 1);
      expect(socket.paused).toBe(true);
      clock.advance(1);
      expect(socket.paused).toBe(false);
    },
  );

  it('waits for its turn among those of its address, and for no other address', async () => {
    const { clock, context, session, socket } = await bench();
    const [second, elsewhere] = [new HandSocket(), new HandSocket()];
    Object.assign(elsewhere, { address: 'elsewhere' });
    const sessions = [session, new Session(context, second, false),
      new Session(context, elsewhere, false)];
    for (const one of sessions) one.receive(hello, true);
    const paused = (): boolean[] => [socket, second, elsewhere].map((one) => one.paused);
    expect(paused()).toEqual([true, true, true]);
    clock.advance(protocolLimits.pauseMs);
    expect(paused()).toEqual([false, true, false]);
    clock.advance(protocolLimits.pauseMs);
    expect(paused()).toEqual([false, false, false]);
  });

  it('is not read while the other side does not read its answers, and the other way '
    + 'round', async () => {
    const { clock, session, socket } = await bench();
    socket.bufferedBytes = full;
    session.receive(hello, true);
    clock.advance(protocolLimits.pauseMs);
    expect(socket.paused).toBe(true);
    socket.bufferedBytes = 0;
    clock.advance(protocolLimits.pauseMs);
    expect(socket.paused).toBe(false);
  });

  it('is unpacked slowly when it was closed and sends on', async () => {
    const { clock, session, socket } = await bench();
    for (let i = 0; i < 3; i++) session.receive(Uint8Array.of(255), true);
    expect([socket.end, socket.paused]).toEqual(['1002', false]);
    session.receive(Uint8Array.of(255), true);
    expect(socket.paused).toBe(true);
    clock.advance(protocolLimits.pauseMs);
    expect(socket.paused).toBe(false);
  });
});
