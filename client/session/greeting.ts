import { signing } from '#signing';
import { signHello, verifyReady, type Signer } from '../../src/signing/index.js';
import { encodeClientFrame, type Ready } from '../../src/wire/index.js';
import type { VerifiedWelcome } from './handshake.js';

/** The exchange of Hello and Ready of one contributor, in one study, on one socket. */
export class Greeting {
  /** The nonces of all Hellos: the answer to an earlier one may still come. */
  private readonly clientNonces: Uint8Array[] = [];

  constructor(
    private readonly who: {
      readonly signer: Signer; readonly enrolment?: Uint8Array | undefined;
    },
    private readonly welcome: VerifiedWelcome,
    private readonly studyId: Uint8Array,
  ) {}

  /** The frame of a new Hello. */
  hello(): Uint8Array {
    const { studyId, welcome, who: { signer, enrolment } } = this;
    const clientNonce = signing.randomBytes(32);
    this.clientNonces.push(clientNonce);
    const context = { serverKey: welcome.server.publicKey, studyId };
    const signature = signHello(signer, context, { serverNonce: welcome.serverNonce, clientNonce });
    return encodeClientFrame({
      kind: 'hello', studyId, publicKey: signer.publicKey, clientNonce, signature, enrolment,
    });
  }

  /** True when the server signed both nonces, which proves that it holds its key now. */
  isProvenBy(ready: Ready): boolean {
    const { server, serverNonce } = this.welcome;
    return this.clientNonces.some((clientNonce) =>
      verifyReady(
        server, this.studyId, this.who.signer.publicKey, { serverNonce, clientNonce },
        ready.signature,
      ));
  }
}
