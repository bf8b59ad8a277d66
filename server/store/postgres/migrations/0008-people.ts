/**
 * The people of an epoch take the place of the memory that their keys take: no answer depends on
 * how many rows or keys others have.
 */
export const peopleSchema = `
DROP FUNCTION IF EXISTS admit_list(bigint, bigint, bigint[], bigint[], bigint[], bytea[], bigint[],
  bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bytea[], bigint[],
  bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bytea[],
  bigint[], bigint[], bigint[], text[], text[], bigint[], bigint[], bigint[], text[], text[],
  bigint[], bigint[], bigint[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[],
  bigint[], bigint);

DROP TABLE key_rooms;
CREATE TABLE epoch_people (
  epoch_key bigint PRIMARY KEY REFERENCES epochs (epoch_key), -- which epoch
  people bigint NOT NULL -- contributors with an accepted batch, also withdrawn; absent is 0
);
INSERT INTO epoch_people (epoch_key, people)
  SELECT epoch_key, sum(t.contributors) FROM epochs JOIN epoch_tallies AS t USING (epoch_key)
  WHERE state = 'open' GROUP BY epoch_key;
`;
