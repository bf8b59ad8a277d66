// A part of a page that a benchmark writes, between two marks. People write the text outside them.
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Replaces what stands between the marks.
 * @param marks - two lines of the page, the first and the last of the part.
 * @throws Error naming the page where it lacks them.
 */
export function writePart(file, marks, text) {
  const page = readFileSync(file, 'utf8');
  const [from, to] = marks.map((mark) => page.indexOf(mark));
  if (from < 0 || to < from) throw new Error(`${file} lacks the lines ${marks.join(' and ')}`);
  writeFileSync(file, `${page.slice(0, from + marks[0].length)}\n\n${text}\n${page.slice(to)}`);
}
