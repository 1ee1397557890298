/** The table of metrics. */
import { type MetricName, metricCatalogue, metricEntry } from '../../src/metrics/catalogue.ts';
import { table } from './markdown.ts';

export function metricsTable(): string {
  const names = Object.keys(metricCatalogue) as MetricName[];
  return table(
    ['metric', 'type', 'labels', 'meaning'],
    [
      ...names.map((name) => {
        const { type, labels = {}, help } = metricEntry(name);
        return [`\`${name}\``, type, Object.entries(labels).map(labelText).join(', '), help];
      }),
      [
        '`process_*`, `nodejs_*`',
        '',
        '',
        'Memory, CPU, file descriptors, event loop lag, garbage collection',
      ],
    ],
  );
}

function labelText([name, values]: [string, readonly string[] | null]): string {
  return values === null ? `\`${name}\`` : `\`${name}\`: ${values.map((value) => `\`${value}\``).join(', ')}`;
}
