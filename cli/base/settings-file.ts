import { dirname, resolve } from 'node:path';
import { readSecret } from '../../server/base/secret-files.js';
import {
  parseSettingsText, type AlertSettings, type ServerSettings,
} from '../../server/study-file/settings.js';
import { readText } from './text-files.js';

/** The flag of commands that need only the place of the tables. */
export const settingsArgument = {
  settings: {
    type: 'string', valueHint: 'file',
    description: 'settings file of "keelson serve", for its store.schema',
  },
} as const;

/**
 * The settings of a server; those of an empty file if there is none.
 * @throws InvalidInputError if the file cannot be read; KeelsonError('invalid-study') for a fault.
 */
export function readSettings(file: string | undefined): ServerSettings {
  return file === undefined
    ? parseSettingsText('{}', 'no settings') : parseSettingsText(readText(file), file);
}

/** The destinations of alerts. Paths in the file are relative to its folder. */
export function alertsIn(
  settings: ServerSettings, file: string | undefined,
): AlertSettings | undefined {
  return settings.alerts((path) => readSecret(resolve(dirname(file ?? '.'), path)));
}
