import { concatBytes } from '../../base/bytes.js';
import { InvalidParameterError } from '../../base/errors.js';
import { boxKeysOf, sealBox } from '../../signing/boxes.js';
import type { Signing } from '../../signing/contract.js';
import {
  bindingOf, commitmentTo, encodeBody, expandSeed, seedBytes, servers, type EntryPlace,
} from './body.js';
import { checkForm, difference, packEntry, type EntryForm } from './form.js';

/** The facts that sealing needs besides the rows. */
export interface SealingOptions {
  readonly forms: EntryForm;
  readonly place: EntryPlace;
  /** 32 bytes: the Ed25519 key of the contributor. */
  readonly contributorKey: Uint8Array;
  /** The box keys of servers 0, 1 and 2 for this epoch, 32 bytes each. */
  readonly boxKeys: readonly Uint8Array[];
}

/**
 * The body that a contributor signs and sends: a row for each question in shares, a box for each
 * server, and commitments (see EntryBody). Every call draws fresh seeds and a fresh ephemeral key.
 *
 * Claim. Whoever reads all that one server holds learns nothing of the rows from it.
 * Why. Server 0 holds two seeds, which are independent of the rows, and a commitment with a salt
 * that it does not know. Server 1 holds u1 and u2 = u - u0 - u1, and u0 is the output of a seed
 * that it does not know. Server 2 holds u2 and u0, and lacks u1 likewise. The commitments to the
 * seeds are hashes of 256 random bits. Boxes of others do not open without their keys.
 * @param rows - for each form `count` whole numbers below 2^bits.
 * @throws InvalidParameterError for values that do not fit their form, or a key of another length.
 */
export function sealEntry(
  signing: Pick<Signing, 'sha512' | 'randomBytes'>, rows: readonly Uint32Array[],
  { forms, place, contributorKey, boxKeys }: SealingOptions,
): Uint8Array {
  forms.forEach((form, i) => {
    checkForm(form);
    const values = rows[i]!;
    if (values.length === form.count && values.every((value) => value < 2 ** form.bits)) return;
    throw new InvalidParameterError(
      `a row is ${form.count} whole numbers below ${2 ** form.bits}`, { length: values.length },
    );
  });
  if (boxKeys.length !== 3 || boxKeys.some((key) => key.length !== 32)) {
    throw new InvalidParameterError('a row is sealed for three box keys of 32 bytes');
  }
  const [s0, s1, salt, secret] = servers.map(() => signing.randomBytes(seedBytes))
    .concat(signing.randomBytes(seedBytes)) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const [first, second] = [s0, s1].map((seed) => expandSeed(signing, seed, forms));
  const rest = forms.map((form, i) =>
    difference(difference(rows[i]!, first![i]!, form), second![i]!, form));
  const salted = concatBytes(salt, packEntry(rest, forms));
  const binding = bindingOf(signing, contributorKey, place);
  const plains = [[s0, s1], [s1, salted], [salted, s0]];
  return encodeBody({
    ...place,
    ephemeralKey: boxKeysOf(secret).publicKey,
    commitments: [s0, s1, salted].map((content, component) =>
      commitmentTo(signing, servers[component]!, content)),
    boxes: plains.map((plain, server) =>
      sealBox(concatBytes(binding, ...plain), server, boxKeys[server]!, secret)),
  });
}
