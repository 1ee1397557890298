/** The whole HTTP surface on one screen. */

import { apiKeyRoutes } from './auth/api-keys.routes.ts';
import type { ApiKeys } from './auth/api-keys.ts';
import { auditRoutes } from './auth/audit.routes.ts';
import { invitationRoutes } from './auth/invitations.routes.ts';
import type { Invitations } from './auth/invitations.ts';
import type { Members } from './auth/members.ts';
import { peopleRoutes } from './auth/people.routes.ts';
import type { Sessions } from './auth/sessions.ts';
import { signInRoutes } from './auth/sign-in.routes.ts';
import type { SignIn } from './auth/sign-in.ts';
import type { SignInThrottle } from './auth/sign-in-throttle.ts';
import { maintenanceRoutes } from './damc/maintenances.routes.ts';
import type { Maintenances } from './damc/maintenances.ts';
import { signoffRoutes } from './damc/signoffs.routes.ts';
import type { Signoffs } from './damc/signoffs.ts';
import { workerRoutes } from './damc/workers.routes.ts';
import type { Workers } from './damc/workers.ts';
import type { Database } from './db/database.ts';
import type { Api } from './http/api.ts';
import type { FindCaller } from './http/authentication.ts';
import type { Cursors } from './http/cursor.ts';
import type { Idempotency } from './http/idempotency.ts';
import { type OperationsDeps, operationsRoutes } from './http/operations.routes.ts';
import type { ChainRelay } from './platform/chain-relay.ts';
import { fileValidationRoutes } from './platform/file-validations.routes.ts';
import type { FileValidations } from './platform/file-validations.ts';
import { recordRoutes } from './platform/records.routes.ts';
import type { Records } from './platform/records.ts';
import { transactionRoutes } from './platform/transactions.routes.ts';
import type { Transactions } from './platform/transactions.ts';
import { vaultRoutes } from './platform/vaults.routes.ts';
import type { Vaults } from './platform/vaults.ts';
import { verifyPageRoutes } from './platform/verify-page.routes.ts';
import { deliveryRoutes } from './webhooks/deliveries.routes.ts';
import type { Deliveries } from './webhooks/deliveries.ts';
import { endpointRoutes } from './webhooks/endpoints.routes.ts';
import type { Endpoints } from './webhooks/endpoints.ts';
import type { EventStreams } from './webhooks/event-stream.ts';
import { eventRoutes } from './webhooks/events.routes.ts';
import { replayRoutes } from './webhooks/replays.routes.ts';
import type { Replays } from './webhooks/replays.ts';

export interface RouteDeps extends Pick<Database, 'db' | 'pool'> {
  vaults: Vaults;
  transactions: Transactions;
  records: Records;
  fileValidations: FileValidations;
  workers: Workers;
  maintenances: Maintenances;
  signoffs: Signoffs;
  apiKeys: ApiKeys;
  findCaller: FindCaller;
  signIn: SignIn;
  signInThrottle: SignInThrottle;
  members: Members;
  invitations: Invitations;
  sessions: Sessions;
  publicUrl(): string;
  endpoints: Endpoints;
  deliveries: Deliveries;
  replays: Replays;
  eventStreams: EventStreams;
  cursors: Cursors;
  idempotency: Idempotency;
  /** For routes that take files. */
  uploads: Api;
  operations: OperationsDeps;
  chainRelay: ChainRelay;
  /** False on a node that only runs loops: it answers for its health and nothing else. */
  api: boolean;
}

export function addRoutes(app: Api, deps: RouteDeps): void {
  operationsRoutes(app, deps.operations);
  if (!deps.api) return;
  vaultRoutes(app, deps);
  transactionRoutes(app, deps);
  recordRoutes(app, deps);
  fileValidationRoutes(app, deps);
  workerRoutes(app, deps);
  maintenanceRoutes(app, deps);
  signoffRoutes(app, deps);
  eventRoutes(app, deps);
  endpointRoutes(app, deps);
  deliveryRoutes(app, deps);
  replayRoutes(app, deps);
  apiKeyRoutes(app, deps);
  auditRoutes(app, deps);
  signInRoutes(app, deps);
  peopleRoutes(app, deps);
  invitationRoutes(app, deps);
  verifyPageRoutes(app, deps);
}
