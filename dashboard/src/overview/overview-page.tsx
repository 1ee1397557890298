/** The first page: the state of the workspace. */
import { Badge, Paper, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { useList } from '../api/lists.ts';
import { useFilters } from '../frame/filters.ts';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';
import { type Vault, vaultList } from '../vaults/vault.ts';
import { Attention } from './attention.tsx';
import { Clocks } from './clocks.tsx';
import { FirstSteps } from './first-steps.tsx';
import { noticesQuery } from './notices.ts';
import { type Stats, spans, statsQuery } from './stats.ts';

const Charts = lazy(async () => ({ default: (await import('./charts.tsx')).OverviewCharts }));

export function OverviewPage() {
  const [{ hours = '24' }, setFilter] = useFilters('hours');
  const { data: stats, error, refetch } = useQuery(statsQuery(Number(hours)));
  const { data: notices = [] } = useQuery(noticesQuery);
  const vaults = useList<Vault>(vaultList);
  return (
    <>
      <PageHead
        title="Overview"
        actions={
          <SegmentedControl
            aria-label="Time range"
            size="xs"
            data={spans}
            value={hours}
            onChange={(value) => setFilter('hours', value === '24' ? null : value)}
          />
        }
      />
      {error && !stats ? (
        <FailureState error={error} again={() => void refetch()} />
      ) : !vaults.items && !vaults.error ? (
        // Whether the first steps are shown determines the position of everything else.
        <Skeleton height={760} />
      ) : (
        <Stack gap="md">
          {vaults.items?.length === 0 && <FirstSteps />}
          {stats ? <Attention stats={stats} notices={notices} /> : <Skeleton height={42} />}
          <Figures stats={stats} />
          {stats ? <Clocks chain={stats.chain} clocks={stats.clocks} /> : <Skeleton height={46} />}
          <Suspense fallback={<ChartsSkeleton />}>
            {stats ? (
              <Charts buckets={stats.buckets} bucketSeconds={stats.bucketSeconds} />
            ) : (
              <ChartsSkeleton />
            )}
          </Suspense>
        </Stack>
      )}
    </>
  );
}

/** As high as the charts, side by side or stacked. */
function ChartsSkeleton() {
  return <Skeleton h={{ base: 1224, md: 604 }} />;
}

function Figures({ stats }: { stats: Stats | undefined }) {
  const { waiting, chain } = stats ?? {};
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Figure label="Waiting for an anchor" value={waiting?.anchors.toLocaleString('en')}>
        in the next batch
      </Figure>
      <Figure label="Pending deliveries" value={waiting?.deliveries.toLocaleString('en')}>
        {waiting?.oldestDeliveryAt ? (
          <>
            oldest <Time at={waiting.oldestDeliveryAt} />
          </>
        ) : (
          'all caught up'
        )}
      </Figure>
      <Figure
        label="Chain head"
        value={stats && ((chain?.headBlock ?? chain?.indexedBlock)?.toLocaleString('en') ?? '–')}
      >
        {chain ? (
          <>
            {lagOf(chain)}, chain {chain.chainId}{' '}
            {chain.embedded && (
              <Badge
                size="xs"
                color="yellow"
                variant="light"
                tt="none"
                radius="sm"
                h="auto"
                styles={{ label: { whiteSpace: 'normal' } }}
              >
                development evidence
              </Badge>
            )}
          </>
        ) : (
          'not reached yet'
        )}
      </Figure>
      <Figure label="Gas left for" value={stats && compact(chain?.anchorsLeft ?? null)}>
        {chain?.anchorsLeft == null ? 'known only on the leading node' : 'anchors at current fees'}
      </Figure>
    </SimpleGrid>
  );
}

function Figure({
  label,
  value,
  children,
}: {
  label: string;
  value: string | undefined;
  children: ReactNode;
}) {
  return (
    <Paper withBorder p="md">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      {value === undefined ? (
        <Skeleton height={30} width={80} my={3} />
      ) : (
        <Text fw={650} size="xl">
          {value}
        </Text>
      )}
      <Text size="xs" c="dimmed" component="div">
        {children}
      </Text>
    </Paper>
  );
}

function lagOf({ headBlock, indexedBlock }: NonNullable<Stats['chain']>): string {
  if (headBlock === null || indexedBlock === null) return 'indexed';
  const lag = headBlock - indexedBlock;
  return lag <= 0 ? 'no lag' : `${lag} blocks behind`;
}

function compact(count: number | null): string {
  if (count === null) return '–';
  if (count >= 1e12) return 'ages';
  return Intl.NumberFormat('en', { notation: 'compact', compactDisplay: 'long' }).format(count);
}
