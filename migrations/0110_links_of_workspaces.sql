-- compatible since: 0099_whom_the_provider_dropped
-- The address of a page begins with its workspace, so that no workspace takes the numbers of another. A node of the previous
-- release answers there as if there were no page.
update published_pages set digital_link = workspace_id || '/' || digital_link where digital_link is not null;
