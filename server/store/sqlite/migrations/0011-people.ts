/**
 * The people of an epoch take the place of the memory that their keys take: no answer depends on
 * how many rows or keys others have.
 */
export const peopleSchema = `
DROP TABLE key_rooms;
CREATE TABLE epoch_people (
  epoch_key INTEGER PRIMARY KEY REFERENCES epochs (epoch_key), -- which epoch
  people INTEGER NOT NULL -- contributors with an accepted batch, also withdrawn; absent is 0
) STRICT;
INSERT INTO epoch_people (epoch_key, people)
  SELECT epoch_key, contributors + (SELECT count(*) FROM withdrawals AS w
    WHERE w.epoch_key = epochs.epoch_key) FROM epochs WHERE state = 'open';
`;
