/** How far the import that runs in this page is, beside the entry of the navigation. */
import { useWindowEvent } from '@mantine/hooks';
import { useState } from 'react';

/**
 * `run.ts` sends this event with the share that is done, from 0 to 1, and null at the end. A module that both import would be
 * one more script, for which signing in waits.
 */
const eventName = 'holdfast-import';

export function ImportShare() {
  const [share, setShare] = useState<number | null>(null);
  useWindowEvent(eventName, ({ detail }: CustomEvent<number | null>) => setShare(detail));
  if (share === null) return null;
  const percent = Math.floor(100 * share);
  return (
    <span className="count" role="img" aria-label={`${percent} % imported`}>
      {percent}&thinsp;%
    </span>
  );
}
