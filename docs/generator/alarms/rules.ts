/** The alarms as rules for Prometheus. */
import { type Alarm, alarms } from './catalogue.ts';
import { withoutMarks } from './without-marks.ts';

const head = `# Alarms of Holdfast for Prometheus. Written by "npm run docs" from docs/generator/alarms/catalogue.ts.
# They expect a scrape every 15 s (30 s at most) and the job name "holdfast"; see docs/operations.md#alarms.
groups:
  - name: holdfast
    rules:`;

export function alarmRules(): string {
  return `${[head, ...alarms.map(rule)].join('\n')}\n`;
}

function rule({ name, value, when, for: duration, severity, meaning, action, section }: Alarm): string {
  return `      - alert: ${name}
        expr: '${expression(value, when)}'
        for: ${duration}
        labels:
          severity: ${severity}
        annotations:
          summary: ${JSON.stringify(withoutMarks(meaning))}
          description: ${JSON.stringify(`${withoutMarks(action)} Value: {{ $value | humanize }}.`)}
          runbook: ${section ?? 'docs/operations.md#alarms'}`;
}

/** A comparison binds tighter than "unless", which the whole value must be on the left of. */
function expression(value: string, when: string): string {
  return value.includes(' unless ') ? `(${value}) ${when}` : `${value} ${when}`;
}
