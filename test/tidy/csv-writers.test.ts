import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { csvOf } from '../../dashboard/base/series-csv.js';
import { importsOf, root, sourceFiles } from '../support/sources.js';

/** Everything that writes CSV for people. Each takes its texts from `csvText`. */
const writers = ['cli/export/write.ts', 'dashboard/base/series-csv.ts'];
/** Names the type of what one of the writers has written. */
const handsOver = ['dashboard/views/save-files.ts'];
/** They put commas between other things. */
const others = [
  'cli/commands/lab.ts', 'cli/input/csv-find-form.ts', 'cli/lab/session.ts',
  'server/metrics/metrics.ts',
  'server/network/client-address.ts', 'src/base/canonical-json.ts',
];
const files = sourceFiles();

describe('writers of CSV', () => {
  it('are listed here', () => {
    const found = files.filter(({ text }) => /\.join\((['"`]),\1\)|text\/csv/.test(text))
      .map(({ path }) => path).sort();
    expect(found).toEqual([...writers, ...handsOver, ...others].sort());
    const clients = execFileSync('git', ['ls-files', 'clients'], { cwd: root, encoding: 'utf8' })
      .split('\n').filter((path) => /\.(py|go|ts|js)$/.test(path))
      .filter((path) => /\bcsv\.writer|encoding\/csv|text\/csv/
        .test(readFileSync(`${root}${path}`, 'utf8')));
    // It writes to the command, and no person reads it.
    expect(clients).toEqual(['clients/python/keelson/analysis.py']);
  });

  it.each(writers)('%s guards texts by the function that all use', (path) => {
    const file = files.find((each) => each.path === path)!;
    expect(importsOf(file).some((from) => /\/(shown-text|csv)\.js$/.test(from))).toBe(true);
    expect(file.text).toMatch(/import \{ csvText \}/);
  });

  it('have one guard', () => {
    const guards = files.filter(({ text }) => /\/\^\[=|\\uff1d|＝/.test(text));
    expect(guards.map(({ path }) => path)).toEqual(['src/base/shown-text.ts']);
  });

  it.each([...'=+-@＝＋－＠\t\r\n'])('of the dashboard take the formula out of %j', (sign) => {
    const series = {
      epochs: [1], times: [0], values: [1], lows: [0], highs: [2], refusals: [`${sign}1`],
    };
    const text = csvOf(series, `${sign}a`, `${sign}b`);
    expect(text).toContain(`"'${sign}a","'${sign}b",1,`);
    expect(text).toContain(`,"'${sign}1"\r\n`);
  });
});
