/** The budgets of a workspace: their names, what a workspace may have of each unless settings say otherwise, and the refusals. */
import { AppError } from './errors.ts';

export const budgetNames = [
  'requests_per_minute',
  'stored_bytes',
  'endpoints',
  'streams',
  'exports',
  'anchors_per_day',
  'api_keys',
] as const;

export type BudgetName = (typeof budgetNames)[number];

/** How much a workspace may have of each; null: as much as it likes. */
export type Limits = Record<BudgetName, number | null>;

/** What differs for one workspace. */
export type OwnLimits = Partial<Limits>;

export const usualLimits: Limits = {
  requests_per_minute: 60_000,
  stored_bytes: 1024 ** 4,
  // All of them hanging at once leave room for those of others.
  endpoints: 500,
  streams: 100,
  // Each holds a page of entries in memory for as long as its reader takes.
  exports: 4,
  anchors_per_day: 100_000_000,
  api_keys: 1_000,
};

/** Larger numbers would lose digits on their way. */
const mostOfBudget = Number.MAX_SAFE_INTEGER;

export function settingOf(name: BudgetName): string {
  return `HOLDFAST_BUDGET_${name.toUpperCase()}`;
}

export function isBudgetName(text: string): text is BudgetName {
  return budgetNames.some((name) => name === text);
}

/** A number, or `off` for none; undefined when it is neither. */
export function parseLimit(text: string): number | null | undefined {
  if (text === 'off') return null;
  return /^\d{1,16}$/.test(text) && Number(text) <= mostOfBudget ? Number(text) : undefined;
}

/** From the settings, by a function that gives the text of one; `unlimited`: requests are not counted unless asked for. */
export function readBudgets(
  text: (setting: string) => string | null,
  fault: (setting: string, expected: string) => void,
  { unlimited }: { unlimited: boolean },
): Limits {
  const limits = { ...usualLimits, ...(unlimited && { requests_per_minute: null }) };
  for (const name of budgetNames) {
    const given = text(settingOf(name));
    if (given === null) continue;
    const limit = parseLimit(given);
    if (limit === undefined) fault(settingOf(name), `give a number from 0 to ${mostOfBudget}, or off`);
    else limits[name] = limit;
  }
  return limits;
}

export function limitOf(limits: Limits, own: OwnLimits | undefined, name: BudgetName): number | null {
  const limit = own?.[name];
  return limit === undefined ? limits[name] : limit;
}

const things: Record<BudgetName, { has: (limit: string) => string; remedy: string }> = {
  requests_per_minute: { has: (limit) => `${limit} requests per minute`, remedy: 'Send fewer requests' },
  stored_bytes: {
    has: (limit) => `${limit} bytes of stored files and data`,
    remedy: 'Erase the content of files you no longer need',
  },
  endpoints: { has: (limit) => `${limit} webhook endpoints`, remedy: 'Delete one' },
  streams: {
    has: (limit) => `${limit} open event streams on this node`,
    remedy: 'Close one',
  },
  exports: {
    has: (limit) => `${limit} dossier downloads in progress on this node`,
    remedy: 'Wait until one of them has finished',
  },
  anchors_per_day: {
    has: (limit) => `${limit} anchors per day (UTC)`,
    remedy: 'Wait until midnight UTC',
  },
  api_keys: { has: (limit) => `${limit} valid API keys`, remedy: 'Revoke one' },
};

export function budgetExceeded(name: BudgetName, limit: number, cause?: unknown): AppError {
  const { has, remedy } = things[name];
  return new AppError(
    'budget_exceeded',
    `A workspace can have at most ${has(limit.toLocaleString('en'))} (budget ${name}). ${remedy}, or ask the operator to raise ${settingOf(name)} or to run "holdfast workspaces limits WORKSPACE ${name}=NUMBER".`,
    { budget: name, ...(cause !== undefined && { cause }) },
  );
}
