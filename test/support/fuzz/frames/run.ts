import { Dice } from '../dice.js';
import { FrameMaker, type MadeFrame } from './frames.js';
import { Peer } from './peer.js';
import { makeWelcome, offerWelcome } from './rotations.js';
import { contributors, everyMs } from './study.js';
import { Tally } from './tally.js';
import { World } from './world.js';
import { offerWrongKeys } from './wrong-key.js';
import { encodeClientFrame } from '../../../../src/wire/index.js';
import type { ListenerLimits } from '../../../../server/network/options.js';

/**
 * How many frames one server lives for: long enough for several epochs, short enough that a failure
 * replays soon.
 */
export const framesPerWorld = 50_000;
const noStrikes: Partial<ListenerLimits> = {
  malformedFramesPerSocket: 1e9, badSignaturesPerSocket: 1e9, strayFramesPerSocket: 1e9,
  hastySubscribesPerSocket: 1e9,
};
/** Each of these meets refusals that the others do not. */
const regimes: readonly Partial<ListenerLimits>[] = [
  noStrikes, noStrikes, noStrikes, {},
  {
    ...noStrikes, helloPerSecond: 1, helloBurst: 40, subscribePerSecond: 1, subscribeBurst: 40,
    logReads: 1,
  },
  { ...noStrikes, channelsPerSocket: 3, channels: 20 },
  { ...noStrikes, socketsPerAddress: 2, sockets: 6 },
  { ...noStrikes, creditBatches: 8, rowsPerBatch: 2 },
];

/**
 * One server under `frames` hostile frames. The same seed sends the same frames, but for nonces,
 * which are drawn anew.
 * @throws whatever was broken.
 */
export async function fuzzWorld(seed: number, frames: number, tally = new Tally()): Promise<Tally> {
  const dice = new Dice(seed);
  const limits = dice.pick(regimes);
  const world = await World.open(tally, limits);
  tally.worlds += 1;
  try {
    // Dice of its own: the frames stay those of the seed.
    for (const code of await offerWrongKeys(world.welcome(), new Dice(seed, 1))) {
      tally.count(`client: ${code}`);
    }
    // Under tight limits many sockets have no channel: those that have one make up for it.
    const crowd = new Crowd(world, dice, tally, limits === noStrikes ? 400 : 650);
    const until = tally.frames + frames;
    const framesPerEpoch = Math.min(8_000, Math.ceil(frames / 4));
    let nextEpoch = tally.frames + framesPerEpoch;
    while (tally.frames < until) {
      await crowd.burst();
      if (tally.frames < nextEpoch) continue;
      nextEpoch += framesPerEpoch;
      await world.pass(everyMs + dice.below(everyMs));
    }
    crowd.lastWords();
    await world.close(() => crowd.leave());
    tally.rssPeakBytes = Math.max(tally.rssPeakBytes, process.memoryUsage.rss());
  } catch (error) {
    world.remove();
    throw error;
  }
  return tally;
}

/** Peers that come, send and go. */
class Crowd {
  #peers: Peer[] = [];
  readonly #maker: FrameMaker;

  constructor(
    private readonly world: World, private readonly dice: Dice, private readonly tally: Tally,
      private readonly signedShare: number,
  ) {
    this.#maker = new FrameMaker(world, dice);
  }

  async burst(): Promise<void> {
    const { dice, world, tally } = this;
    const startedMs = performance.now();
    await this.#refresh();
    world.busy = dice.happens(0.03);
    for (const peer of this.#peers) {
      if (dice.happens(0.03)) peer.unread.bytes = dice.happens(0.5) ? 0 : 8 * 2 ** 20;
      this.#volley(peer, 10 + dice.below(60));
    }
    await world.settled();
    world.busy = false;
    await this.#offer();
    if (dice.happens(0.1)) for (const peer of this.#peers) peer.drain();
    tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedMs);
  }

  /** Frames that reach a server which is about to stop. */
  lastWords(): void {
    for (const peer of this.#peers) this.#volley(peer, 5);
  }

  leave(): void {
    for (const peer of this.#peers) peer.end();
    this.#peers = [];
  }

  /** What a client makes of the records of a server's keys. */
  async #offer(): Promise<void> {
    const { recipe, bytes } = makeWelcome(this.dice);
    this.tally.made(recipe);
    this.tally.welcomes += 1;
    this.tally.count(`client: ${await offerWelcome(bytes)}`);
  }

  async #refresh(): Promise<void> {
    const { dice, world, tally } = this;
    this.#peers = this.#peers.filter((peer) => {
      const goes = peer.closed || dice.happens(0.02);
      if (goes) peer.end();
      return !goes;
    });
    const newcomers: Peer[] = [];
    while (this.#peers.length + newcomers.length < 5) {
      const peer = new Peer(world, tally, `10.0.0.${dice.below(3)}`);
      if (peer.closed) {
        tally.count('no room');
        break;
      }
      newcomers.push(peer);
      for (let i = dice.below(6);
          i >= 0; i--) this.#enter(peer);
    }
    this.#peers.push(...newcomers);
    if (newcomers.length > 0) await world.settled();
  }

  /** One more channel, in one of its forms. */
  #enter(peer: Peer): void {
    const { dice, world } = this;
    const [signer, study] = [dice.pick(contributors), dice.pick(world.studies)];
    const open = dice.happens(0.5) ? peer.open(signer, study) : null;
    if (open === null) peer.greet(signer, study);
    else peer.receive(encodeClientFrame(open));
  }

  #volley(peer: Peer, count: number): void {
    // Now and then as many as a flood has before it is noticed, of the kind that reads logs.
    if (this.dice.happens(0.01)) this.#flood(peer, 20 + this.dice.below(100));
    for (let i = 0; i < count && !peer.closed; i++) {
      const made = this.#make(peer);
      this.tally.made(made.recipe);
      peer.receive(made.bytes, made.isText !== true);
    }
    if (this.dice.happens(0.2) && !peer.closed) peer.receive(this.#maker.stray().bytes, true);
  }

  #flood(peer: Peer, count: number): void {
    const { recipe, bytes } = this.#maker.subscription(true);
    for (let i = 0; i < count && !peer.closed; i++) {
      this.tally.made(`flood: ${recipe}`);
      peer.receive(bytes);
    }
  }

  #make(peer: Peer): MadeFrame {
    const { dice } = this;
    const maker = this.#maker;
    const share = dice.below(1_000);
    const { channels } = peer;
    if (share < this.signedShare && channels.length > 0) return maker.batch(dice.pick(channels));
    if (share < this.signedShare + 15 && channels.length > 0) {
      return maker.withdrawal(dice.pick(channels));
    }
    const rest = dice.below(600);
    if (rest < 20 && channels.length > 0) return maker.forged(dice.pick(channels));
    if (rest < 30) return maker.hello(peer);
    if (rest < 50) return maker.open(peer);
    if (rest < 80) return maker.subscription();
    if (rest < 190) return maker.stray();
    if (rest < 191) return { recipe: 'text', bytes: dice.bytes(8), isText: true };
    return maker.broken();
  }
}
