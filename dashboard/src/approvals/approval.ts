/** Steps that need a second person, as the API returns them, and in words. */
import type { QueryClient } from '@tanstack/react-query';
import type { Schemas } from '../api/schemas.ts';
import { showDone } from '../frame/notice.ts';
import { formatBytes } from '../frame/values.tsx';
import { pathTo } from '../links.ts';

export type Approval = Schemas['Approval'];

export const approvalsPath = '/platform/approvals';

/** Whether the answer says that a second person has to approve the change first. If so, tells the user. */
export function waitsForApproval(client: QueryClient, answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null || !('approval' in answer)) return false;
  const { expiresAt } = (answer as Schemas['NeedsApproval']).approval;
  void client.invalidateQueries({ queryKey: ['approvals'] });
  showDone(
    `Nothing was changed yet: a second person has to approve it by ${expiresAt.slice(0, 16).replace('T', ' ')} UTC. You see it under Approvals.`,
  );
  return true;
}

const titles: Record<string, string> = {
  'record.erase_data': 'Erase the data of a record',
  'file.erase_content': 'Erase the content of a file',
  'vault.set_retention': 'Set the retention of a vault',
  'file.transfer': 'Transfer a file',
  'asset.transfer': 'Transfer an asset',
  'api_key.create': 'Create an API key',
  'approval_rules.change': 'Need no second person any more',
};

export function titleOf({ step }: Approval): string {
  return titles[step] ?? step;
}

/** The page of what the step is about. */
export function subjectPath({ step, subjectId, effect }: Approval): string | null {
  const address = effect.vaultAddress;
  if (step === 'vault.set_retention' && typeof address === 'string')
    return pathTo('/vaults/$address', address);
  if (step === 'approval_rules.change') return '/settings';
  if (subjectId === null) return '/keys';
  if (step === 'asset.transfer') return pathTo('/assets/$assetId', subjectId);
  return step.startsWith('record.')
    ? pathTo('/records/$recordId', subjectId)
    : pathTo('/files/$fileId', subjectId);
}

export const ruleTexts: Record<string, { label: string; about: string }> = {
  eraseContent: {
    label: 'Erasing content',
    about: 'The data of records, the content of files, and a retention that erases sooner than before.',
  },
  transfer: { label: 'Transfers', about: 'Transferring a file or an asset to another vault.' },
  wideKeys: {
    label: 'API keys that can do more than read',
    about: 'Keys with another scope than those that end in “:read”, or without chosen scopes.',
  },
};

/** What the step would do, in words. */
export function effectOf({ step, effect }: Approval): string {
  switch (step) {
    case 'record.erase_data':
    case 'file.erase_content':
      return `${counted(Number(effect.erased), 'version')}, ${formatBytes(Number(effect.bytes))}`;
    case 'vault.set_retention':
      return retentionText(effect.before as Periods, effect.after as Periods);
    case 'file.transfer':
    case 'asset.transfer':
      return `from ${short(effect.fromVaultAddress)} to ${short(effect.toVaultAddress)}`;
    case 'api_key.create': {
      const scopes = effect.scopes as string[];
      const until = effect.expiresAt ? `, until ${String(effect.expiresAt).slice(0, 10)}` : '';
      return `“${effect.name}” with ${scopes.length === 0 ? 'every scope' : scopes.join(', ')}${until}`;
    }
    case 'approval_rules.change':
      return (effect.turnedOff as string[]).map((name) => ruleTexts[name]?.label ?? name).join(', ');
    default:
      return '';
  }
}

interface Periods {
  recordDays: number | null;
  fileDays: number | null;
}

function retentionText(before: Periods, after: Periods): string {
  const change = (what: string, was: number | null, is: number | null) =>
    was === is ? [] : [`${what}: ${daysText(is)} instead of ${daysText(was)}`];
  return [
    ...change('data of records', before.recordDays, after.recordDays),
    ...change('content of files', before.fileDays, after.fileDays),
  ].join('; ');
}

function daysText(days: number | null): string {
  return days === null ? 'for ever' : counted(days, 'day');
}

function counted(amount: number, noun: string): string {
  return `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`;
}

function short(address: unknown): string {
  const text = String(address);
  return `${text.slice(0, 8)}…${text.slice(-6)}`;
}
