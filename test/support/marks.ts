/**
 * Numbers that can be recognised wherever they turn up: as doubles in either byte order, as floats,
 * as text.
 */
export interface Mark {
  readonly name: string;
  readonly patterns: readonly Buffer[];
}

/**
 * Digits of a decimal that no other number shares by chance: one in 10^9 for each number printed.
 */
const digits = 9;
/**
 * Leading bytes of a double: what is left after a sum's rounding. Chance 2^-48 for each byte
 * searched.
 */
const leadingBytes = 6;

/** One number: what a leak of it, or of an average of equal ones, would look like. */
export function markOf(name: string, value: number): Mark {
  const wide = Buffer.alloc(8);
  wide.writeDoubleBE(value);
  const leading = wide.subarray(0, leadingBytes);
  const text = value.toPrecision(17).slice(0, digits + 1);
  return {
    name,
    patterns: [
      Buffer.from(leading), Buffer.from(leading).reverse(), Buffer.from(text),
      ...encodedForms(leading), ...encodedForms(Buffer.from(leading).reverse()),
    ],
  };
}

/**
 * Two neighbouring columns of one row as floats: 64 bits, where a single float would be found by
 * chance.
 */
export function floatPairMark(name: string, pair: readonly [number, number]): Mark {
  const little = Buffer.alloc(8);
  const big = Buffer.alloc(8);
  pair.forEach((value, i) => {
    little.writeFloatLE(value, 4 * i);
    big.writeFloatBE(value, 4 * i);
  });
  return { name, patterns: [little, big, ...encodedForms(little), ...encodedForms(big)] };
}

/** Any bytes, such as a key: as they are, in hexadecimal and in base64. */
export function bytesMark(name: string, bytes: Uint8Array): Mark {
  return { name, patterns: [Buffer.from(bytes), ...encodedForms(Buffer.from(bytes))] };
}

/**
 * Bytes inside longer ones, as text shows them: hexadecimal, and base64 at each of its three
 * offsets.
 */
function encodedForms(bytes: Buffer): readonly Buffer[] {
  const base64 = [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // Characters that hold bits of neighbours are left out.
    return padded.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
  });
  return [bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...base64].map((text) =>
    Buffer.from(text));
}

/** Names of the marks that `bytes` hold, each once. */
export function marksIn(bytes: Uint8Array, marks: readonly Mark[]): readonly string[] {
  const hay = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return marks.filter(({ patterns }) => patterns.some((pattern) => hay.includes(pattern)))
    .map(({ name }) => name);
}
