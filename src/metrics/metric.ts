/** Creates metrics from the catalogue: each room creates its own and supplies the values. They are not registered here. */
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

/** A gauge without labels; omitted while its value is unknown. */
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

/** A gauge with one label; `read` returns a value per label value. Omitted while they are unknown. */
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

/**
 * `read`: the total so far, for events that are counted elsewhere. Omitted while it is unknown: a 0 would look like a restart
 * of the count, and the total after it like that many new events.
 */
export function counter<Name extends NamesOf<'counter'>>(
  name: Name,
  read?: Read<number>,
): Counter<LabelNamesOf<Name>> {
  return new Counter({
    ...optionsOf(name),
    ...(read && {
      async collect(this: Counter<LabelNamesOf<Name>>) {
        const value = await read();
        this.remove();
        if (typeof value === 'number') this.inc(value);
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
