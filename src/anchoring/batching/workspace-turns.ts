/** Runs one piece of work at a time: workspaces take turns, however much work each of them has. */

export interface WorkspaceTurnsOptions {
  /** Pieces that one workspace may have waiting and running. */
  mostOfWorkspace: number;
  /** The error for a piece beyond that limit. */
  refusal(): Error;
}

export type WorkspaceTurns = <Result>(workspaceId: string, work: () => Promise<Result>) => Promise<Result>;

export function createWorkspaceTurns({ mostOfWorkspace, refusal }: WorkspaceTurnsOptions): WorkspaceTurns {
  /** Waiting and running work per workspace, ordered by last turn, longest ago first. */
  const lines = new Map<string, { waiting: (() => Promise<void>)[]; underWay: number }>();
  let isRunning = false;

  function runNext(): void {
    if (isRunning) return;
    for (const [workspaceId, line] of lines) {
      const next = line.waiting.shift();
      if (!next) continue;
      isRunning = true;
      void next().finally(() => {
        line.underWay -= 1;
        lines.delete(workspaceId);
        // Goes behind all workspaces that came meanwhile.
        if (line.underWay > 0) lines.set(workspaceId, line);
        isRunning = false;
        runNext();
      });
      return;
    }
  }

  return (workspaceId, work) => {
    const line = lines.get(workspaceId) ?? { waiting: [], underWay: 0 };
    if (line.underWay >= mostOfWorkspace) return Promise.reject(refusal());
    lines.set(workspaceId, line);
    line.underWay += 1;
    return new Promise((resolve, reject) => {
      line.waiting.push(() => work().then(resolve, reject));
      runNext();
    });
  };
}
