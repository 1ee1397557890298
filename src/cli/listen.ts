/** `holdfast listen`: shows events as they come, and forwards them to a receiver on this machine, signed like webhooks. */
import type { Command } from 'commander';
import type { Pool } from 'pg';
import type { WebhookConfig } from '../config/config.ts';
import { isDatabaseAway } from '../db/faults.ts';
import type { EventType } from '../events/catalogue.ts';
import { type FeedItem, readFeed, tailPosition } from '../events/feed.ts';
import { typesOf } from '../events/type-patterns.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pause, superviseLoops } from '../runtime/loop.ts';
import { isAnyNodeAlive } from '../webhooks/dispatch/nodes.ts';
import { type CommandContext, callerFor, withStore, workspaceOption } from './command.ts';
import { type ConnectionOptions, chooseConnection, profileOption, urlOption } from './connection.ts';
import { createForward, parseSecret, parseTarget, tell } from './forward.ts';
import type { Profile } from './profiles.ts';
import { readSettings } from './settings.ts';
import { parseEventTypes } from './webhooks.ts';

interface Options extends ConnectionOptions {
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
    .option(...urlOption)
    .option(...profileOption)
    .option(
      '--events <types>',
      'comma-separated types, or prefixes such as record.* (default: all)',
      parseEventTypes,
    )
    .option('--secret <secret>', 'signing secret (default: a new one, printed at the start)', parseSecret)
    .option('--since-beginning', 'start with the oldest event instead of the next one')
    .option('--json', 'print each envelope unchanged, one per line, and everything else to standard error')
    .action(async (options: Options) => {
      const stopping = stopSignal();
      const connection = await connectionFor(options);
      if (connection) return listenRemotely(options, connection, stopping);
      // The command reports failures itself, so the log can be quiet.
      return withStore((context) => listenHere(options, context, stopping), { usualLogLevel: 'fatal' });
    });
}

/** A workspace is named only where this command reads the database: a key belongs to one. */
async function connectionFor(options: Options): Promise<Profile | null> {
  if (options.workspace === undefined) return chooseConnection(options);
  if (options.url === undefined && options.profile === undefined) return null;
  throw new OperatorError('--workspace is for the database of this machine: a key belongs to one workspace.');
}

async function listenRemotely(options: Options, connection: Profile, stopping: AbortSignal): Promise<void> {
  const { events, sinceBeginning = false } = options;
  const types = events && typesOf(events);
  const { followStream } = await import('./stream-client.ts');
  const say = options.json ? console.error : console.log;
  const type = types?.length === 1 ? types[0] : undefined;
  await show(options, {
    webhooks: readSettings(console.error).webhooks,
    where: `at ${connection.url}`,
    envelopes: (greet) => followStream({ connection, type, sinceBeginning, say, stopping, opened: greet }),
    stopping,
  });
}

/** Reads the database of the service on this machine. */
async function listenHere(
  options: Options,
  { config, store, log }: CommandContext,
  stopping: AbortSignal,
): Promise<void> {
  const { pool } = store.database;
  const { workspaceId } = await callerFor(store, options);
  const say = options.json ? console.error : console.log;
  // It may outlive the service beside it: then this command must keep the embedded database running.
  const loops = superviseLoops(store.embedded ? [store.embedded.loop] : [], log);
  loops.start();
  try {
    const after = options.sinceBeginning ? 0 : await tailPosition(pool);
    if (!(await isAnyNodeAlive(pool)))
      say('No service is running, so no new events will come. Start one with "holdfast serve".');
    await show(options, {
      webhooks: config.webhooks,
      where: `of ${workspaceId}`,
      envelopes(greet) {
        greet();
        return follow({ pool, workspaceId, after, say, stopping });
      },
      stopping,
    });
  } finally {
    await loops.stop(5_000);
  }
}

interface Showing {
  webhooks: WebhookConfig;
  where: string;
  /** Calls `greet` once no later event can be missed any more. */
  envelopes(greet: () => void): AsyncIterable<string>;
  stopping: AbortSignal;
}

/** Prints the envelopes as they come, and forwards each, one after the other. */
async function show(options: Options, { webhooks, where, envelopes, stopping }: Showing): Promise<void> {
  const { forwardTo, secret, events } = options;
  const types = events && new Set<string>(typesOf(events));
  const say = options.json ? console.error : console.log;
  const forward = forwardTo ? await createForward({ forwardTo, secret }, webhooks) : null;
  // Also ends a running request.
  stopping.addEventListener('abort', () => void forward?.close());
  try {
    if (forward) say(`Forwarding to ${forwardTo}, signed with ${forward.secret}`);
    const greet = () =>
      say(`Listening for ${options.events?.join(', ') ?? 'all events'} ${where}. Press Ctrl-C to stop.`);
    for await (const envelope of envelopes(greet)) {
      const event = JSON.parse(envelope) as Envelope;
      if (types && !types.has(event.type)) continue;
      console.log(options.json ? envelope : `${event.timestamp}  ${event.type}  ${event.id}`);
      if (forward && !stopping.aborted) say(`  ${tell(await forward.post(event.id, envelope))}`);
    }
  } finally {
    await forward?.close();
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

/** Aborts on Ctrl-C and SIGTERM, and when nobody reads the output any more; later signals have no further effect. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort());
  return stop.signal;
}
