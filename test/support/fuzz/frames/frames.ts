import { concatBytes, fromHex } from '../../../../src/base/bytes.js';
import { sealFrame } from '../../../../src/signing/channel-keys-node.js';
import { signing } from '../../../../src/signing/node.js';
import { encodeClientFrame } from '../../../../src/wire/index.js';
import { signBatch } from '../../../../src/signing/index.js';
import type { Dice } from '../dice.js';
import { makeBody } from './bodies.js';
import type { OpenChannel, Peer } from './peer.js';
import {
  bytesField, encodeFields, extreme, flipped, mutateFields, numberField, resized, type Field,
} from './protobuf.js';
import { contributors, earlierSigner, serverSigner } from './study.js';
import { WithdrawalMaker } from './withdrawals.js';
import type { World } from './world.js';

/** One message, and the name of how it was made. */
export interface MadeFrame {
  readonly recipe: string;
  readonly bytes: Uint8Array;
  readonly isText?: boolean;
}

interface Kept { readonly body: Uint8Array; readonly signature: Uint8Array }

/** Shares with which every secret agrees on 0, in two encodings, and one that is not reduced. */
const badShares = ['00'.repeat(32), `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', `ee${'ff'.repeat(30)}7f`,
].map(fromHex);

/** Points of small order, a coordinate that is not reduced, and bytes that are no point. */
const badKeys = ['01'
  + '00'.repeat(31), '00'.repeat(32), 'ec' + 'ff'.repeat(30) + '7f', 'ed' + 'ff'.repeat(30) + '7f',
  'ff'.repeat(32), '02' + '00'.repeat(31)].map(fromHex);

/**
 * Makes the frames of one hostile crowd. Batches that were sent are kept, to be sent again and to
 * be changed.
 */
export class FrameMaker {
  readonly #kept = new Map<string, Kept[]>();

  readonly #withdrawals: WithdrawalMaker;

  constructor(private readonly world: World, private readonly dice: Dice) {
    this.#withdrawals = new WithdrawalMaker(world, dice);
  }

  /** A Withdraw, good or not. */
  withdrawal(channel: OpenChannel): MadeFrame {
    return this.#withdrawals.withdrawal(channel);
  }

  /** A batch for the channel that its contributor signed or sealed. */
  batch(channel: OpenChannel): MadeFrame {
    const { dice } = this;
    const name = `${channel.signer.publicKey.join()} ${channel.studyId.join()}`;
    const kept = this.#kept.get(name) ?? [];
    this.#kept.set(name, kept);
    if (kept.length > 0 && dice.happens(0.55)) {
      return { recipe: 'replay', bytes: this.#proven(channel, dice.pick(kept)) };
    }
    const { recipe, body } = makeBody({
      studyId: channel.studyId, otherStudyId: fromHex(dice.pick(this.world.studies)),
      sequence: dice.happens(0.1) && channel.sequence > 1n
        ? channel.sequence - 1n : channel.sequence,
      epoch: this.world.epochOf(Buffer.from(channel.studyId).toString('hex')),
      typed: this.world.nameOf(channel.studyId) === 'typed',
    }, dice);
    const { publicKey: serverKey } = dice.happens(0.05) ? earlierSigner : serverSigner;
    const context = { serverKey, studyId: channel.studyId };
    const made = { body, signature: signBatch(channel.signer, context, signing.sha512(body)) };
    channel.sequence += 1n;
    if (kept.length < 24) kept.push(made);
    else kept[dice.below(kept.length)] = made;
    return { recipe, bytes: this.#proven(channel, made) };
  }

  /** In the form of the channel: signed, or as the next encrypted frame. */
  #proven(channel: OpenChannel, kept: Kept): Uint8Array {
    const { dice } = this;
    if (channel.encryption === undefined) return batchFrame(channel.channel, kept);
    // Now and then with a digest that is not the body's, which is its sender's own affair.
    const digest = dice.happens(0.02) ? dice.bytes(64) : signing.sha512(kept.body);
    this.world.sealed(channel.signer.publicKey, kept.body);
    return this.#encrypted(channel, concatBytes(digest, kept.body));
  }

  /** @param plain sealed as the next frame. */
  #encrypted(
    { channel, encryption }: OpenChannel, plain: Uint8Array, ahead = 0,
    change: (sealed: Uint8Array) => Uint8Array = (sealed) => sealed,
  ): Uint8Array {
    const { keys, sent } = encryption!;
    encryption!.sent += 1;
    const encrypted = change(sealFrame(keys.up, sent + ahead, 'batch', plain));
    return encodeClientFrame({ kind: 'encrypted-batch', channel, encrypted });
  }

  /** A frame of an encrypted channel that is not its next batch. The server counts each. */
  #misencrypted(channel: OpenChannel): MadeFrame {
    const { dice } = this;
    const plain = dice.bytes(64 + dice.below(200));
    switch (dice.below(6)) {
      case 0: return { recipe: 'encrypted: skipped', bytes: this.#encrypted(channel, plain, 1) };
      case 1: return { recipe: 'encrypted: repeated', bytes: this.#encrypted(channel, plain, -1) };
      case 2: return {
        recipe: 'encrypted: bits',
        bytes: this.#encrypted(channel, plain, 0, (sealed) => flipped(sealed, dice)),
      };
      case 3: return {
        recipe: 'encrypted: noise',
        bytes: this.#encrypted(channel, plain, 0, () => dice.bytes(dice.below(200))),
      };
      case 4: return {
        recipe: 'encrypted: no digest',
        bytes: this.#encrypted(channel, plain.subarray(0, dice.below(64))),
      };
      default: return { recipe: 'encrypted: no body', bytes: this.#encrypted(channel, plain) };
    }
  }

  /** An Open with something wrong, or for whom nothing is wrong but too much. */
  open(peer: Peer): MadeFrame {
    const { dice } = this;
    const faults = ['as it should be', 'repeated', 'bad share', 'bad key', 'another study',
      'unknown study', 'another share', 'bits'] as const;
    const fault = dice.pick(faults);
    const recipe = `open: ${fault}`;
    const open = fault === 'repeated' ? peer.lastOpen : peer.open(
      dice.pick(contributors), dice.pick(this.world.studies),
      fault === 'bad share' ? dice.pick(badShares) : undefined,
    );
    if (open === null) return this.stray();
    const bytes = encodeClientFrame({
      ...open,
      ...(fault === 'bad key' && { publicKey: dice.pick(badKeys) }),
      ...(fault === 'another study' && { studyId: fromHex(dice.pick(this.world.studies)) }),
      ...(fault === 'unknown study' && { studyId: dice.bytes(32) }),
      ...(fault === 'another share' && { clientShare: dice.bytes(32) }),
    });
    return { recipe, bytes: fault === 'bits' ? flipped(bytes, dice) : bytes };
  }

  /** A batch whose signature or seal does not hold. */
  forged(channel: OpenChannel): MadeFrame {
    const { dice } = this;
    if (channel.encryption !== undefined && dice.happens(0.8)) return this.#misencrypted(channel);
    const { studyId: own } = channel;
    const { body } = makeBody(
      { studyId: own, otherStudyId: own, sequence: 1n, epoch: 1n, typed: dice.happens(0.2) }, dice,
    );
    const other = dice.pick(contributors);
    const studyId = fromHex(dice.pick(this.world.studies));
    const context = {
      serverKey: serverSigner.publicKey, studyId: dice.happens(0.5) ? studyId : channel.studyId,
    };
    const signature = dice.happens(0.3)
      ? signBatch(other, context, signing.sha512(body)) : dice.bytes(64);
    return { recipe: 'forged', bytes: batchFrame(channel.channel, { body, signature }) };
  }

  /** A Hello with something wrong, or for whom nothing is wrong but too much. */
  hello(peer: Peer): MadeFrame {
    const { dice } = this;
    const bytes = peer.hello(dice.pick(contributors), dice.pick(this.world.studies));
    const study = fromHex(dice.pick(this.world.studies));
    const key = dice.pick(contributors).publicKey;
    switch (dice.below(6)) {
      case 0: return { recipe: 'hello: repeated', bytes };
      case 1: return { recipe: 'hello: bad key', bytes: this.#helloOf(study, dice.pick(badKeys)) };
      case 2: return { recipe: 'hello: unknown study', bytes: this.#helloOf(dice.bytes(32), key) };
      case 3: return { recipe: 'hello: forged', bytes: this.#helloOf(study, key) };
      case 4: return { recipe: 'hello: any key', bytes: this.#helloOf(study, dice.bytes(32)) };
      default: return { recipe: 'hello: bits', bytes: flipped(bytes, dice) };
    }
  }

  /** Subscribing and unsubscribing, to what is there and what is not, from anywhere. */
  subscription(subscribes = this.dice.happens(0.6)): MadeFrame {
    const { dice } = this;
    const studyId = dice.happens(0.9) ? fromHex(dice.pick(this.world.studies)) : dice.bytes(32);
    const fields = [
      bytesField(1, studyId),
      numberField(2, dice.happens(0.5) ? extreme(dice) : BigInt(dice.below(4))),
    ];
    return {
      recipe: subscribes ? 'subscribe' : 'unsubscribe',
      bytes: encodeFields([
        bytesField(subscribes ? 3 : 4, encodeFields(subscribes ? fields : fields.slice(0, 1))),
      ]),
    };
  }

  /** A well-formed batch for a channel that is not there. */
  stray(): MadeFrame {
    const { dice } = this;
    const channel = dice.happens(0.5) ? dice.below(2 ** 32) : 900 + dice.below(100);
    const kept = { body: dice.bytes(dice.below(60)), signature: dice.bytes(64) };
    return { recipe: 'stray', bytes: batchFrame(channel, kept) };
  }

  /** What is no message, or nearly one. */
  broken(): MadeFrame {
    const { dice } = this;
    switch (dice.below(9)) {
      case 0: return { recipe: 'broken: noise', bytes: dice.bytes(dice.below(300)) };
      case 1: return { recipe: 'broken: empty', bytes: new Uint8Array(0) };
      case 2:
        return { recipe: 'broken: bits', bytes: flipped(encodeFields([this.#inner()]), dice) };
      case 3: return { recipe: 'broken: cut', bytes: resized(encodeFields([this.#inner()]), dice) };
      case 4:
        return { recipe: 'broken: two kinds', bytes: encodeFields([this.#inner(), this.#inner()]) };
      case 5: return {
        recipe: 'broken: outer fields', bytes: encodeFields(mutateFields([this.#inner()], dice)),
      };
      case 6: {
        const parts = new Array<Field>(1 + dice.below(dice.happens(0.001) ? 60_000 : 40));
        parts.fill(bytesField(1 + dice.below(5), new Uint8Array(0)));
        return { recipe: 'broken: parts', bytes: encodeFields(parts) };
      }
      case 7: return { recipe: 'broken: nested', bytes: nested(dice) };
      default: return { recipe: 'broken: inner fields', bytes: encodeFields([this.#inner(true)]) };
    }
  }

  #helloOf(studyId: Uint8Array, publicKey: Uint8Array): Uint8Array {
    const { dice } = this;
    const fields = [
      bytesField(1, studyId), bytesField(2, publicKey), bytesField(3, dice.bytes(32)),
      bytesField(4, dice.bytes(64)),
    ];
    return encodeFields([bytesField(1, encodeFields(fields))]);
  }

  #inner(faulty = this.dice.happens(0.3)): Field {
    const { dice } = this;
    const bytes = (length: number): Uint8Array =>
      dice.bytes(dice.happens(0.9) ? length : dice.below(2 * length));
    const kinds: Field[][] = [
      [
        bytesField(1, bytes(32)), bytesField(2, bytes(32)), bytesField(3, bytes(32)),
        bytesField(4, bytes(64)),
      ],
      [
        numberField(1, dice.happens(0.3) ? extreme(dice) : BigInt(dice.below(4))),
        bytesField(2, dice.bytes(dice.below(90))), bytesField(3, bytes(64)),
      ],
      [bytesField(1, bytes(32)), numberField(2, extreme(dice))],
      [bytesField(1, bytes(32))],
      [
        numberField(1, BigInt(dice.below(4))), numberField(2, extreme(dice)),
        bytesField(3, bytes(64)),
      ],
    ];
    const kind = dice.below(kinds.length);
    const fields = faulty ? mutateFields(kinds[kind]!, dice) : kinds[kind]!;
    return bytesField(kind + 1, encodeFields(fields));
  }
}

function batchFrame(channel: number, { body, signature }: Kept): Uint8Array {
  return encodeFields([bytesField(2, encodeFields([
    numberField(1, BigInt(channel)), bytesField(2, body), bytesField(3, signature),
  ]))]);
}

/** Messages in messages, or groups that begin and never end. */
function nested(dice: Dice): Uint8Array {
  if (dice.happens(0.3)) {
    return new Uint8Array(1
      + dice.below(dice.happens(0.001) ? 200_000 : 300)).fill(dice.pick([0x0b, 0x13, 0x0c]));
  }
  let bytes = dice.bytes(dice.below(10));
  for (let depth = dice.below(40);
      depth >= 0; depth--) bytes = encodeFields([bytesField(1 + dice.below(5), bytes)]);
  return bytes;
}
