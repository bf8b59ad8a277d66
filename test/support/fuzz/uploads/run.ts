import type { Socket } from 'node:net';
import { fromHex, toHex } from '../../../../src/base/bytes.js';
import { joinFrames } from '../../../../src/wire/index.js';
import { createListener, type Listener } from '../../../../server/listener/index.js';
import { Dice } from '../dice.js';
import { FrameMaker } from '../frames/frames.js';
import { must } from '../frames/oracle.js';
import type { Peer } from '../frames/peer.js';
import { flipped, resized } from '../frames/protobuf.js';
import { contributors } from '../frames/study.js';
import { Tally } from '../frames/tally.js';
import { World } from '../frames/world.js';
import { UploadPeer } from './peer.js';
import { deliver, type Delivery } from './sender.js';

/** Of the server: the same as over sockets, and short times, because its clock moves by steps. */
const limits = {
  connectionsPerSecond: 1e6, connectionsBurst: 1e6, uploadTimeoutMs: 200, uploadNonceMs: 5_000,
  uploadBytes: 40_000, frameBytes: 30_000,
} as const;
/** Time that passes while answers are awaited, in each step. */
const stepMs = 5;

/**
 * One server under so many hostile requests, in front of its real port. The same seed makes the
 * same requests, but for nonces, which are drawn anew.
 * @throws whatever was broken.
 */
export async function fuzzUploads(
  seed: number, requests: number, tally = new Tally(),
): Promise<Tally> {
  const world = await World.open(tally, {});
  tally.worlds += 1;
  world.verifies = true;
  const listener = await createListener({
    ...world.parts(), limits, host: '127.0.0.1', port: 0, operatorToken: 'of-the-fuzzer',
  });
  const crowd = new Crowd(world, listener, new Dice(seed), tally);
  try {
    const until = tally.frames + requests;
    while (tally.frames < until) await crowd.burst();
    const closing = listener.close(true);
    await crowd.passUntil(closing);
    await world.close(() => undefined);
  } catch (error) {
    await listener.close(false);
    world.remove();
    throw error;
  }
  return tally;
}

class Crowd {
  readonly #peers: UploadPeer[];
  readonly #maker: FrameMaker;
  readonly #sockets = new Set<Socket>();

  constructor(
    private readonly world: World, private readonly listener: Listener,
    private readonly dice: Dice, private readonly tally: Tally,
  ) {
    const issued = new Set<string>();
    this.#maker = new FrameMaker(world, dice);
    this.#peers = world.studies.flatMap((id) => [0, 1, 2].map(() => {
      const studyId = fromHex(id);
      const isEnrolledStudy = world.nameOf(studyId) === 'enrolled';
      return new UploadPeer(dice.pick(contributors), studyId, isEnrolledStudy, tally, issued);
    }));
  }

  /** Requests of several senders at once. All of them get their answer, or their end. */
  async burst(): Promise<void> {
    const { dice, world, tally } = this;
    const startedMs = performance.now();
    world.busy = dice.happens(0.02);
    const count = dice.happens(0.1) ? 30 : 1 + dice.below(6);
    await this.passUntil(Promise.all(Array.from({ length: count }, () => this.#request())));
    world.busy = false;
    await world.settled();
    tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedMs);
  }

  /** Lets time pass until the work is done. */
  async passUntil(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => { isDone = true; });
    done.catch(() => undefined);
    const endsMs = performance.now() + 120_000;
    while (!isDone) {
      await this.world.clock.advance(stepMs);
      must(performance.now() < endsMs, 'every request gets an answer or an end');
    }
    await done;
    this.world.check();
  }

  async #request(): Promise<void> {
    const { dice, tally } = this;
    tally.frames += 1;
    const peer = dice.pick(this.#peers);
    if (dice.happens(0.25)) return this.#once(peer);
    if (peer.nonces.length === 0 || dice.happens(0.02)) return this.#begin(peer);
    const nonce = this.#nonceOf(peer);
    const body = this.#bodyOf(peer, nonce);
    tally.bytes += body.length;
    const shown = dice.happens(0.99) ? nonce : nonce.slice(dice.below(64));
    const answer = await this.#send(this.#deliveryOf('batches', body, `Keelson-Nonce: ${shown}`));
    peer.judge(answer, nonce);
  }

  /** A contribution without a channel, of keys that also have channels. */
  async #once(peer: UploadPeer): Promise<void> {
    const { dice, tally } = this;
    const made = dice.happens(0.9) ? this.#maker.batch(peer) : this.#maker.forged(peer);
    tally.made(`once: ${made.recipe}`);
    const whole = peer.once(made.bytes);
    const body = dice.happens(0.8) ? whole : this.#spoilt(whole);
    tally.bytes += body.length;
    peer.judgeOnce(await this.#send(this.#deliveryOf('once', body)), body === whole);
  }

  async #begin(peer: UploadPeer): Promise<void> {
    const head = `POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n`
      + 'Content-Type: application/x-protobuf\r\n\r\n';
    peer.judge(await this.#send({ parts: [Buffer.from(head)], then: 'waits' }), undefined);
  }

  #send(delivery: Delivery): ReturnType<typeof deliver> {
    let socket: Socket;
    return deliver(this.listener.port, delivery, (made) => {
      socket = made;
      this.#sockets.add(made);
    }).finally(() => this.#sockets.delete(socket));
  }

  /** Its own nonce, mostly; else one of another, one that was used, or none of the server. */
  #nonceOf(peer: UploadPeer): string {
    const { dice } = this;
    if (dice.happens(0.85)) return peer.nonces.pop()!;
    this.tally.made('nonce: wrong');
    const other = dice.pick(this.#peers).nonces;
    switch (dice.below(4)) {
      case 0: return other.at(-1) ?? toHex(dice.bytes(32));
      case 1: return toHex(dice.bytes(32));
      case 2:
        return toHex(flipped(fromHex(peer.nonces.at(-1)!), dice)).padEnd(64, '0').slice(0, 64);
      default: return peer.nonces[0]!;
    }
  }

  /** A list of frames, whole or spoilt. */
  #bodyOf(peer: UploadPeer, nonce: string): Uint8Array {
    const { dice } = this;
    const frames = [...this.#greetings(peer, nonce)];
    for (let i = dice.below(dice.happens(0.1) ? 40 : 6); i > 0; i--) frames.push(this.#frame(peer));
    const body = Uint8Array.from(joinFrames(frames));
    return dice.happens(0.8) ? body : this.#spoilt(body);
  }

  #spoilt(body: Uint8Array): Uint8Array {
    const { dice, tally } = this;
    const [recipe, spoilt] = dice.pick([
      ['body: bits', () => flipped(body, dice)], ['body: cut', () => resized(body, dice)],
      ['body: noise', () => dice.bytes(dice.below(500))], ['body: empty', () => new Uint8Array(0)],
      ['body: long length', () => Uint8Array.of(...dice.bytes(4).map((one) => one | 128), 1)],
      ['body: endless length', () => new Uint8Array(9).fill(255)],
      ['body: too large', () => new Uint8Array(limits.uploadBytes + 1 + dice.below(9)).fill(1)],
    ] as const);
    tally.made(recipe);
    return spoilt();
  }

  #greetings(peer: UploadPeer, nonce: string): Uint8Array[] {
    const { dice } = this;
    if (dice.happens(0.85)) return [peer.hello(nonce)];
    this.tally.made('hello: wrong');
    switch (dice.below(4)) {
      case 0: return [];
      case 1: return [peer.hello(nonce), peer.hello(nonce)];
      case 2: return [peer.hello(toHex(dice.bytes(32)))];
      default: {
        const helloOf = { hello: () => peer.hello(nonce) } as unknown as Peer;
        return [this.#maker.hello(helloOf).bytes];
      }
    }
  }

  #frame(peer: UploadPeer): Uint8Array {
    const { dice } = this;
    const share = dice.below(100);
    const made = share < 75 ? this.#maker.batch(peer)
      : share < 80 ? this.#maker.withdrawal(peer)
        : share < 88 ? this.#maker.forged(peer)
          : share < 92 ? this.#maker.stray()
            : share < 95 ? this.#maker.subscription() : this.#maker.broken();
    this.tally.made(made.recipe);
    return made.bytes;
  }

  /** The bytes of HTTP. Most requests are whole; some are slow, cut, chunked or contradictory. */
  #deliveryOf(path: string, body: Uint8Array, ...fields: readonly string[]): Delivery {
    const { dice, tally } = this;
    const type = dice.happens(0.98) ? 'application/x-protobuf' : 'application/json';
    const head = (length: string): Uint8Array => Buffer.from([
      `POST /v1/${path} HTTP/1.1`, 'Host: localhost', `Content-Type: ${type}`, ...fields, length,
      '\r\n',
    ].join('\r\n'));
    const whole = `Content-Length: ${body.length}`;
    const half = body.subarray(0, Math.floor(body.length / 2));
    const rest = body.subarray(half.length);
    const chunk = (part: Uint8Array): Uint8Array[] =>
      [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')];
    const share = dice.below(100);
    if (share < 70) return { parts: [head(whole), body], then: 'waits' };
    const recipes: readonly (readonly [string, Delivery])[] = [
      ['parts', { parts: [head(whole), half, rest], then: 'waits' }],
      ['bytes', { parts: [head(whole), ...bytesOf(body)], then: 'waits' }],
      ['chunks', {
        then: 'waits', parts: [
          head('Transfer-Encoding: chunked'), ...(half.length > 0 ? chunk(half) : []),
          ...chunk(rest), Buffer.from('0\r\n\r\n'),
        ].filter((part) => part.length > 0),
      }],
      ['broken chunks', {
        parts: [head('Transfer-Encoding: chunked'), Buffer.from('zz\r\n'), body], then: 'ends',
      }],
      ['cut', { parts: [head(whole), half], then: 'cuts' }],
      ['ended', { parts: [head(`Content-Length: ${body.length + 1}`), body], then: 'ends' }],
      ['stalled', { parts: [head(`Content-Length: ${body.length + 1}`), body], then: 'waits' }],
      ['shorter length', {
        parts: [head(`Content-Length: ${half.length}`), body], then: 'ends',
      }],
      ['two lengths', { parts: [head(`${whole}\r\nContent-Length: 1`), body], then: 'ends' }],
      ['asks first', { parts: [head(`${whole}\r\nExpect: 100-continue`), body], then: 'waits' }],
    ];
    const [name, delivery] = dice.pick(recipes);
    tally.made(`delivery: ${name}`);
    return delivery;
  }
}

/** The first bytes one by one, then the rest. */
function bytesOf(body: Uint8Array): Uint8Array[] {
  const count = Math.min(40, body.length);
  return [
    ...Array.from({ length: count }, (_, i) => body.subarray(i, i + 1)), body.subarray(count),
  ].filter((part) => part.length > 0);
}
