/** The open tab, kept in the URL, so that a link leads to it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

export function useTab(first: string): [tab: string, open: (tab: string | null) => void] {
  const search = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const tab = search.tab ?? first;
  // On narrow screens the row of tabs scrolls, and a link may lead to the last one.
  useEffect(() => {
    const selected = document.querySelector('[role=tab][aria-selected=true]');
    selected?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  return [
    tab,
    (tab) =>
      void navigate({
        to: '.',
        search: ((before: Record<string, unknown>) => ({
          ...before,
          tab: tab === first || tab === null ? undefined : tab,
        })) as never,
        replace: true,
      }),
  ];
}
