/** Work orders: a printed sheet with new links to sign, all of them made or none. */
import { buffer } from 'node:stream/consumers';
import type { DocumentThread } from '../../pdf/document-thread.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Assets } from '../assets/assets.ts';
import type { Maintenances } from '../entries/maintenances.ts';
import { type MaintenanceEntry, requirementOf } from '../signing/maintenance-entry.ts';
import type { SignoffRequest } from '../signoffs/signoffs.ts';
import type { SignRequests } from './sign-requests.ts';
import type { WorkOrderInput } from './work-order-sheet.ts';

export interface WorkOrderAsked {
  assetId: string;
  maintenanceId: string;
  /** Whose look at the entry it is. */
  viewerAddress: string;
  requests: Pick<SignoffRequest, 'workerAddress' | 'role' | 'licenceScope'>[];
}

export interface WorkOrders {
  /** A PDF. The links are valid once it is returned. */
  make(caller: Caller, asked: WorkOrderAsked): Promise<Buffer>;
}

export interface WorkOrdersDeps {
  signRequests: Pick<SignRequests, 'prepare'>;
  maintenances: Pick<Maintenances, 'get'>;
  assets: Pick<Assets, 'get'>;
  documents: Pick<DocumentThread, 'write'>;
}

export function createWorkOrders({
  signRequests,
  maintenances,
  assets,
  documents,
}: WorkOrdersDeps): WorkOrders {
  return {
    async make(caller, { requests, viewerAddress, ...key }) {
      const { workspaceId } = caller;
      requireDifferent(requests);
      const { maintenance, entry: text } = await maintenances.get({ caller, ...key, viewerAddress });
      const prepared = await signRequests.prepare(
        caller,
        requests.map((request) => ({ ...key, ...request })),
      );
      const asset = await assets.get(workspaceId, key.assetId);
      const entry = JSON.parse(text) as MaintenanceEntry;
      const { name, serialNumber, partNumber } = asset;
      const { number, type, summary, performedAt, workerName, workerAddress, supersedes } = maintenance;
      const input: WorkOrderInput = {
        madeAt: new Date(),
        asset: { assetId: key.assetId, name, serialNumber: serialNumber ?? '', partNumber: partNumber ?? '' },
        entry: {
          ...{ maintenanceId: key.maintenanceId, number, type, summary, performedAt },
          ...{ workerName, workerAddress, supersedes },
          files: entry.files.map((file) => file.name),
        },
        requires: requirementOf(entry),
        signed: maintenance.signoffs.map(({ role, workerName, workerAddress, signedAt }) => ({
          ...{ role, workerName, workerAddress, signedAt },
        })),
        asked: prepared.made.map(({ link, worker, message: { role, licence } }) => ({
          ...{ link, role, workerName: worker.name, workerAddress: worker.address },
          ...{ licenceScope: licence[0]?.scope ?? '', licenceNumber: licence[0]?.number ?? '' },
        })),
        expiresAt: prepared.expiresAt,
      };
      // First, because the links replace earlier ones, which may be on paper already.
      const pdf = await buffer(documents.write({ workspaceId, kind: 'workOrder', input }));
      await prepared.commit();
      return pdf;
    },
  };
}

function requireDifferent(requests: WorkOrderAsked['requests']): void {
  const keys = requests.map(({ workerAddress, role }) => `${workerAddress.toLowerCase()} ${role}`);
  const twice = requests.find((_, place) => keys.indexOf(keys[place] ?? '') !== place);
  if (!twice) return;
  throw new AppError(
    'invalid_request',
    `requests asks ${twice.workerAddress} twice to sign as ${twice.role}: name each worker once for a role.`,
  );
}
