// Results of a benchmark that is run in pieces: one JSON line each, in a file that grows.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/**
 * @param file - what it holds is read first; null keeps results in memory only.
 * @param keyOf - what was run: lines with the same key come from one run.
 */
export function keptLines(file, keyOf) {
  const lines = file === null || !existsSync(file) ? [] : readFileSync(file, 'utf8').split('\n')
    // The last line may be incomplete.
    .flatMap((text) => (text.endsWith('}') ? [JSON.parse(text)] : []));
  const known = new Set(lines.map(keyOf));
  return {
    lines,
    has: (run) => known.has(keyOf(run)),
    add(found) {
      lines.push(...found);
      for (const line of found) known.add(keyOf(line));
      if (file !== null) {
        appendFileSync(file, found.map((line) => `${JSON.stringify(line)}\n`).join(''));
      }
    },
  };
}
