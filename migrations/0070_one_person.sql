-- compatible since: 0054_anchored_delays
-- A person is one, however many worker records they have: workers of one person share an identity.
alter table workers add column identity text collate "C";
create index workers_by_identity on workers (workspace_id, coalesce(identity, id));

-- Workers who were said to be somebody else after all. What was recorded before that is judged by the former identity, too.
create table former_identities (
  workspace_id text collate "C" not null,
  worker_id    text collate "C" not null,
  identity     text collate "C" not null,
  until        timestamptz      not null,
  primary key (workspace_id, worker_id, identity),
  foreign key (workspace_id, worker_id) references workers
);
create index former_identities_by_identity on former_identities (workspace_id, identity);

-- What makes workers one person, whichever of them has it or ever had it: a licence, or being the same member.
create table identity_marks (
  workspace_id text collate "C" not null,
  -- 'licence', issuer and number, in letters and digits only; or 'member' and the id of the person.
  mark         text collate "C" not null,
  worker_id    text collate "C" not null,
  primary key (workspace_id, mark, worker_id),
  foreign key (workspace_id, worker_id) references workers
);
create index identity_marks_by_worker on identity_marks (workspace_id, worker_id);
