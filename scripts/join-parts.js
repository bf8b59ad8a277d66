// Joins parts of a bundle that starts load together. Each file of a graph costs a start as much as
// some of code, so where the entries that share modules are many, the parts are too.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';

/** The bytes of code that cost a start as much as one more file does. Measured on Node 20. */
const fileBytes = 20_000;
/** No entry gets more code to load than by this share and these bytes. */
const [moreShare, moreBytes] = [0.45, 10_000];

/** Imports at the head of a file, where esbuild writes those of other parts. */
const head = /import(?:\{([^}]*)\}from)?"(\.[^"]*)";/y;
const requireOfNode = "import{createRequire as requireOfBundle}from'node:module';"
  + 'const require=requireOfBundle(import.meta.url);';

/** Files of a graph, the parts that they are joined into, and the files that entries load. */
class Graph {
  /** The paths of each part, by path. Entries are parts of their own. */
  parts;

  constructor(outputs) {
    this.outputs = outputs;
    this.paths = Object.keys(outputs);
    this.entries = this.paths.filter((path) => outputs[path].entryPoint !== undefined);
    this.parts = new Map(this.paths.map((path) => [path, [path]]));
    this.limits = new Map(this.entries.map((entry) =>
      [entry, this.bytesOf(this.loaded(entry)) * (1 + moreShare) + moreBytes]));
  }

  importsOf(path) {
    return this.outputs[path].imports
      .filter(({ kind, external }) => kind === 'import-statement' && external !== true)
      .map((each) => each.path);
  }

  /** The parts that an entry loads. */
  loaded(entry, parts = this.parts, found = new Set()) {
    const part = parts.get(entry);
    if (found.has(part)) return found;
    found.add(part);
    for (const path of part.flatMap((each) => this.importsOf(each))) {
      this.loaded(path, parts, found);
    }
    return found;
  }

  bytesOf(loaded) {
    return [...loaded].flat().reduce((sum, path) => sum + this.outputs[path].bytes, 0);
  }

  /** True if a part imports another one that imports it. */
  isCyclic(part, parts) {
    const others = part.flatMap((path) => this.importsOf(path)).map((path) => parts.get(path));
    const found = new Set();
    for (const other of others) if (other !== part) this.loaded(other[0], parts, found);
    return found.has(part);
  }

  /** Pairs of parts that are better joined, by the saving over all entries. */
  pairs() {
    const users = new Map();
    for (const entry of this.entries) {
      for (const part of this.loaded(entry)) {
        users.set(part, (users.get(part) ?? new Set()).add(entry));
      }
    }
    const shared = [...users.keys()].filter(([path]) => !this.entries.includes(path));
    const lost = (part, other) =>
      [...users.get(other)].filter((entry) => !users.get(part).has(entry)).length
      * this.bytesOf([part]);
    const pairs = shared.flatMap((left, i) => shared.slice(i + 1).map((right) => {
      const both = [...users.get(left)].filter((entry) => users.get(right).has(entry)).length;
      return { left, right, saved: both * fileBytes - lost(left, right) - lost(right, left) };
    }));
    return pairs.filter(({ saved }) => saved > 0).sort((one, other) => other.saved - one.saved);
  }

  /** @returns whether two more parts became one. */
  joinNext(refused) {
    for (const { left, right } of this.pairs()) {
      const pair = `${left} ${right}`;
      if (refused.has(pair)) continue;
      const part = [...left, ...right];
      const parts = new Map([...this.parts, ...part.map((path) => [path, part])]);
      const isTooMuch = (entry) => this.bytesOf(this.loaded(entry, parts)) > this.limits.get(entry);
      if (this.isCyclic(part, parts) || this.entries.some(isTooMuch)) refused.add(pair);
      else {
        this.parts = parts;
        return true;
      }
    }
    return false;
  }
}

/** A folder of parts of which some are joined. */
class Joined {
  constructor(outputs, folder) {
    this.outputs = outputs;
    this.folder = folder;
    const graph = new Graph(outputs);
    const refused = new Set();
    while (graph.joinNext(refused));
    this.parts = graph.parts;
  }

  isJoined(path) {
    return this.parts.get(path).length > 1;
  }

  /** The file of the part of a path. File names depend on their contents, and so does this one. */
  fileOf(path) {
    if (!this.isJoined(path)) return path;
    const hash = createHash('sha256').update(this.parts.get(path).join());
    return `${dirname(path)}/${hash.digest('hex').slice(0, 8).toUpperCase()}.js`;
  }

  /** The name of a path's export within its part: two paths of a part may export the same name. */
  nameOf(path, name) {
    const others = this.parts.get(path).filter((each) =>
      this.outputs[each].exports.includes(name));
    return others.length < 2 ? name : `$${basename(path, '.js')}$${name}`;
  }

  /** The text of a path, with its imports from other parts as they are joined. */
  textOf(path) {
    const text = readFileSync(join(this.folder, path), 'utf8');
    const lists = new Map();
    let at = 0;
    for (head.lastIndex = 0; ; at = head.lastIndex) {
      const [, names, from] = head.exec(text) ?? [];
      if (from === undefined) break;
      const other = join(dirname(path), from);
      const isBeside = this.parts.get(other) === this.parts.get(path);
      const place = isBeside ? join(this.folder, other)
        : `./${relative(dirname(path), this.fileOf(other))}`.replace('./../', '../');
      const list = names?.split(',').map((each) => {
        const [name, local = name] = each.split(' as ');
        const own = isBeside ? name : this.nameOf(other, name);
        return own === local ? local : `${own} as ${local}`;
      });
      lists.set(place, [...lists.get(place) ?? [], ...list ?? []]);
    }
    const imports = [...lists].map(([place, list]) =>
      `import${list.length > 0 ? `{${list.join(',')}}from` : ''}"${place}";`).join('');
    // Packages in CommonJS ask for Node's own modules by `require`.
    const required = /\btypeof require\b/.test(text) ? requireOfNode : '';
    return `${required}${imports}${text.slice(at)}`;
  }

  /** The text of the part of a path. */
  partOf(path, options) {
    if (!this.isJoined(path)) return this.textOf(path);
    const part = this.parts.get(path);
    for (const each of part) writeFileSync(join(this.folder, each), this.textOf(each));
    const contents = part.map((each) => {
      const names = this.outputs[each].exports.map((name) => {
        const own = this.nameOf(each, name);
        return own === name ? name : `${name} as ${own}`;
      });
      return `export{${names.join(',')}}from"${join(this.folder, each)}";`;
    });
    // External names are also compared with the whole path of a file, from this folder: nothing is
    // there, wherever the project is.
    const absWorkingDir = join(this.folder, 'none/none');
    const { outputFiles } = buildSync({
      ...options, absWorkingDir, bundle: true, write: false, packages: 'external',
      external: ['./*', '../*'],
      stdin: { contents: contents.join('\n'), resolveDir: this.folder },
    });
    return outputFiles[0].text;
  }
}

/**
 * Joins parts of a graph: those that starts load together. The imports of a part are evaluated
 * before it, as before, because no part imports one that imports it.
 * @param outputs esbuild's facts about the files, by their paths in `folder`.
 * @param folder of the files, which change.
 * @param options with which the graph was made.
 * @returns the text of each file, by its path in `folder`.
 */
export function joinParts(outputs, folder, options) {
  const joined = new Joined(outputs, folder);
  const texts = new Map();
  for (const path of Object.keys(outputs)) {
    const file = joined.fileOf(path);
    if (!texts.has(file)) texts.set(file, joined.partOf(path, options));
  }
  return texts;
}
