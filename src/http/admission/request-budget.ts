/** Counts the requests of each workspace, over all its keys and people, in one-minute windows on this node. */
import { type Limits, limitOf, settingOf } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { createWindows } from './rate-limit.ts';

export interface RequestBudget {
  /** Counts one request; throws when the workspace has used up its budget. */
  count(caller: Caller): void;
  /** In the current minute of the workspace; `resetsAt` is null if it has no requests yet. */
  used(workspaceId: string): { used: number; resetsAt: Date | null };
}

const name = 'requests_per_minute';

export function createRequestBudget(limits: Limits, now: () => number = Date.now): RequestBudget {
  const windows = createWindows(60, now);
  return {
    count({ workspaceId, limits: own }) {
      const window = windows.of(workspaceId);
      window.used += 1;
      const limit = limitOf(limits, own, name);
      if (limit === null || window.used <= limit) return;
      const seconds = Math.max(1, Math.ceil((window.endsAt - now()) / 1000));
      throw new AppError(
        'rate_limited',
        `This workspace sent more than ${limit.toLocaleString('en')} requests in a minute (budget ${name}). Try again in ${seconds} s. For a higher limit, ask the operator to raise ${settingOf(name)} or to run "holdfast workspaces limits WORKSPACE ${name}=NUMBER".`,
        { retryAfterSeconds: seconds, budget: name },
      );
    },
    used(workspaceId) {
      const window = windows.present(workspaceId);
      return { used: window?.used ?? 0, resetsAt: window ? new Date(window.endsAt) : null };
    },
  };
}
