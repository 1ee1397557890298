/** The process itself; see indexer-host.ts. The modules come from the checkout that it is told, the types from this one. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Lead } from '../src/chain/chain.ts';
import { answerQuestions } from './child.ts';
import type { IndexerPlan, IndexerQuestion } from './indexer-host.ts';

answerQuestions<IndexerQuestion, number>(async (question) => {
  const modules = await load(question.root);
  if (question.ask !== 'migrate')
    return question.ask === 'fetch' ? fetchBlocks(question, modules) : index(question, modules);
  await modules.migrate({ connection: question.connection });
  return 0;
});

type Modules = Awaited<ReturnType<typeof load>>;

async function load(root: string) {
  const from = (path: string) => import(pathToFileURL(join(root, 'src', path)).href);
  const { readBlocks }: typeof import('../src/chain/indexer/blocks.ts') =
    await from('chain/indexer/blocks.ts');
  const { createIndexer, windowBlocks }: typeof import('../src/chain/indexer/indexer.ts') =
    await from('chain/indexer/indexer.ts');
  const { createChainRpc }: typeof import('../src/chain/rpc/rpc.ts') = await from('chain/rpc/rpc.ts');
  const { createSettlement }: typeof import('../src/chain/sender/settlement.ts') = await from(
    'chain/sender/settlement.ts',
  );
  const { openDatabase }: typeof import('../src/db/database.ts') = await from('db/database.ts');
  const { migrate }: typeof import('../src/db/migrate.ts') = await from('db/migrate.ts');
  return { readBlocks, createIndexer, windowBlocks, createChainRpc, createSettlement, openDatabase, migrate };
}

async function fetchBlocks({ node, blocks }: IndexerPlan, modules: Modules): Promise<number> {
  const { readBlocks, windowBlocks, createChainRpc } = modules;
  const rpc = createChainRpc({ ...node, urls: () => [node.url] });
  const windowFrom = (from: number) =>
    readBlocks(rpc.client, { from, to: Math.min(from + windowBlocks, blocks) - 1 });
  const seconds = await timed(async () => {
    let reading = windowFrom(0);
    for (let from = 0; from < blocks; from += windowBlocks) {
      await reading;
      if (from + windowBlocks < blocks) reading = windowFrom(from + windowBlocks);
    }
  });
  await rpc.close();
  return seconds;
}

async function index({ connection, node }: IndexerPlan, modules: Modules): Promise<number> {
  const { createChainRpc, createIndexer, createSettlement, openDatabase } = modules;
  const rpc = createChainRpc({ ...node, urls: () => [node.url] });
  const { db, close } = openDatabase({ connection: () => connection, onError: console.error });
  const lead: Lead = {
    term: {
      epoch: 1,
      signal: new AbortController().signal,
      commit: (work) => db.transaction().execute(work),
    },
    chain: {
      ...node,
      embedded: true,
      registry: `0x${'a1'.repeat(20)}`,
      confirmations: 1,
      client: rpc.client,
      head: async () => node.head,
      finalizedNumber: async (head) => head - 2,
      wake() {},
      doubt() {},
    },
  };
  const indexer = createIndexer({
    db,
    sender: createSettlement(async () => {}),
    vaultsOfAnchors: async () => [],
    log: { info() {}, error: console.error },
  });
  const seconds = await timed(async () => {
    while (await indexer.step(lead));
  });
  await rpc.close();
  await close();
  return seconds;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}
