-- compatible since: 0096_waiting_approvals
-- Since when the identity provider no longer vouches for the person; null: it did the last time it was asked.
alter table identities add column gone_at timestamptz;
