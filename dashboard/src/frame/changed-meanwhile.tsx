/** What a form shows when somebody else has changed the same thing: the draft stays, with the new values beside it. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { Icon } from './icons.tsx';

export interface Seen<T> {
  /** The version the draft is based on; undefined for a new thing. */
  seen: T | undefined;
  /** The current version, if it is another one. */
  changed: T | null;
  /** For the update request: refused if the thing is at another version by then. */
  headers: Record<string, string>;
  /** Bases the draft on the current version. */
  catchUp(): void;
}

/** `now`: the current version, which may change while the form is open. */
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
  /** The differences, with their new values. */
  values: [label: string, value: string][];
  /** Puts the new values into the form. */
  take(): void;
  /** Keeps the edited fields, which then overwrite the new values; the other fields get the current ones. */
  keep(): void;
}

export function ChangedMeanwhile({ values, take, keep }: ChangedMeanwhileProps) {
  return (
    <Alert
      color="yellow"
      icon={<Icon name="warning" />}
      role="alert"
      title="Changed by someone else in the meantime"
      py="xs"
    >
      {values.length === 0 ? (
        <Text size="sm">Nothing in this form was changed.</Text>
      ) : (
        values.map(([label, value]) => (
          <Text size="sm" key={label} className="breaks">
            {label}: <b>{value === '' ? 'empty' : value}</b>
          </Text>
        ))
      )}
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" variant="default" onClick={take}>
          Use the new values
        </Button>
        <Button size="compact-sm" variant="default" onClick={keep}>
          Keep my draft
        </Button>
      </Group>
    </Alert>
  );
}
