-- What the marker in the blob store says. A node whose store lacks it has another store, for instance its own disk.
create table blob_marker (
  is_only boolean primary key default true check (is_only),
  id      text    not null,
  -- Not yet, or not in the store to which a backup was restored: the next node to start writes it.
  written boolean not null default false
);
