import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStudies, readStudyFiles } from '../../cli/base/study-files.js';
import { readText } from '../../cli/base/text-files.js';
import { scratchFolder } from '../support/scratch.js';
import { meanStudy } from '../support/study-files.js';

const folder = scratchFolder('files');

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('files of studies, keys and certificates', () => {
  it('are read as UTF-8', () => {
    expect(readText(written('good.txt', 'délai\n'))).toBe('délai\n');
    expect(
      readStudies(
        [written('good.yaml', `\ufeff${meanStudy('délai')}`)], undefined,
      )[0]!.document.study,
    )
      .toBe('délai');
  });

  it('are refused when they are not UTF-8', () => {
    const latin = written(
      'latin.yaml', Buffer.from(meanStudy('delai').replace('delai', 'd\u00e9lai'), 'latin1'),
    );
    expect(() => readStudies([latin], undefined))
      .toThrow(`${latin} is not UTF-8 text: check the path, or save it so`);
  });

  it('are refused for a server where two of them hold a study of one name', () => {
    const [one, other, third] = ['one', 'other', 'third'].map((name) =>
      written(`${name}.yaml`, meanStudy(name === 'third' ? 'third' : 'same')));
    const both = readStudyFiles([one!, other!, third!], undefined);
    expect(both.studies.map(({ document }) => document.study)).toEqual(['third']);
    expect(both.refused.map(({ error }) => error.message)).toEqual([
      `the study same is there twice: ${one} and ${other} both name it; give one file for each `
        + 'name',
    ]);
    const again = readStudyFiles([one!, one!], undefined);
    expect(again.studies).toEqual([]);
    expect(again.refused[0]!.error.message).toContain(`${one} is given 2 times; give one file`);
    expect(readStudies([one!, other!], undefined)).toHaveLength(2);
  });

  it('are refused at once if they are pipes or devices', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, '/dev/zero', '/dev/null']) {
      expect(() => readText(path)).toThrow(`${path}: it is a pipe or a device: save it as a file`);
    }
    const listed = written('keys.yaml', meanStudy('s', { admission: '{ contributorKeys: pipe }' }));
    expect(() => readStudies([listed], undefined)).toThrow(/keys.yaml.*admission.contributorKeys/);
    expect(() => readText(folder)).toThrow(`${folder}: it is a folder`);
    expect(() => readText(join(folder, 'none'))).toThrow('there is no such file');
  });

  it('are refused unread when they are too large', () => {
    const large = written('large.yaml', '');
    truncateSync(large, 2 ** 40);
    expect(() => readText(large))
      .toThrow(/large.yaml: the file has 1099511627776 bytes, and at most 4194304 are read/);
  });
});
