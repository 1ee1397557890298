/** The outcome of the test event. */
import { Alert } from '@mantine/core';
import { Icon } from '../frame/icons.tsx';
import type { TestOutcome } from './endpoint.ts';

export function TestOutcomeNote({ test }: { test: TestOutcome }) {
  return (
    <Alert
      color={test.delivered ? 'green' : 'red'}
      icon={<Icon name={test.delivered ? 'done' : 'warning'} />}
      title={test.delivered ? 'The test event was delivered' : 'The test event was not delivered'}
      role="status"
    >
      {test.delivered
        ? `The endpoint answered ${test.statusCode} after ${test.durationMs} ms.`
        : `${test.error ?? `The endpoint answered ${test.statusCode}.`} The endpoint was saved anyway: fix the receiver and send the test again.`}
    </Alert>
  );
}
