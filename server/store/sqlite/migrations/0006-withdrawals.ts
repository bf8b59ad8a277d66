/**
 * Contributions that were taken back. It only adds a table. A row is deleted when no answer depends
 * on it any more.
 */
export const withdrawalsSchema = `
CREATE TABLE withdrawals (
  epoch_key INTEGER NOT NULL REFERENCES epochs (epoch_key), -- of which epoch
  contributor_id INTEGER NOT NULL REFERENCES contributors (contributor_id), -- whose rows count nowhere
  signature BLOB NOT NULL CHECK (length(signature) = 64), -- the contributor's, over the study and the epoch
  at_ms INTEGER NOT NULL, -- Unix time
  PRIMARY KEY (epoch_key, contributor_id)
) STRICT, WITHOUT ROWID;
`;
