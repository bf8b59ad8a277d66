import { KeelsonError } from '../../../../src/base/errors.js';
import { signStatement, type Signer } from '../../../../src/signing/index.js';
import { signing } from '../../../../src/signing/node.js';
import { decodeServerFrame, encodeServerFrame, type Welcome } from '../../../../src/wire/index.js';
import { verifyWelcome } from '../../../../client/session/handshake.js';
import type { Dice } from '../dice.js';
import { must } from './oracle.js';
import { contributors, earlierSigner, serverSigner } from './study.js';

/** What a Welcome of another server may look like, by name. `stranger` has no record of its key. */
const forgeries: Readonly<
  Record<string, (honest: Welcome, stranger: Signer) => Welcome | Promise<Welcome>>
> = {
  'another key': (honest, { publicKey }) => ({ ...honest, serverKey: publicKey }),
  'another key without records': (honest, { publicKey }) =>
    ({ ...honest, serverKey: publicKey, rotations: [] }),
  'studies signed by another key': async (honest, stranger) => ({
    ...honest, serverKey: stranger.publicKey, rotations: [],
    studies: await Promise.all(honest.studies.map(async (study) => {
      const digest = signing.sha512(study.facts);
      const id = await signing.sha256(study.facts);
      return { ...study, signature: signStatement('study', stranger, id, digest) };
    })),
  }),
};

/**
 * Shows a client the Welcome of this world's server, which it must take, and then as another server
 * would show it. The client trusts one key of the server. It must refuse the others, each time.
 * @returns the codes of the refusals.
 */
export async function offerWrongKeys(honest: Welcome, dice: Dice): Promise<readonly string[]> {
  const pin = dice.pick([earlierSigner, serverSigner]).publicKey;
  must(await codeOf(honest, pin) === null, 'a client takes the server that it trusts');
  const codes: string[] = [];
  for (const [name, forge] of Object.entries(forgeries)) {
    const code = await codeOf(await forge(honest, dice.pick(contributors)), pin);
    must(code !== null, `a client refuses a Welcome with ${name}`);
    codes.push(code!);
  }
  return codes;
}

/** What a client that trusts the pinned key says to a Welcome; null: it goes on. */
async function codeOf(welcome: Welcome, pin: Uint8Array): Promise<string | null> {
  const received = decodeServerFrame(encodeServerFrame(welcome));
  must(received.kind === 'welcome', 'a Welcome stays one');
  try {
    await verifyWelcome(received as Welcome, [pin], 0);
    return null;
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code === 'internal') throw error;
    return error.code;
  }
}
