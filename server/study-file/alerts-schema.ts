import * as v from 'valibot';
import { key, line as lineOfText, ruled, whole } from './schema-parts.js';

const path = lineOfText(1024);
const address = ruled('an e-mail address', v.pipe(
  v.string('an e-mail address'), v.email('an e-mail address'),
));
const relayRule = 'smtp://host:port or smtps://host:port';
const relay = ruled(relayRule, v.pipe(
  v.string(relayRule), v.regex(/^smtps?:\/\/[^\s/@]+$/, relayRule),
));
const addressesRule = 'a list of 1 to 16 e-mail addresses';
const webhook = v.strictObject({
  'url-file': key(path, 'A file with the address that gets each alert as JSON by POST. Many '
    + 'services put a secret into it, so only you may read the file.', 'webhook.url'),
}, 'url-file');
const email = v.strictObject({
  relay: key(relay, 'The mail server that takes the letters.', 'smtp://mail.example.org:587'),
  from: key(address, 'The sender.', 'keelson@example.org'),
  to: key(ruled(addressesRule, v.pipe(
    v.array(address, addressesRule), v.minLength(1, addressesRule), v.maxLength(16, addressesRule),
  )), 'Who gets them.', ['operators@example.org']),
  user: key(v.optional(lineOfText(256)), 'The name at the relay, where it asks for one.', 'keelson',
    'nobody signs in'),
  'password-file': key(v.optional(path), 'A file with the password of user, which only you may '
    + 'read.', 'relay.password', 'must be given with user'),
}, 'relay, from, to');

/** The file that `keelson serve --alerts` reads. */
export const alertsSchema = v.strictObject({
  webhook: key(v.optional(webhook), 'A service that takes alerts over HTTP.',
    { 'url-file': 'webhook.url' }, 'none'),
  email: key(v.optional(email), 'Letters to people.', {
    relay: 'smtp://mail.example.org:587', from: 'keelson@example.org',
    to: ['operators@example.org'],
  }, 'none'),
  'silent-epochs': key(v.optional(whole(1, 1000), 3),
    'A study that has released nothing for so many epochs is reported.', 3),
}, 'webhook or email');
