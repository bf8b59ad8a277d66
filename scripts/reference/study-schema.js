import { studySchema } from '../../dist/server/study-file/schema.js';
import { protocolLimits } from '../../dist/src/base/limits.js';
import { estimators } from '../../dist/src/estimators/registry.js';
import { facetsOf } from './facets.js';
import { sentence } from './markdown.js';

/**
 * A JSON Schema (draft 7) of study files, for editors: keys, types, ranges, and the parameters of
 * each estimator. Only the parser checks rules over several keys, and the form of names.
 */
export function studySchemaForEditors() {
  const schema = withParameters(jsonSchemaOf(studySchema));
  const { questions } = schema.properties;
  const [map] = questions.anyOf;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'A study of Keelson',
    ...schema,
    properties: {
      ...schema.properties,
      questions: {
        ...questions,
        anyOf: [{ ...map, additionalProperties: withParameters(map.additionalProperties) }],
      },
    },
    // Both forms at once are refused too.
    oneOf: [{ required: ['estimator'] }, { required: ['questions'] }],
  };
}

/** The schema of an object with an estimator, whose parameters must be those of the estimator. */
function withParameters(schema) {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      estimator: { ...schema.properties.estimator, enum: estimators.map(({ name }) => name) },
    },
    allOf: estimators.map((estimator) => ({
      if: { properties: { estimator: { const: estimator.name } }, required: ['estimator'] },
      then: {
        properties: { parameters: parametersOf(estimator) },
        ...(estimator.parameters.some(isNeeded) && { required: ['parameters'] }),
      },
    })),
  };
}

function jsonSchemaOf(schema) {
  const { base, actions, default: otherwise, about, example, rule } = facetsOf(schema);
  const value = rule === undefined ? undefined : `Value: ${sentence(rule)}`;
  const words = [about, value].filter((text) => text !== undefined);
  return {
    ...typeOf(base),
    ...Object.assign({}, ...actions.map((action) => checkOf(action, base.type))),
    ...(words.length > 0 && { description: words.join(' ') }),
    ...(otherwise !== undefined && { default: otherwise }),
    ...(example !== undefined && { examples: [example] }),
  };
}

function typeOf(base) {
  switch (base.type) {
    case 'strict_object': return objectOf(Object.entries(base.entries));
    case 'array': return { type: 'array', items: jsonSchemaOf(base.item) };
    case 'tuple': {
      const items = base.items.map(jsonSchemaOf);
      return { type: 'array', items, minItems: items.length, maxItems: items.length };
    }
    case 'record': return recordOf(base.value);
    case 'union': case 'lazy': return { anyOf: base.options.map(jsonSchemaOf) };
    case 'picklist': return { enum: [...base.options] };
    case 'literal': return { const: base.literal };
    case 'string': case 'number': case 'boolean': return { type: base.type };
    default: throw new Error(`a schema of type ${base.type} has no JSON Schema here: add it`);
  }
}

function recordOf(value) {
  const anything = facetsOf(value).base.type === 'unknown';
  return { type: 'object', ...(!anything && { additionalProperties: jsonSchemaOf(value) }) };
}

function objectOf(entries) {
  const needed = entries.filter(([, entry]) => !facetsOf(entry).isOptional);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, entry]) => [name, jsonSchemaOf(entry)])),
    required: needed.map(([name]) => name),
    additionalProperties: false,
  };
}

/** The JSON Schema for a check of the parser; nothing if JSON Schema cannot express it. */
function checkOf({ type, requirement }, of) {
  switch (type) {
    case 'integer': return { type: 'integer' };
    case 'min_value': return { minimum: requirement };
    case 'max_value': return { maximum: requirement };
    case 'gt_value': return { exclusiveMinimum: requirement };
    case 'lt_value': return { exclusiveMaximum: requirement };
    case 'min_length': return { [of === 'array' ? 'minItems' : 'minLength']: requirement };
    case 'max_length': return { [of === 'array' ? 'maxItems' : 'maxLength']: requirement };
    case 'length': return of === 'array'
      ? { minItems: requirement, maxItems: requirement }
      : { minLength: requirement, maxLength: requirement };
    case 'regex': return { pattern: requirement.source };
    case 'check': case 'finite': case 'transform': case 'description': case 'metadata': return {};
    default: throw new Error(`a check of type ${type} has no JSON Schema here: add it`);
  }
}

function isNeeded(spec) {
  return spec.default === undefined && spec.optional !== true;
}

function parametersOf({ parameters }) {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((spec) => [spec.name, parameterOf(spec)])),
    required: parameters.filter(isNeeded).map(({ name }) => name),
    additionalProperties: false,
  };
}

function parameterOf(spec) {
  const unit = spec.unit === undefined ? '' : ` In ${spec.unit}.`;
  return {
    ...parameterType(spec),
    // A column may be given by its name.
    ...(spec.name === 'column' && { pattern: '.' }),
    description: `${sentence(spec.description)}${unit}`,
    ...(spec.default !== undefined && { default: spec.default }),
  };
}

/** The parser also accepts numbers and lists as text, as on a command line. */
const numberText = '^[-+0-9.eE ]+$';
const numbersText = '^[-+0-9.eE, ]+$';

function parameterType(spec) {
  const { minimum, maximum, lengthMaximum = protocolLimits.columns } = spec;
  const range = {
    ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }),
  };
  const numberOf = (type, bounds) => ({ type: [type, 'string'], pattern: numberText, ...bounds });
  const listOf = (item) => ({ type: 'array', items: item, minItems: 1, maxItems: lengthMaximum });
  switch (spec.type) {
    case 'number': case 'integer': return numberOf(spec.type, range);
    case 'boolean': return { enum: [true, false, 'true', 'false'] };
    case 'choice': return { enum: [...spec.choices] };
    case 'numbers': return {
      anyOf: [
        listOf(numberOf('number', range)), { type: ['number', 'string'], pattern: numbersText },
      ],
    };
    case 'range': {
      const one = { type: 'string', pattern: '^[-+0-9.eE ,]+$' };
      return { anyOf: [one, listOf(one)] };
    }
    case 'list': return { type: ['array', 'string'], minItems: 1, maxItems: lengthMaximum };
    case 'positive': {
      const one = numberOf('number', { exclusiveMinimum: 0 });
      const words = spec.choices === undefined ? [] : [{ enum: [...spec.choices] }];
      return { anyOf: [...words, { ...one, pattern: numbersText }, listOf(one)] };
    }
    default: throw new Error(`a parameter of type ${spec.type} has no JSON Schema here: add it`);
  }
}
