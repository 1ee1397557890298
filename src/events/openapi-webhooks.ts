/** The section `webhooks` of the OpenAPI document: what receivers are sent, one operation per event type. */
import { eventCatalogue, eventTypes } from './catalogue.ts';
import { sampleEventOf } from './sample-event.ts';

export function openapiWebhooks(): Record<string, object> {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: operationOf(type) }]));
}

function operationOf(type: (typeof eventTypes)[number]): object {
  const { about, data } = eventCatalogue[type];
  const name = type.split('.').map(capitalized).join('');
  const properties = {
    id: { type: 'string', description: 'Unique; use it to detect duplicates' },
    type: { type: 'string', const: type },
    timestamp: { type: 'string', format: 'date-time' },
    workspace_id: { type: 'string' },
    data: { type: 'object', required: Object.keys(data), properties: data },
  };
  const schema = {
    title: `${name}Event`,
    description: about,
    type: 'object',
    required: Object.keys(properties),
    properties,
  };
  return {
    operationId: `on${name}`,
    summary: about,
    tags: ['webhooks'],
    security: [],
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: sampleEventOf(type) } },
    },
    responses: { '2XX': { description: 'The event was received; any other status causes a retry' } },
  };
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
