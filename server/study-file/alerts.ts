import { alertsSchema } from './alerts-schema.js';
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
