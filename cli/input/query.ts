/** The beginning of an input that is a query, which DuckDB answers. */
export const queryMark = 'sql:';
