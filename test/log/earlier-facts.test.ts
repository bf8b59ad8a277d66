import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/base/canonical-json.js';
import { fromUtf8, utf8 } from '../../src/base/bytes.js';
import { factsNow } from '../../src/log/earlier-facts.js';
import { decodeLogLine, verifyReleaseLog } from '../../src/log/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeStudyDocument } from '../../src/wire/index.js';

/** Logs that a server wrote before the names changed. */
const linesOf = (name: string): readonly string[] =>
  readFileSync(fileURLToPath(new URL(`before/${name}.log`, import.meta.url)), 'utf8')
    .trimEnd().split('\n');
const factsOf = (lines: readonly string[]): Uint8Array =>
  (decodeLogLine(lines[0]!) as { readonly facts: Uint8Array }).facts;

describe('a log of before', () => {
  it.each([['rides', 5], ['flights', 5]])('is verified: %s', async (name, count) => {
    const report = await verifyReleaseLog(linesOf(name), { signing });
    expect(report).toMatchObject({ firstFault: null, consistent: true, count });
  });

  it('has its questions in the words of now', () => {
    const { facts, renamed } = factsNow(factsOf(linesOf('rides')));
    expect(renamed).toEqual([
      'questions[0].by.keys is now groups', 'questions[0].by.keysMax is now groupsMax',
      'questions[0].share is now part', 'questions[1].by.discover.answer: keys is now groups',
      'questions[1].by.keysMax is now groupsMax', 'questions[1].share is now part',
      'questions[2].share is now part', 'questions[3].share is now part',
    ]);
    expect(decodeStudyDocument(facts).questions.map(({ name, part, by }) => [name, part, by]))
      .toEqual([
        ['regions', 40, { columns: ['region'], groupsMax: 2, groups: [['north'], ['south']] }],
        ['found', 20, {
          columns: ['region'], groupsMax: 1, discover: { answer: 'groups', prefilter: 1, top: 100 },
        }],
        ['time', 20, undefined], ['spreading', 20, undefined],
      ]);
    // Nothing is left to rename.
    expect(factsNow(facts)).toEqual({ facts, renamed: [] });
  });

  it.each([
    [{ kind: 'keys', digest: 'ab' }, { kind: 'contributorKeys', digest: 'ab' },
      'admission.kind: keys is now contributorKeys'],
    [{ kind: 'rate', keys: 9, perMs: 5 }, { kind: 'rate', contributorKeys: 9, perMs: 5 },
      'admission.keys is now contributorKeys'],
    [{ kind: 'tokens', keys: ['ab'] }, { kind: 'tokens', keys: ['ab'] }, undefined],
  ])('has its admission in the words of now: %j', (before, now, renamed) => {
    const found = factsNow(utf8(canonicalJson({ admission: before })));
    expect(JSON.parse(fromUtf8(found.facts))).toEqual({ admission: now });
    expect(found.renamed).toEqual(renamed === undefined ? [] : [renamed]);
  });

  it('is refused where its facts are not canonical, as always', () => {
    for (const text of ['{"study": 1}', '{"questions":[{"share":40 }]}', 'no JSON',
      '{"a":1e999}']) {
      expect(factsNow(utf8(text))).toEqual({ facts: utf8(text), renamed: [] });
    }
  });
});
