/** The table of alarms. */
import { table } from '../markdown.ts';
import { alarms } from './catalogue.ts';

export function alarmsTable(): string {
  return table(
    ['alarm', 'severity', 'sign', 'after', 'meaning, and what to do', 'event'],
    alarms.map(({ name, severity, sign, for: duration, meaning, action, told }) => [
      `\`${name}\``,
      severity,
      sign,
      duration === '0m' ? 'at once' : duration.replace('m', ' min').replace('h', ' h'),
      `${meaning} ${action}`,
      'event' in told ? `\`${told.event}\`` : `none: ${told.only}`,
    ]),
  );
}
