-- Which records of the redo log beside this file are for the state in which it is: those of this generation.
CREATE TABLE redo (generation INTEGER NOT NULL);
INSERT INTO redo (generation) VALUES (abs(random() / 2));
