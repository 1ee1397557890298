/** The table of alarms. */
import { table } from '../markdown.ts';
import { alarms } from './catalogue.ts';

export function alarmsTable(): string {
  return table(
    ['alarm', 'severity', 'sign', 'meaning, and what to do'],
    alarms.map(({ name, severity, sign, meaning, action }) => [
      `\`${name}\``,
      severity,
      sign,
      `${meaning} ${action}`,
    ]),
  );
}
