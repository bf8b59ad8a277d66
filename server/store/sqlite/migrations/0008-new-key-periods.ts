/**
 * A count of new keys for each period length that a version of a study has. With one count for all
 * lengths, a shorter period of another version restarted the longer one.
 */
export const newKeyPeriodsSchema = `
ALTER TABLE new_keys RENAME TO new_keys_before;
CREATE TABLE new_keys (
  study_name TEXT NOT NULL, -- all versions of the study of that name count together
  per_ms INTEGER NOT NULL, -- length of the period that is counted
  from_ms INTEGER NOT NULL, -- Unix time at which it began
  keys INTEGER NOT NULL, -- keys that sent their first batch in it
  PRIMARY KEY (study_name, per_ms)
) STRICT, WITHOUT ROWID;
INSERT INTO new_keys (study_name, per_ms, from_ms, keys)
  SELECT DISTINCT study_name, json_extract(document, '$.admission.perMs'), from_ms, keys
    FROM new_keys_before JOIN studies ON studies.name = study_name
    WHERE json_extract(document, '$.admission.perMs') IS NOT NULL;
DROP TABLE new_keys_before;
`;
