/** Whether the platform keeps the low byte of a number first. */
export const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Where the high word of a 64-bit number in memory is among its two. */
export const highWord = isLittleEndian ? 1 : 0;
