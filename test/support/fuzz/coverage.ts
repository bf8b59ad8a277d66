import { Session } from 'node:inspector/promises';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Row {
  readonly path: string;
  readonly covered: number;
  readonly bytes: number;
  readonly missed: readonly string[];
}

/**
 * Counts which code runs, by V8's own block coverage of the built files.
 * @returns a function that stops it and writes a table for the given folders of dist/.
 */
export async function startCoverage(): Promise<(folders: readonly string[]) => Promise<string>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return async (folders) => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
    const rows: Row[] = [];
    for (const { url, functions } of result) {
      const path = /\/dist\/(.*)\.js$/.exec(url)?.[1];
      if (path === undefined || !folders.some((folder) => path.startsWith(folder))) continue;
      rows.push(rowOf(path, readFileSync(fileURLToPath(url), 'utf8'), functions));
    }
    return table(rows.sort((left, right) => (left.path < right.path ? -1 : 1)));
  };
}

interface Covered {
  readonly functionName: string;
  readonly ranges: readonly {
    readonly startOffset: number; readonly endOffset: number; readonly count: number;
  }[];
}

/** Ranges are nested, the inner after the outer: the last word about a byte counts. */
function rowOf(path: string, text: string, functions: readonly Covered[]): Row {
  const runs = new Uint8Array(text.length).fill(1);
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count } of ranges) {
      runs.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
  }
  const covered = runs.reduce((sum, run) => sum + run, 0);
  const missed = functions.filter(({ functionName, ranges }) =>
    functionName !== '' && ranges[0]!.count === 0)
    .map(({ functionName }) => functionName);
  return { path, covered, bytes: text.length, missed: [...new Set(missed)] };
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ path }) => path.length));
  const lines = rows.map(({ path, covered, bytes, missed }) =>
    `${path.padEnd(width)}  ${(100 * covered / bytes).toFixed(0).padStart(4)} %  `
      + `${missed.join(' ')}`);
  const [covered, bytes] = rows.reduce(([a, b], row) => [a + row.covered, b + row.bytes], [0, 0]);
  return ['', `${'code'.padEnd(width)}     ran  functions that did not`, ...lines,
    `${'all'.padEnd(width)}  ${(100 * covered / bytes).toFixed(0).padStart(4)} %`].join('\n');
}
