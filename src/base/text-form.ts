/** Limits of a text column, in bytes of UTF-8. */
export const textLimits = {
  /** Where a study does not say. */
  bytes: 64,
  /** The wire has one byte for the length of a text. */
  bytesMax: 255,
} as const;

/** Why a text is not in the one form that a study takes. */
export type TextFault = 'empty' | 'too-long' | 'character' | 'outer-space' | 'not-normal';

/** What each fault says of a text. The words never hold the text. */
export const textFaultWords: Readonly<Record<TextFault, string>> = {
  empty: 'is empty',
  'too-long': 'has more bytes than its column takes',
  character: 'has a control character, an invisible character or one for private use, '
    + 'or is not UTF-8',
  'outer-space': 'begins or ends with white space',
  'not-normal': 'is not in Unicode form NFC',
};

/**
 * Characters that no text may have: controls, invisible characters that change how others look
 * (joiners, directions, variation selectors, tags), surrogates and private use. These are explicit
 * ranges, because `\p{C}` differs between versions of Unicode, and the verdict must not.
 */
const refused = new RegExp(`[${[
  '\\ufe00-\\ufe0f\\0-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e',
  '\\u2060-\\u206f\\ud800-\\uf8ff\\ufdd0-\\ufdef\\ufeff\\ufff0-\\ufffb',
  '\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}',
].join('')}]`, 'u');

/** White space that `refused` leaves, at an end. */
const space = '[ \\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]';
const outerSpace = new RegExp(`^${space}|${space}$`);

/** Removes white space at both ends and makes Unicode form NFC. Does nothing else. */
export function textForm(text: string): string {
  return text.normalize().trim();
}

/**
 * Why a text is not in the one form: 1 to `bytesMax` bytes of UTF-8, in NFC, no white space at an
 * end, and none of the refused characters. Null when it is. Equal texts then have equal bytes.
 *
 * The last two code points of each plane are no characters, so they are refused too.
 */
export function textFault(text: string, bytesMax: number): TextFault | null {
  if (text === '') return 'empty';
  if (text.length > bytesMax || encoder.encode(text).length > bytesMax) return 'too-long';
  for (const character of text) {
    if ((character.codePointAt(0)! & 0xfffe) === 0xfffe) return 'character';
  }
  if (refused.test(text)) return 'character';
  if (outerSpace.test(text)) return 'outer-space';
  return text.normalize() === text ? null : 'not-normal';
}

const encoder = new TextEncoder();
/** It keeps a byte order mark, which the form refuses. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * As `textFault`, for the UTF-8 of a text. ASCII is judged without decoding.
 * @param from - where the text begins in `bytes`; it ends before `end`.
 */
export function textBytesFault(
  bytes: Uint8Array, bytesMax: number, from = 0, end = bytes.length,
): TextFault | null {
  if (from === end) return 'empty';
  if (end - from > bytesMax) return 'too-long';
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x80) return decodedFault(bytes.subarray(from, end), bytesMax);
    if (byte < 0x20 || byte === 0x7f) return 'character';
  }
  return bytes[from] === 0x20 || bytes[end - 1] === 0x20 ? 'outer-space' : null;
}

function decodedFault(bytes: Uint8Array, bytesMax: number): TextFault | null {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return 'character';
  }
  return textFault(text, bytesMax);
}
