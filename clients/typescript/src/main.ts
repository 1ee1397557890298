/** What the package offers. */
// biome-ignore-all lint/performance/noBarrelFile: a package has one entry
// biome-ignore-all lint/performance/noReExportAll: there is a class for each error code
export { type Client, createClient } from './client.ts';
export { ConfirmationTimeoutError, type WaitOptions } from './confirmation.ts';
export * from './error-classes.ts';
export type { EventStream, FollowArguments, ReceivedEvent, StreamArguments } from './event-stream.ts';
export type { Event, Events, EventType } from './event-types.ts';
export { ConnectionError, type ErrorDetails, HoldfastError } from './holdfast-error.ts';
export type { List, Page } from './list.ts';
export type { components, operations, paths, webhooks } from './openapi-types.ts';
export type {
  ArgumentsOf,
  CallOptions,
  ItemOf,
  OperationId,
  ResultOf,
  UploadProgress,
} from './operation-types.ts';
export { operationTable } from './operations.ts';
export type { ClientOptions } from './transport.ts';
export type { FileContent, FileToSend } from './upload.ts';
export {
  type TestEvent,
  verifyWebhook,
  type WebhookEvent,
  type WebhookRequest,
  WebhookVerificationError,
} from './webhooks.ts';
