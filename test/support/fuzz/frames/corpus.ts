import { concatBytes, fromHex, toHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import { sealFrame } from '../../../../src/signing/channel-keys-node.js';
import { signBatch, signWithdrawal, type Signer } from '../../../../src/signing/index.js';
import { encodeClientFrame } from '../../../../src/wire/index.js';
import { Dice } from '../dice.js';
import { bodyRecipes, makeBody } from './bodies.js';
import { FrameMaker } from './frames.js';
import { Peer } from './peer.js';
import { chainRecipes, makeWelcome, offerWelcome } from './rotations.js';
import { serverSigner } from './study.js';
import { Tally } from './tally.js';
import { World } from './world.js';

/**
 * One message that is kept, and what is said to it. A body is signed anew, by one who sent nothing
 * yet, for the first study or the one with typed columns. Of a withdrawal the epoch is kept, and
 * one asks for it who gave a row before and gives another after. A welcome is what a client reads.
 * `open`: a client share, which its contributor signs; empty: a fresh one. `sealed`: what the first
 * frame of an encrypted channel seals. `unsealed`: what such a frame has, and nobody sealed.
 */
export interface KeptFrame {
  readonly recipe: string;
  readonly kind: 'body' | 'typed-body' | 'frame' | 'withdrawal' | 'welcome' | 'open' | 'sealed'
    | 'unsealed';
  readonly hex: string;
  readonly outcome: string;
}

/** By the epoch that is open when the corpus is played, which is the first. */
const withdrawn: readonly (readonly [string, bigint])[] = [
  ['open epoch', 1n], ['closed epoch', 0n], ['unknown epoch', 2n],
  ['more than the store counts to', 2n ** 63n], ['the largest', 2n ** 64n - 1n],
];

/** A point of small order: every secret agrees with it on 0. */
const badShare = new Uint8Array(32);

/** A server that answers one message at a time. */
export class Bench {
  #senders = 0;

  private constructor(private readonly world: World, private readonly tally: Tally) {}

  static async open(): Promise<Bench> {
    const tally = new Tally();
    return new Bench(await World.open(tally, { malformedFramesPerSocket: 1e9 }), tally);
  }

  /** What it says, in a fresh contributor's name on a fresh socket. */
  async outcome(kind: KeptFrame['kind'], bytes: Uint8Array): Promise<string> {
    if (kind === 'welcome') return `client: ${await offerWelcome(bytes)}`;
    const { world, tally } = this;
    const seed = new Uint8Array(32).fill(77);
    new DataView(seed.buffer).setUint32(0, ++this.#senders);
    const signer = signing.createSigner(seed);
    const peer = new Peer(world, tally, 'here');
    if (kind === 'open' || kind === 'sealed' || kind === 'unsealed') {
      return this.#encrypted(peer, signer, kind, bytes);
    }
    peer.greet(signer, kind === 'typed-body' ? this.#typed : world.studies[0]!);
    await world.settled();
    const [{ channel, studyId }] = peer.channels as [Peer['channels'][number]];
    tally.outcomes.clear();
    const context = { serverKey: serverSigner.publicKey, studyId };
    const send = async (body: Uint8Array): Promise<void> => {
      const signature = signBatch(signer, context, signing.sha512(body));
      peer.receive(encodeClientFrame({ kind: 'batch', channel, body, signature }));
      await world.settled();
    };
    if (kind === 'frame') peer.receive(bytes);
    else if (kind === 'body' || kind === 'typed-body') await send(bytes);
    else {
      const epoch = Buffer.from(bytes).readBigUInt64BE();
      await send(this.#row(1n));
      peer.receive(encodeClientFrame({
        kind: 'withdraw', channel, epoch, signature: signWithdrawal(signer, context, epoch),
      }));
      await world.settled();
      await send(this.#row(2n));
    }
    return this.#said(peer);
  }

  async #said(peer: Peer): Promise<string> {
    await this.world.settled();
    const said = [...this.tally.outcomes.keys()].filter((name) =>
      !['notice', 'head', 'release'].includes(name));
    peer.end();
    return said.sort().join(', ');
  }

  /** What is said to an Open, or to the first frame of the channel that it opens. */
  async #encrypted(
    peer: Peer, signer: Signer, kind: 'open' | 'sealed' | 'unsealed', bytes: Uint8Array,
  ): Promise<string> {
    const { world, tally } = this;
    const share = kind === 'open' && bytes.length === 32 ? bytes : undefined;
    tally.outcomes.clear();
    peer.receive(encodeClientFrame(peer.open(signer, world.studies[0]!, share)!));
    await world.settled();
    if (kind === 'open') return this.#said(peer);
    const [{ channel, encryption }] = peer.channels as [Peer['channels'][number]];
    tally.outcomes.clear();
    const encrypted = kind === 'sealed'
      ? sealFrame(encryption!.keys.up, 0, 'batch', bytes) : bytes;
    peer.receive(encodeClientFrame({ kind: 'encrypted-batch', channel, encrypted }));
    return this.#said(peer);
  }

  /** The study with typed columns. */
  get #typed(): string {
    return this.world.studies.find((id) => this.world.nameOf(fromHex(id)) === 'typed')!;
  }

  /** The body of an honest batch, the same each time. */
  #row(sequence: bigint): Uint8Array {
    const [studyId, otherStudyId] = this.world.studies.map(fromHex) as [Uint8Array, Uint8Array];
    const epoch = this.world.epochOf(this.world.studies[0]!);
    const context = { studyId, otherStudyId, sequence, epoch, typed: false };
    return makeBody(context, new Dice(1), 'honest').body;
  }

  async close(): Promise<void> {
    await this.world.close(() => undefined);
  }

  /** The first message of every recipe that is answered in a way which that recipe had not been. */
  async collect(tries: number): Promise<KeptFrame[]> {
    const { world } = this;
    const dice = new Dice(2026);
    const maker = new FrameMaker(world, dice);
    const kept = new Map<string, KeptFrame>();
    const keep = async (
      recipe: string, kind: KeptFrame['kind'], bytes: Uint8Array,
    ): Promise<void> => {
      const outcome = await this.outcome(kind, bytes);
      const name = `${recipe} ${outcome}`;
      if (!kept.has(name) && bytes.length < 1_000) {
        kept.set(name, { recipe, kind, hex: toHex(bytes), outcome });
      }
    };
    const [studyId, otherStudyId] = world.studies.map(fromHex) as [Uint8Array, Uint8Array];
    const context = {
      studyId, otherStudyId, sequence: 1n, epoch: world.epochOf(world.studies[0]!), typed: false,
    };
    const typed = {
      ...context, studyId: fromHex(this.#typed), epoch: world.epochOf(this.#typed), typed: true,
    };
    for (const name of bodyRecipes) {
      for (let i = 0; i < tries; i++) await keep(name, 'body', makeBody(context, dice, name).body);
    }
    for (const name of ['honest', 'cells']) {
      for (let i = 0; i < 8 * tries; i++) {
        const { body } = makeBody(typed, dice, name);
        await keep(`typed: ${name}`, 'typed-body', body);
      }
    }
    await keep('open: bad share', 'open', badShare);
    await keep('open: as it should be', 'open', new Uint8Array(0));
    for (const name of bodyRecipes) {
      for (let i = 0; i < tries; i++) {
        const { body } = makeBody(context, dice, name);
        await keep(`sealed: ${name}`, 'sealed', concatBytes(signing.sha512(body), body));
      }
    }
    for (const length of [0, 63, 64, 100]) {
      await keep(`sealed: ${length} bytes`, 'sealed', dice.bytes(length));
      await keep(`unsealed: ${length} bytes`, 'unsealed', dice.bytes(length));
    }
    for (const [name, epoch] of withdrawn) {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setBigUint64(0, epoch);
      await keep(`withdraw: ${name}`, 'withdrawal', bytes);
    }
    for (const name of chainRecipes) {
      for (let i = 0; i < tries; i++) {
        const { recipe, bytes } = makeWelcome(dice, name);
        await keep(recipe, 'welcome', bytes);
      }
    }
    for (let i = 0; i < 12 * tries; i++) {
      const made = dice.happens(0.8) ? maker.broken() : maker.stray();
      await keep(made.recipe, 'frame', made.bytes);
    }
    return [...kept.values()];
  }
}
