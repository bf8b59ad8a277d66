import { describe, expect, it } from 'vitest';
import { parseSettingsText } from '../../server/study-file/settings.js';
import { root } from '../support/sources.js';
import { readFileSync } from 'node:fs';

const parse = (text: string) => parseSettingsText(text, 'settings.yaml');
const nothing = (): string => {
  throw new Error('a secret is read');
};

describe('a settings file', () => {
  it('sets what it states, and leaves the rest as it is', () => {
    const { alerts, ...rest } = parse('releaseTick: 1s');
    expect(rest).toEqual({
      store: { connections: 8, lease: 10_000 }, statesStore: false, releaseTickMs: 1_000,
      frameAncestors: [], encryptedOnly: false, traces: false,
    });
    expect(alerts(nothing)).toBeUndefined();
    expect(parse('store: { schema: one, lease: 60s, direct: postgres://u:p@h/d }')).toMatchObject({
      store: { schema: 'one', connections: 8, lease: 60_000, direct: 'postgres://u:p@h/d' },
      statesStore: true, releaseTickMs: 250,
    });
  });

  it('reads no secret before alerts are wanted', () => {
    const { alerts } = parse('alerts: { webhook: { url-file: hook } }');
    expect(() => alerts(nothing)).toThrow('a secret is read');
    expect(alerts((path) => `https://${path}`)).toMatchObject({ webhook: { url: 'https://hook' } });
  });

  it.each([
    ['', 'the file is empty: give keys and values; docs/reference/settings-file.md has the keys'],
    ['releaseTik: 1s', 'line 1: releaseTik is not a key that is known here; did you mean '
      + 'releaseTick?'],
    ['traces: false\nreleaseTick: 2m', 'line 2: releaseTick is "2m": give a number and a unit'],
    ['releaseTick: 0', 'releaseTick is 0: give a number and a unit'],
    ['store: { lease: 11m }', 'from 1s to 10m'],
    ['store: { connections: 1 }', 'store.connections is 1: give a whole number from 4 to 500'],
    ['store:\n  schema: a-b', 'line 2: store.schema is "a-b": give up to 63 lower-case letters'],
    ['frameAncestors: ["null"]', 'frameAncestors[0] is "null": give the origin of a page'],
    ['frameAncestors: ["\'self\'; script-src *"]', 'give the origin of a page'],
    ['frameAncestors: [https://wiki.example.org/]', 'without a path'],
    ['traces: 1', 'traces is 1: give true or false'],
    ['encryptedOnly: keelson.v2', 'encryptedOnly is "keelson.v2": give true or false'],
  ])('%j is refused, with line and remedy', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('does not repeat an address, which may hold a password', () => {
    expect(() => parse('store:\n  direct: mysql://user:secret@host')).toThrow(
      /^settings\.yaml, line 2: store\.direct is no address of a database; write postgres:(?!.*secret)/);
  });

  it('has a page with every key', () => {
    const page = readFileSync(`${root}docs/reference/settings-file.md`, 'utf8');
    const [, example] = /^```yaml settings\n(.*?)^```/ms.exec(page)!;
    expect(parse(example!)).toMatchObject({ statesStore: true });
    for (const key of ['store.lease', 'alerts.email.password-file', 'releaseTick', 'traces']) {
      expect(page.split(`\n### \`${key}\`\n`)[1])
        .toMatch(/^\n[^-\n].+\n\n- Value: .{4,}\n- When absent: .{4,}\n- Example: `.+`\n/);
    }
  });
});
