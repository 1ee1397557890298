/** The budgets of a workspace: what each limits, its default, and the error when it is exceeded. */
import { AppError } from './errors.ts';

interface Budget {
  /** The default limit. */
  usual: number;
  /** For the table of settings, in Markdown. */
  about: string;
  /** For the error: "A workspace has at most …". */
  has(limit: string): string;
  /** For the error: what the caller can do. */
  remedy: string;
}

const table = {
  requests_per_minute: {
    usual: 60_000,
    about:
      'Requests of a workspace in a minute, by all its keys and people, on each node. No limit when `HOLDFAST_RATE_LIMIT` is `off`, unless a number is given here.',
    has: (limit) => `${limit} requests per minute`,
    remedy: 'Send fewer requests',
  },
  stored_bytes: {
    usual: 1024 ** 4,
    about:
      'Bytes of files, and of the data of records, assets, entries and sign-offs, that a workspace stores. Equal bytes in a vault count once; what is erased is given back.',
    has: (limit) => `${limit} bytes of stored files and data`,
    remedy: 'Erase the content of files you no longer need',
  },
  endpoints: {
    // If all of them hang at once, there is still room for those of other workspaces.
    usual: 500,
    about: 'Webhook endpoints of a workspace.',
    has: (limit) => `${limit} webhook endpoints`,
    remedy: 'Delete one',
  },
  filter_characters: {
    // They are evaluated in the commit of each event, which everybody's writes share: ten of the longest.
    usual: 20_000,
    about: 'Characters in the filters of all webhook endpoints of a workspace.',
    has: (limit) => `${limit} characters in the filters of all its webhook endpoints`,
    remedy: 'Shorten or remove some',
  },
  streams: {
    usual: 100,
    about: 'Event streams that a workspace has open on each node.',
    has: (limit) => `${limit} open event streams on this node`,
    remedy: 'Close one',
  },
  exports: {
    // Each holds a page of entries in memory for as long as its client reads.
    usual: 4,
    about: 'Dossiers that a workspace downloads at once from each node. A node writes sixteen in all.',
    has: (limit) => `${limit} dossier downloads in progress on this node`,
    remedy: 'Wait until one of them has finished',
  },
  anchors_per_day: {
    usual: 100_000_000,
    about:
      'Things of a workspace that are anchored in a day (UTC): versions of records, files and assets, entries, sign-offs, transfers, validations, dossiers.',
    has: (limit) => `${limit} anchors per day (UTC)`,
    remedy: 'Wait until midnight UTC',
  },
  api_keys: {
    usual: 1_000,
    about: 'API keys of a workspace that are valid.',
    has: (limit) => `${limit} valid API keys`,
    remedy: 'Revoke one',
  },
} satisfies Record<string, Budget>;

export type BudgetName = keyof typeof table;

export const budgets: Record<BudgetName, Budget> = table;

export const budgetNames = Object.keys(table) as BudgetName[];

/** The limit of each budget; null: unlimited. */
export type Limits = Record<BudgetName, number | null>;

/** The limits that differ for one workspace. */
export type OwnLimits = Partial<Limits>;

export const usualLimits = Object.fromEntries(
  budgetNames.map((name) => [name, budgets[name].usual]),
) as Limits;

/** Larger numbers would lose digits. */
export const mostOfBudget = Number.MAX_SAFE_INTEGER;

export function settingOf(name: BudgetName): string {
  return `HOLDFAST_BUDGET_${name.toUpperCase()}`;
}

export function isBudgetName(text: string): text is BudgetName {
  return budgetNames.some((name) => name === text);
}

/** A number, or null for `off`; undefined when it is neither. */
export function parseLimit(text: string): number | null | undefined {
  if (text === 'off') return null;
  return /^\d{1,16}$/.test(text) && Number(text) <= mostOfBudget ? Number(text) : undefined;
}

export function limitOf(limits: Limits, own: OwnLimits | undefined, name: BudgetName): number | null {
  const limit = own?.[name];
  return limit === undefined ? limits[name] : limit;
}

export function budgetExceeded(name: BudgetName, limit: number, cause?: unknown): AppError {
  const { has, remedy } = budgets[name];
  return new AppError(
    'budget_exceeded',
    `A workspace can have at most ${has(limit.toLocaleString('en'))} (budget ${name}). ${remedy}, or ask the operator to raise ${settingOf(name)} or to run "holdfast workspaces limits WORKSPACE ${name}=NUMBER".`,
    { budget: name, ...(cause !== undefined && { cause }) },
  );
}
