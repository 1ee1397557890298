/** Limits concurrent exports: each holds a page of entries in memory for as long as its reader takes. */
import { budgetExceeded } from '../../runtime/budgets.ts';
import { AppError } from '../../runtime/errors.ts';

export interface ExportLimit {
  /**
   * Throws when there are too many; otherwise returns a function to call, once or more, when the export ends. `most`: limit
   * of the workspace; null: unlimited.
   */
  enter(workspaceId: string, most: number | null): () => void;
  /** How many exports a workspace has running on this node. */
  count(workspaceId: string): number;
}

/** On this node, for all workspaces. */
const usualMost = 16;
/** An export that is read at a usual pace takes seconds. */
const retryAfterSeconds = 10;

export function createExportLimit(mostOfNode = usualMost): ExportLimit {
  const running = new Map<string, number>();
  let all = 0;
  return {
    enter(workspaceId, most) {
      const own = running.get(workspaceId) ?? 0;
      if (most !== null && own >= most) throw budgetExceeded('exports', most);
      if (all >= mostOfNode) {
        throw new AppError(
          'service_unavailable',
          'This node is already writing as many dossiers as it can. Try again shortly.',
          { retryAfterSeconds },
        );
      }
      running.set(workspaceId, own + 1);
      all += 1;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        all -= 1;
        const rest = (running.get(workspaceId) ?? 1) - 1;
        if (rest === 0) running.delete(workspaceId);
        else running.set(workspaceId, rest);
      };
    },
    count: (workspaceId) => running.get(workspaceId) ?? 0,
  };
}
