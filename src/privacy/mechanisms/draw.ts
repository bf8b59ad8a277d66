import type { Steps } from '../../random/samplers/discrete-laplace.js';

/** One fresh noise value in grid steps; never the same one twice. */
export type Draw = () => Steps;
