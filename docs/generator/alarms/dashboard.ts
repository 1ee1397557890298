/** The dashboard for Grafana: a row for each topic, with a panel for each of its alarms and those of the overview. */
import { type Alarm, alarms } from './catalogue.ts';
import { type Overview, overview } from './overview.ts';
import { withoutMarks } from './without-marks.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts the chosen data source here.
const datasource = { type: 'prometheus', uid: '${datasource}' };
const columns = 3;
const width = 24 / columns;
const height = 7;

interface GridPos {
  x: number;
  y: number;
  w: number;
  h: number;
}
type Panel = Record<string, unknown>;
type Place = (gridPos: GridPos) => Panel;

export function grafanaDashboard(): string {
  const panels: Panel[] = [firing({ x: 0, y: 0, w: 24, h: 5 })];
  let y = 5;
  for (const [topic, others] of Object.entries(overview)) {
    panels.push({
      type: 'row',
      title: topic,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: 24, h: 1 },
    });
    const ofTopic = alarms.filter((alarm) => alarm.topic === topic);
    const row: Place[] = [...others.map(overviewPanel), ...ofTopic.map(alarmPanel)];
    for (const [index, place] of row.entries()) {
      const line = Math.floor(index / columns);
      panels.push(place({ x: (index % columns) * width, y: y + 1 + line * height, w: width, h: height }));
    }
    y += 1 + Math.ceil(row.length / columns) * height;
  }
  const dashboard = {
    uid: 'holdfast',
    title: 'Holdfast',
    description:
      'Written by "npm run docs" from docs/generator/alarms/. The alarms are explained in docs/operations.md#alarms.',
    tags: ['holdfast'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: variables },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel })),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

const variables = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
  {
    name: 'job',
    label: 'Job',
    type: 'query',
    datasource,
    definition: 'label_values(holdfast_chain_leads, job)',
    query: { query: 'label_values(holdfast_chain_leads, job)', refId: 'job' },
    refresh: 2,
    current: { text: 'holdfast', value: 'holdfast' },
  },
];

function firing(gridPos: GridPos): Panel {
  return {
    type: 'stat',
    title: 'Alarms',
    description: 'Alarms that are raised now, with the number of nodes or loops they are raised for.',
    datasource,
    gridPos,
    targets: targets([
      [
        'count by (alertname, severity) (ALERTS{job="$job",alertname=~"Holdfast.*",alertstate="firing"})',
        '{{alertname}}',
      ],
    ]),
    fieldConfig: {
      defaults: { noValue: 'none', color: { mode: 'fixed', fixedColor: 'red' } },
      overrides: [],
    },
    options: { colorMode: 'background', reduceOptions: { calcs: ['lastNotNull'] } },
  };
}

function overviewPanel({ title, unit, lines }: Overview): Place {
  return (gridPos) =>
    timeseries({ title, gridPos, unit, lines: lines.map(([expr, legend]) => [ofJob(expr), legend]) });
}

/** Its limit is drawn as a line. */
function alarmPanel({ name, title, sign, meaning, action, value, when, unit, legend }: Alarm): Place {
  return (gridPos) => ({
    ...timeseries(
      { title, gridPos, unit: unit === 'bool' ? 'short' : unit, lines: [[ofJob(value), legend]] },
      when,
    ),
    description: withoutMarks(`${name}: ${sign}. ${meaning} ${action}`),
  });
}

function timeseries({ title, unit, lines, gridPos }: Overview & { gridPos: GridPos }, when?: string): Panel {
  return {
    type: 'timeseries',
    title,
    datasource,
    gridPos,
    targets: targets(lines),
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        custom: { fillOpacity: 5, thresholdsStyle: { mode: when ? 'line' : 'off' } },
        ...(when && { thresholds: { mode: 'absolute', steps: thresholds(when) } }),
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}

/** Red where the alarm is raised; each colour begins at its value. */
function thresholds(when: string) {
  const [comparison, number] = when.split(' ');
  const limit = Number(number);
  if (comparison === '!=') return [step(null, 'red'), step(limit, 'green'), step(limit + 1, 'red')];
  if (comparison === '==' && limit === 0) return [step(null, 'red'), step(1, 'green')];
  return [step(null, 'green'), step(limit, 'red')];
}

function step(value: number | null, color: string) {
  return { value, color };
}

function targets(lines: Overview['lines']) {
  return lines.map(([expr, legendFormat], index) => ({
    refId: String.fromCharCode(65 + index),
    datasource,
    expr,
    legendFormat,
  }));
}

/** The same of the chosen job only. */
function ofJob(expr: string): string {
  return expr.replace(/\b((?:holdfast|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g, (_, name, labels = '') => {
    const others = labels.split(',').filter((label: string) => label !== '' && !label.startsWith('job='));
    return `${name}{${['job="$job"', ...others].join(',')}}`;
  });
}
