/** How many steps wait for a second person, beside the entry of the navigation. Imports only what every page has. */
import { useQuery } from '@tanstack/react-query';
import { callPage } from '../api/call.ts';
import { useMe } from '../api/session.ts';

export function OpenApprovals() {
  const { lacksSecondFactor } = useMe();
  const { data: open = 0 } = useQuery({
    queryKey: ['approvals', 'open'],
    // A workspace has at most a hundred.
    queryFn: async () => (await callPage('/platform/approvals', { query: { status: 'open' } })).items.length,
    staleTime: 60_000,
    enabled: !lacksSecondFactor,
  });
  if (open === 0) return null;
  return (
    <span className="count" role="img" aria-label={`${open} open`}>
      {open}
    </span>
  );
}
