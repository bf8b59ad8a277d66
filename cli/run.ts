import { parseCommandArguments, type Command } from './base/command.js';
import { commandGroups, commandTable, overview } from './commands/table.js';
import { errorText, exitStatusOf, UsageError } from './base/errors.js';
import { commandHelp, groupHelp, overviewHelp } from './base/help.js';
import type { ExitStatus, Io } from './base/io.js';
import { nodeRemedy } from './base/node-version.js';
import { createOutput } from './base/output.js';
import { packageVersion } from '../server/base/place.js';
import { didYouMean } from '../src/base/suggest.js';

/** Words that people try as a command, and the command to type instead. */
const otherWords: Readonly<Record<string, string>> = {
  list: '"studies" for the studies of a server, or "estimators"',
  status: '"studies", "doctor" or "ledger"',
  version: '"--version"',
  restore: '"store restore"; docs/operating/operations.md has the steps',
  start: '"serve"', run: '"serve" or "estimate"', query: '"estimate"', send: '"contribute"',
  backup: '"store backup"', keygen: '"keys new"', enrol: '"keys enrol"', token: '"keys token"',
  issuer: '"keys issuer"', 'keys show': '"keys server"',
};

/**
 * Runs one command line and never throws. Every failure is a text on standard error and an exit
 * status.
 * @param words - the words after `keelson`.
 * @param onCommand - called with the command before it runs.
 */
export async function runCommandLine(
  words: readonly string[],
  io: Io,
  onCommand: (command: Command) => void = () => {},
): Promise<ExitStatus> {
  const [first, ...others] = words;
  if (first === undefined) {
    io.stderr.write(overviewHelp(overview()));
    return 2;
  }
  if (first === '--help' || first === '-h' || first === 'help') return help(others, io);
  if (first === '--version' || first === '-v') {
    io.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const [name, rest] = splitName(words);
  const known = Object.hasOwn(commandTable, name);
  try {
    if (!known && Object.hasOwn(commandGroups, first) && wantsHelp(rest)) return help([first], io);
    const command = await findCommand(name);
    if (wantsHelp(rest)) {
      io.stdout.write(commandHelp(command));
      return 0;
    }
    const { args, repeated } = parseCommandArguments(command, rest);
    onCommand(command);
    const output = await createOutput(io, (args as { json?: boolean }).json === true);
    if (!output.isJson) warnOfNode(io);
    const { debug = false } = args as { readonly debug?: boolean };
    return await command.run({ args, repeated, io, output, debug });
  } catch (error) {
    const isDebug = rest.includes('--debug');
    io.stderr.write(errorText(error, known ? `keelson ${name}` : 'keelson', isDebug));
    if (error instanceof UsageError) {
      io.stderr.write(`  usage: keelson ${known ? name : 'COMMAND'} --help\n`);
    }
    return exitStatusOf(error);
  }
}

/** The name of a command, of two words where the first names a group, and the words after it. */
function splitName(words: readonly string[]): readonly [string, readonly string[]] {
  const [first = '', second] = words;
  const isPair = Object.hasOwn(commandGroups, first) && second?.startsWith('-') === false;
  return isPair ? [`${first} ${second}`, words.slice(2)] : [first, words.slice(1)];
}

/** Node's own variable turns its warnings off, and so this one. */
function warnOfNode({ nodeVersion, environment, stderr }: Io): void {
  const remedy = nodeRemedy(nodeVersion);
  if (remedy === undefined || environment['NODE_NO_WARNINGS'] === '1') return;
  stderr.write(`warning: this is Node ${nodeVersion}; ${remedy}\n`);
}

function wantsHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

async function help(words: readonly string[], io: Io): Promise<ExitStatus> {
  const [name] = splitName(words);
  if (name === '' || name.startsWith('-')) {
    io.stdout.write(overviewHelp(overview()));
    return 0;
  }
  if (Object.hasOwn(commandGroups, name)) {
    io.stdout.write(groupHelp(name, commandGroups[name]!, commandsOf(name)));
    return 0;
  }
  try {
    io.stdout.write(commandHelp(await findCommand(name)));
    return 0;
  } catch (error) {
    io.stderr.write(errorText(error, 'keelson', false));
    return 2;
  }
}

/** @returns name and summary of each command of a group, in the order of its help. */
function commandsOf(group: string): readonly (readonly [string, string])[] {
  return Object.entries(commandTable)
    .flatMap(([name, { summary }]) => (name.startsWith(`${group} `) ? [[name, summary]] : []));
}

async function findCommand(name: string): Promise<Command> {
  if (Object.hasOwn(commandTable, name)) return commandTable[name]!.load();
  if (Object.hasOwn(commandGroups, name)) {
    const actions = commandsOf(name).map(([each]) => each.slice(name.length + 1));
    throw new UsageError(`"keelson ${name}" needs a word more: `
      + `${actions.slice(0, -1).join(', ')} or ${actions.at(-1)!}`);
  }
  const what = name.startsWith('-')
    ? `unknown flag ${name} before the command` : `unknown command "${name}"`;
  throw new UsageError(`${what}${didYouMean(name, Object.keys(commandTable), otherWords)}`);
}
