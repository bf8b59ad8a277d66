import * as v from 'valibot';

/**
 * The facets of a valibot schema: the schema inside its pipes and wrappers (`base`), the checks,
 * whether the key is optional, its default, and the words in schema.ts.
 */
export function facetsOf(schema) {
  const facets = { base: schema, actions: [], isOptional: false, default: undefined };
  const visit = (part) => {
    if (part.pipe !== undefined) {
      const [inner, ...actions] = part.pipe;
      visit(inner);
      facets.actions.push(...actions);
    } else if (part.type === 'optional') {
      facets.isOptional = true;
      facets.default = part.default;
      visit(part.wrapped);
    } else facets.base = part;
  };
  visit(schema);
  const words = facets.actions.filter(({ type }) => type === 'metadata');
  return {
    ...facets, ...Object.assign({}, ...words.map(({ metadata }) => metadata)), rule: ruleOf(schema),
  };
}

/** The rule in refusals: that of the schema, or of the schema inside it. */
function ruleOf(schema) {
  for (let part = schema; part !== undefined; part = part.wrapped) {
    const rule = v.getDescription(part);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** Every key below a schema, depth first: its path and its facets. */
export function keysOf(schema, path = '') {
  const { base } = facetsOf(schema);
  if (base.type === 'strict_object') {
    return Object.entries(base.entries).flatMap(([name, entry]) => {
      const own = path === '' ? name : `${path}.${name}`;
      return [{ path: own, schema: entry, ...facetsOf(entry) }, ...keysOf(entry, own)];
    });
  }
  if (base.type === 'union' || base.type === 'lazy') {
    return base.options.flatMap((option) => keysOf(option, path));
  }
  if (base.type === 'record') return keysOf(base.value, `${path}.NAME`);
  return [];
}
