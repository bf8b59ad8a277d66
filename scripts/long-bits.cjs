/* global module */
/**
 * Takes the place of the package `long` in the bundle for Node. The wire code makes 64-bit fields by
 * these members, and reads `low` and `high` alone.
 */
module.exports = class LongBits {
  constructor(low, high, unsigned = false) {
    this.low = low | 0;
    this.high = high | 0;
    this.unsigned = unsigned;
  }

  static fromBits(low, high, unsigned) {
    return new LongBits(low, high, unsigned);
  }

  static isLong(value) {
    return value instanceof LongBits;
  }
};
