import { createContributor, openOutbox, subscribe } from '../../client/index.js';
import { createOnceContributor } from '../../client/once.js';
import { LineClient, type Line } from '../../cli/conform/line-client.js';

declare const tell: (text: string) => void;

/** The client of this package in a page, for test/support/page-clients.ts. */
const client = new LineClient(
  { createContributor, createOnceContributor, openOutbox, subscribe },
  (event, members) => tell(JSON.stringify({ event, ...members })),
);
Object.assign(globalThis, { take: (line: string) => client.take(JSON.parse(line) as Line) });
