import {
  isMap, isNode, isPair, isScalar, Lexer, LineCounter, parseDocument, visit, type Document,
  type YAMLMap,
} from 'yaml';
import { shown, studyError } from './refusal.js';

/** A larger file is no study. */
const charactersMax = 1024 * 1024;
/**
 * The parser's time grows with the number of parts (a key, a value, a mark, a space between them),
 * and faster where parts are nested. A file of a megabyte could keep it busy for minutes. Within
 * these bounds it takes at most a second.
 */
const partsMax = 20_000;
/** Most levels of lists and maps on one line, and the bound on a line's indentation. */
const nestedMax = 16;
const indentMax = 64;

/** The lexer's mark before a text without quotes. */
const scalarMark = '\u001f';

/** The contents of a YAML file, with their lines. */
export interface YamlText {
  readonly value: unknown;
  /** The parsed text, whose nodes know their places in it. */
  readonly contents: unknown;
  /** Line, from 1, of the value at a path, or of the nearest one around it. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
  /** Line, from 1, of a place in the text. */
  readonly lineAt: (place: number) => number;
}

/**
 * Reads one YAML 1.2 document (JSON is one too). Takes a second at most.
 * @throws KeelsonError('invalid-study') with the line, for text that is not YAML, a key twice, or
 *   aliases (a few of them can stand for gigabytes). Also for text with so many parts, or so deeply
 *   nested, that it is no study.
 */
export function readYaml(text: string, file: string): YamlText {
  if (text.length > charactersMax) {
    throw studyError(file, {
      path: '', rule: `has ${text.length} characters, more than ${charactersMax}`,
      remedy: 'give a study file',
    });
  }
  refuseHugeYaml(text, file);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    // The parser's own check is off: it compares each key with every other one.
    lineCounter: lines, uniqueKeys: false, prettyErrors: false, version: '1.2',
    // Faults are thrown. The parser's own warnings would go to standard error, with text of the
    // file.
    logLevel: 'error',
  });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    throw studyError(
      file, {
        path: '', rule: `is not YAML: ${problem.message}`, line: lines.linePos(problem.pos[0]).line,
      }, problem,
    );
  }
  refuseRepeatedKeys(document, lines, file);
  return {
    value: plainValue(document, file), contents: document.contents,
    lineOf: (path) => lineOf(document, lines, path), lineAt: (place) => lines.linePos(place).line,
  };
}

/**
 * Checks the bounds on parts and nesting, in a time that grows only with the length of the text.
 */
function refuseHugeYaml(text: string, file: string): void {
  const refused = (line: number, rule: string, remedy: string): Error =>
    studyError(file, { path: '', line, rule, remedy });
  let [parts, line, opened, marks] = [0, 1, 0, 0];
  let isText = false;
  let before = '\n';
  for (const part of new Lexer().lex(text)) {
    parts += 1;
    if (parts > partsMax) {
      throw refused(line, `has more than ${partsMax} keys, values and marks`, 'give a long list of '
        + 'keys as a file of its own');
    }
    // A text follows. Its characters may look like marks.
    if (!isText && part === scalarMark) isText = true;
    else {
      if (!isText) {
        if (part === '[' || part === '{') opened += 1;
        else if (part === ']' || part === '}') opened -= 1;
        else if (opened === 0 && (part === '-' || part === '?' || part === ':')) marks += 1;
      }
      if (opened > nestedMax || marks > nestedMax
          || (before.endsWith('\n') && /^ +$/.test(part) && part.length > indentMax)) {
        throw refused(line, 'nests too deeply', 'give a study file');
      }
      isText = false;
    }
    const breaks = part.split('\n').length - 1;
    if (breaks > 0) [line, marks] = [line + breaks, 0];
    before = part;
  }
}

function refuseRepeatedKeys(document: Document, lines: LineCounter, file: string): void {
  visit(document, {
    Map(_key, map: YAMLMap) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) {
          throw studyError(file, {
            path: '', rule: `is not YAML: the key ${shown(name)} stands there twice`,
            remedy: 'remove one', line: lines.linePos(key.range![0]).line,
          });
        }
        seen.add(name);
      }
    },
  });
}

function plainValue(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw studyError(
      file, { path: '', rule: 'uses aliases (*name)', remedy: 'write the value out' }, cause,
    );
  }
}

function lineOf(
  document: Document, lines: LineCounter, path: readonly (string | number)[],
): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1
      ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    // The line of the key, not of the value: a value may start on the next line.
    const pair = isMap(parent)
      ? parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key)
      : undefined;
    const node: unknown = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
