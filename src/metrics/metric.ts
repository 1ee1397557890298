/** Makes metrics of the catalogue: each room makes its own, and gives the figures. None is registered yet. */
import { Counter, Gauge, Histogram, type Metric } from 'prom-client';
import { type MetricCatalogue, type MetricName, metricEntry } from './catalogue.ts';

type NamesOf<Type> = {
  [Name in MetricName]: MetricCatalogue[Name]['type'] extends Type ? Name : never;
}[MetricName];
type LabelsOf<Name extends MetricName> = MetricCatalogue[Name] extends { labels: infer Labels }
  ? Labels
  : never;
type LabelNamesOf<Name extends MetricName> = keyof LabelsOf<Name> & string;
type LabelValueOf<Name extends MetricName> =
  LabelsOf<Name>[keyof LabelsOf<Name>] extends readonly (infer Value extends string)[] ? Value : string;

type LabelledGauge = {
  [Name in NamesOf<'gauge'>]: MetricCatalogue[Name] extends { labels: object } ? Name : never;
}[NamesOf<'gauge'>];
type PlainGauge = Exclude<NamesOf<'gauge'>, LabelledGauge>;

type Read<T> = () => T | null | undefined | Promise<T | null | undefined>;

/** A gauge without labels; left out while its figure is not known. */
export function gauge(name: PlainGauge, read: Read<number>): Metric {
  return new Gauge({
    ...optionsOf(name),
    async collect() {
      const value = await read();
      this.remove();
      if (typeof value === 'number') this.set(value);
    },
  }) as Metric;
}

/** A gauge with one label, by whose values the figures are read; left out while they are not known. */
export function labelledGauge<Name extends LabelledGauge>(
  name: Name,
  read: Read<Record<LabelValueOf<Name>, number>>,
): Metric {
  const options = optionsOf(name);
  const [label = ''] = options.labelNames;
  return new Gauge<string>({
    ...options,
    async collect() {
      const figures = (await read()) ?? {};
      this.reset();
      for (const [value, figure] of Object.entries<number>(figures)) this.set({ [label]: value }, figure);
    },
  }) as Metric;
}

/** `read`: the sum so far, for one that is counted elsewhere. */
export function counter<Name extends NamesOf<'counter'>>(
  name: Name,
  read?: Read<number>,
): Counter<LabelNamesOf<Name>> {
  return new Counter({
    ...optionsOf(name),
    ...(read && {
      async collect(this: Counter<LabelNamesOf<Name>>) {
        const value = await read();
        if (typeof value !== 'number') return;
        this.reset();
        this.inc(value);
      },
    }),
  });
}

export function histogram<Name extends NamesOf<'histogram'>>(
  name: Name,
  buckets: number[],
): Histogram<LabelNamesOf<Name>> {
  return new Histogram({ ...optionsOf(name), buckets });
}

function optionsOf<Name extends MetricName>(name: Name) {
  const { help, labels = {} } = metricEntry(name);
  return { name, help, labelNames: Object.keys(labels) as LabelNamesOf<Name>[], registers: [] };
}
