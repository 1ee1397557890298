-- compatible since: 0054_anchored_delays
-- The files of archived records belong to no vault. They do not count as stored: the data in them goes on to.
create or replace trigger blobs_counted after insert on blobs
  for each row when (new.erased_at is null and new.size > 0 and new.vault_id <> '') execute function count_blob();
create or replace trigger blobs_given_back after update of erased_at on blobs
  for each row when (old.erased_at is null and new.erased_at is not null and new.vault_id <> '')
  execute function count_blob();
create or replace trigger blobs_removed after delete on blobs
  for each row when (old.erased_at is null and old.vault_id <> '') execute function count_blob();
