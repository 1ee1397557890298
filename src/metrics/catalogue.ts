/** All metrics of /metrics besides those of the process: names, types, labels and meaning. */

interface MetricEntry {
  type: 'counter' | 'gauge' | 'histogram';
  /** Each with its values, or null if they are not known in advance. Few and fixed: never an endpoint or a vault. */
  labels?: Record<string, readonly string[] | null>;
  /** "Leader": only the node that leads on the chain reports it. */
  help: string;
}

const outcomes = ['succeeded', 'to_retry', 'failed', 'skipped'] as const;

export const metricCatalogue = {
  holdfast_http_request_duration_seconds: {
    type: 'histogram',
    labels: { method: null, route: null, status: null },
    help: 'Time from the arrival of a request to its last byte',
  },
  holdfast_database_connections: {
    type: 'gauge',
    labels: { state: ['idle', 'busy', 'awaited'] },
    help: 'Connections of the pool, and requests that wait for one',
  },
  holdfast_loop_up: {
    type: 'gauge',
    labels: { loop: null },
    help: '1 while the loop runs well, 0 while it is stuck or backing off',
  },
  holdfast_loop_failures: {
    type: 'gauge',
    labels: { loop: null },
    help: 'Failures of the loop since the start',
  },
  holdfast_webhook_deliveries_total: {
    type: 'counter',
    labels: { outcome: outcomes },
    help: 'Results of deliveries by this node; to_retry: the attempt failed and another one follows, failed: it was the last',
  },
  holdfast_webhook_attempt_duration_seconds: {
    type: 'histogram',
    labels: { outcome: outcomes },
    help: 'Time from the start of an attempt to the end of the answer',
  },
  holdfast_webhook_open_deliveries: {
    type: 'gauge',
    labels: { status: ['pending', 'delivering'] },
    help: 'Deliveries still to be sent, and being sent, by all nodes; 100,000 in all means that many or more',
  },
  holdfast_webhook_oldest_due_seconds: {
    type: 'gauge',
    help: 'How long the oldest delivery that could be sent now has been waiting for it; 0 when none does',
  },
  holdfast_webhook_endpoints: {
    type: 'gauge',
    labels: { state: ['failing', 'disabled_owner', 'disabled_gone', 'disabled_failing'] },
    help: 'Endpoints without a success since their last failure, and disabled ones by reason',
  },
  holdfast_webhook_claims_given_back_total: {
    type: 'counter',
    help: 'Deliveries that a dead node had claimed and this one gave back to the others',
  },
  holdfast_webhook_refused_results_total: {
    type: 'counter',
    help: 'Results that came after another node had taken over: the receiver may have got these deliveries twice',
  },
  holdfast_webhook_filtered_events_total: {
    type: 'counter',
    help: 'Events of subscribed types that the filter of an endpoint held back, by all nodes',
  },
  holdfast_anchor_pending_leaves: {
    type: 'gauge',
    help: 'Versions that wait for a batch; 100,000 means that many or more',
  },
  holdfast_anchor_oldest_pending_seconds: {
    type: 'gauge',
    help: 'How long the oldest version that waits for a batch has been waiting; 0 when none does',
  },
  holdfast_anchor_batches: {
    type: 'gauge',
    labels: { status: ['batched', 'submitted', 'confirmed', 'set_aside'] },
    help: 'Batches that are not final yet, and those that were given up',
  },
  holdfast_anchor_unannounced_leaves: {
    type: 'gauge',
    help: 'Confirmed versions that no event tells of yet',
  },
  holdfast_sender_open_transactions: {
    type: 'gauge',
    labels: { status: ['signed', 'submitted', 'mined'] },
    help: 'Transactions of the service that are not confirmed yet',
  },
  holdfast_sender_oldest_open_seconds: {
    type: 'gauge',
    help: 'Age of the oldest transaction that is not confirmed yet; 0 when there is none',
  },
  holdfast_sender_waits_for: {
    type: 'gauge',
    labels: { reason: ['funds', 'fees', 'nonce', 'refused'] },
    help: 'Leader: 1 for what keeps the transaction with the lowest nonce from being mined',
  },
  holdfast_sender_confirmations: {
    type: 'gauge',
    help: 'Blocks so far, its own included, on the oldest transaction that is mined and not confirmed; absent when there is none',
  },
  holdfast_sender_confirmations_wanted: {
    type: 'gauge',
    help: 'Leader: blocks after which a transaction counts as confirmed',
  },
  holdfast_sender_balance_wei: {
    type: 'gauge',
    help: 'Leader: what the account has that anchors are sent from',
  },
  holdfast_chain_leads: {
    type: 'gauge',
    help: '1 on the node that works on the chain, 0 on the others',
  },
  holdfast_chain_head_block: {
    type: 'gauge',
    help: 'Leader: number of the newest block of the chain',
  },
  holdfast_chain_head_age_seconds: {
    type: 'gauge',
    help: 'Leader, on an RPC chain: how old the newest block of the chain is, by the clock of this machine',
  },
  holdfast_chain_indexed_block: {
    type: 'gauge',
    help: 'Number of the newest block that is indexed',
  },
  holdfast_chain_lag_blocks: {
    type: 'gauge',
    help: 'Leader: blocks of the chain that are not indexed yet',
  },
  holdfast_chain_reorgs_total: {
    type: 'counter',
    help: 'Reorganisations of the chain that were followed, since the installation began',
  },
  holdfast_timestamp_tokens_total: {
    type: 'counter',
    labels: { authority: null },
    help: 'Timestamp tokens that this node has stored',
  },
  holdfast_timestamp_failures_total: {
    type: 'counter',
    labels: { authority: null },
    help: 'Requests of this node to a timestamp authority that gave no token that passes',
  },
  holdfast_timestamp_last_token_seconds: {
    type: 'gauge',
    labels: { authority: null },
    help: 'How long ago the last token of the authority was stored; absent when there is none',
  },
  holdfast_timestamp_unstamped_batches: {
    type: 'gauge',
    help: 'Batches that no timestamp authority vouches for yet; 100,000 means that many or more. Absent without an authority',
  },
  holdfast_timestamp_first_certificate_end_seconds: {
    type: 'gauge',
    help: 'When the next certificate ends that a token relies on which is not renewed yet, in seconds since 1970; absent when there is none',
  },
  holdfast_opentimestamps_pending: {
    type: 'gauge',
    help: 'Proofs by OpenTimestamps that no Bitcoin block has yet; absent while it is off',
  },
  holdfast_opentimestamps_unchecked: {
    type: 'gauge',
    help: 'Complete proofs by OpenTimestamps without the header of their Bitcoin block, so that nobody has checked what calendars say; absent while it is off',
  },
  holdfast_opentimestamps_completed_total: {
    type: 'counter',
    help: 'Proofs by OpenTimestamps that this node has completed with the header of a Bitcoin block, or, without HOLDFAST_BITCOIN_URL, with what calendars say',
  },
} as const satisfies Record<string, MetricEntry>;

export type MetricCatalogue = typeof metricCatalogue;
export type MetricName = keyof MetricCatalogue;

export function metricEntry(name: MetricName): MetricEntry {
  return metricCatalogue[name];
}
