/** Which tab is open, kept in the address, so that a link leads to it. */
import { useNavigate, useSearch } from '@tanstack/react-router';

export function useTab(first: string): [tab: string, open: (tab: string | null) => void] {
  const search = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  return [
    search.tab ?? first,
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
