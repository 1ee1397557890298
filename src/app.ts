/** The composition root: together with store.ts the only file that constructs things. */
import type { Logger } from 'pino';
import { each, tells } from './anchoring/announcer.ts';
import { transferKind } from './anchoring/history.ts';
import { sparingSpent } from './anchoring/spent-budget.ts';
import { createApiKeys } from './auth/api-keys.ts';
import { createCallers } from './auth/callers.ts';
import { ensureFirstKey } from './auth/first-start.ts';
import { invitationLink } from './auth/invitations.routes.ts';
import { createInvitations } from './auth/invitations.ts';
import { createMembers } from './auth/members.ts';
import { createSessions } from './auth/sessions.ts';
import { createSignIn } from './auth/sign-in.ts';
import { createSignInEffects } from './auth/sign-in-effects.ts';
import { createSignInThrottle } from './auth/sign-in-throttle.ts';
import { readStoredRoom, saveBudgetSettings } from './auth/workspace-limits.ts';
import { createBlobs } from './blobs/blobs.ts';
import { openBlobStore } from './blobs/open-blob-store.ts';
import { createSweep } from './blobs/sweep.ts';
import { createChainIdFinder } from './chain/chain-id.ts';
import { registryCodeHash } from './chain/registry.ts';
import type { Config } from './config.ts';
import { createAssetAccess } from './damc/asset-access.ts';
import { createAssetInstalls } from './damc/asset-installs.ts';
import { createAssetIntervals } from './damc/asset-intervals.ts';
import { confirmAssetTransfers } from './damc/asset-transfer-confirmation.ts';
import { createAssetTransfers } from './damc/asset-transfers.ts';
import { createAssetViewers } from './damc/asset-viewers.ts';
import { createAssetWorkers } from './damc/asset-workers.ts';
import { createAssets } from './damc/assets.ts';
import { createDossiers } from './damc/dossier.ts';
import { maintenanceKind } from './damc/maintenance-content.ts';
import { maintenanceConfirmed } from './damc/maintenance-events.ts';
import { createMaintenances } from './damc/maintenances.ts';
import { createSignoffs } from './damc/signoffs.ts';
import { createWorkers } from './damc/workers.ts';
import { type Database, openDatabase } from './db/database.ts';
import { createLowWater } from './db/low-water.ts';
import { createGroupCommit } from './db/writes.ts';
import { createCursors } from './http/cursor.ts';
import { createMetrics } from './http/metrics.ts';
import { createRequestBudget } from './http/request-budget.ts';
import { createServer, type Server } from './http/server.ts';
import { openKeyring } from './keys/keyring.ts';
import { openServiceSecret } from './keys/service-secret.ts';
import { createBell, once, type Supervisor, superviseLoops } from './loop.ts';
import { allLoops } from './loops.ts';
import { createOnChain } from './on-chain.ts';
import { createDocumentThread } from './pdf/document-thread.ts';
import { createCertificates } from './platform/certificates.ts';
import { createChainRelay } from './platform/chain-relay.ts';
import { createFileContents } from './platform/file-content.ts';
import { fileConfirmed } from './platform/file-events.ts';
import { confirmFileTransfers } from './platform/file-transfers.ts';
import { createFileValidations } from './platform/file-validations.ts';
import { createFileValidator } from './platform/file-validator.ts';
import { fileKind } from './platform/files.store.ts';
import { createFiles } from './platform/files.ts';
import { recordConfirmed } from './platform/record-events.ts';
import { recordKind } from './platform/records.store.ts';
import { createRecords } from './platform/records.ts';
import { createStats } from './platform/stats.ts';
import { createTransactions } from './platform/transactions.ts';
import { createUsage } from './platform/usage.ts';
import { createVaults } from './platform/vaults.ts';
import { addRoutes } from './routes.ts';
import { openStore } from './store.ts';
import { version } from './version.ts';
import { createDeliveries } from './webhooks/deliveries.ts';
import { createNodeId, dispatcherLoop } from './webhooks/dispatcher.ts';
import { countAnchorSubscribers } from './webhooks/endpoints.store.ts';
import { createEventStreams } from './webhooks/event-stream.ts';
import { placeEvents } from './webhooks/events.ts';
import { readFeedGeneration } from './webhooks/feed-generation.ts';
import { createFeedWatcher } from './webhooks/feed-watcher.ts';
import { createHealthKeeper } from './webhooks/health.ts';
import { createWebhookMetrics } from './webhooks/metrics.ts';
import { createNodes } from './webhooks/nodes.ts';
import { createOutgoing } from './webhooks/outgoing.ts';
import { createQueue } from './webhooks/queue.ts';
import { createReplays } from './webhooks/replays.ts';
import { rememberSigners } from './webhooks/signers.ts';

export interface App {
  server: Server;
  loops: Supervisor;
  /** The first API key, made when the default workspace never had one: to be shown once. */
  makeFirstKey(): Promise<string | null>;
  /** A link that makes the first owner; null once there is one. */
  makeOwnerLink(): Promise<string | null>;
  close(): Promise<void>;
}

/** Everything a running service is made of; the caller makes the server listen and starts the loops. */
export async function createApp(config: Config, log: Logger): Promise<App> {
  const store = await openStore(config, log, { exclusive: true });
  try {
    const { db, pool } = store.database;
    if (config.roles.api) await saveBudgetSettings(db, config.budgets);
    const keyring = await openKeyring({ db, source: config.masterKey });
    const apiKeys = createApiKeys({ db, pool });
    const cursors = createCursors(await openServiceSecret(db, keyring, 'cursors'));
    const feedGeneration = await readFeedGeneration(db);
    const commit = sparingSpent(createGroupCommit(pool));
    const blobStore = await openBlobStore(config.blobs);
    const blobs = createBlobs({ db, keyring, store: blobStore });
    const orderBell = createBell();
    const eventLowWater = createLowWater();
    const feedBell = createBell();
    const deliveryBell = createBell();
    const replayBell = createBell();
    const validationBell = createBell();
    // One commit with an event wakes both: the one that orders the feed, and the one that sends.
    const eventBell = {
      ring() {
        orderBell.ring();
        deliveryBell.ring();
      },
    };
    const { webhooks } = config;
    const { exchanger, endpoints } = createOutgoing(webhooks, { db, keyring, eventBell });
    const deliveries = createDeliveries({ db, bell: deliveryBell });
    const replays = createReplays({ db, bell: replayBell, deliveryBell });
    const queueDatabase = openDatabase({
      connection: store.connection,
      onError: store.onConnectionLost,
      max: 4,
      indexOnly: true,
    });
    const nodeId = createNodeId();
    const webhookMetrics = createWebhookMetrics(queueDatabase.pool);
    const nodes = createNodes(nodeId, {
      connection: store.connection,
      pool: queueDatabase.pool,
      onGivenBack: webhookMetrics.onGivenBack,
    });
    const dispatcher = dispatcherLoop({
      queue: createQueue(queueDatabase.pool),
      exchanger,
      retryStepsMs: webhooks.retryStepsMs,
      timeoutMs: webhooks.timeoutMs,
      nodeId,
      bell: deliveryBell,
      signerOf: rememberSigners(endpoints, webhooks.serviceName),
      onHealth: createHealthKeeper(endpoints),
      onWritten: webhookMetrics.onWritten,
      log,
    });
    const onChain = createOnChain(config, {
      db,
      connection: store.connection,
      keyring,
      confirmations: {
        [recordKind]: tells(recordConfirmed),
        [fileKind]: tells(fileConfirmed),
        [maintenanceKind]: tells(maintenanceConfirmed),
        [transferKind]: each(confirmFileTransfers, confirmAssetTransfers),
      },
      placeEvents: (db, writes) => placeEvents(db, writes, eventLowWater),
      countSubscribers: countAnchorSubscribers,
      eventBell,
      log,
    });
    const loops = superviseLoops(
      allLoops({
        db,
        embedded: store.embedded,
        keyring,
        apiKeys,
        orderBell,
        eventLowWater,
        feedBell,
        deliveryBell,
        replayBell,
        nodes,
        dispatcher,
        replays,
        onChain,
        blobSweep: createSweep({ db, store: blobStore }),
        fileValidator: createFileValidator({
          db,
          proofs: onChain.proofs,
          registry: { address: onChain.registry, codeHash: registryCodeHash },
          eventBell,
          log,
        }),
        validationBell,
        retentionDays: webhooks.retentionDays,
        shared: config.roles.loops,
      }),
      log,
    );
    const eventStreams = createEventStreams({ pool, watcher: createFeedWatcher({ pool, bell: feedBell }) });
    const metrics = createMetrics({
      pool,
      loopHealth: loops.health,
      also: [...webhookMetrics.all, ...onChain.metrics],
    });
    const vaults = createVaults({ db, pool, commit, keyring, eventBell });
    const records = createRecords({ db, pool, commit, vaults, makeProof: onChain.proofs.make });
    const files = createFiles({ db, pool, vaults, blobs, ...onChain });
    const fileValidations = createFileValidations({
      pool,
      commit,
      vaults,
      makeProof: onChain.proofs.make,
      bell: validationBell,
    });
    const workers = createWorkers({ db, commit, keyring });
    const assetAccess = createAssetAccess(pool);
    const assets = createAssets({ db, commit, vaults, ...onChain });
    const maintenances = createMaintenances({
      db,
      commit,
      assetAccess,
      chainId: createChainIdFinder({ db, rpcUrls: config.chain.rpcUrls }),
      makeProof: onChain.proofs.make,
    });
    const signoffs = createSignoffs({ db, keyring });
    const fileContents = createFileContents({ pool, blobs });
    const embedded = config.chain.rpcUrls.length === 0;
    const documents = createDocumentThread(new URL('./damc/documents.thread.ts', import.meta.url));
    const dossiers = createDossiers({
      db,
      assetAccess,
      manyProofs: onChain.manyProofs,
      fileContents,
      documents,
      embedded,
      limits: config.budgets,
    });
    const requestBudget = createRequestBudget(config.budgets);
    const readUsage = createUsage({
      db,
      limits: config.budgets,
      node: { requests: requestBudget.used, streams: eventStreams.count, exports: dossiers.count },
    });
    const operations = {
      metrics,
      metricsToken: config.metricsToken,
      loopHealth: loops.health,
      pingDatabase: () => ping(store.database),
    };
    const publicUrl = () => server.publicUrl();
    const signIn = createSignIn({
      db,
      secret: await openServiceSecret(db, keyring, 'sessions'),
      publicUrl,
    });
    const invitations = createInvitations(db);
    const { find: findCaller } = createCallers({ db, apiKeys, signIn });
    const server: Server = await createServer({
      config,
      log,
      version,
      db,
      pool,
      keyring,
      metrics,
      blobs,
      findCaller,
      requestBudget,
      storedRoom: (workspaceId) => readStoredRoom(db, workspaceId),
      addRoutes: (app, shell) =>
        addRoutes(app, {
          ...shell,
          db,
          pool,
          vaults,
          transactions: createTransactions(pool),
          records,
          makeProof: onChain.proofs.make,
          readStats: createStats({ db, openChain: onChain.openChain, submitter: onChain.submitter }),
          readUsage,
          limits: config.budgets,
          files,
          fileValidations,
          fileContents,
          certificates: createCertificates({
            pool,
            proofs: onChain.proofs,
            documents,
            embedded,
          }),
          workers,
          assets,
          assetTransfers: createAssetTransfers(db),
          assetViewers: createAssetViewers(db),
          assetWorkers: createAssetWorkers(db),
          assetInstalls: createAssetInstalls(db),
          assetIntervals: createAssetIntervals(db),
          assetAccess,
          maintenances,
          signoffs,
          dossiers,
          apiKeys,
          findCaller,
          signIn,
          signInThrottle: createSignInThrottle(db),
          signInEffects: createSignInEffects(db),
          members: createMembers(db),
          invitations,
          sessions: createSessions(db),
          workspaceCreation: config.workspaceCreation,
          publicUrl,
          endpoints,
          deliveries,
          replays,
          eventStreams,
          cursors,
          feedGeneration,
          operations,
          chainRelay: createChainRelay(onChain),
          api: config.roles.api,
        }),
    });

    const closeOnce = once(async () => {
      // They would never end by themselves, and the server waits for every answer.
      eventStreams.close();
      await server.http.close();
      await loops.stop(5_000);
      await documents.close();
      await onChain.close();
      await exchanger.close();
      await nodes.close();
      await queueDatabase.close();
      await apiKeys
        .saveLastUsed()
        .catch((error) => log.error({ err: error }, 'the last use of API keys was not saved'));
      await blobStore.close();
      await keyring.close();
      await store.close();
    });
    return {
      server,
      loops,
      makeFirstKey: () => ensureFirstKey(db, apiKeys),
      async makeOwnerLink() {
        const token = await invitations.forFirstOwner();
        return token && invitationLink(publicUrl(), token);
      },
      close: closeOnce,
    };
  } catch (error) {
    await store.close();
    throw error;
  }
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
