import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { decisions } from '../../src/choose.js';
import { root } from '../support/sources.js';

type WithTable = (text: string, from: typeof decisions) => string;
// A script without declarations of its types.
const { withTable } =
  await import(`${root}scripts/decision-table.js`) as { readonly withTable: WithTable };

it('the guide has the table of the rules that auto follows', () => {
  const page = readFileSync(`${root}docs/guides/choose-an-estimator.md`, 'utf8');
  expect(page, 'run "node scripts/decision-table.js" after a build')
    .toBe(withTable(page, decisions));
  const renamed = { ...decisions, count: [{ ...decisions.count[0]!, name: 'tally' }] };
  expect(withTable(page, renamed)).toContain('| `tally` |');
});
