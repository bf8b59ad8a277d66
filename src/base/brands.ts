/** The wrappers without what opens them. `wrappers` says what they promise. */
export { Released, Sealed, Sensitive } from './wrappers.js';
