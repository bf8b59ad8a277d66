/** The count of new keys, for studies that limit them. It only adds a table. */
export const newKeysSchema = `
CREATE TABLE new_keys (
  study_name TEXT PRIMARY KEY, -- all versions of the study of that name count together
  from_ms INTEGER NOT NULL, -- Unix time at which the period began that is counted
  keys INTEGER NOT NULL -- keys that sent their first batch in it
) STRICT, WITHOUT ROWID;
`;
