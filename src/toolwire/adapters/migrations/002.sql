-- One index of a record's identity instead of two: each costs a page of its own in nearly every commit. In key order
-- it finds one record, pages through a kind, and passes over other owners' records in the pages of one owner.
ALTER TABLE records RENAME TO records_001;
CREATE TABLE records (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at REAL,
    value BLOB NOT NULL, -- last, so that a version is read without the pages of its value
    UNIQUE (kind, key, owner)
);
INSERT INTO records (kind, owner, key, version, expires_at, value)
SELECT kind, owner, key, version, expires_at, value FROM records_001 ORDER BY rowid;
DROP TABLE records_001;
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
