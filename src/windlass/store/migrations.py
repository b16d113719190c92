"""The database's schema, as steps that are only ever added to. Before a step the file is copied beside itself."""

import sqlite3
from pathlib import Path

from windlass.core.errors import Unavailable
from windlass.store.files import make_private

STEPS = (
    """
    create table conversations(
        n integer primary key, id text not null unique, title text not null, body blob not null,
        hidden integer not null, created_at real not null, updated_at real not null);
    create index conversations_by_time on conversations(updated_at, n);

    create table turns(
        id text primary key, conversation integer not null, parent_id text, epoch integer not null,
        state text not null, outcome text not null, approvals integer not null, unknowns integer not null,
        client_message_id text, created_at real not null, revision integer not null, indexed integer not null,
        doubtful integer not null
    ) without rowid;
    create index turns_by_conversation on turns(conversation, id);
    create index turns_by_parent on turns(parent_id) where parent_id is not null;
    create index turns_to_index on turns(indexed) where state = 'finished' and not indexed;
    create index turns_doubtful on turns(conversation) where doubtful;
    create index turns_unfinished on turns(state) where state <> 'finished';
    create unique index turns_by_client on turns(conversation, client_message_id) where client_message_id is not null;

    create table events(
        conversation integer not null, number integer not null, turn_id text not null, seq integer not null,
        at real not null, kind text not null, version integer not null, key text, body blob not null,
        primary key(conversation, number)) without rowid;
    create unique index events_by_turn on events(turn_id, seq);
    create unique index events_once on events(turn_id, key) where key is not null;

    create table toolsets(hash text primary key, body blob not null) without rowid;
    create table documents(
        kind text not null, id text not null, parent text not null, body blob not null, at real not null,
        primary key(kind, id)) without rowid;
    create index documents_by_parent on documents(parent, kind) where parent <> '';
    create table results(
        id text primary key, conversation text not null, turn_id text not null, mime text not null,
        size integer not null, body blob) without rowid;
    create index results_by_conversation on results(conversation);

    create virtual table words using fts5(text, turn_id unindexed, conversation unindexed, tokenize = 'unicode61');
    """,
    # Fewer pages for each step: events lie at their positions (see turnlog.py) and need no other index, and a
    # turn stands in one list, `pending`, from its start until its text is searchable.
    """
    create table placed(
        place integer primary key, turn_id text not null, seq integer not null, at real not null, kind text not null,
        version integer not null, key text, body blob not null,
        conversation integer as (place >> 32), number integer as (place & 4294967295));
    insert into placed select conversation << 32 | number, turn_id, seq, at, kind, version, key, body from events
        order by conversation, number;

    create table moved(
        id text primary key, conversation integer not null, parent_id text, epoch integer not null,
        state text not null, outcome text not null, approvals integer not null, unknowns integer not null,
        client_message_id text, created_at real not null, revision integer not null, doubtful integer not null,
        pending integer not null, first_place integer not null, last_place integer not null
    ) without rowid;
    insert into moved select id, conversation, parent_id, epoch, state, outcome, approvals, unknowns,
        client_message_id, created_at, revision, doubtful, state <> 'finished' or not indexed,
        conversation << 32 | (select min(number) from events where turn_id = turns.id),
        conversation << 32 | iif(state = 'finished',
            (select max(number) from events where turn_id = turns.id), 4294967295) from turns;

    drop table events;
    drop table turns;
    alter table placed rename to events;
    alter table moved rename to turns;
    create unique index events_once on events(turn_id, key) where key is not null;
    create index turns_by_conversation on turns(conversation, id);
    create index turns_by_parent on turns(parent_id) where parent_id is not null;
    create index turns_doubtful on turns(conversation) where doubtful;
    create index turns_pending on turns(pending) where pending;
    create unique index turns_by_client on turns(conversation, client_message_id) where client_message_id is not null;
    """,
    # Numbers are never given twice, also when the newest rows were deleted: pages are cut by them.
    """
    create table audit(
        number integer primary key autoincrement, at real not null, actor text not null, kind text not null,
        action text not null, target text not null, summary text not null);
    create index audit_by_time on audit(at);
    """,
)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > len(STEPS):
        raise Unavailable(
            f"{path} was written by a newer Windlass (format {version}, this one knows {len(STEPS)}).",
            hint="Start the newer Windlass, or use another data folder.",
        )
    if 0 < version < len(STEPS):
        backup = path.with_suffix(f".v{version}.bak")
        backup.unlink(missing_ok=True)
        make_private(backup)  # an empty file is vacuumed into as well
        connection.execute("vacuum into ?", (str(backup),))
    for number, step in enumerate(STEPS[version:], version + 1):
        connection.executescript(f"begin immediate; {step} pragma user_version = {number}; commit;")
