/** True if the platform stores the low byte of a number first. */
export const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Index of the high word among the two words of a 64-bit number in memory. */
export const highWord = isLittleEndian ? 1 : 0;
