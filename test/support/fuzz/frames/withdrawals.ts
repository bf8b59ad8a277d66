import { fromHex } from '../../../../src/base/bytes.js';
import { signWithdrawal } from '../../../../src/signing/index.js';
import type { Dice } from '../dice.js';
import type { MadeFrame } from './frames.js';
import type { OpenChannel } from './peer.js';
import {
  bytesField, encodeFields, extreme, flipped, mutateFields, numberField, resized,
} from './protobuf.js';
import { contributors, earlierSigner, serverSigner } from './study.js';
import type { World } from './world.js';

interface Kept { readonly epoch: bigint; readonly signature: Uint8Array }

/** Makes the Withdraws of one hostile crowd: good, forged, stray, and again and again. */
export class WithdrawalMaker {
  /** By contributor and study, the newest last. */
  readonly #kept = new Map<string, Kept[]>();

  constructor(private readonly world: World, private readonly dice: Dice) {}

  withdrawal(channel: OpenChannel): MadeFrame {
    const { dice, world } = this;
    const open = world.epochOf(Buffer.from(channel.studyId).toString('hex'));
    const kept = this.#keptOf(channel);
    switch (dice.below(10)) {
      case 0: return this.#again(channel, kept.at(-1), 'repeated');
      case 1:
        return this.#again(channel, kept.length === 0 ? undefined : dice.pick(kept), 'replayed');
      case 2: return this.#signed(
        channel, open > 1n ? open - 1n - BigInt(dice.below(2)) : 0n, 'closed epoch',
      );
      case 3: return this.#signed(channel, dice.happens(0.5)
        ? extreme(dice) : open + 1n + BigInt(dice.below(3)), 'unknown epoch');
      case 4: return this.#forged(channel, open);
      case 5: return {
        recipe: 'withdraw: no channel',
        bytes: withdrawFrame(900 + dice.below(100), { epoch: open, signature: dice.bytes(64) }),
      };
      case 6: return this.#malformed(channel, open);
      case 7: return this.#signed(channel, open, 'for the earlier key', earlierSigner.publicKey);
      default: return this.#signed(channel, open, 'open epoch');
    }
  }

  #signed(
    channel: OpenChannel, epoch: bigint, name: string, serverKey = serverSigner.publicKey,
  ): MadeFrame {
    const bounded = BigInt.asUintN(64, epoch);
    const signature =
      signWithdrawal(channel.signer, { serverKey, studyId: channel.studyId }, bounded);
    const kept = this.#keptOf(channel);
    kept.push({ epoch: bounded, signature });
    if (kept.length > 8) kept.shift();
    return {
      recipe: `withdraw: ${name}`,
      bytes: withdrawFrame(channel.channel, { epoch: bounded, signature }),
    };
  }

  /** The same bytes once more, on this channel or on the one of a later socket. */
  #again(channel: OpenChannel, kept: Kept | undefined, name: string): MadeFrame {
    if (kept === undefined) return this.#signed(channel, 1n, 'first epoch');
    return { recipe: `withdraw: ${name}`, bytes: withdrawFrame(channel.channel, kept) };
  }

  /** Signed by another key, for another study, another epoch, another server, or by nobody. */
  #forged(channel: OpenChannel, epoch: bigint): MadeFrame {
    const { dice } = this;
    const other = dice.pick(contributors.filter((signer) => signer !== channel.signer));
    const otherStudy = fromHex(dice.pick(
      this.world.studies.filter((id) => !Buffer.from(channel.studyId).equals(fromHex(id))),
    ));
    const here = { serverKey: serverSigner.publicKey, studyId: channel.studyId };
    const signatures = [
      () => signWithdrawal(other, here, epoch),
      () => signWithdrawal(channel.signer, { ...here, studyId: otherStudy }, epoch),
      () => signWithdrawal(channel.signer, here, epoch + 1n),
      () => signWithdrawal(channel.signer, { ...here, serverKey: other.publicKey }, epoch),
      () => dice.bytes(64),
    ];
    return {
      recipe: 'withdraw: of another',
      bytes: withdrawFrame(channel.channel, { epoch, signature: dice.pick(signatures)() }),
    };
  }

  #malformed(channel: OpenChannel, epoch: bigint): MadeFrame {
    const { dice } = this;
    const context = { serverKey: serverSigner.publicKey, studyId: channel.studyId };
    const signature = signWithdrawal(channel.signer, context, epoch);
    const fields = [
      numberField(1, BigInt(channel.channel)), numberField(2, epoch), bytesField(3, signature),
    ];
    const whole = withdrawFrame(channel.channel, { epoch, signature });
    switch (dice.below(3)) {
      case 0: return {
        recipe: 'withdraw: fields',
        bytes: encodeFields([bytesField(5, encodeFields(mutateFields(fields, dice)))]),
      };
      case 1: return { recipe: 'withdraw: bits', bytes: flipped(whole, dice) };
      default: return { recipe: 'withdraw: cut', bytes: resized(whole, dice) };
    }
  }

  #keptOf(channel: OpenChannel): Kept[] {
    const name = `${channel.signer.publicKey.join()} ${channel.studyId.join()}`;
    const kept = this.#kept.get(name) ?? [];
    this.#kept.set(name, kept);
    return kept;
  }
}

/** A Withdraw as it should be, but for what it is given. */
export function withdrawFrame(channel: number, { epoch, signature }: Kept): Uint8Array {
  return encodeFields([bytesField(5, encodeFields([
    numberField(1, BigInt(channel)), numberField(2, epoch), bytesField(3, signature),
  ]))]);
}
