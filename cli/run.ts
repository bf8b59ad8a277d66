import { parseCommandArguments, type Command } from './base/command.js';
import { commandTable } from './commands/table.js';
import { errorText, exitStatusOf, UsageError } from './base/errors.js';
import { commandHelp, overviewHelp } from './base/help.js';
import type { ExitStatus, Io } from './base/io.js';
import { nodeRemedy } from './base/node-version.js';
import { createOutput } from './base/output.js';
import { packageVersion } from '../server/base/place.js';
import { didYouMean } from '../src/base/suggest.js';

/** Words that people try as a command, and what to write for them. */
const otherWords: Readonly<Record<string, string>> = {
  list: '"studies" for the studies of a server, or "estimators"',
  status: '"studies", "doctor" or "ledger"',
  version: '"--version"',
  restore: '"doctor" for the restored folder; docs/operating/operations.md has the steps',
  start: '"serve"', run: '"serve" or "estimate"', query: '"estimate"', send: '"contribute"',
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
  const [name, ...rest] = words;
  if (name === undefined) {
    io.stderr.write(overviewHelp(overview()));
    return 2;
  }
  if (name === '--help' || name === '-h' || name === 'help') return help(rest[0], io);
  if (name === '--version' || name === '-v') {
    io.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const debug = rest.includes('--debug');
  try {
    const command = await findCommand(name);
    if (wantsHelp(rest)) {
      io.stdout.write(commandHelp(command));
      return 0;
    }
    const { args, repeated } = parseCommandArguments(command, rest);
    onCommand(command);
    const output = createOutput(io, (args as { json?: boolean }).json === true);
    if (!output.isJson) warnOfNode(io);
    return await command.run({ args, repeated, io, output });
  } catch (error) {
    io.stderr.write(errorText(error, name in commandTable ? `keelson ${name}` : 'keelson', debug));
    if (error instanceof UsageError) {
      io.stderr.write(`  usage: keelson ${name in commandTable ? name : 'COMMAND'} --help\n`);
    }
    return exitStatusOf(error);
  }
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

async function help(name: string | undefined, io: Io): Promise<ExitStatus> {
  if (name === undefined || name.startsWith('-')) {
    io.stdout.write(overviewHelp(overview()));
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

function overview(): (readonly [string, string])[] {
  return Object.entries(commandTable).map(([name, entry]) => [name, entry.summary] as const);
}

async function findCommand(name: string): Promise<Command> {
  const entry = Object.hasOwn(commandTable, name) ? commandTable[name] : undefined;
  if (entry === undefined) {
    const what = name.startsWith('-')
      ? `unknown flag ${name} before the command` : `unknown command "${name}"`;
    throw new UsageError(`${what}${didYouMean(name, Object.keys(commandTable), otherWords)}`);
  }
  return entry.load();
}
