/** Limits of a text column, in bytes of UTF-8. */
export const textLimits = {
  /** Where a study does not say. */
  bytes: 64,
  /** The wire has one byte for the length of a text. */
  bytesMax: 255,
} as const;

/** Why a text is not in the one form that a study accepts. */
export type TextFault = 'empty' | 'too-long' | 'character' | 'outer-space' | 'not-normal';

/** The words for each fault of a text. They never contain the text. */
export const textFaultWords: Readonly<Record<TextFault, string>> = {
  empty: 'is empty',
  'too-long': 'has more bytes than its column takes',
  character: 'has a control character, an invisible character that joins no letters or one for '
    + 'private use, or is not UTF-8',
  'outer-space': 'begins or ends with white space',
  'not-normal': 'is not in Unicode form NFC',
};

/**
 * Characters that no text may have: controls, invisible characters that change how others look
 * (directions, variation selectors, tags), surrogates and private use. Joiners are judged by their
 * place: see `joiners`. These are explicit ranges, because `\p{C}` differs between versions of
 * Unicode, and the verdict must not.
 */
const refused = new RegExp(`[${[
  '\\ufe00-\\ufe0f\\0-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e',
  '\\u2060-\\u206f\\ud800-\\uf8ff\\ufdd0-\\ufdef\\ufeff\\ufff0-\\ufffb',
  '\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}',
].join('')}]`, 'u');

/** White space that `refused` leaves, at an end. */
const space = '[ \\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]';
const outerSpace = new RegExp(`^${space}|${space}$`);

/** Letters of the Arabic block that join on both sides, and all that join the one before. */
const dual = '\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a'
  + '\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1'
  + '\u06fa-\u06fc\u06ff';
const joined = '[\u0620\u0622-\u064a\u066e\u066f\u0671-\u0673\u0675-\u06d3\u06d5\u06ee'
  + '\u06ef\u06fa-\u06fc\u06ff]';
const arabicMarks = '[\u064b-\u065f\u0670]*';
/** The sign that takes the vowel off a letter, in the scripts from Devanagari to Sinhala. */
const virama = '[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]';

/**
 * A joiner, U+200C or U+200D. One that a text may have is in the group, with what is before it:
 * those change how letters are joined, so that a reader sees them, and the language writes them.
 * After a virama they choose between two forms of the letters beside it, as in Sinhala. U+200C
 * parts two Arabic letters that would join, as in Persian. This is the rule of RFC 5892, appendix
 * A, with fixed lists, so that the verdict does not depend on the version of Unicode. Anywhere else
 * a joiner shows nothing, or makes one picture of several emoji in some fonts only: two keys would
 * look the same. A font may hide the others, too, so `lookAlikes` passes over all joiners.
 */
const joiners = new RegExp(
  `(${virama}(?:\u200d|\u200c(?=[\u0900-\u0dff]))|[${dual}]${arabicMarks}\u200c(?=${joined}))`
  + '|[\u200c\u200d]', 'g',
);
const runsOfJoiners = /([\u200c\u200d])[\u200c\u200d]+/g;
/** They choose between two pictures of one sign, as the font has them. */
const selectors = /\ufe0e|\ufe0f/g;
const mayBeUnseen = /\u200c|\u200d|\ufe0e|\ufe0f/;

function withoutUnseen(text: string): string {
  return text.replace(selectors, '').replace(runsOfJoiners, '$1')
    .replace(joiners, (_joiner, kept = '') => kept as string);
}

/**
 * Makes Unicode form NFC, and removes white space at both ends, the selectors U+FE0E and U+FE0F,
 * and joiners that no text may have. Does nothing else. So a red heart is one text, however a
 * keyboard writes it, and a family is one text, the list of its people.
 */
export function textForm(text: string): string {
  let [before, form] = ['', text.normalize().trim()];
  // Where a joiner goes, marks may change places, and another joiner may lose its letter.
  while (form !== before && mayBeUnseen.test(form)) {
    [before, form] = [form, withoutUnseen(form).normalize().trim()];
  }
  return form;
}

/**
 * Why a text is not in the one form: 1 to `bytesMax` bytes of UTF-8, in NFC, no white space at an
 * end, and none of the refused characters and joiners. Null when it is. Equal texts then have
 * equal bytes.
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
  if (mayBeUnseen.test(text) && withoutUnseen(text) !== text) return 'character';
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
