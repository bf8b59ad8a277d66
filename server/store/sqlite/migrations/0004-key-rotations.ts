/** Changes of the server's key. It only adds a table; entries are added, never changed. */
export const keyRotationsSchema = `
CREATE TABLE key_rotations (
  rotation INTEGER PRIMARY KEY, -- order of the changes, from 1
  record BLOB NOT NULL CHECK (length(record) = 192), -- previous key, next key, and the signatures of both
  at_ms INTEGER NOT NULL -- Unix time
) STRICT;
`;
