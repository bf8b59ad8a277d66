/** Several nodes summarise the contributors of one closed epoch. */
export const epochSlicesSchema = `
CREATE TABLE epoch_slices (
  epoch_key bigint NOT NULL REFERENCES epochs (epoch_key), -- which epoch
  slice bigint NOT NULL, -- from 0
  slices bigint NOT NULL, -- how many the epoch has
  plan text NOT NULL, -- digest of the plan of the leader; a node with another one claims nothing
  token bigint NOT NULL DEFAULT 0, -- number of claims; a summary under an older one is refused
  expires_at timestamptz NOT NULL DEFAULT '-infinity', -- by the database's clock; another node may claim it after this time
  summary bytea, -- sealed sums over the rows of its contributors; null until they are summarised
  PRIMARY KEY (epoch_key, slice)
);
ALTER TABLE epoch_slices ALTER COLUMN summary SET STORAGE EXTERNAL;
`;
