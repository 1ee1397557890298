/** What a part of the service contributes; `app/` combines all parts. */
import type { Metric } from 'prom-client';
import type { Loop } from '../../runtime/loop.ts';
import type { Api } from './api.ts';
import type { Cursors } from './cursor.ts';
import type { Idempotency } from './idempotency.ts';

export interface Part {
  routes?(app: Api, shell: Shell): void;
  /** Work that one node does for all; runs only on nodes with the role `loops`. */
  loops?: Loop[];
  /** Work that every node does for itself. */
  nodeLoops?: Loop[];
  metrics?: Metric[];
  close?(): Promise<void> | void;
}

/** What the server provides to all routes. */
export interface Shell {
  cursors: Cursors;
  idempotency: Idempotency;
  /** For routes that accept files. */
  uploads: Api;
}
