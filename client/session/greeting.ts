import { signHello, verifyReady, type AsyncSigner } from '../../src/signing/index.js';
import { encodeClientFrame, type Ready } from '../../src/wire/index.js';
import { signing } from '../base/signing.js';
import type { VerifiedWelcome } from './handshake.js';

/** The exchange of Hello and Ready of one contributor, in one study, on one socket. */
export class Greeting {
  /** The nonces of all Hellos: the answer to an earlier one may still come. */
  private readonly clientNonces: Uint8Array[] = [];

  constructor(
    private readonly who: {
      readonly signer: AsyncSigner; readonly enrolment?: Uint8Array | undefined;
    },
    private readonly welcome: VerifiedWelcome,
    private readonly studyId: Uint8Array,
  ) {}

  /** The frame of a new Hello. */
  async hello(): Promise<Uint8Array> {
    const { studyId, welcome, who: { signer, enrolment } } = this;
    const clientNonce = signing.randomBytes(32);
    this.clientNonces.push(clientNonce);
    const context = { serverKey: welcome.server.publicKey, studyId };
    const { serverNonce } = welcome;
    const signature = await signHello(signer, context, { serverNonce, clientNonce });
    return encodeClientFrame({
      kind: 'hello', studyId, publicKey: signer.publicKey, clientNonce, signature, enrolment,
    });
  }

  /** True when the server signed both nonces, which proves that it holds its key now. */
  async isProvenBy(ready: Ready): Promise<boolean> {
    const { server, serverNonce } = this.welcome;
    const proofs = await Promise.all(this.clientNonces.map(async (clientNonce) =>
      verifyReady(
        server, this.studyId, this.who.signer.publicKey, { serverNonce, clientNonce },
        ready.signature,
      )));
    return proofs.includes(true);
  }
}
