/** How many exports are written at once: each holds a page of entries in memory for as long as its reader takes. */
import { AppError } from '../errors.ts';

export interface ExportLimits {
  /** On this node. */
  ofNode: number;
  ofWorkspace: number;
}

export interface ExportLimit {
  /** Throws when there are too many; else gives what is called, once or more, when the export is over. */
  enter(workspaceId: string): () => void;
}

const usualLimits: ExportLimits = { ofNode: 16, ofWorkspace: 4 };
/** One that is read at a usual pace takes seconds. */
const retryAfterSeconds = 10;

export function createExportLimit({ ofNode, ofWorkspace } = usualLimits): ExportLimit {
  const running = new Map<string, number>();
  let all = 0;
  return {
    enter(workspaceId) {
      const own = running.get(workspaceId) ?? 0;
      if (own >= ofWorkspace) {
        throw new AppError(
          'rate_limit_exceeded',
          `This workspace downloads ${own} dossiers already. Start the next one when one of them is done.`,
          { retryAfterSeconds },
        );
      }
      if (all >= ofNode) {
        throw new AppError(
          'service_unavailable',
          'As many dossiers are being written as this node takes. Try again shortly.',
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
  };
}
