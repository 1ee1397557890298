/** The charts of the overview; a chunk of their own, because the chart library is large. */
import { AreaChart, BarChart, LineChart } from '@mantine/charts';
import { Paper, SimpleGrid, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Bucket } from './stats.ts';

const height = 200;
/** Names of the lines, if there are several. */
const legend = { withLegend: true, legendProps: { verticalAlign: 'bottom' as const, height: 28 } };

export function OverviewCharts({ buckets, bucketSeconds }: { buckets: Bucket[]; bucketSeconds: number }) {
  const data = buckets.map((bucket) => ({ ...bucket, time: timeLabel(bucket.at, bucketSeconds) }));
  const common = {
    h: height,
    data,
    dataKey: 'time',
    tickLine: 'none' as const,
    // Labels at even distances; otherwise there is a gap before the last one.
    xAxisProps: { interval: 'equidistantPreserveStart' as const },
  };
  const anchored = sum(buckets, ({ anchored }) => anchored);
  const delivered = sum(buckets, ({ delivered }) => delivered);
  const failed = sum(buckets, ({ failed }) => failed);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <ChartCard title="Anchored" figure={anchored.toLocaleString('en')}>
        <AreaChart
          {...common}
          withDots={false}
          series={[{ name: 'anchored', label: 'Anchored', color: 'sea.6' }]}
        />
      </ChartCard>
      <ChartCard
        title="Deliveries"
        figure={`${delivered.toLocaleString('en')} delivered, ${failed.toLocaleString('en')} failed`}
      >
        <BarChart
          {...common}
          {...legend}
          type="stacked"
          series={[
            { name: 'delivered', label: 'Delivered', color: 'sea.6' },
            { name: 'failed', label: 'Failed', color: 'red.6' },
            { name: 'skipped', label: 'Skipped', color: 'yellow.5' },
          ]}
        />
      </ChartCard>
      <ChartCard title="Time to confirmation" figure={slowest(buckets)}>
        <LineChart
          {...common}
          {...legend}
          connectNulls
          valueFormatter={inSeconds}
          series={[
            { name: 'anchorMsP50', label: '50 % within', color: 'sea.6' },
            { name: 'anchorMsP95', label: '95 % within', color: 'indigo.5' },
          ]}
        />
      </ChartCard>
      <ChartCard title="Failures" figure={failed === 0 ? 'none' : failed.toLocaleString('en')}>
        <BarChart {...common} series={[{ name: 'failed', label: 'Failed deliveries', color: 'red.6' }]} />
      </ChartCard>
    </SimpleGrid>
  );
}

function ChartCard({ title, figure, children }: { title: string; figure: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" role="figure" aria-label={`${title}: ${figure}`}>
      <Title order={2} size="h5" c="dimmed" fw={550}>
        {title}
      </Title>
      <Text fw={650} size="lg" mb="sm">
        {figure}
      </Text>
      {children}
    </Paper>
  );
}

function sum(buckets: Bucket[], of: (bucket: Bucket) => number): number {
  return buckets.reduce((total, bucket) => total + of(bucket), 0);
}

function slowest(buckets: Bucket[]): string {
  const times = buckets.flatMap(({ anchorMsP95 }) => (anchorMsP95 === null ? [] : [anchorMsP95]));
  if (times.length === 0) return 'nothing confirmed';
  return `95 % within ${inSeconds(Math.max(...times))}`;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 2 })} s`;
}

function timeLabel(at: string, bucketSeconds: number): string {
  const date = new Date(at);
  return bucketSeconds >= 10_800
    ? date.toLocaleDateString('en', { month: 'short', day: 'numeric' })
    : date.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
}
