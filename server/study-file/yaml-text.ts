import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import { studyError } from './refusal.js';

/** A file that is larger than this is not a study. */
const charactersMax = 1024 * 1024;

/** What a YAML file says, and where. */
export interface YamlText {
  readonly value: unknown;
  /** Line, from 1, of the value at a path, or of the nearest one around it. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

/**
 * Reads one YAML 1.2 document (JSON is one too).
 * @throws KeelsonError('invalid-study') with the line, for text that is not YAML, a key twice, or aliases (a few of
 *   them can stand for gigabytes).
 */
export function readYaml(text: string, file: string): YamlText {
  if (text.length > charactersMax) {
    throw studyError(file, {
      path: '', rule: `has ${text.length} characters, more than ${charactersMax}`, remedy: 'give a study file',
    });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines, uniqueKeys: true, prettyErrors: false, version: '1.2',
    // What is wrong is thrown. The parser's own warnings would go to standard error instead, with text of the file.
    logLevel: 'error',
  });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    throw studyError(
      file, { path: '', rule: `is not YAML: ${problem.message}`, line: lines.linePos(problem.pos[0]).line }, problem,
    );
  }
  return { value: plainValue(document, file), lineOf: (path) => lineOf(document, lines, path) };
}

function plainValue(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw studyError(file, { path: '', rule: 'uses aliases (*name)', remedy: 'write the value out' }, cause);
  }
}

function lineOf(document: Document, lines: LineCounter, path: readonly (string | number)[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    // The key's line, not the value's: a value may start on the next one.
    const pair = isMap(parent)
      ? parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key)
      : undefined;
    const node: unknown = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
