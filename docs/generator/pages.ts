/** The table of the pages of the dashboard. */
import { type DashboardPage, pageTable } from '../../src/http/pages/dashboard-table.ts';
import { table } from './markdown.ts';

const opened: Record<DashboardPage['who'], string> = {
  anybody: 'anybody',
  members: 'all members',
  developers: 'developers, admins, owners',
};

export function pagesTable(): string {
  return table(
    ['page', 'path', 'opened by', 'what is there'],
    pageTable.map(({ label, path, who, about }) => [
      label,
      `\`${path.replace(/\$(\w+)/g, '{$1}')}\``,
      opened[who],
      about,
    ]),
  );
}
