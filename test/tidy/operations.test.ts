import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { localCodes, retryableWireCodes, wireCodes } from '../../src/base/error-codes.js';
import { refusalReasons } from '../../src/base/outcome.js';
import { servedMetrics } from '../support/served-metrics.js';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/operating/operations.md`, 'utf8');

/** First cells of the tables under a heading, without their quotes. */
function firstCells(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return section.split('\n').filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, 3).map((cell) => cell.trim()));
}

describe('the operations page', () => {
  it('has one entry per code, and says which are retried', () => {
    const cells = firstCells('Codes');
    const codes = cells.map(([code]) => code!.replaceAll('`', ''));
    expect(codes).toEqual([...wireCodes, ...localCodes]);
    const retried = cells.slice(0, wireCodes.length)
      .filter(([, retry]) => retry === 'yes').map(([code]) => code);
    expect(retried).toEqual([...retryableWireCodes].map((code) => `\`${code}\``));
  });

  it('has one entry per reason for which a release is refused', () => {
    const reasons = firstCells('When a release is refused')
      .map(([reason]) => reason!.replaceAll('`', ''));
    expect(reasons).toEqual([...refusalReasons]);
  });

  it('names every metric that there is, and no other', async () => {
    const served = [...(await servedMetrics()).matchAll(/^# TYPE (keelson\w+)/gm)]
      .map(([, name]) => name!);
    const named = [...page.matchAll(/`(keelson_[a-z_0-9]+)/g)].map(([, name]) => name!);
    expect([...new Set(named)].sort()).toEqual([...new Set(served)].sort());
  });
});
