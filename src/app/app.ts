/** The composition root: together with store.ts the only file that constructs things. */
import type { Logger } from 'pino';
import { createApiKeys } from '../access/api-keys/api-keys.ts';
import { createCallers } from '../access/api-keys/callers.ts';
import { ensureFirstKey } from '../access/api-keys/first-start.ts';
import { invitationLink } from '../access/people/invitations.routes.ts';
import { createInvitations } from '../access/people/invitations.ts';
import { createMembers } from '../access/people/members.ts';
import { createSessions } from '../access/people/sessions.ts';
import { createSignIn } from '../access/people/sign-in.ts';
import { createSignInEffects } from '../access/people/sign-in-effects.ts';
import { createSignInThrottle } from '../access/people/sign-in-throttle.ts';
import { readStoredRoom, saveBudgetSettings } from '../access/workspaces/workspace-limits.ts';
import { combine, emits } from '../anchoring/announcer.ts';
import { sparingSpent } from '../anchoring/batching/spent-budget.ts';
import { createBlobs } from '../blobs/blobs.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import { createSweep } from '../blobs/sweep.ts';
import { createChainIdFinder } from '../chain/chain-id.ts';
import { registryCodeHash } from '../chain/registry/registry.ts';
import type { Config } from '../config/config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createLowWater } from '../db/low-water.ts';
import { createGroupCommit } from '../db/writes.ts';
import { createEventStreams } from '../events/event-stream.ts';
import { placeEvents } from '../events/events.ts';
import { readFeedGeneration } from '../events/feed-generation.ts';
import { createFeedWatcher } from '../events/feed-watcher.ts';
import { openapiWebhooks } from '../events/openapi-webhooks.ts';
import { createCertificates } from '../holdings/certificates/certificates.ts';
import { createFileContents } from '../holdings/files/file-content.ts';
import { fileConfirmed } from '../holdings/files/file-events.ts';
import { confirmFileTransfers } from '../holdings/files/file-transfers.ts';
import { fileKind } from '../holdings/files/files.store.ts';
import { createFiles } from '../holdings/files/files.ts';
import { createFileValidations } from '../holdings/files/validation/file-validations.ts';
import { createFileValidator } from '../holdings/files/validation/file-validator.ts';
import { createStats } from '../holdings/overview/stats.ts';
import { createUsage } from '../holdings/overview/usage.ts';
import { recordConfirmed } from '../holdings/records/record-events.ts';
import { recordKind } from '../holdings/records/records.store.ts';
import { createRecords } from '../holdings/records/records.ts';
import { createTransactions } from '../holdings/vaults/transactions.ts';
import { createVaults } from '../holdings/vaults/vaults.ts';
import { createChainRelay } from '../holdings/verify-page/chain-relay.ts';
import { createRequestBudget } from '../http/admission/request-budget.ts';
import { createCursors } from '../http/api/cursor.ts';
import { createMetrics } from '../http/server/metrics.ts';
import { createServer, type Server } from '../http/server/server.ts';
import { openKeyring } from '../keys/keyring.ts';
import { openServiceSecret } from '../keys/service-secret.ts';
import { createAssetAccess } from '../maintenance/assets/asset-access.ts';
import { createAssetInstalls } from '../maintenance/assets/asset-installs.ts';
import { confirmAssetTransfers } from '../maintenance/assets/asset-transfer-confirmation.ts';
import { createAssetTransfers } from '../maintenance/assets/asset-transfers.ts';
import { createAssets } from '../maintenance/assets/assets.ts';
import { createDossiers } from '../maintenance/dossier/dossier.ts';
import { maintenanceKind } from '../maintenance/entries/maintenance-content.ts';
import { maintenanceConfirmed } from '../maintenance/entries/maintenance-events.ts';
import { createMaintenances } from '../maintenance/entries/maintenances.ts';
import { createAssetIntervals, followCorrections } from '../maintenance/intervals/asset-intervals.ts';
import { createSignoffs } from '../maintenance/signoffs/signoffs.ts';
import { createAssetViewers } from '../maintenance/viewers/asset-viewers.ts';
import { createAssetWorkers } from '../maintenance/viewers/asset-workers.ts';
import { createWorkers } from '../maintenance/workers/workers.ts';
import { createDocumentThread } from '../pdf/document-thread.ts';
import { transferKind } from '../proof/history.ts';
import { createWakeup, once, type Supervisor, superviseLoops } from '../runtime/loop.ts';
import { version } from '../runtime/version.ts';
import { createDeliveries } from '../webhooks/deliveries/deliveries.ts';
import { createNodeId, dispatcherLoop } from '../webhooks/dispatch/dispatcher.ts';
import { createHealthKeeper } from '../webhooks/dispatch/health.ts';
import { createWebhookMetrics } from '../webhooks/dispatch/metrics.ts';
import { createNodes } from '../webhooks/dispatch/nodes.ts';
import { createOutgoing } from '../webhooks/dispatch/outgoing.ts';
import { createQueue } from '../webhooks/dispatch/queue.ts';
import { rememberSigners } from '../webhooks/dispatch/signers.ts';
import { countAnchorSubscribers } from '../webhooks/endpoints/endpoints.store.ts';
import { createReplays } from '../webhooks/replays/replays.ts';
import { allLoops } from './loops.ts';
import { createOnChain } from './on-chain.ts';
import { addRoutes } from './routes.ts';
import { openStore } from './store.ts';

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
    const orderWakeup = createWakeup();
    const eventLowWater = createLowWater();
    const feedWakeup = createWakeup();
    const deliveryWakeup = createWakeup();
    const replayWakeup = createWakeup();
    const validationWakeup = createWakeup();
    // One commit with an event wakes both: the one that orders the feed, and the one that sends.
    const eventWakeup = {
      wake() {
        orderWakeup.wake();
        deliveryWakeup.wake();
      },
    };
    const { webhooks } = config;
    const { exchanger, endpoints } = createOutgoing(webhooks, { db, keyring, eventWakeup });
    const deliveries = createDeliveries({ db, wakeup: deliveryWakeup });
    const replays = createReplays({ db, wakeup: replayWakeup, deliveryWakeup });
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
      wakeup: deliveryWakeup,
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
        [recordKind]: emits(recordConfirmed),
        [fileKind]: emits(fileConfirmed),
        [maintenanceKind]: emits(maintenanceConfirmed),
        [transferKind]: combine(confirmFileTransfers, confirmAssetTransfers),
      },
      placeEvents: (db, writes) => placeEvents(db, writes, eventLowWater),
      countSubscribers: countAnchorSubscribers,
      eventWakeup,
      log,
    });
    const loops = superviseLoops(
      allLoops({
        db,
        embedded: store.embedded,
        keyring,
        apiKeys,
        orderWakeup,
        eventLowWater,
        feedWakeup,
        deliveryWakeup,
        replayWakeup,
        nodes,
        dispatcher,
        replays,
        onChain,
        blobSweep: createSweep({ db, store: blobStore }),
        fileValidator: createFileValidator({
          db,
          proofs: onChain.proofs,
          registry: { address: onChain.registry, codeHash: registryCodeHash },
          eventWakeup,
          log,
        }),
        validationWakeup,
        retentionDays: webhooks.retentionDays,
        shared: config.roles.loops,
      }),
      log,
    );
    const eventStreams = createEventStreams({
      pool,
      watcher: createFeedWatcher({ pool, wakeup: feedWakeup }),
    });
    const metrics = createMetrics({
      pool,
      loopHealth: loops.health,
      also: [...webhookMetrics.all, ...onChain.metrics],
    });
    const vaults = createVaults({ db, pool, commit, keyring, eventWakeup });
    const records = createRecords({ db, pool, commit, vaults, makeProof: onChain.proofs.make });
    const files = createFiles({ db, pool, vaults, blobs, ...onChain });
    const fileValidations = createFileValidations({
      pool,
      commit,
      vaults,
      makeProof: onChain.proofs.make,
      wakeup: validationWakeup,
    });
    const workers = createWorkers({ db, commit, keyring });
    const assetAccess = createAssetAccess(pool);
    const assets = createAssets({ db, commit, vaults, ...onChain });
    const maintenances = createMaintenances({
      db,
      commit,
      onCorrected: followCorrections,
      assetAccess,
      chainId: createChainIdFinder({ db, rpcUrls: config.chain.rpcUrls }),
      makeProof: onChain.proofs.make,
    });
    const signoffs = createSignoffs({ db, keyring });
    const fileContents = createFileContents({ pool, blobs });
    const embedded = config.chain.rpcUrls.length === 0;
    const documents = createDocumentThread(
      new URL('../maintenance/dossier/documents.thread.ts', import.meta.url),
    );
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
      webhooks: openapiWebhooks(),
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
        .catch((error) => log.error({ err: error }, 'could not save the last use of API keys'));
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
