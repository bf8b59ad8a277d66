/** The log of quarantined keys. It only adds a table; entries are added, never changed. */
export const quarantineSchema = `
CREATE TABLE quarantines (
  study_key INTEGER NOT NULL REFERENCES studies (study_key), -- of which study
  contributor_id INTEGER NOT NULL REFERENCES contributors (contributor_id), -- who is left out
  from_epoch INTEGER NOT NULL, -- of this epoch and every later one
  distance REAL NOT NULL, -- of its own rows from the answer of release_index
  beyond REAL NOT NULL, -- the bound that the study's facts give
  release_index INTEGER NOT NULL, -- which published answer
  at_ms INTEGER NOT NULL, -- Unix time
  PRIMARY KEY (study_key, contributor_id)
) STRICT, WITHOUT ROWID;
`;
