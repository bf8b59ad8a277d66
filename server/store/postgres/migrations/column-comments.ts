/**
 * Statements that put the comments behind columns into the catalogue, so that the database
 * documents itself: PostgreSQL drops the comments of a statement.
 * @param schema CREATE TABLE and ALTER TABLE statements with one column per line and `-- ` before
 *   its comment.
 */
export function columnComments(schema: string): string {
  let table = '';
  const statements = schema.split('\n').map((line) => {
    table = /^(?:CREATE|ALTER) TABLE (\w+)/.exec(line)?.[1] ?? table;
    const [, column, text] =
      /^ {2}(?:ADD COLUMN )?("?[a-z]\w*"?) .*-- (.+)$/.exec(line) ?? [];
    return column === undefined ? ''
      : `COMMENT ON COLUMN ${table}.${column} IS '${text!.replaceAll("'", "''")}';\n`;
  });
  return statements.join('');
}
