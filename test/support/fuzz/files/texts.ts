import type { Dice } from '../dice.js';

/** Pieces that stand where parsers change their mind. */
const pieces = [
  '{', '}', '[', ']', ': ', '- ', '&a ', '*a', '<<: *a', '!!js/function ', '!!binary ', '|', '>',
  '\n', '\r', '\r\n', '\t', '"', '\'', '#', '---', '...', '%YAML 9', '1e400', '-0', '.nan', '.inf',
  '~', 'null', 'true', '0x10', '1_000', '1e-400', ',', ';', '\u0000', '\ufeff', '\u2028', '\ud800',
  '__proto__', 'constructor', 'toString', '9'.repeat(400), '-', '+', 'NaN', '1,5', '\\u0000', '\\',
  '/', '=', 'AAAA', '99999999999999999999', '18446744073709551616', 'every', 'epsilon: -1',
  'columns: []',
];

/** The text with a few pieces replaced, moved, doubled or cut. */
export function editText(text: string, dice: Dice): string {
  let changed = text;
  for (let i = dice.below(4); i >= 0; i--) {
    const from = dice.below(changed.length + 1);
    const until = Math.min(changed.length, from + dice.below(dice.happens(0.1) ? 200 : 12));
    const place = dice.below(changed.length + 1);
    switch (dice.below(7)) {
      case 0: changed = changed.slice(0, from) + changed.slice(until); break;
      case 1: changed = changed.slice(0, from) + dice.pick(pieces) + changed.slice(until); break;
      case 2: changed = changed.slice(0, from) + dice.pick(pieces) + changed.slice(from); break;
      case 3: changed =
        changed.slice(0, place) + changed.slice(from, until) + changed.slice(place); break;
      case 4: changed = editNumber(changed, dice); break;
      case 5: changed = editLine(changed, dice); break;
      default: changed =
        changed.slice(0, from) + String.fromCharCode(dice.below(300)) + changed.slice(from + 1);
    }
  }
  return changed;
}

const numbers = [
  '0', '-1', '1', '1e9', '1e308', '1e-308', '4294967296', '9007199254740993', '0.5', '-0', 'NaN',
  '""', '[1, 2]', '1048577',
];

function editNumber(text: string, dice: Dice): string {
  const found = [...text.matchAll(/\d+(?:\.\d+)?(?:e-?\d+)?/g)];
  if (found.length === 0) return text;
  const { index, 0: old } = dice.pick(found);
  return text.slice(0, index) + dice.pick(numbers) + text.slice(index + old.length);
}

function editLine(text: string, dice: Dice): string {
  const lines = text.split('\n');
  const [at, to] = [dice.below(lines.length), dice.below(lines.length)];
  const line = lines[at]!;
  if (dice.happens(0.4)) lines.splice(at, 1);
  else if (dice.happens(0.5)) lines.splice(to, 0, line);
  else [lines[at], lines[to]] = [lines[to]!, line];
  return lines.join('\n');
}
