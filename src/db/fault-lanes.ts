/**
 * Keeps the writes of a workspace that failed a shared statement apart from everybody else's. A statement that fails is run
 * again for all whose rows were in it, so whoever fails it over and over would multiply the work of the others.
 */
import { DatabaseError } from 'pg';
import { type GatherOptions, gather } from './gather.ts';

/** After its last fault. */
const holdsMs = 10_000;
/** Of all such workspaces together: the rest of the pool belongs to the others. */
const lanesInFlight = 2;

export interface SharedWrites<Item, Result> extends GatherOptions<Item, Result> {
  /** Undefined: of none, so that it is never kept apart. */
  workspaceOf(item: Item): string | undefined;
  now?: () => number;
}

/** Like `gather`, for statements that write: whoever failed one by their own content is for a while gathered alone. */
export function gatherWrites<Item, Result>(
  options: SharedWrites<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, workspaceOf, isItemFault, isSuspect, now = () => performance.now() } = options;
  const shared: GatherOptions<Item, Result> = {
    ...options,
    isSuspect(item, error) {
      const workspaceId = workspaceOf(item);
      return (
        (workspaceId !== undefined && namesWorkspace(error, workspaceId)) || isSuspect?.(item, error) === true
      );
    },
  };
  const together = gather(shared);
  const inTurn = createTurns(lanesInFlight);
  const alone = () => gather({ ...shared, maxInFlight: 1, run: (items) => inTurn(() => run(items)) });
  /** In the order of their ends. */
  const lanes = new Map<string, { call(item: Item): Promise<Result>; until: number }>();

  function dropEnded(): void {
    for (const [workspaceId, { until }] of lanes) {
      if (until > now()) return;
      lanes.delete(workspaceId);
    }
  }

  return async (item) => {
    const workspaceId = workspaceOf(item);
    if (workspaceId === undefined) return together(item);
    if (lanes.size > 0) dropEnded();
    try {
      return await (lanes.get(workspaceId)?.call ?? together)(item);
    } catch (error) {
      if (isItemFault(error)) {
        const call = lanes.get(workspaceId)?.call ?? alone();
        lanes.delete(workspaceId);
        lanes.set(workspaceId, { call, until: now() + holdsMs });
      }
      throw error;
    }
  };
}

type InTurn = <Result>(run: () => Promise<Result>) => Promise<Result>;

/**
 * Whether the error names this workspace: as the first column of a key or of a row that broke a rule, or as the one that is
 * over its budget. Never by text that a caller chose.
 */
function namesWorkspace(error: unknown, workspaceId: string): boolean {
  if (!(error instanceof DatabaseError)) return false;
  const { detail = '', constraint } = error;
  if (constraint === 'within_budget') return detail.split(' ')[2] === workspaceId;
  const named = /^(?:Key \(workspace_id\b[^=]*\)=|Failing row contains )\(([^,)]+)/.exec(detail)?.[1];
  return named === workspaceId;
}

/** At most so many at once; the others wait in the order they came. */
function createTurns(most: number): InTurn {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
