-- Keys that were made by an operator, and act as one. Any member who may make keys can make others.
alter table api_keys add column of_operator boolean not null default false;
update api_keys set of_operator = true where workspace_id = (select id from workspaces where slug = 'default');
