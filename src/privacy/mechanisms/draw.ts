import type { Steps } from '../../random/samplers/discrete-laplace.js';

/** Draws one fresh noise value in grid steps. It never returns the same draw twice. */
export type Draw = () => Steps;
