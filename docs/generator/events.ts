/** The table of event types. */
import { eventCatalogue, eventTypes } from '../../src/events/catalogue.ts';
import { table } from './markdown.ts';

export function eventsTable(): string {
  return table(
    ['type', 'when', 'data'],
    eventTypes.map((type) => {
      const { about, data } = eventCatalogue[type];
      return [`\`${type}\``, about, Object.entries(data).map(fieldText).join(', ')];
    }),
  );
}

function fieldText([name, field]: [string, { type: string; enum?: readonly string[] }]): string {
  const values = field.enum?.map((value) => `\`${value}\``).join(', ');
  return values === undefined ? `\`${name}\`` : `\`${name}\` (${values})`;
}
