import { channelKeys, openFrame, sealFrame } from './channel-keys-node.js';
import type { AsyncSigning } from './contract.js';
import { signing as atOnce } from './node.js';

/** The signing of contributors on Node: that of node.ts, and the cipher of their channels. */
export const signing: AsyncSigning = {
  ...atOnce,
  async contributorCipher(agreed, message) {
    const { up, down } = channelKeys(agreed, message);
    return {
      seal: async (number, digest, body) => sealFrame(up, number, 'batch', digest, body),
      async open(number, kind, sealed) {
        const plain = openFrame(down, number, kind, sealed);
        return plain === null ? null : new Uint8Array(plain.buffer, plain.byteOffset, plain.length);
      },
    };
  },
};
