import { checkText } from './check.js';
import { studyError } from './refusal.js';
import { settingsSchema, usualStore, type SettingsFile } from './settings-schema.js';

/** The destinations of alerts. At least one of the two is present. */
export interface AlertSettings {
  /** Gets each alert as JSON by POST. The address may hold a secret, so it is never logged. */
  readonly webhook?: { readonly url: string };
  readonly email?: EmailSettings;
  /** A study that released nothing for this many epochs is reported. */
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

/** Settings of a server, from the file of `--settings`. */
export interface ServerSettings {
  readonly store: {
    /** Default: the one that `openPostgresStore` uses. */
    readonly schema?: string | undefined;
    readonly connections: number;
    /** The address of the database itself, where that of the store names a pooler. */
    readonly direct?: string | undefined;
    /** In milliseconds. */
    readonly lease: number;
  };
  /** True if the file has `store`, which is of use only with a store in PostgreSQL. */
  readonly statesStore: boolean;
  readonly releaseTickMs: number;
  readonly frameAncestors: readonly string[];
  /** True if rows are taken on encrypted channels alone. */
  readonly encryptedOnly: boolean;
  readonly traces: boolean;
  /**
   * The destinations of alerts; undefined: none. Commands that send none do not read the secrets.
   * @param readSecret returns the text of a file that the settings name.
   * @throws KeelsonError('invalid-study') for a fault of these settings; the error of `readSecret`.
   */
  readonly alerts: (readSecret: (path: string) => string) => AlertSettings | undefined;
}

/**
 * Reads a file of settings:
 *
 *     store: { schema: keelson, connections: 16, lease: 10s }
 *     alerts:
 *       webhook: { url-file: webhook.url }
 *     releaseTick: 250ms
 *     frameAncestors: [https://wiki.example.org]
 *     encryptedOnly: true
 *     traces: false
 *
 * @param file its name, for messages.
 * @throws KeelsonError('invalid-study') for the first fault of the file: line, path, value, rule.
 */
export function parseSettingsText(text: string, file: string): ServerSettings {
  const { content, lineOf } =
    checkText(settingsSchema, text, file, 'docs/reference/settings-file.md has the keys');
  const {
    store = usualStore, alerts, releaseTick, frameAncestors = [], encryptedOnly, traces,
  } = content;
  const fault: Fault = (path, rule, remedy) => {
    throw studyError(file, { path, rule, remedy, line: lineOf(path.split('.')) });
  };
  if (store.direct !== undefined && !isDatabaseAddress(store.direct)) {
    // The address is not repeated: it may hold a password.
    fault('store.direct', 'is no address of a database',
      'write postgres://user@host/database, with special characters of the password as %XX');
  }
  return {
    store,
    statesStore: content.store !== undefined,
    releaseTickMs: releaseTick, frameAncestors, encryptedOnly, traces,
    alerts: (readSecret) =>
      (alerts === undefined ? undefined : alertsOf(alerts, readSecret, fault)),
  };
}

type Fault = (path: string, rule: string, remedy: string) => never;

function alertsOf(
  { webhook, email, 'silent-epochs': silentEpochs }: NonNullable<SettingsFile['alerts']>,
  readSecret: (path: string) => string, fault: Fault,
): AlertSettings {
  if (webhook === undefined && email === undefined) {
    fault('alerts', 'says nobody who is told', 'give webhook, email or both');
  }
  const url = webhook === undefined ? undefined : readSecret(webhook['url-file']);
  if (url !== undefined && !isWebAddress(url)) {
    fault('alerts.webhook.url-file', 'names a file without an address',
      'write one line that begins with https:// or http:// into it');
  }
  if ((email?.user === undefined) !== (email?.['password-file'] === undefined)) {
    fault('alerts.email', 'has user without password-file, or the reverse',
      'give both, or neither');
  }
  return {
    silentEpochs,
    ...(url !== undefined && { webhook: { url } }),
    ...(email !== undefined && { email: {
      relay: email.relay, from: email.from, to: email.to,
      ...(email.user !== undefined && {
        user: email.user, password: readSecret(email['password-file']!),
      }),
    } }),
  };
}

function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text);
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
}
