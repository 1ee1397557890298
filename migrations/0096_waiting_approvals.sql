-- People are told what waits for a second person, and when that is over.
create trigger approvals_asked after insert on approvals
  for each row execute function look_for_notices('approval', 'id');
create trigger approvals_decided after update on approvals for each row
  when (new.status <> old.status)
  execute function look_for_notices('approval', 'id');

insert into notice_looks (kind, workspace_id, thing)
select 'approval', workspace_id, id from approvals where status = 'open';
