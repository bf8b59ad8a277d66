// How the project keeps JSON that programs compare: a record on a line, so that the change of a
// record is the change of one line, and a file has as many lines as records.

/**
 * @param value - what JSON can hold.
 * @param open - levels of lists and objects that are spread over lines. All below is one line.
 * @returns {string} the text of a file.
 */
export function recordLines(value, open = 2) {
  return `${textOf(value, open, '')}\n`;
}

function textOf(value, open, indent) {
  if (open === 0 || typeof value !== 'object' || value === null) {
    return JSON.stringify(value) ?? 'null';
  }
  const isList = Array.isArray(value);
  const parts = Object.entries(value).filter(([, entry]) => entry !== undefined || isList)
    .map(([name, entry]) => `${indent} ${isList ? '' : `${JSON.stringify(name)}: `}`
      + textOf(entry, open - 1, `${indent} `));
  const [first, last] = isList ? '[]' : '{}';
  return parts.length === 0 ? `${first}${last}` : `${first}\n${parts.join(',\n')}\n${indent}${last}`;
}
