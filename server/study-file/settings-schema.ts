import * as v from 'valibot';
import { isPageOrigin } from '../../src/base/page-origin.js';
import { duration, key, line as lineOfText, ruled, whole } from './schema-parts.js';

const path = lineOfText(1024);
const address = ruled('an e-mail address', v.pipe(
  v.string('an e-mail address'), v.email('an e-mail address'),
));
const relayRule = 'smtp://host:port or smtps://host:port';
const relay = ruled(relayRule, v.pipe(
  v.string(relayRule), v.regex(/^smtps?:\/\/[^\s/@]+$/, relayRule),
));
const addressesRule = 'a list of 1 to 16 e-mail addresses';
const webhook = ruled('url-file', v.strictObject({
  'url-file': key(path, 'A file with the address that gets each alert as JSON by POST. Many '
    + 'services put a secret into it, so only you may read the file.', 'webhook.url'),
}, 'url-file'));
const email = ruled('relay, from, to', v.strictObject({
  relay: key(relay, 'The mail server that takes the letters.', 'smtp://mail.example.org:587'),
  from: key(address, 'The sender.', 'keelson@example.org'),
  to: key(ruled(addressesRule, v.pipe(
    v.array(address, addressesRule), v.minLength(1, addressesRule), v.maxLength(16, addressesRule),
  )), 'Who gets them.', ['operators@example.org']),
  user: key(v.optional(lineOfText(256)), 'The name at the relay, where it asks for one.', 'keelson',
    'nobody signs in'),
  'password-file': key(v.optional(path), 'A file with the password of user, which only you may '
    + 'read.', 'relay.password', 'must be given with user'),
}, 'relay, from, to'));

const alerts = ruled('webhook or email', v.strictObject({
  webhook: key(v.optional(webhook), 'A service that takes alerts over HTTP.',
    { 'url-file': 'webhook.url' }, 'none'),
  email: key(v.optional(email), 'Letters to people.', {
    relay: 'smtp://mail.example.org:587', from: 'keelson@example.org',
    to: ['operators@example.org'],
  }, 'none'),
  'silent-epochs': key(v.optional(whole(1, 1000), 3),
    'A study that has released nothing for so many epochs is reported.', 3),
}, 'webhook or email'));

const databaseRule = 'an address, like postgres://user@host/database';
const database = ruled(databaseRule, v.string(databaseRule));
const schemaRule = 'up to 63 lower-case letters, digits and _, with no digit first';
const store = ruled('schema, connections, direct or lease', v.strictObject({
  schema: key(
    v.optional(ruled(schemaRule, v.pipe(
      v.string(schemaRule), v.regex(/^[a-z_][a-z0-9_]{0,62}$/, schemaRule),
    ))),
    'The schema of the tables. Several stores in one database need a schema each.', 'keelson',
    'keelson'),
  connections: key(v.optional(whole(4, 500), 8),
    'The most connections at once. One more hears of news.', 8),
  direct: key(v.optional(database), 'The address of the database itself, where '
    + '--store names a pooler that shares connections by transactions. Such a pooler breaks '
    + 'LISTEN: news of other servers then arrive up to a second later. It may hold a password, so '
    + 'it is never printed.', 'postgres://keelson@db:5432/keelson', 'the address of --store'),
  lease: key(v.optional(duration(1_000, '1s', 600_000, '10m'), '10s'),
    'How long the studies of a dead server wait for another one.', '10s'),
}, 'schema, connections, direct or lease'));

const flag = ruled('true or false', v.boolean('true or false'));
const originRule = 'the origin of a page, like https://wiki.example.org or http://127.0.0.1:8000, '
  + 'without a path';
const origin = ruled(originRule, v.pipe(
  v.string(originRule), v.check(isPageOrigin, originRule),
));
const originsRule = 'a list of 1 to 64 origins';
const origins = ruled(originsRule, v.pipe(
  v.array(origin, originsRule), v.minLength(1, originsRule), v.maxLength(64, originsRule),
));

/** The settings of a store of which the file states nothing. */
export const usualStore = v.parse(store, {});

/** The file of `--settings`: the settings that an operator makes once for a server. */
export const settingsSchema = v.strictObject({
  store: key(v.optional(store), 'The store in PostgreSQL that --store names.',
    { schema: 'keelson', connections: 16 }, 'the defaults of its keys'),
  alerts: key(v.optional(alerts), 'Who is told of refusals, spent budgets and silence: a webhook, '
    + 'people by e-mail, or both.', { webhook: { 'url-file': 'webhook.url' } }, 'nobody is told'),
  releaseTick: key(v.optional(duration(0, '0s', 60_000, '60s'), '250ms'),
    'A release shows this long after the close of its epoch, and at whole multiples of it. So the '
    + 'time of a release does not tell how much work it was. 0s: at once.', '250ms'),
  frameAncestors: key(v.optional(origins), 'The pages that may show /embed/STUDY and /kiosk in a '
    + 'frame.', ['https://wiki.example.org'], 'none'),
  encryptedOnly: key(v.optional(flag, false), 'true: rows are taken on encrypted channels alone, '
    + 'so that no proxy that ends TLS reads them. Older clients, batches over HTTP and those '
    + 'without a channel get unsupported. Entries of sealed studies, which are encrypted to three '
    + 'servers, are taken.', true),
  traces: key(v.optional(flag, false), 'true: batches and releases are '
    + 'traced by the OpenTelemetry SDK that is loaded into the process.', false),
}, 'settings of a server: keys and values');

export type SettingsFile = v.InferOutput<typeof settingsSchema>;
