/**
 * Running totals: the sealed state of each question's series, and in which epoch a contributor was
 * last. A row of the second table is deleted when it can refuse nobody any more. It only adds
 * tables.
 */
export const runningSchema = `
CREATE TABLE running_series (
  study_key INTEGER NOT NULL REFERENCES studies (study_key), -- of which study
  question TEXT NOT NULL, -- its question
  sealed BLOB NOT NULL, -- what the next release needs, encrypted: exact values of the last epochs
  PRIMARY KEY (study_key, question)
) STRICT;
CREATE TABLE running_participations (
  study_key INTEGER NOT NULL REFERENCES studies (study_key), -- of which study
  contributor_id INTEGER NOT NULL REFERENCES contributors (contributor_id), -- who took part
  epoch INTEGER NOT NULL, -- the newest epoch that it was in
  PRIMARY KEY (study_key, contributor_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX running_participations_by_epoch ON running_participations (study_key, epoch);
`;
