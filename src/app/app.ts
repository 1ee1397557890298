/**
 * Assembles the service. Everything opened is closed in reverse order, also when a later step fails. This file, store.ts,
 * on-chain.ts and the files `*.part.ts` construct everything.
 */
import type { Logger } from 'pino';
import { createAccess } from '../access/access.part.ts';
import { expiringKeys } from '../access/api-keys/expiring-keys.ts';
import { waitingApprovals } from '../access/approvals/waiting-approvals.ts';
import { budgetsNear } from '../access/workspaces/budgets-near.ts';
import { readStoredRoom, saveBudgetSettings } from '../access/workspaces/workspace-limits.ts';
import { createArchive } from '../anchoring/archive/archive.ts';
import { prepareLeafHash } from '../anchoring/batching/pending.ts';
import { sparingSpent } from '../anchoring/batching/spent-budget.ts';
import { confirmedEvents } from '../anchoring/confirmed-event.ts';
import { baseBackupsLoop } from '../backup/point-in-time/base-backups.loop.ts';
import { createBlobs } from '../blobs/blobs.ts';
import { requireMarker, watchMarker } from '../blobs/marker.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import { blobSweepLoop } from '../blobs/sweep.loop.ts';
import { createSweep } from '../blobs/sweep.ts';
import { createChainIdFinder } from '../chain/chain-id.ts';
import { type Clocks, createClocks } from '../clocks/clocks.part.ts';
import { lateTimestamps } from '../clocks/late-timestamps.ts';
import type { Config } from '../config/config.ts';
import { createChangeWatch } from '../db/change-watch.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createGroupCommit } from '../db/writes.ts';
import { createFeed } from '../events/feed.part.ts';
import type { ThingWatch } from '../events/notice.ts';
import { openapiWebhooks } from '../events/openapi-webhooks.ts';
import { transferableFile } from '../holdings/files/file-transfer.ts';
import { createHoldings } from '../holdings/holdings.part.ts';
import type { NodeUse } from '../holdings/overview/usage.ts';
import { confirmTransfers } from '../holdings/transfers/transfers.ts';
import { createRequestBudget } from '../http/admission/request-budget.ts';
import { createCursors } from '../http/api/cursor.ts';
import { idempotencyLoop } from '../http/api/idempotency.loop.ts';
import type { Part } from '../http/api/part.ts';
import { dashboardPages } from '../http/pages/dashboard-pages.ts';
import { createMetrics } from '../http/server/metrics.ts';
import { operationsRoutes } from '../http/server/operations.routes.ts';
import { createServer, type Server } from '../http/server/server.ts';
import { keyringLoop } from '../keys/keyring.loop.ts';
import { openKeyring } from '../keys/keyring.ts';
import { openServiceSecret } from '../keys/service-secret.ts';
import { transferableAsset } from '../maintenance/assets/asset-transfer.ts';
import { dueWork } from '../maintenance/intervals/due-work.ts';
import { createMaintenance } from '../maintenance/maintenance.part.ts';
import { expiringLicences } from '../maintenance/workers/expiring-licences.ts';
import { anchoringWatch, leaderWatch } from '../notices/chain-watch.ts';
import { createNoticesPart, type NoticeTimes } from '../notices/notices.part.ts';
import { createDocumentThread } from '../pdf/document-thread.ts';
import { once, type Supervisor, superviseLoops } from '../runtime/loop.ts';
import { version } from '../runtime/version.ts';
import { lateDeliveries } from '../webhooks/dispatch/late-deliveries.ts';
import { countAnchorSubscribers } from '../webhooks/endpoints/endpoints.store.ts';
import { failingEndpoints } from '../webhooks/endpoints/failing-endpoints.ts';
import { createWebhooks } from '../webhooks/webhooks.part.ts';
import { createOnChain } from './on-chain.ts';
import { openStore } from './store.ts';

export interface App {
  server: Server;
  loops: Supervisor;
  /** The first API key, created if the default workspace never had one: to be shown once. */
  makeFirstKey(): Promise<string | null>;
  /** A link that creates the first owner; null once there is one. */
  makeOwnerLink(): Promise<string | null>;
  close(): Promise<void>;
}

export interface AppOptions {
  /** Called before each step; if it throws, the step fails with that error. */
  onStep?(name: string): void;
  noticeTimes?: NoticeTimes;
}

/** To the database, for anchoring. */
const ownConnections = 4;

/** Creates all parts of a running service; the caller makes the server listen and starts the loops. */
export async function createApp(
  config: Config,
  log: Logger,
  { onStep = () => {}, noticeTimes = {} }: AppOptions = {},
): Promise<App> {
  await using opened = new AsyncDisposableStack();
  async function open<Thing>(
    name: string,
    make: () => Thing | Promise<Thing>,
    close: (thing: Thing) => unknown,
  ): Promise<Thing> {
    onStep(name);
    const thing = await make();
    opened.defer(async () => void (await close(thing)));
    return thing;
  }
  const openPart = <Opened extends Part>(name: string, make: () => Opened | Promise<Opened>) =>
    open(name, make, (part) => part.close?.());

  const store = await open(
    'store',
    () => openStore(config, log, { exclusive: true }),
    (store) => store.close(),
  );
  const { connection, onConnectionLost, embedded: ownPostgres } = store;
  const { db, pool } = store.database;
  if (config.roles.api) await saveBudgetSettings(db, config.budgets);
  // However many requests wait for a connection: anchoring goes on, and opens the keys that it needs. Webhooks have their own.
  const { db: ownDb } = await open(
    'own database',
    () => openDatabase({ connection, onError: onConnectionLost, max: ownConnections }),
    (own) => own.close(),
  );
  const keyring = await open(
    'keyring',
    () => openKeyring({ db: ownDb, source: config.masterKey }),
    (keyring) => keyring.close(),
  );
  const blobStore = await open(
    'blobs',
    () => openBlobStore(config.blobs),
    (blobStore) => blobStore.close(),
  );
  const lookAtStore = watchMarker(blobStore, await requireMarker({ db, store: blobStore, log }));
  const blobs = createBlobs({ db, keyring, store: blobStore });
  const archive = createArchive({ db, blobs });
  const commit = sparingSpent(createGroupCommit(pool));
  await prepareLeafHash();
  const changes = createChangeWatch(pool);
  const limits = config.budgets;
  const publicUrl = () => server.publicUrl();

  const access = await openPart('access', () =>
    createAccess(config, { db, pool, keyring, publicUrl, changes, log }),
  );
  const { findCaller, defineStep } = access;
  const feed = await openPart('feed', () => createFeed({ db, pool, findCaller, limits, changes }));
  const webhooks = await openPart('webhooks', () =>
    createWebhooks(config.webhooks, {
      ...{ db, keyring, connection, onConnectionLost, changes, publicUrl, log },
      order: feed.order,
      placed: feed.placed,
    }),
  );
  const { eventWakeup } = webhooks;
  const onChain = await openPart('chain', () =>
    createOnChain(config, {
      db,
      ownDb,
      connection,
      keyring,
      archive,
      confirmations: {
        ...confirmedEvents(),
        transfer: confirmTransfers(transferableFile, transferableAsset),
      },
      placeEvents: feed.place,
      countSubscribers: countAnchorSubscribers,
      eventWakeup,
      plannedStamp: () => clocks.plannedStamp(),
      changes,
      log,
    }),
  );
  const clocks: Clocks = await openPart('clocks', () =>
    createClocks(config.clocks, {
      ...{ db: ownDb, lead: onChain.lead, changes, log },
      anchorIntervalMs: config.chain.anchorIntervalMs,
      allow: config.webhooks.allow,
    }),
  );
  const documents = await open(
    'documents',
    () => createDocumentThread(new URL('../maintenance/dossier/documents.thread.ts', import.meta.url)),
    (documents) => documents.close(),
  );
  const requestBudget = createRequestBudget(limits);
  const nodeUse: NodeUse = {
    requests: requestBudget.used,
    streams: feed.streams.count,
    exports: (workspaceId) => maintenance.exports(workspaceId),
  };
  const holdings = await openPart('holdings', () =>
    createHoldings({
      ...{ db, pool, commit, keyring, blobs, blobStore, archive, onChain, documents, eventWakeup, limits },
      defineStep,
      nodeUse,
      backupRetentionDays: config.backupRetentionDays,
      ...{ publicUrl, changes, log },
      tsaRootsFile: config.clocks.rootsFile,
      readClocks: clocks.readState,
    }),
  );
  const maintenance = await openPart('maintenance', () =>
    createMaintenance({
      ...{ db, pool, commit, keyring, onChain, documents, limits, defineStep },
      vaults: holdings.vaults,
      fileContents: holdings.fileContents,
      publicUrl,
      chainId: createChainIdFinder({ db, rpcUrls: config.chain.rpcUrls }),
    }),
  );

  const notices = await openPart('notices', () =>
    createNoticesPart(config.mail, {
      ...{ db, publicUrl, eventWakeup, changes, log },
      loopHealth: () => loops.health(),
      disk: { dir: config.dataDir, lowBytes: config.diskLowBytes },
      nodeWatches: [leaderWatch({ db, ...onChain })],
      watches: [
        anchoringWatch({ db, anchorIntervalMs: config.chain.anchorIntervalMs }),
        budgetsNear(db),
        lateDeliveries(db),
        lateTimestamps(db, config.clocks.authorities),
      ],
      thingWatches: [
        failingEndpoints(noticeTimes.holdMs),
        expiringKeys,
        waitingApprovals,
        dueWork,
        expiringLicences,
      ] as ThingWatch[],
      times: noticeTimes,
    }),
  );

  const rest: Part = {
    nodeLoops: [...(ownPostgres ? [ownPostgres.loop] : []), changes.loop, keyringLoop(keyring, changes)],
    loops: [
      idempotencyLoop(db),
      blobSweepLoop(createSweep({ db, store: blobStore })),
      ...(config.walArchiveDir === null
        ? []
        : [baseBackupsLoop({ config, dir: config.walArchiveDir, db, store: blobStore, connection, log })]),
    ],
  };
  const parts: Part[] = [holdings, maintenance, feed, webhooks, access, onChain, clocks, notices, rest];
  const loops = await open(
    'loops',
    () =>
      superviseLoops(
        [
          ...parts.flatMap((part) => part.nodeLoops ?? []),
          ...(config.roles.loops ? parts.flatMap((part) => part.loops ?? []) : []),
        ],
        log,
      ),
    (loops) => loops.stop(5_000),
  );
  const metrics = createMetrics({
    pool,
    loopHealth: loops.health,
    also: parts.flatMap((part) => part.metrics ?? []),
  });
  const cursors = createCursors(await openServiceSecret(db, keyring, 'cursors'));
  const server: Server = await open(
    'server',
    () =>
      createServer({
        config,
        log,
        version,
        webhooks: openapiWebhooks(),
        db,
        pool,
        keyring,
        metrics,
        blobs,
        findCaller,
        requestBudget,
        storedRoom: (workspaceId) => readStoredRoom(db, workspaceId),
        addRoutes(app, shell) {
          operationsRoutes(app, {
            metrics,
            metricsToken: config.metricsToken,
            loopHealth: loops.health,
            pingDatabase: () => ping(store.database),
            lookAtStore,
          });
          // A node that only runs loops serves nothing but its health.
          if (!config.roles.api) return;
          for (const part of parts) part.routes?.(app, { ...shell, cursors });
          dashboardPages(app);
        },
      }),
    (server) => {
      // Streams would never end by themselves, and the server waits for every answer.
      feed.streams.close();
      return server.http.close();
    },
  );

  const { makeFirstKey, makeOwnerLink } = access;
  onStep('end');
  const toClose = opened.move();
  return { server, loops, makeFirstKey, makeOwnerLink, close: once(() => toClose.disposeAsync()) };
}

/** Fails when the database does not answer within a second. */
async function ping({ pool }: Database): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer within 1 s')), 1_000);
  try {
    await Promise.race([pool.query('select 1'), late]);
  } finally {
    clearTimeout(timer);
  }
}
