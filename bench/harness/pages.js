// Output of benchmarks: tables in Markdown, parts of pages, and results that are kept in pieces.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

/** @returns the lines of a table in Markdown. */
export const tableLines = (head, rows) => [head, head.map(() => '---'), ...rows]
  .map((fields) => `| ${fields.join(' | ')} |`);

/**
 * Replaces the part between two marks of a page. People write the text outside them.
 * @param marks - two lines of the page, the first and the last of the part.
 * @throws Error with the name of the page, if it lacks them.
 */
export function writePart(file, marks, text) {
  const page = readFileSync(file, 'utf8');
  const [from, to] = marks.map((mark) => page.indexOf(mark));
  if (from < 0 || to < from) throw new Error(`${file} lacks the lines ${marks.join(' and ')}`);
  writeFileSync(file, `${page.slice(0, from + marks[0].length)}\n\n${text}\n${page.slice(to)}`);
}

/** Lines of JSON in a file that grows. The last line may be incomplete. */
export const readLines = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n')
  .flatMap((text) => (text.endsWith('}') ? [JSON.parse(text)] : [])) : []);

/**
 * Results of a benchmark that is run in pieces: one JSON line each.
 * @param file - its contents are read first; null keeps results in memory only.
 * @param keyOf - the run of a line: lines with the same key come from one run.
 */
export function keptLines(file, keyOf) {
  const lines = file === null ? [] : readLines(file);
  const known = new Set(lines.map(keyOf));
  return {
    has: (run) => known.has(keyOf(run)),
    /** In the order of the runs: copies of a benchmark end in any order. */
    inOrderOf(runs) {
      const places = new Map(runs.map((run, place) => [keyOf(run), place]));
      const place = (line) => places.get(keyOf(line)) ?? runs.length;
      return [...lines].sort((left, right) => place(left) - place(right));
    },
    add(found) {
      lines.push(...found);
      for (const line of found) known.add(keyOf(line));
      if (file !== null) {
        appendFileSync(file, found.map((line) => `${JSON.stringify(line)}\n`).join(''));
      }
    },
  };
}
