/**
 * Contributors choose texts, and a person who reads them may be misled. These functions show a text
 * in a terminal and in a table, and find texts that look alike.
 */

/** Characters that a terminal may show as they are. Marks are shown only after another one. */
const plain = /^[\p{L}\p{N}\p{P}\p{S} ]\p{M}*$/u;
/** Invisible, although they count as letters, marks or symbols. */
const invisible = /[\p{DI}\u2800]/u;
const clusters = /[^\p{M}]\p{M}*|\p{M}+/gsu;

/**
 * A text in double quotes, for a terminal or a log line. It keeps letters, digits, punctuation,
 * symbols, marks and spaces. Every other character is written as `\u{..}`, so that no text can move
 * the cursor, change colours, hide characters or end its quotes.
 * @example
 * quotedText('a"b\u001b[2J');   // "a\"b\u{1b}[2J"
 */
export function quotedText(text: string): string {
  const shown = text.replace(/["\\]/g, '\\$&').replace(clusters, (cluster) =>
    (plain.test(cluster) && !invisible.test(cluster)
      ? cluster : [...cluster].map(escaped).join('')));
  return `"${shown}"`;
}

function escaped(character: string): string {
  return plain.test(character) && !invisible.test(character)
    ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/**
 * A text as one cell of a CSV file, always in quotes. A text that begins with `=`, `+`, `-`, `@` or
 * the wide form of one of them gets `'` in front, because spreadsheets would run it as a formula.
 */
export function csvText(text: string): string {
  const safe = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

/**
 * The writing systems whose letters look like those of another one. All others count as one more.
 */
const scripts: readonly RegExp[] = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Georgian}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
];
const eastAsian =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}]/u;
const latin = 0;

/**
 * True if a text mixes writing systems, as one does that imitates another: `p\u0430y` has a
 * Cyrillic letter. Latin letters beside Chinese, Japanese or Korean ones are common, and not mixed.
 */
export function mixesScripts(text: string): boolean {
  const found = new Set<number>();
  let hasEastAsian = false;
  for (const letter of text.match(/\p{L}/gu) ?? []) {
    if (eastAsian.test(letter)) hasEastAsian = true;
    // Letters that all systems share, such as a modifier, are in none of them.
    else if (!/[\p{Script=Common}\p{Script=Inherited}]/u.test(letter)) {
      found.add(scripts.findIndex((script) => script.test(letter)));
    }
  }
  if (hasEastAsian) found.delete(latin);
  return found.size + Number(hasEastAsian) > 1;
}

/** Why a reader may mistake a key for another one. */
export type KeyDoubt = 'look-alike' | 'mixed letters';

/**
 * For each of the keys of an answer, why a reader may mistake it for another one; null if nothing
 * says so. A key has a part for each column.
 * @example
 * keyDoubts([['maps'], ['Maps'], ['p\u0430y']]);   // ['look-alike', 'look-alike', 'mixed letters']
 */
export function keyDoubts(keys: readonly (readonly string[])[]): readonly (KeyDoubt | null)[] {
  const alike = lookAlikes(keys.map((key) => key.join('\n')));
  return keys.map((key, i) => (alike[i] !== null ? 'look-alike'
    : key.some(mixesScripts) ? 'mixed letters' : null));
}

/**
 * For each text the place of another one that it looks like; null where there is none. Two texts
 * look alike when they are equal after Unicode form NFKC, in lower case and without joiners.
 */
export function lookAlikes(texts: readonly string[]): readonly (number | null)[] {
  const places = new Map<string, number[]>();
  const forms = texts.map((text) => text.replace(/[\u200c\u200d]/g, '')
    .normalize('NFKC').toLowerCase().normalize('NFKC'));
  forms.forEach((form, place) => {
    const known = places.get(form);
    if (known === undefined) places.set(form, [place]);
    else known.push(place);
  });
  return forms.map((form, place) => places.get(form)!.find((other) => other !== place) ?? null);
}
