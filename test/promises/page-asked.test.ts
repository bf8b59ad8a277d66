import { expect, it } from 'vitest';
import { pageAsked } from './page-asked.js';

it('reads the page that a script writes, and --tiny in any place', () => {
  expect(pageAsked(['page.md'])).toEqual({ isTiny: false, page: 'page.md' });
  expect(pageAsked(['--tiny', 'page.md'])).toEqual({ isTiny: true, page: 'page.md' });
  expect(pageAsked(['page.md', '--tiny'])).toEqual({ isTiny: true, page: 'page.md' });
});

it.each([
  [['--help'], '--help is not known'], [['--tiny', '-x', 'page.md'], '-x is not known'],
  [[], 'one page is written'], [['one.md', 'two.md'], 'one page is written'],
])('takes no flag for a page: %j', (args, said) => {
  expect(() => pageAsked(args)).toThrow(`${said}: give the page's file`);
});
