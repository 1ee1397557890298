/** Settings of the limits of keys and workspaces. */
import {
  budgetNames,
  budgets as budgetTable,
  type Limits,
  mostOfBudget,
  parseLimit,
  settingOf,
  usualLimits,
} from '../runtime/budgets.ts';
import { type Field, setting } from './setting.ts';

export interface RateLimit {
  requests: number;
  windowSeconds: number;
}

const windowSeconds = { s: 1, sec: 1, min: 60, hour: 3600 } as const;

/** The limits of a workspace, unless the operator has set others for it. */
const budgets: Field<Limits> = {
  settings: budgetNames.map((name) => ({
    name: settingOf(name),
    default: String(budgetTable[name].usual),
    about: budgetTable[name].about,
  })),
  read({ text, fault }) {
    const limits = { ...usualLimits };
    // Turning off the limit for keys turns off that of workspaces too, unless it is set to a number.
    if (text('HOLDFAST_RATE_LIMIT') === 'off') limits.requests_per_minute = null;
    for (const name of budgetNames) {
      const given = text(settingOf(name));
      if (given === null) continue;
      const limit = parseLimit(given);
      if (limit === undefined) fault(settingOf(name), `give a number from 0 to ${mostOfBudget}, or off`);
      else limits[name] = limit;
    }
    return limits;
  },
};

export const limitSettings = {
  rateLimit: setting<RateLimit | null>({
    name: 'HOLDFAST_RATE_LIMIT',
    default: '6000/min',
    about:
      'Requests per API key on each node, per `s`, `sec`, `min` or `hour`; `off` for none. Requests without a valid key are counted by client address.',
    expected: 'give a number of requests per sec, min or hour such as 6000/min, or off',
    parse(text) {
      if (text === 'off') return null;
      const match = /^([1-9]\d{0,8})\/(s|sec|min|hour)$/.exec(text);
      if (!match) return undefined;
      const unit = match[2] as keyof typeof windowSeconds;
      return { requests: Number(match[1]), windowSeconds: windowSeconds[unit] };
    },
  }),
  budgets,
  /** Who may create workspaces: operators, or every person with an account. */
  workspaceCreation: setting({
    name: 'HOLDFAST_WORKSPACE_CREATION',
    default: 'operators',
    about:
      'Who may make workspaces in the dashboard and over the API: `operators`, the owners and admins of the first workspace, or `everyone` with an account.',
    expected: 'give operators or everyone',
    parse: (text) => (text === 'operators' || text === 'everyone' ? text : undefined),
  }),
};
