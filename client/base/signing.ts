import { signing as platform } from '#async-signing';
import type { AsyncSigning } from '../../src/signing/index.js';

/**
 * The signing of contributors and of the handshake. TypeScript sees the module of Node behind it,
 * so the type is stated: it is the same in pages.
 */
export const signing: AsyncSigning = platform;
