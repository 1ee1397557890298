/** The limits of the workspace, and their use. */
import { Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { formatBytes, Time } from '../frame/values.tsx';

interface Budget {
  name: string;
  limit: number | null;
  used: number;
  resetsAt: string | null;
  perNode: boolean;
}

const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: () => call<{ budgets: Budget[] }>('GET', '/platform/usage'),
  refetchInterval: 15_000,
});

const labels: Record<string, string> = {
  requests_per_minute: 'Requests per minute',
  stored_bytes: 'Files and data',
  endpoints: 'Webhook endpoints',
  filter_characters: 'Characters in webhook filters',
  streams: 'Open event streams',
  exports: 'Dossier downloads in progress',
  anchors_per_day: 'Anchors today (UTC)',
  api_keys: 'Valid API keys',
};

/** From this share on, the bar warns. */
const nearlyAll = 0.9;

export function UsageList() {
  const { data: usage, error, refetch } = useQuery(usageQuery);
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (!usage) return <LoadingRows rows={7} />;
  return (
    <Stack gap="sm" maw={640}>
      <Text size="sm" c="dimmed">
        Limits shared by all members and keys of this workspace. The operator of the service can raise them.
      </Text>
      {usage.budgets.map((budget) => (
        <BudgetRow key={budget.name} budget={budget} />
      ))}
    </Stack>
  );
}

function BudgetRow({ budget: { name, limit, used, resetsAt, perNode } }: { budget: Budget }) {
  const label = labels[name] ?? name;
  const amount = (count: number) =>
    name === 'stored_bytes' ? formatBytes(count) : count.toLocaleString('en');
  const share = limit === null ? 0 : limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={550}>
          {label}
        </Text>
        <Text size="sm" c="dimmed">
          {limit === null ? `${amount(used)}, no limit` : `${amount(used)} of ${amount(limit)}`}
        </Text>
      </Group>
      <Progress
        mt={6}
        size="sm"
        value={share * 100}
        color={share >= 1 ? 'red' : share >= nearlyAll ? 'yellow' : 'sea'}
        aria-label={`${label}: ${amount(used)} used`}
      />
      {(resetsAt !== null || perNode) && (
        <Text size="xs" c="dimmed" mt={4}>
          {resetsAt !== null && (
            <>
              Resets <Time at={resetsAt} />.{' '}
            </>
          )}
          {perNode && 'Counted only on the node that responded.'}
        </Text>
      )}
    </Paper>
  );
}
