/** Of studies that bound how many new keys they take: the count. A new table only. */
export const newKeysSchema = `
CREATE TABLE new_keys (
  study_name TEXT PRIMARY KEY, -- all versions of the study of that name count together
  from_ms INTEGER NOT NULL, -- Unix time at which the period began that is counted
  keys INTEGER NOT NULL -- keys that sent their first batch in it
) STRICT, WITHOUT ROWID;
`;
