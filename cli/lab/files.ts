import { readFileSync } from 'node:fs';
import { InvalidInputError } from '../../src/base/errors.js';
import type { PageFile } from './web.js';

/** True in dist/cli/lab; false in cli/lab, for runs from the sources. */
const isBuilt = import.meta.url.includes('/dist/cli/');
const folder =
  new URL(isBuilt ? '../../dashboard/site/' : '../../dist/dashboard/site/', import.meta.url);

const files = [
  ['/lab', 'lab.html', 'text/html'],
  ['/favicon.svg', 'favicon.svg', 'image/svg+xml'],
  ['/shell.css', 'shell.css', 'text/css'],
  ['/lab.css', 'lab.css', 'text/css'],
  ['/lab.js', 'lab.js', 'text/javascript'],
  ['/uplot.css', 'uplot.css', 'text/css'],
] as const;

/** The lab's page. @throws InvalidInputError if it is not built. */
export function labFiles(): ReadonlyMap<string, PageFile> {
  return new Map(files.map(([path, name, type]) => {
    try {
      return [path, { type: `${type}; charset=utf-8`, body: readFileSync(new URL(name, folder)) }];
    } catch {
      throw new InvalidInputError('the laboratory\'s page is not built: run "npm run build", or '
        + 'play without it by --epochs');
    }
  }));
}
