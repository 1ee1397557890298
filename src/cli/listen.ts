/** `holdfast listen`: shows events as they come, and forwards them to a receiver on this machine, signed like webhooks. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Pool } from 'pg';
import type { WebhookConfig } from '../config/config.ts';
import { isDatabaseAway } from '../db/faults.ts';
import type { EventType } from '../events/catalogue.ts';
import { type FeedItem, readFeed, tailPosition } from '../events/feed.ts';
import { typesOf } from '../events/type-patterns.ts';
import { once, pause, superviseLoops } from '../runtime/loop.ts';
import { isAnyNodeAlive } from '../webhooks/dispatch/nodes.ts';
import type { Outcome } from '../webhooks/exchange/exchange.ts';
import { createSigner, newWebhookSecret } from '../webhooks/exchange/signature.ts';
import { type CommandContext, callerFor, withStore, workspaceOption } from './command.ts';
import { parseEventTypes } from './webhooks.ts';

interface Options {
  forwardTo?: URL;
  workspace?: string;
  events?: string[];
  secret?: string;
  sinceBeginning?: boolean;
  json?: boolean;
}

type Envelope = { id: string; type: EventType; timestamp: string };

const pollMs = 250;
const pageSize = 100;
const retryMs = 1000;

export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .description('show events as they happen, and forward them to a URL, signed like webhooks')
    .option(
      '--forward-to <url>',
      'POST each event there; http and private addresses are allowed',
      parseTarget,
    )
    .option(...workspaceOption)
    .option(
      '--events <types>',
      'comma-separated types, or prefixes such as record.* (default: all)',
      parseEventTypes,
    )
    .option('--secret <secret>', 'signing secret (default: a new one, printed at the start)', parseSecret)
    .option('--since-beginning', 'start with the oldest event instead of the next one')
    .option('--json', 'print each envelope unchanged, one per line, and everything else to standard error')
    .action((options: Options) => {
      const stopping = stopSignal();
      // The command reports failures itself, so the log can be quiet.
      return withStore((context) => listen(options, context, stopping), { usualLogLevel: 'fatal' });
    });
}

async function listen(
  options: Options,
  { config, store, log }: CommandContext,
  stopping: AbortSignal,
): Promise<void> {
  const { pool } = store.database;
  const { workspaceId } = await callerFor(store, options);
  const say = options.json ? console.error : console.log;
  const types = options.events && new Set<string>(typesOf(options.events));
  const forward = options.forwardTo ? await createForward(options, config.webhooks) : null;
  // It may outlive the service beside it: then this command must keep the embedded database running.
  const loops = superviseLoops(store.embedded ? [store.embedded.loop] : [], log);
  loops.start();
  try {
    const after = options.sinceBeginning ? 0 : await tailPosition(pool);
    say(
      `Listening for ${options.events?.join(', ') ?? 'all events'} of ${workspaceId}. Press Ctrl-C to stop.`,
    );
    if (forward) say(`Forwarding to ${options.forwardTo}, signed with ${forward.secret}`);
    if (!(await isAnyNodeAlive(pool)))
      say('No service is running, so no new events will come. Start one with "holdfast serve".');
    // Also ends a running request.
    stopping.addEventListener('abort', () => void forward?.close());

    for await (const envelope of follow({ pool, workspaceId, after, say, stopping })) {
      const event = JSON.parse(envelope) as Envelope;
      if (types && !types.has(event.type)) continue;
      console.log(options.json ? envelope : `${event.timestamp}  ${event.type}  ${event.id}`);
      if (forward && !stopping.aborted) say(`  ${tell(await forward.post(event.id, envelope))}`);
    }
  } finally {
    await forward?.close();
    await loops.stop(5_000);
  }
}

interface Following {
  pool: Pool;
  workspaceId: string;
  after: number;
  say(line: string): void;
  stopping: AbortSignal;
}

/** Yields the envelopes after a position until stopped; reports an unavailable database once, and retries. */
async function* follow({ pool, workspaceId, after, say, stopping }: Following): AsyncGenerator<string> {
  let seen = after;
  let away = false;
  while (!stopping.aborted) {
    let items: FeedItem[] = [];
    try {
      ({ items } = await readFeed(pool, { workspaceId, type: undefined, after: seen, limit: pageSize }));
      if (away) say('The database is available again.');
      away = false;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      const { message, code } = error as Error & { code?: string };
      if (!away) say(`The database is not available (${message || code}). Trying again.`);
      away = true;
    }
    for (const { position, envelope } of items) {
      if (stopping.aborted) return;
      yield envelope;
      seen = position;
    }
    if (items.length < pageSize) await pause(away ? retryMs : pollMs, stopping);
  }
}

interface Forward {
  secret: string;
  post(eventId: string, envelope: string): Promise<Outcome>;
  close(): Promise<void>;
}

async function createForward(
  { forwardTo, secret = newWebhookSecret() }: Options,
  { serviceName, timeoutMs, caFile }: WebhookConfig,
): Promise<Forward> {
  // Imported here so that other commands start faster.
  const { createAddressGuard, toAllowList } = await import('../egress/address-guard.ts');
  const { createExchanger } = await import('../webhooks/exchange/exchange.ts');
  // Anybody who may run this command can reach every address from here anyway.
  const guard = createAddressGuard(toAllowList(['0.0.0.0/0', '::/0']));
  const exchanger = createExchanger({ guard, timeoutMs, caFile });
  const url = new URL(forwardTo ?? '');
  const sign = createSigner({ serviceName, secret, previousSecrets: [] });
  return {
    secret,
    post(eventId, envelope) {
      const timestamp = Math.floor(Date.now() / 1000);
      return exchanger.post({ url, headers: sign({ eventId, body: envelope, timestamp }), body: envelope });
    },
    close: once(exchanger.close),
  };
}

function tell({ statusCode, error, durationMs }: Outcome): string {
  return error === null ? `${statusCode} in ${durationMs} ms` : `failed after ${durationMs} ms: ${error}`;
}

/** Aborts on Ctrl-C and SIGTERM, and when nobody reads the output any more; later signals have no further effect. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort());
  return stop.signal;
}

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Give an http or https address, such as http://127.0.0.1:8080/webhooks.');
  return url;
}

function parseSecret(text: string): string {
  const bytes = Buffer.from(text.slice('whsec_'.length), 'base64');
  if (!text.startsWith('whsec_') || bytes.length < 16 || `whsec_${bytes.toString('base64')}` !== text)
    throw new InvalidArgumentError('A secret is whsec_ followed by base64, as shown with the endpoint.');
  return text;
}
