/** What a form says when somebody else changed the same thing meanwhile: the draft stays, and the new values are shown. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { Icon } from './icons.tsx';

export interface Seen<T> {
  /** What the draft was made from; undefined for something new. */
  seen: T | undefined;
  /** As it is now, when that is another version. */
  changed: T | null;
  /** For the request that changes it: refused when it is at another version by then. */
  headers: Record<string, string>;
  /** From now on the draft is a change of what there is now. */
  catchUp(): void;
}

/** `now`: as it is known at this moment, which may change while the form is open. */
export function useSeen<T extends { version: number }>(now: T | undefined): Seen<T> {
  const [seen, setSeen] = useState(now);
  return {
    seen,
    changed: now !== undefined && now.version !== seen?.version ? now : null,
    headers: seen === undefined ? {} : { 'if-match': `"${seen.version}"` },
    catchUp: () => setSeen(now),
  };
}

export interface ChangedMeanwhileProps {
  /** What differs, with its new value. */
  values: [label: string, value: string][];
  /** Puts the new values into the form. */
  take(): void;
  /** Leaves what was typed into the form, which is then saved over the new values; the rest is as it is now. */
  keep(): void;
}

export function ChangedMeanwhile({ values, take, keep }: ChangedMeanwhileProps) {
  return (
    <Alert
      color="yellow"
      icon={<Icon name="warning" />}
      role="alert"
      title="Changed by someone else meanwhile"
      py="xs"
    >
      {values.length === 0 ? (
        <Text size="sm">None of what stands in this form.</Text>
      ) : (
        values.map(([label, value]) => (
          <Text size="sm" key={label} className="breaks">
            {label}: <b>{value === '' ? 'empty' : value}</b>
          </Text>
        ))
      )}
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" variant="default" onClick={take}>
          Take the new values
        </Button>
        <Button size="compact-sm" variant="default" onClick={keep}>
          Keep my draft
        </Button>
      </Group>
    </Alert>
  );
}
