-- A ledger as format 1 was. Two appends are in it. Three more are in format_1.notes.
BEGIN TRANSACTION;
CREATE TABLE cluster (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO "cluster" VALUES('next_producer_id',1000);
CREATE TABLE cursors (
    topic BLOB, partition INTEGER, name TEXT, value INTEGER NOT NULL,
    PRIMARY KEY (topic, partition, name)
) WITHOUT ROWID;
CREATE TABLE doomed (
    name TEXT NOT NULL, id BLOB PRIMARY KEY, partitions INTEGER NOT NULL,
    created_at INTEGER NOT NULL, configs TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE extents (
    topic BLOB, partition INTEGER, last INTEGER, base INTEGER NOT NULL, offsets INTEGER NOT NULL,
    size INTEGER NOT NULL, max_timestamp INTEGER NOT NULL, stored_at INTEGER NOT NULL,
    key TEXT NOT NULL, marks BLOB NOT NULL, records INTEGER NOT NULL,
    start INTEGER NOT NULL, times BLOB NOT NULL, shift INTEGER NOT NULL, data BLOB NOT NULL,
    id TEXT NOT NULL, PRIMARY KEY (topic, partition, last)
) WITHOUT ROWID;
INSERT INTO "extents" VALUES(X'00000000000000000000000000000001',0,0,0,1,10,1700000000000,1700000000500,'pack/00000000-0000-0000-0000-000000000001/0/00000000000000000000-a-1',X'',1,0,X'',0,X'','');
INSERT INTO "extents" VALUES(X'00000000000000000000000000000001',0,1,1,1,10,1700000000001,1700000000500,'pack/00000000-0000-0000-0000-000000000001/0/00000000000000000000-a-1',X'',1,10,X'',0,X'','');
CREATE TABLE graves (
    topic BLOB, partition INTEGER, name TEXT, base INTEGER NOT NULL, until INTEGER NOT NULL,
    keys TEXT NOT NULL, since INTEGER NOT NULL, announced INTEGER NOT NULL,
    PRIMARY KEY (topic, partition, name)
) WITHOUT ROWID;
CREATE TABLE groups (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, state BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE heads (
    topic BLOB, partition INTEGER, next_offset INTEGER NOT NULL DEFAULT 0,
    log_start INTEGER NOT NULL DEFAULT 0, watchers TEXT NOT NULL DEFAULT '{}',
    sweeps INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
INSERT INTO "heads" VALUES(X'00000000000000000000000000000001',0,2,0,'{}',0);
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, version INTEGER NOT NULL, host TEXT NOT NULL,
    port INTEGER NOT NULL, zone TEXT NOT NULL, machine TEXT NOT NULL, renewed_at INTEGER NOT NULL
);
CREATE TABLE offsets (
    group_id TEXT, topic TEXT, partition INTEGER, generation INTEGER NOT NULL,
    offset INTEGER NOT NULL, leader_epoch INTEGER NOT NULL, metadata TEXT NOT NULL,
    committed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (group_id, topic, partition)
) WITHOUT ROWID;
INSERT INTO "offsets" VALUES('family','letters',0,3,1,0,'',1700000000000,0);
CREATE TABLE producers (
    topic BLOB, partition INTEGER, producer INTEGER, version INTEGER NOT NULL, state BLOB NOT NULL,
    expires_at INTEGER NOT NULL, base INTEGER NOT NULL, PRIMARY KEY (topic, partition, producer)
) WITHOUT ROWID;
INSERT INTO "producers" VALUES(X'00000000000000000000000000000001',0,7,1,X'6669727374',1700604800000,0);
INSERT INTO "producers" VALUES(X'00000000000000000000000000000001',0,8,1,X'6F74686572',1700604800000,1);
CREATE TABLE topic_changes (version INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
INSERT INTO "topic_changes" VALUES(1,'letters');
CREATE TABLE topics (
    name TEXT PRIMARY KEY, id BLOB NOT NULL UNIQUE, partitions INTEGER NOT NULL,
    created_at INTEGER NOT NULL, configs TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "topics" VALUES('letters',X'00000000000000000000000000000001',1,1700000000000,'{}');
CREATE TRIGGER topic_insert AFTER INSERT ON topics BEGIN
    INSERT INTO topic_changes (name) VALUES (NEW.name);
    DELETE FROM topic_changes WHERE version <= (SELECT max(version) FROM topic_changes) - 10000;
END;
CREATE TRIGGER topic_update AFTER UPDATE ON topics BEGIN
    INSERT INTO topic_changes (name) VALUES (NEW.name);
    DELETE FROM topic_changes WHERE version <= (SELECT max(version) FROM topic_changes) - 10000;
END;
CREATE TRIGGER topic_delete AFTER DELETE ON topics BEGIN
    INSERT INTO topic_changes (name) VALUES (OLD.name);
    DELETE FROM topic_changes WHERE version <= (SELECT max(version) FROM topic_changes) - 10000;
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('topic_changes',1);
COMMIT;
PRAGMA user_version=1;
