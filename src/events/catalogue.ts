/**
 * Every event type with its description and data. The types, the OpenAPI document, the tables in docs and the labels of
 * the dashboard are derived from it. Uses nothing of Node.js.
 */

const text = { type: 'string' } as const;
const integer = { type: 'integer' } as const;
const yesOrNo = { type: 'boolean' } as const;
const time = { type: 'string', format: 'date-time' } as const;

function oneOf<const T extends string>(...values: T[]) {
  return { type: 'string', enum: values } as const;
}

const block = { tx_hash: text, block_number: integer } as const;
/** Of every notice; `since`: when the condition was first true. */
const notice = { notice_id: text, state: oneOf('raised', 'cleared'), since: time } as const;

interface EventDefinition {
  /** When it is sent, as a phrase. */
  about: string;
  /** Whether it announces a confirmed anchor. */
  ofAnchor?: boolean;
  /** Whether it tells of a notice: once when it is raised, and once when it is cleared. */
  ofNotice?: boolean;
  data: Record<string, Field>;
}

type Field = typeof text | typeof integer | typeof yesOrNo | ReturnType<typeof oneOf>;

/** In the order of lists. */
export const eventCatalogue = {
  'file.anchor.confirmed': {
    about: 'A file version was confirmed on the chain',
    ofAnchor: true,
    data: { file_id: text, vault_id: text, version: integer, ...block, anchored_at: time },
  },
  'file.validation.completed': {
    about: 'The validation of a file was completed',
    data: {
      file_id: text,
      vault_id: text,
      version: integer,
      validation_id: text,
      result: oneOf('valid', 'invalid'),
      integrity: yesOrNo,
      authenticity: yesOrNo,
      ownership: yesOrNo,
      validated_at: time,
    },
  },
  'file.transfer.completed': {
    about: 'A file was transferred to another vault',
    ofAnchor: true,
    data: {
      file_id: text,
      from_vault_id: text,
      to_vault_id: text,
      version: integer,
      ...block,
      transferred_at: time,
    },
  },
  'record.anchor.confirmed': {
    about: 'A record version was confirmed on the chain',
    ofAnchor: true,
    data: { record_id: text, vault_id: text, version: integer, ...block, anchored_at: time },
  },
  'vault.deactivated': {
    about: 'A vault was deactivated',
    data: { vault_id: text, address: text, deactivated_at: time },
  },
  'vault.reactivated': {
    about: 'A vault was reactivated',
    data: { vault_id: text, address: text, reactivated_at: time },
  },
  'maintenance.anchor.confirmed': {
    about: 'A maintenance entry was confirmed on the chain',
    ofAnchor: true,
    data: { asset_id: text, maintenance_id: text, vault_id: text, ...block, anchored_at: time },
  },
  'maintenance.release.withdrawn': {
    about:
      'A certified maintenance entry was corrected: what it released waits for the correction to be certified',
    data: { asset_id: text, maintenance_id: text, corrected_by: text, withdrawn_at: time },
  },
  'asset.transfer.completed': {
    about: 'An asset was transferred to another vault',
    ofAnchor: true,
    data: { asset_id: text, from_vault_id: text, to_vault_id: text, ...block, transferred_at: time },
  },
  'asset.changed': {
    about: 'An asset was created, changed, installed or removed',
    data: { asset_id: text, vault_id: text, version: integer, changed_at: time },
  },
  'asset.intervals.changed': {
    about: 'A maintenance interval of an asset was created, changed, completed or deleted',
    data: { asset_id: text, interval_id: text, changed_at: time },
  },
  'asset.page.published': {
    about: 'A page of an asset was published for everyone who has its link',
    data: { asset_id: text, page_id: text, until: time },
  },
  'asset.page.ended': {
    about: 'A published page of an asset was revoked, or ended because the asset was transferred',
    data: { asset_id: text, page_id: text, cause: oneOf('revoked', 'transferred'), ended_at: time },
  },
  'anchor.reorged': {
    about: 'A reorg removed an anchor transaction from the chain; its content is anchored again',
    data: { ...block, reorged_at: time },
  },
  'endpoint.disabled': {
    about: 'A webhook endpoint was disabled because it is gone or failed for too long',
    data: { endpoint_id: text, url: text, reason: oneOf('gone', 'failing'), disabled_at: time },
  },
  'approval.requested': {
    about: 'Somebody asked for a step that a second person has to approve',
    data: {
      approval_id: text,
      step: text,
      subject_id: text,
      requested_by: text,
      requested_at: time,
      expires_at: time,
    },
  },
  'approval.decided': {
    about: 'A step that needed a second person was approved, refused or withdrawn, or nobody decided in time',
    data: {
      approval_id: text,
      step: text,
      subject_id: text,
      decision: oneOf('approved', 'refused', 'withdrawn', 'expired'),
      decided_by: text,
      decided_at: time,
    },
  },
  'endpoint.failing': {
    about: 'A webhook endpoint is failing, or works again',
    ofNotice: true,
    data: { ...notice, endpoint_id: text, disabled: yesOrNo },
  },
  'api_key.expiring': {
    about: 'An API key expires within 14 days',
    ofNotice: true,
    data: { ...notice, key_id: text, name: text, expires_at: time },
  },
  'approval.waiting': {
    about: 'A step waits for a second person, or no longer does',
    ofNotice: true,
    data: { ...notice, approval_id: text, step: text, subject_id: text, expires_at: time },
  },
  'asset.maintenance.due': {
    about:
      'Maintenance work on an asset is due, or has been completed; or the asset has reached a life limit',
    ofNotice: true,
    data: {
      ...notice,
      asset_id: text,
      interval_id: text,
      name: text,
      due_by: oneOf('time', 'hours', 'cycles'),
      life_limit: yesOrNo,
    },
  },
  'worker.licence.expiring': {
    about: 'A licence of a worker expires within 30 days or has expired, or was renewed or removed',
    ofNotice: true,
    data: { ...notice, worker_id: text, address: text, scope: text, number: text, expires_at: time },
  },
  'operator.gas.low': {
    about: 'Default workspace only: the account that pays for anchors runs out of funds, or was funded',
    ofNotice: true,
    data: { ...notice, account: text, balance_wei: text, anchors_left: integer },
  },
  'operator.chain.behind': {
    about: 'Default workspace only: anchoring or the chain falls behind, or has caught up',
    ofNotice: true,
    data: {
      ...notice,
      trouble: oneOf(
        'no_leader',
        'anchoring_late',
        'batch_set_aside',
        'transaction_stuck',
        'fees_above_cap',
        'nonce_taken',
        'indexer_behind',
        'chain_stands_still',
      ),
    },
  },
  'operator.loop.failing': {
    about: 'Default workspace only: a background loop fails or is late, or works again',
    ofNotice: true,
    data: { ...notice, loop: text, how: oneOf('failing', 'stuck', 'late') },
  },
  'operator.disk.low': {
    about: 'Default workspace only: a node has little free disk space, or has enough again',
    ofNotice: true,
    data: { ...notice, node: text, free_bytes: integer },
  },
  'operator.budget.near': {
    about: 'Default workspace only: a workspace has used nine tenths of a budget, or is below that again',
    ofNotice: true,
    data: { ...notice, of_workspace_id: text, budget: text, used: integer, limit: integer },
  },
} as const satisfies Record<string, EventDefinition>;

type Catalogue = typeof eventCatalogue;

export type EventType = keyof Catalogue;

/** The data of each event type, as subscribers get it. */
export type EventData = {
  [T in EventType]: { [F in keyof Catalogue[T]['data']]: ValueOf<Catalogue[T]['data'][F]> };
};

type ValueOf<F> = F extends { enum: readonly (infer V)[] }
  ? V
  : F extends { type: 'integer' }
    ? number
    : F extends { type: 'boolean' }
      ? boolean
      : string;

export const eventTypes = Object.keys(eventCatalogue) as EventType[];

/** Events that announce confirmed anchors. */
export const anchorEventTypes = eventTypes.filter((type) => 'ofAnchor' in eventCatalogue[type]);

/** Types that tell of a notice. */
export type NoticeType = {
  [T in EventType]: Catalogue[T] extends { ofNotice: true } ? T : never;
}[EventType];

export const noticeTypes = eventTypes.filter(
  (type): type is NoticeType => 'ofNotice' in eventCatalogue[type],
);
