import type { ArgDef, ArgsDef } from 'citty';
import { aliasOf } from './arguments.js';
import { commonArguments, type Command } from './command.js';
import { terminalColumns } from './io.js';

/** Breaks a text into lines of at most `width` characters. A longer word gets a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Lines of two columns. If the left cell is too long, its text starts on the next line. */
export function entries(pairs: readonly (readonly [string, string])[]): string[] {
  const left = Math.min(24, Math.max(...pairs.map(([name]) => name.length)) + 2);
  return pairs.flatMap(([name, text]) => {
    const lines = wrap(text, terminalColumns - 2 - left);
    const first = name.length + 2 <= left
      ? [`  ${name.padEnd(left)}${lines.shift() ?? ''}`] : [`  ${name}`];
    return [...first, ...lines.map((line) => `  ${' '.repeat(left)}${line}`)].map((line) =>
      line.trimEnd());
  });
}

/** The values of an enumeration are shown beside the flag, or in its text if they are too many. */
function choicesOf(definition: ArgDef): { readonly label: string; readonly text: string } {
  const options = definition.type === 'enum' ? definition.options ?? [] : [];
  const label = options.join('|');
  return label.length <= 48
    ? { label, text: '' } : { label: 'NAME', text: `: ${options.join(', ')}` };
}

function flagLabel(name: string, definition: ArgDef): string {
  const alias = aliasOf(definition);
  const value = definition.type === 'boolean' ? ''
    : definition.type === 'enum' ? ` ${choicesOf(definition).label}`
      : ` ${(definition.valueHint ?? 'VALUE').toUpperCase()}`;
  return `${alias === undefined ? '' : `-${alias}, `}--${name}${value}`;
}

function flagText(definition: ArgDef): string {
  const base = (definition.description ?? '') + choicesOf(definition).text;
  return definition.default === undefined
    ? base : `${base} (default ${String(definition.default)})`;
}

/** The help of one command, with its examples. At most 80 columns wide, except for long words. */
export function commandHelp<Arguments extends ArgsDef>(command: Command<Arguments>): string {
  const all = Object.entries<ArgDef>({ ...command.args, ...commonArguments });
  const positionals = all.filter(([, definition]) => definition.type === 'positional');
  const flags = all.filter(([, definition]) => definition.type !== 'positional');
  const positionalWords = positionals.map(([name, definition]) => {
    const word = definition.valueHint?.endsWith('...') === true
      ? `${name.toUpperCase()}...` : name.toUpperCase();
    return definition.required === false ? `[${word}]` : word;
  });
  const lines = [
    ...wrap(command.summary, terminalColumns),
    '',
    `usage: keelson ${[command.name, ...positionalWords, '[flags]'].join(' ')}`,
  ];
  for (const paragraph of command.details
    ?? []) lines.push('', ...wrap(paragraph, terminalColumns));
  if (positionals.length > 0) {
    lines.push('', 'arguments:', ...entries(positionals.map(([name, definition]) =>
      [name.toUpperCase(), definition.description ?? ''] as const)));
  }
  lines.push('', 'flags:', ...entries(flags.map(([name, definition]) =>
    [flagLabel(name, definition), flagText(definition)] as const)));
  lines.push(
    '',
    command.examples.length === 1 ? 'example:' : 'examples:',
    ...command.examples.map((line) => `  ${line}`),
  );
  return `${lines.join('\n')}\n`;
}

/** The help of commands that begin with the same word. */
export function groupHelp(
  name: string, summary: string, commands: readonly (readonly [string, string])[],
): string {
  const lines = [
    ...wrap(summary, terminalColumns), '', `usage: keelson ${name} COMMAND [arguments] [flags]`,
    '', 'commands:',
    ...entries(commands.map(([each, text]) => [each.slice(name.length + 1), text])),
    '', 'example:', `  keelson ${commands[0]![0]} --help`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The help of `keelson` itself. */
export function overviewHelp(
  commands: readonly (readonly [name: string, summary: string])[],
): string {
  return [
    'Robust, differentially private aggregation over live streams of untrusted',
    'contributors.',
    '',
    'usage: keelson COMMAND [arguments] [flags]',
    '',
    'commands:',
    ...entries(commands),
    '',
    'flags of every command:',
    ...entries([
      ...Object.entries<ArgDef>(commonArguments).map(([name, definition]) =>
        [flagLabel(name, definition), flagText(definition)] as const),
      ['--version', 'print the version'] as const,
    ]),
    '',
    'exit status: 0 done; 1 the answer is a refusal or a failed verification;',
    '2 wrong usage or input.',
    '',
    'example:',
    '  keelson estimate --help',
    '',
  ].join('\n');
}
