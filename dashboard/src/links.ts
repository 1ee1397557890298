/** Paths of pages: the navigation, and the pages of single things. Both come from the table of pages. */
import { type PagePath, pageTable } from '../../src/http/pages/dashboard-table.ts';
import type { IconName } from './frame/icons.tsx';

export interface NavigationGroup {
  heading: string | null;
  links: { to: string; label: string; icon: IconName; withoutViewers: boolean }[];
}

export const navigation: NavigationGroup[] = [];
for (const page of pageTable) {
  if (!('navigation' in page)) continue;
  const { heading, icon } = page.navigation;
  if (navigation.at(-1)?.heading !== heading) navigation.push({ heading, links: [] });
  const withoutViewers = 'withoutViewers' in page.navigation;
  navigation.at(-1)?.links.push({ to: page.path, label: page.label, icon, withoutViewers });
}

/** The path to the page of one thing. */
export function pathTo(page: Extract<PagePath, `${string}$${string}`>, id: string): string {
  return page.replace(/\$\w+$/, encodeURIComponent(id));
}
