import { WireError } from '../../src/base/errors.js';
import type { Ready } from '../../src/wire/index.js';
import { Channel } from './channel.js';
import { Encrypted, lacksEncryption, unencryptedMax } from './encrypted.js';
import { Greeting } from './greeting.js';

/** A channel that it opens with Open, so that batches go encrypted, or else with Hello. */
export class SocketChannel extends Channel {
  /** Sockets in a row without an encrypted channel, where rows go on no other. */
  private unencrypted = 0;

  protected override greet(): void {
    this.state = 'greeting';
    this.helloPutOff = false;
    const { link } = this;
    const { studyId, document } = this.known!;
    // Entries of a sealed study stay signed, because its three servers check each.
    if (link!.welcome.share !== null && document.sealed === undefined) {
      this.encrypted ??= new Encrypted(link!, this, studyId);
      this.encrypted.open();
    } else if (this.options.encryptedOnly === true && document.sealed === undefined) {
      const error = lacksEncryption();
      // One socket may be lost by chance, or reach a server that is not upgraded yet.
      if (++this.unencrypted < unencryptedMax) link!.drop(error.message);
      else this.end(error);
    } else {
      this.greeting ??= new Greeting(this, link!.welcome, studyId);
      this.soon(this.greeting.hello(), (frame) => link!.send(frame));
    }
  }

  /** @internal A Hello for another nonce of the same server, on a transport without a socket. */
  override regreet(serverNonce: Uint8Array): Greeting | null {
    if (this.link === null || this.known === null) return null;
    const welcome = { ...this.link.welcome, serverNonce };
    return new Greeting(this, welcome, this.known.studyId);
  }

  /** @internal The router found that this Ready belongs to this channel. */
  override onReady(ready: Ready): void {
    if (this.state !== 'greeting') return;
    this.newsWhileProving = null;
    this.soon(this.greeting?.isProvenBy(ready) ?? Promise.resolve(false), (isProven) => {
      if (this.state !== 'greeting') return;
      if (!isProven) {
        this.end(new WireError(
          'bad-signature', 'the server did not prove its key: somebody may stand in between',
        ));
        return;
      }
      this.link!.progress();
      this.begin(ready);
    });
  }

  /** @internal As `onReady`, and sealed by the server. */
  onSealedReady(ready: Ready): void {
    if (this.state !== 'greeting') return;
    this.unencrypted = 0;
    this.newsWhileProving = null;
    this.link!.progress();
    this.begin(ready);
  }
}
