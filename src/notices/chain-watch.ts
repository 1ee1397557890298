/** Signs that anchoring or the chain falls behind: what the leader sees of the chain, and what any node finds in the database. */
import type { Address } from 'viem';
import { readAnchoringStats, readChainStats } from '../anchoring/anchoring-stats.ts';
import type { Lead } from '../chain/chain.ts';
import { forecastGas } from '../chain/registry/gas-forecast.ts';
import type { SenderStatus } from '../chain/sender/sender.ts';
import type { Db } from '../db/database.ts';
import { readBeatAge } from '../db/leadership.ts';
import type { EventData } from '../events/catalogue.ts';
import type { Sign, Watch } from '../events/notice.ts';

type Trouble = EventData['operator.chain.behind']['trouble'];

const minuteMs = 60_000;
const fewAnchors = 1_000;
/** Prices of gas vary: a notice ends well above the limit that raises it. */
const enoughAnchors = 1_500;
const oldHeadSeconds = 300;
const freshHeadSeconds = 120;
const manyBlocks = 20;

export interface LeaderWatchDeps {
  db: Db;
  lead(): Lead | null;
  senderStatus(): SenderStatus;
  submitter(): Promise<{ address: Address }>;
}

/** Nothing on a node that does not lead. */
export function leaderWatch({ db, lead, senderStatus, submitter }: LeaderWatchDeps): Watch {
  return {
    name: 'leader',
    async look() {
      const present = lead();
      if (!present) return [];
      const { chain } = present;
      const [{ address }, { indexedBlock }, head] = await Promise.all([
        submitter(),
        readChainStats(db),
        chain.head(),
      ]);
      const waitsFor = senderStatus().waiting?.what;
      return [
        ...gasSigns(address, await forecastGas(chain.client, address), waitsFor === 'funds'),
        ...when(waitsFor === 'fees', 'fees_above_cap', 15 * minuteMs),
        ...when(waitsFor === 'nonce', 'nonce_taken', 2 * minuteMs),
        // After a start there may be much to index.
        ...when(head.number - (indexedBlock ?? -1) > manyBlocks, 'indexer_behind', 5 * minuteMs),
        // The embedded chain makes no blocks while idle.
        ...(chain.embedded ? [] : headSigns(await headAgeSeconds(chain.client))),
      ];
    },
  };
}

function gasSigns(
  account: Address,
  { balanceWei, anchorsLeft }: { balanceWei: string; anchorsLeft: number },
  isOut: boolean,
): Sign[] {
  if (anchorsLeft >= enoughAnchors && !isOut) return [];
  const data = { account, balance_wei: balanceWei, anchors_left: anchorsLeft };
  const weak = anchorsLeft >= fewAnchors && !isOut;
  return [{ type: 'operator.gas.low', subject: account, data, weak }];
}

function headSigns(ageSeconds: number): Sign[] {
  if (ageSeconds <= freshHeadSeconds) return [];
  const [sign] = when(true, 'chain_stands_still');
  return sign ? [{ ...sign, weak: ageSeconds <= oldHeadSeconds }] : [];
}

async function headAgeSeconds(client: Lead['chain']['client']): Promise<number> {
  const { timestamp } = await client.getBlock({ blockTag: 'latest' });
  return Date.now() / 1000 - Number(timestamp);
}

/** More than this long without a batch, or without a heartbeat, is not normal. */
const lateSeconds = 60;
const stuckSeconds = 600;

export function anchoringWatch({ db, anchorIntervalMs }: { db: Db; anchorIntervalMs: number }): Watch {
  return {
    name: 'anchoring',
    async look() {
      const [{ oldestPendingSeconds, openBatches }, { oldestOpenSeconds }, beatAge] = await Promise.all([
        readAnchoringStats(db, 1_000),
        readChainStats(db),
        readBeatAge(db, 'chain'),
      ]);
      return [
        ...when((beatAge ?? 0) > lateSeconds / 2, 'no_leader'),
        ...when(
          (oldestPendingSeconds ?? 0) > anchorIntervalMs / 1000 + lateSeconds,
          'anchoring_late',
          2 * minuteMs,
        ),
        ...when(openBatches.set_aside > 0, 'batch_set_aside'),
        ...when((oldestOpenSeconds ?? 0) > stuckSeconds, 'transaction_stuck', 5 * minuteMs),
      ];
    },
  };
}

function when(isSo: boolean, trouble: Trouble, holdMs?: number): Sign[] {
  if (!isSo) return [];
  return [
    {
      type: 'operator.chain.behind',
      subject: trouble,
      data: { trouble },
      ...(holdMs !== undefined && { holdMs }),
    },
  ];
}
