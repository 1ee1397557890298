/** The tables as TypeScript types, one file per area; a test compares them with the migrated database. */
import type { AnchoringTables } from './tables/anchoring.ts';
import type { ApprovalTables } from './tables/approvals.ts';
import type { ArchiveTables } from './tables/archive.ts';
import type { AssetTables } from './tables/assets.ts';
import type { ChainTables } from './tables/chain.ts';
import type { ClockTables } from './tables/clocks.ts';
import type { ErasureTables } from './tables/erasures.ts';
import type { FileTables } from './tables/files.ts';
import type { FoundationTables } from './tables/foundation.ts';
import type { MaintenanceTables } from './tables/maintenances.ts';
import type { NoticeTables } from './tables/notices.ts';
import type { PeopleTables } from './tables/people.ts';
import type { TransferTables } from './tables/transfers.ts';
import type { WebhookTables } from './tables/webhooks.ts';

export interface Tables
  extends FoundationTables,
    WebhookTables,
    ChainTables,
    AnchoringTables,
    ApprovalTables,
    ArchiveTables,
    ClockTables,
    FileTables,
    ErasureTables,
    AssetTables,
    TransferTables,
    MaintenanceTables,
    PeopleTables,
    NoticeTables {}
