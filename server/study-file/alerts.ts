import * as v from 'valibot';
import { key, line as lineOfText, ruled, whole } from './schema-parts.js';
import { checkText } from './check.js';
import { studyError } from './refusal.js';

/** Where alerts go. At least one of the two is there. */
export interface AlertSettings {
  /** Gets each alert as JSON by POST. The address may hold a secret, so it is never logged. */
  readonly webhook?: { readonly url: string };
  readonly email?: EmailSettings;
  /** A study that released nothing for so many epochs is reported. */
  readonly silentEpochs: number;
}

/** Letters through a relay. */
export interface EmailSettings {
  /** `smtp://host:port` (TLS where the relay offers it) or `smtps://host:port`. */
  readonly relay: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly user?: string;
  readonly password?: string;
}

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

/**
 * Reads a file of alerts:
 *
 *     webhook: { url-file: webhook.url }
 *     email:
 *       relay: smtp://mail.example.org:587
 *       from: keelson@example.org
 *       to: [operators@example.org]
 *       user: keelson
 *       password-file: relay.password
 *     silent-epochs: 3
 *
 * @param file its name, for messages.
 * @param readSecret gives the text of a file of which the path is named there.
 * @throws KeelsonError('invalid-study') for the first fault of the file; what `readSecret` throws.
 */
export function parseAlertsText(
  text: string, file: string, readSecret: (path: string) => string,
): AlertSettings {
  const { content, lineOf } = checkText(alertsSchema, text, file);
  const { webhook: hook, email: letters } = content;
  const fault = (at: string, rule: string, remedy: string): never => {
    const line = at === '' ? undefined : lineOf(at.split('.'));
    throw studyError(file, { path: at, rule, remedy, line });
  };
  if (hook === undefined && letters === undefined) {
    fault('', 'says nobody who is told', 'give webhook, email or both');
  }
  const url = hook === undefined ? undefined : readSecret(hook['url-file']);
  if (url !== undefined && !isWebAddress(url)) {
    fault('webhook.url-file', 'names a file without an address',
      'write one line that begins with https:// or http:// into it');
  }
  if ((letters?.user === undefined) !== (letters?.['password-file'] === undefined)) {
    fault('email', 'has user without password-file, or the reverse', 'give both, or neither');
  }
  return {
    silentEpochs: content['silent-epochs'],
    ...(url !== undefined && { webhook: { url } }),
    ...(letters !== undefined && { email: {
      relay: letters.relay, from: letters.from, to: letters.to,
      ...(letters.user !== undefined && {
        user: letters.user, password: readSecret(letters['password-file']!),
      }),
    } }),
  };
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
}
