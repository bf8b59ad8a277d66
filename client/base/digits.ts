/** Pages show the same digits of a number as the command does. */
export { decimalsFor, halfOf, leadingPower } from '../../src/base/digits.js';
