/** The table of all settings, by topic. The Config, `.env.example` and the tables in docs are generated from it. */
import { addressSettings } from './address-settings.ts';
import { chainSettings } from './chain-settings.ts';
import { clockSettings } from './clock-settings.ts';
import { dataSettings } from './data-settings.ts';
import { limitSettings } from './limit-settings.ts';
import { mailSettings } from './mail-settings.ts';
import { nodeSettings } from './node-settings.ts';
import type { Field, Setting } from './setting.ts';
import { signInSettings } from './sign-in-settings.ts';
import { webhookSettings } from './webhook-settings.ts';

export interface SettingGroup {
  title: string;
  /** What applies to all of them, in Markdown. */
  about?: string;
  settings: Setting[];
}

export const settingGroups: SettingGroup[] = [
  group('Address and HTTPS', addressSettings),
  group('Data and keys', dataSettings),
  group('Limits', limitSettings, 'A budget is what one workspace may have: a number, or `off` for no limit.'),
  group('This node', nodeSettings),
  group('Signing in', signInSettings),
  group('Webhooks', webhookSettings),
  group('Chain', chainSettings),
  group('Timestamps', clockSettings),
  group('Mail', mailSettings),
];

export const settingNames: string[] = settingGroups.flatMap(({ settings }) =>
  settings.map(({ name }) => name),
);

function group(title: string, fields: Record<string, Field<unknown>>, about?: string): SettingGroup {
  const settings = Object.values(fields).flatMap((field) => field.settings);
  return { title, settings, ...(about !== undefined && { about }) };
}
