/** Holdfast's side of `webhook-deliveries`: a backlog in its database, and what sending it took. */
import { type Backlog, collectBacklog, sizeOf } from './backlog.ts';
import { waitForRest } from './cpu-time.ts';
import type { Fixture } from './fixture.ts';
import { holdfastDatabase } from './postgres.ts';
import { processesOf } from './service-processes.ts';
import { type Spent, watchProcesses } from './spent.ts';
import { countStatements } from './statements.ts';
import {
  backlogType,
  commitBacklog,
  makeEvents,
  refuseUnlogged,
  removeTargets,
  type SavedTarget,
  saveTargets,
  workspaceOf,
} from './webhooks.ts';

export interface Sending {
  perSecond: number;
  seconds: number;
  /** Deliveries. */
  operations: number;
  /** SQL statements for each delivery; null for those without SQL. */
  statements: number | null;
  cpu: Spent | null;
}

export interface HoldfastSender {
  targets: SavedTarget[];
  newBacklog(events: number, at?: Date): Backlog;
  /** Sends so many events to each target. */
  send(events: number): Promise<Sending>;
  peakMemoryMb(): Promise<number>;
  /** So that later rows make no deliveries. */
  close(): Promise<void>;
}

/** How long a backlog may take. */
export const longestSendingMs = 120_000;

export async function openHoldfastSender(fixture: Fixture, paths: string[]): Promise<HoldfastSender> {
  const receiver = await fixture.receiver();
  const service = await fixture.countedService();
  const postgres = await fixture.countedPostgres();
  const workspaceId = await workspaceOf(postgres);
  const targets = await saveTargets(service, { origin: receiver.url, paths, eventTypes: [backlogType] });

  function newBacklog(count: number, at = new Date()): Backlog {
    return {
      targets: targets.map(({ path, secret }) => ({ path, secret })),
      events: makeEvents(workspaceId, { count, at }),
    };
  }

  return {
    targets,
    newBacklog,
    async send(events) {
      const at = new Date();
      const backlog = newBacklog(events, at);
      // Autovacuum would do it within a minute, in the middle of somebody's turn.
      await postgres.query(holdfastDatabase, 'vacuum analyze');
      await waitForRest();
      await receiver.expect(paths);
      const countSinceNow = await countStatements(postgres);
      await commitBacklog(postgres, { workspaceId, events: backlog.events, at });
      // Not before: making the deliveries is not part of sending them.
      const spent = await watchProcesses({ ...(await processesOf(service)), client: [receiver.pid] });
      const { seconds } = await collectBacklog(receiver, backlog, longestSendingMs);
      await spent.answered();
      await refuseUnlogged(postgres, { at, deliveries: sizeOf(backlog) });
      const statements = (await countSinceNow()) / sizeOf(backlog);
      const { cpu } = await spent.untilRest();
      const operations = sizeOf(backlog);
      return { perSecond: operations / seconds, seconds, operations, statements, cpu };
    },
    peakMemoryMb: service.peakMemoryMb,
    close: () => removeTargets(service, targets),
  };
}
