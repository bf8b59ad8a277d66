/** Signs of currencies in any script, also as in `US$`, and words that stand for one. */
const symbol = String.raw`[A-Z]{0,2}\p{Sc}|kr\.?|zł|Kč|Ft|Fr\.?|[A-Z]{3}`;
const blank = String.raw`[\s\u00a0\u202f]*`;
const before = new RegExp(`^([+-]?)(${symbol})${blank}(?=[+-]?[.,]?\\d)`, 'u');
const after = new RegExp(`(?<=\\d[.,]?)${blank}(${symbol}|%)$`, 'u');
/** True where a text may have a sign anywhere: faster than to look at each of its cells. */
const anywhere = new RegExp(`\\p{Sc}|%|kr|zł|Kč|Ft|Fr|(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])`, 'u');

let codes: ReadonlySet<string> | undefined;

function isCode(word: string): boolean {
  codes ??= new Set(Intl.supportedValuesOf('currency'));
  return codes.has(word);
}

/** A number with the sign of a currency, or with a percent sign, cut apart. */
export interface SignedNumber {
  /** The rest of the cell, which is a number. */
  readonly text: string;
  readonly sign: string;
}

/** Undefined: there is none, or there are two. */
export function cutSign(cell: string): SignedNumber | undefined {
  const trimmed = cell.trim();
  const front = before.exec(trimmed);
  const rest = front === null ? trimmed : front[1]! + trimmed.slice(front[0].length);
  const back = after.exec(rest);
  const found = front === null ? back?.[1] : back === null ? front[2] : undefined;
  if (found === undefined || (/^[A-Z]{3}$/.test(found) && !isCode(found))) return undefined;
  return { text: back === null ? rest : rest.slice(0, back.index), sign: found };
}

/** The number in a cell without its sign, or the cell as it is. */
export function withoutSign(cell: string): string {
  return cutSign(cell)?.text ?? cell;
}

/** True where a text may have a number with a sign. */
export function mayHaveSigns(text: string): boolean {
  return anywhere.test(text);
}
