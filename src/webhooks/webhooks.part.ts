/** The part of the service that sends events to receivers: endpoints, the queue and its dispatcher, replays, the log. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { WebhookConfig } from '../config/config.ts';
import { type Db, indexOnly, openDatabase } from '../db/database.ts';
import type { Part } from '../http/api/part.ts';
import type { Keyring } from '../keys/keyring.ts';
import { type Changes, createWakeup, type Wakeup } from '../runtime/loop.ts';
import { deliveryRoutes } from './deliveries/deliveries.routes.ts';
import { createDeliveries } from './deliveries/deliveries.ts';
import { createNodeId, dispatcherLoop } from './dispatch/dispatcher.ts';
import { createHealthKeeper } from './dispatch/health.ts';
import { createWebhookMetrics } from './dispatch/metrics.ts';
import { createNodes } from './dispatch/nodes.ts';
import { createOutgoing } from './dispatch/outgoing.ts';
import { createQueue } from './dispatch/queue.ts';
import { rememberSenders } from './dispatch/senders.ts';
import { deliveryHoursLoop, deliveryLogLoop, nodesLoop } from './dispatch/upkeep.loop.ts';
import { endpointKeyRoutes } from './endpoints/endpoint-keys.routes.ts';
import { endpointRoutes } from './endpoints/endpoints.routes.ts';
import { webhookLinesLoop } from './ordering/lines.loop.ts';
import { createLines } from './ordering/lines.ts';
import { portalRoutes } from './portal/portal.routes.ts';
import { createPortal } from './portal/portal.ts';
import { portalLinkRoutes } from './portal/portal-links.routes.ts';
import { createPortalLinks } from './portal/portal-links.ts';
import { portalPageRoutes } from './portal/portal-page.routes.ts';
import { replaysLoop } from './replays/replays.loop.ts';
import { replayRoutes } from './replays/replays.routes.ts';
import { createReplays } from './replays/replays.ts';

export interface Webhooks extends Part {
  /** Call after a commit with an event: wakes the loop that orders the feed and the one that sends. */
  eventWakeup: Pick<Wakeup, 'wake'>;
}

export interface WebhooksDeps {
  db: Db;
  keyring: Keyring;
  connection(): pg.ClientConfig;
  onConnectionLost(error: Error): void;
  order: Pick<Wakeup, 'wake'>;
  /** Woken when events may have been given a position. */
  placed: Wakeup;
  changes: Changes;
  publicUrl(): string;
  log: Logger;
}

export function createWebhooks(config: WebhookConfig, deps: WebhooksDeps): Webhooks {
  const { db, keyring, connection, onConnectionLost, order, placed, changes, publicUrl, log } = deps;
  const deliveryWakeup = createWakeup();
  const replayWakeup = createWakeup();
  const eventWakeup = {
    wake() {
      order.wake();
      deliveryWakeup.wake();
    },
  };
  const { exchanger, endpoints } = createOutgoing(config, { db, keyring, eventWakeup });
  const deliveries = createDeliveries({ db, wakeup: deliveryWakeup });
  const portalLinks = createPortalLinks({ db, publicUrl });
  const portal = createPortal({ endpoints, deliveries });
  const replays = createReplays({ db, wakeup: replayWakeup, deliveryWakeup });
  const queueDatabase = openDatabase({ connection, onError: onConnectionLost, max: 4, settings: indexOnly });
  const lines = createLines({ db, pool: queueDatabase.pool, deliveryWakeup });
  const nodeId = createNodeId();
  const metrics = createWebhookMetrics(queueDatabase.pool);
  const nodes = createNodes(nodeId, {
    connection,
    pool: queueDatabase.pool,
    onGivenBack: metrics.onGivenBack,
  });
  const dispatcher = dispatcherLoop({
    queue: createQueue(queueDatabase.pool),
    exchanger,
    retryStepsMs: config.retryStepsMs,
    timeoutMs: config.timeoutMs,
    nodeId,
    wakeup: deliveryWakeup,
    changes,
    senderOf: rememberSenders(endpoints, config.serviceName),
    onHealth: createHealthKeeper(endpoints),
    onWritten(results, refused) {
      metrics.onWritten(results, refused);
      const ended = results.flatMap(({ status, delivery: { endpoint, resource } }) =>
        status === 'pending' || resource === null ? [] : { endpointId: endpoint.id, resource },
      );
      // The loop finds them later if this fails.
      lines
        .release(ended)
        .catch((error) => log.error({ err: error }, 'could not release ordered deliveries'));
    },
    log,
  });
  return {
    eventWakeup,
    metrics: metrics.all,
    loops: [
      dispatcher,
      webhookLinesLoop(lines, { wakeup: placed, changes }),
      replaysLoop(replays, { wakeup: replayWakeup, changes }),
      nodesLoop(nodes, deliveryWakeup),
      deliveryLogLoop(db, config.retentionDays),
      deliveryHoursLoop(db),
    ],
    routes(app, shell) {
      endpointRoutes(app, { ...shell, endpoints });
      endpointKeyRoutes(app, { ...shell, endpoints });
      deliveryRoutes(app, { ...shell, deliveries });
      replayRoutes(app, { ...shell, replays });
      portalLinkRoutes(app, { ...shell, portalLinks });
      portalRoutes(app, { ...shell, portal, portalLinks });
      portalPageRoutes(app);
    },
    async close() {
      await exchanger.close();
      await nodes.close();
      await queueDatabase.close();
    },
  };
}
