import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Who causes what a server does now. Each has random numbers of its own. */
export type Actor = 'server' | 'insider' | 'outsider';

/** Random numbers of this process that are the same in every run. */
export interface PinnedRandom {
  /** Does something as somebody: what is drawn until it is done comes from their own stream. */
  as<T>(actor: Actor, act: () => Promise<T>): Promise<T>;
  restore(): void;
}

/**
 * Replaces the random numbers of `node:crypto` by streams from fixed seeds, one for each actor and
 * size, and AES-256 on single blocks by a permutation that is drawn from the same streams when a
 * block is first asked for. Both have the laws of what they replace, or are nearer to random than
 * it. So a server that is equal under them for an outsider, whatever an insider does, is as equal
 * as its random numbers are good.
 * @param isPlain leaves blocks as they are: the defect that the permutation hides.
 */
export function pinRandom(isPlain = false): PinnedRandom {
  const { randomBytes, createCipheriv, createDecipheriv } = crypto;
  const drawn = new Map<string, number>();
  let now: Actor = 'server';
  const draw = (size: number): Buffer => {
    const stream = `${now} ${size}`;
    const place = drawn.get(stream) ?? 0;
    drawn.set(stream, place + 1);
    return crypto.createHash('shake256', { outputLength: size }).update(`${stream} ${place}`)
      .digest();
  };
  const sealed = new Map<string, Buffer>();
  const opened = new Map<string, Buffer>();
  const seal = (block: Buffer): Buffer => {
    if (isPlain) return Buffer.from(block);
    const known = sealed.get(block.toString('hex'));
    if (known !== undefined) return known;
    const fresh = draw(block.length);
    sealed.set(block.toString('hex'), fresh);
    opened.set(fresh.toString('hex'), Buffer.from(block));
    return fresh;
  };
  const open = (block: Uint8Array): Buffer => (isPlain
    ? Buffer.from(block) : opened.get(Buffer.from(block).toString('hex'))!);
  const blocks = <T>(algorithm: string, update: (block: Buffer) => Buffer, real: () => T): T => {
    if (algorithm !== 'aes-256-ecb') return real();
    const cipher = { setAutoPadding: () => cipher, update };
    return cipher as T;
  };
  const install = (replaced: object): void => {
    Object.assign(crypto, replaced);
    syncBuiltinESMExports();
  };
  install({
    randomBytes: draw,
    createCipheriv: (...of: Parameters<typeof createCipheriv>) =>
      blocks(of[0], seal, () => createCipheriv(...of)),
    createDecipheriv: (...of: Parameters<typeof createDecipheriv>) =>
      blocks(of[0], open, () => createDecipheriv(...of)),
  });
  return {
    async as(actor, act) {
      const before = now;
      now = actor;
      try {
        return await act();
      } finally {
        now = before;
      }
    },
    restore: () => install({ randomBytes, createCipheriv, createDecipheriv }),
  };
}
