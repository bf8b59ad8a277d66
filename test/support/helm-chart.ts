import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { root } from './sources.js';

export const chartFolder = `${root}deploy/helm/keelson`;

/** What a path can begin with: "" is the dot, "$name" a variable. */
type Scope = Readonly<Record<string, unknown>>;

/**
 * The documents that `helm template` makes of the chart, and the text of the notes. Knows the few
 * actions that the chart uses. Of the overrides, maps are added to those of values.yaml.
 * @throws Error for any other action, a value that values.yaml lacks, or text that is no YAML.
 */
export function rendered(overrides: Scope = {}): { documents: unknown[]; notes: string } {
  const values = parse(readFileSync(`${chartFolder}/values.yaml`, 'utf8')) as Scope;
  const isMap = (value: unknown): value is Scope => value?.constructor === Object;
  const changed = Object.entries(overrides).map(([name, value]) =>
    [name, isMap(value) ? { ...values[name] as Scope, ...value } : value] as const);
  const dot = {
    Values: { ...values, ...Object.fromEntries(changed) },
    Release: { Name: 'demo', Namespace: 'people' },
  };
  const folder = `${chartFolder}/templates`;
  const text = (name: string): string => renderText(readFileSync(`${folder}/${name}`, 'utf8'), dot);
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return { documents: files.flatMap((name) => documentsOf(text(name))), notes: text('NOTES.txt') };
}

/** All documents of a text but empty ones. @throws Error when one is no YAML. */
export function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text).map((each) => {
    if (each.errors.length > 0) throw each.errors[0]!;
    return each.toJS() as unknown;
  }).filter((each) => each !== null);
}

/** @throws Error as `rendered`. */
export function renderText(template: string, dot: unknown): string {
  const parts = template.replace(/\s*\{\{-/g, '{{').replace(/-\}\}\s*/g, '}}')
    .split(/\{\{\s*(.*?)\s*\}\}/s);
  const { text, end } = block(parts, 0, { '': dot, $: dot });
  if (end < parts.length) throw new Error('an end of nothing');
  return text;
}

/**
 * Renders until the end of a block, or only finds it when there is no scope.
 * @param parts texts at even places, actions at odd ones.
 */
function block(
  parts: readonly string[], start: number, scope?: Scope,
): { readonly text: string; readonly end: number } {
  let text = parts[start]!;
  let at = start + 1;
  for (; at < parts.length && parts[at] !== 'end'; at += 2) {
    const action = parts[at]!;
    if (/^(if|range) /.test(action)) {
      const bodies = scope === undefined ? [] : bodiesOf(action, scope);
      text += bodies.map((each) => block(parts, at + 1, each).text).join('');
      at = block(parts, at + 1).end;
      if (at >= parts.length) throw new Error(`no end of: ${action}`);
    } else if (scope !== undefined) text += String(evaluated(action, scope));
    text += parts[at + 1]!;
  }
  return { text, end: at };
}

/** The scopes in which the body of an "if" or "range" is rendered. */
function bodiesOf(action: string, scope: Scope): Scope[] {
  const [, not, condition] = /^if (not )?(\S+)$/.exec(action) ?? [];
  if (condition !== undefined) {
    const value = valueAt(condition, scope);
    const isEmpty = !value || (typeof value === 'object' && Object.keys(value).length === 0);
    return isEmpty === (not !== undefined) ? [scope] : [];
  }
  const [, key, name, path] =
    /^range (?:(\$\w+), (\$\w+) := )?(\S+)$/.exec(action) ?? unknownAction(action);
  // As in Helm, maps are taken in the order of their keys.
  return Object.entries(valueAt(path!, scope) as Scope).sort().map(([index, value]) => ({
    ...scope, '': value, ...(key !== undefined && { [key]: index, [name!]: value }),
  }));
}

function evaluated(action: string, scope: Scope): unknown {
  const [first, ...functions] = action.split(/\s*\|\s*/) as [string];
  const [, message] = /^fail "(.*)"$/.exec(first) ?? [];
  if (message !== undefined) throw new Error(message);
  const [, path] = /^toYaml (\S+)$/.exec(first) ?? [];
  const start = path === undefined ? valueAt(first, scope)
    : stringify(valueAt(path, scope), { lineWidth: 0 }).trimEnd();
  return functions.reduce((value: unknown, name: string) => {
    const [, spaces] = /^nindent (\d+)$/.exec(name) ?? [];
    if (spaces !== undefined) return `\n${String(value)}`.replaceAll('\n', `\n${' '.repeat(+spaces)}`);
    if (name === 'quote') return JSON.stringify(String(value));
    if (name === 'sha256sum') return createHash('sha256').update(String(value)).digest('hex');
    return unknownAction(name);
  }, start);
}

/** What a path like .Values.image or $name leads to. */
function valueAt(path: string, scope: Scope): unknown {
  if (!/^(\.|(\$\w*)?(\.\w+)*)$/.test(path)) unknownAction(path);
  const [start, ...steps] = path.split('.') as [string];
  return steps.filter((step: string) => step !== '').reduce<unknown>((value, step) => {
    if (Object.hasOwn(value as object, step)) return (value as Scope)[step];
    throw new Error(`no such value: ${path}`);
  }, scope[start]);
}

function unknownAction(text: string): never {
  throw new Error(`unknown action: ${text}`);
}
