/** `holdfast webhooks`: creates and lists webhook endpoints. */
import { type Command, InvalidArgumentError } from 'commander';
import { eventTypes } from '../events/catalogue.ts';
import { typePatterns } from '../events/type-patterns.ts';
import { hasDirectionMark } from '../runtime/visible-text.ts';
import type { Endpoint } from '../webhooks/endpoints/endpoints.store.ts';
import { type Endpoints, endpointLimits, statusOf } from '../webhooks/endpoints/endpoints.ts';
import { filterLimits } from '../webhooks/endpoints/filter-syntax.ts';
import type { TestOutcome } from '../webhooks/endpoints/test-event.ts';
import {
  type CommandContext,
  callerFor,
  explain,
  print,
  type StoreUse,
  table,
  withStore,
  workspaceOption,
} from './command.ts';

interface Options {
  workspace?: string;
  json?: boolean;
}

interface CreateOptions extends Options {
  url: string;
  events: string[];
  filter: string | null;
  description: string;
  rateLimit: number | null;
}

export function addWebhooksCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('create and list webhook endpoints');

  webhooks
    .command('create')
    .description('create a webhook endpoint, send it webhook.test, and print its secret')
    .requiredOption('--url <url>', 'public https address that accepts POST', parseUrl)
    .requiredOption(
      '--events <types>',
      `comma-separated list of ${eventTypes.join(', ')}, a prefix such as record.*, or * for all`,
      parseEventTypes,
    )
    .option(
      '--filter <expression>',
      'only events that fulfil it, such as data.version > 1',
      parseFilterText,
      null,
    )
    .option(...workspaceOption)
    .option('--description <text>', 'what it is for', parseDescription, '')
    .option('--rate-limit <n>', 'maximum number of requests per second (default: no limit)', parseRate, null)
    .option('--json', 'print {id, secret, test}')
    .action((options: CreateOptions) =>
      withEndpoints(
        async (endpoints, { store }) => {
          const { url, events, filter, description, rateLimit } = options;
          const { endpoint, secret, test } = await endpoints
            .create(
              await callerFor(store, options),
              {
                ...{ url, eventTypes: events, filter, description, enabled: true, rateLimit },
                ...{ ordering: 'none', ed25519: false, headers: [], clientCertificate: null },
              },
              () => [],
            )
            .catch(explain);
          print(options, { id: endpoint.id, secret, test }, `${endpoint.id}\n${secret}\n\n${tell(test)}`);
        },
        { mayCreate: true },
      ),
    );

  webhooks
    .command('list')
    .description('list the webhook endpoints of a workspace')
    .option(...workspaceOption)
    .option('--json', 'print an array')
    .action((options: Options) =>
      withEndpoints(async (endpoints, { store }) => {
        const { workspaceId } = await callerFor(store, options);
        const all = await endpoints.list(workspaceId, { before: undefined, limit: 10_000 });
        const rows = all.map((endpoint) => [
          endpoint.id,
          endpoint.disabledReason === null ? statusOf(endpoint) : `disabled (${endpoint.disabledReason})`,
          endpoint.eventTypes.join(','),
          endpoint.url,
          endpoint.description,
        ]);
        print(options, all.map(toJson), table(['ID', 'STATUS', 'EVENTS', 'URL', 'DESCRIPTION'], rows));
      }),
    );
}

/** Comma-separated event types and patterns, each at most once. */
export function parseEventTypes(text: string): string[] {
  const named = [...new Set(text.split(',').map((type) => type.trim()))];
  const unknown = named.filter((type) => !typePatterns.includes(type));
  if (unknown.length > 0)
    throw new InvalidArgumentError(
      `Unknown: ${unknown.join(', ')}. Available types: ${eventTypes.join(', ')}.`,
    );
  return named;
}

async function withEndpoints(
  work: (endpoints: Endpoints, context: CommandContext) => Promise<void>,
  use: StoreUse = {},
): Promise<void> {
  await withStore(async (context) => {
    const { db } = context.store.database;
    // Imported here so that other commands start faster.
    const { openKeyring } = await import('../keys/keyring.ts');
    const { createOutgoing } = await import('../webhooks/dispatch/outgoing.ts');
    const keyring = await openKeyring({ db, source: context.config.masterKey });
    // A command creates no event, so nothing needs to be woken.
    const eventWakeup = { wake() {} };
    const { exchanger, endpoints } = createOutgoing(context.config.webhooks, { db, keyring, eventWakeup });
    try {
      await work(endpoints, context);
    } finally {
      await exchanger.close();
      await keyring.close();
    }
  }, use);
}

function tell({ delivered, statusCode, error, durationMs }: TestOutcome): string {
  return delivered
    ? `The test event was delivered: ${statusCode} in ${durationMs} ms.`
    : `The test event failed: ${error}\nThe endpoint was saved anyway, and events are sent to it from now on.`;
}

/** The same form as in the API. */
function toJson(endpoint: Endpoint) {
  const { failingSince: _, ...rest } = endpoint;
  return { ...rest, status: statusOf(endpoint) };
}

function parseUrl(text: string): string {
  if (text.length > endpointLimits.urlLength)
    throw new InvalidArgumentError(`Give at most ${endpointLimits.urlLength} characters.`);
  return text;
}

function parseDescription(text: string): string {
  if (text.length > endpointLimits.descriptionLength || !text.isWellFormed())
    throw new InvalidArgumentError(`Give at most ${endpointLimits.descriptionLength} characters.`);
  if (hasDirectionMark(text))
    throw new InvalidArgumentError('Leave out characters that change the text direction.');
  return text;
}

function parseFilterText(text: string): string {
  if (text.length > filterLimits.length)
    throw new InvalidArgumentError(`Give at most ${filterLimits.length} characters.`);
  return text;
}

function parseRate(text: string): number {
  const most = endpointLimits.requestsPerSecond;
  if (!/^[1-9]\d{0,5}$/.test(text) || Number(text) > most)
    throw new InvalidArgumentError(`Give a number from 1 to ${most}.`);
  return Number(text);
}
