/** The lists inside of answers, with the most items that each can have. */
import { ways } from '../../../src/access/accounts/signs-in-here.ts';
import { mostWorkspaces } from '../../../src/access/workspaces/workspaces.ts';
import { eventTypes } from '../../../src/events/catalogue.ts';
import { mostListedVersions } from '../../../src/holdings/holds/erasures.ts';
import { mostWorkRules } from '../../../src/maintenance/entries/work-rules.store.ts';
import { maxIntervals } from '../../../src/maintenance/intervals/asset-intervals.ts';
import { mostSignoffs } from '../../../src/maintenance/signoffs/signoffs.ts';
import { scopes } from '../../../src/runtime/caller.ts';
import { mostAttempts } from '../../../src/webhooks/deliveries/attempts.ts';
import { headerLimits } from '../../../src/webhooks/endpoints/own-headers.ts';

const platform = '/api-v1/platform';
const damc = '/api-v1/damc';

const signoff = ['message.licence', 'message.release', 'message.release.organisation'].concat(
  ['EIP712Domain', 'Signoff', 'SignedWith', 'Licence', 'Asset', 'Release', 'Organisation'].map(
    (type) => `types.${type}`,
  ),
);

/** What a wallet or a passkey signs: its lists, the types of it, and the passkeys that may sign. */
function ofTypedData(route: string, members: string[]): Record<string, number> {
  return Object.fromEntries(
    [...members, 'passkey.allowCredentials'].map((member) => [`${route} ${member}`, 20]),
  );
}

/** Every list inside of an answer, by method, path and member, with the most items that it can have. */
export const inside: Record<string, number> = {
  [`get ${platform}/stats buckets`]: 93,
  [`get ${platform}/stats clocks.authorities`]: 4,
  [`get ${platform}/usage budgets`]: 10,
  [`delete ${platform}/files/{fileId}/content keptVersions`]: 1000,
  [`delete ${platform}/records/{recordId}/data versions`]: 1000,
  [`get ${platform}/erasures versions`]: mostListedVersions,
  [`get ${damc}/workers/ licences`]: 100,
  [`get ${damc}/workers/{address}/ licences`]: 100,
  [`patch ${damc}/workers/{address}/ licences`]: 100,
  [`put ${damc}/workers/{address}/person/ licences`]: 100,
  [`put ${damc}/workers/{address}/identity/ licences`]: 100,
  // One for each kind of look that there is.
  [`get ${damc}/assets/{assetId}/access-log/ also`]: 20,
  [`get ${damc}/assets/{assetId}/due/ intervals`]: maxIntervals,
  [`get ${damc}/assets/{assetId}/due/ openDefects`]: 1000,
  [`get ${damc}/assets/{assetId}/due/ retiredParts`]: 1000,
  [`post ${damc}/assets/{assetId}/published-pages/ show`]: 9,
  [`post ${damc}/assets/{assetId}/published-pages/ entries.show`]: 13,
  [`get ${damc}/assets/{assetId}/published-pages/ show`]: 9,
  [`get ${damc}/assets/{assetId}/published-pages/ entries.show`]: 13,
  [`get ${damc}/assets/{assetId}/due/ withdrawnReleases`]: 100,
  [`get ${damc}/assets/{assetId}/maintenances/ signoffs`]: mostSignoffs,
  [`get ${damc}/assets/{assetId}/maintenances/{maintenanceId}/details/ signoffs`]: mostSignoffs,
  [`get ${damc}/assets/{assetId}/maintenances/{maintenanceId}/details/ files`]: 200,
  ...ofTypedData(`get ${damc}/assets/{assetId}/maintenances/{maintenanceId}/signoffs/request/`, signoff),
  ...ofTypedData(`get ${damc}/workers/{address}/passkeys/{passkeyId}/sign`, [
    'types.EIP712Domain',
    'types.PasskeyRegistration',
    'types.Attestation',
  ]),
  ...ofTypedData(`post ${damc}/sign-requests/open`, signoff.slice(0, 3)),
  ...ofTypedData(`post ${damc}/passkeys/open`, []),
  [`post ${damc}/sign-requests/open entry.files`]: 200,
  [`post ${damc}/sign-requests/open entry.signoffs`]: mostSignoffs,
  [`get ${damc}/signoffs/rules/ ownKey`]: 3,
  [`put ${damc}/signoffs/rules/ ownKey`]: 3,
  [`get ${damc}/signoffs/rules/work/ rules`]: mostWorkRules,
  [`put ${damc}/signoffs/rules/work/ rules`]: mostWorkRules,
  [`get ${damc}/assets/{assetId}/rules/ rules`]: mostWorkRules,
  [`put ${damc}/assets/{assetId}/rules/ rules`]: mostWorkRules,
  [`get ${damc}/signoffs/rules/work/ rules.categories`]: 20,
  [`put ${damc}/signoffs/rules/work/ rules.categories`]: 20,
  [`get ${damc}/assets/{assetId}/rules/ rules.categories`]: 20,
  [`put ${damc}/assets/{assetId}/rules/ rules.categories`]: 20,
  [`post ${platform}/webhooks/endpoints eventTypes`]: eventTypes.length,
  [`get ${platform}/webhooks/endpoints eventTypes`]: eventTypes.length,
  [`get ${platform}/webhooks/endpoints/{endpointId} eventTypes`]: eventTypes.length,
  [`patch ${platform}/webhooks/endpoints/{endpointId} eventTypes`]: eventTypes.length,
  [`post ${platform}/webhooks/endpoints headerNames`]: headerLimits.count,
  [`get ${platform}/webhooks/endpoints headerNames`]: headerLimits.count,
  [`get ${platform}/webhooks/endpoints/{endpointId} headerNames`]: headerLimits.count,
  [`patch ${platform}/webhooks/endpoints/{endpointId} headerNames`]: headerLimits.count,
  // The current one, and those of the last day.
  [`get ${platform}/webhooks/endpoints/{endpointId}/public-keys publicKeys`]: 5,
  [`get ${platform}/webhooks/deliveries/{deliveryId} attempts`]: mostAttempts,
  [`post ${platform}/webhooks/portal/open eventTypes`]: eventTypes.length,
  [`post ${platform}/webhooks/portal/change-url eventTypes`]: eventTypes.length,
  [`post ${platform}/webhooks/portal/delivery attempts`]: mostAttempts,
  [`post ${platform}/webhooks/endpoints/{endpointId}/replay range.types`]: eventTypes.length,
  [`get ${platform}/webhooks/replays/{replayId} range.types`]: eventTypes.length,
  [`post ${platform}/api-keys scopes`]: scopes.length,
  [`get ${platform}/api-keys scopes`]: scopes.length,
  [`get ${platform}/me workspaces`]: mostWorkspaces,
  [`get ${platform}/me provedBy`]: ways.length,
};
